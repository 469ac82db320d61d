/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What arrives of a byte when sender and receiver have different speeds. */

#ifndef GARBLE_H
#define GARBLE_H

#include <stdbool.h>
#include <stdint.h>

#define MOST_GARBLED 8

struct garbled {
    unsigned count;
    uint8_t bytes[MOST_GARBLED];
    bool frame_error[MOST_GARBLED]; /* where the stop bit should be, the line was low */
};

/*
 * The bytes that a receiver makes of one. Up to 3.5 % of difference do no harm. It looks at one
 * byte alone: what comes after it can't get mixed up with it here, as it could on a real line.
 */
struct garbled garble(uint8_t byte, unsigned from_baud, unsigned to_baud);

#endif
