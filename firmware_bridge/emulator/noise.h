/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bad line: bytes get lost, and bits turn over. */

#ifndef NOISE_H
#define NOISE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The two directions of the line; each has a generator of its own, so that what is said in one
 * changes nothing in the other.
 */
enum direction { TO_CHIP, TO_HOST, DIRECTIONS };

/* The same seed does the same harm on every machine. */
void noise_seed(uint64_t seed);

/* How probable it is, for each byte, that one of its bits turns over, and that it gets lost. */
void noise_set(double flips, double drops);

/* What a byte is when it arrives. False if it doesn't. */
bool noise_through(enum direction direction, uint8_t *byte);

#endif
