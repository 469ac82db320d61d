/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pixels: a chain of WS2812 on PD6. */

#ifndef PIXELS_H
#define PIXELS_H

#include "clock.h"

#define MOST_PIXELS 8

void pixels_attach(void);

/* Look at the pin now, after something that isn't a write of the firmware. */
void pixels_look(void);

/* The colours that the chain shows, as RRGGBB,...; `-` before the first ones. */
const char *pixels_shown(void);

/* Pulses and pauses that no pixel understands. */
unsigned pixels_faults(void);

/* The longest that the line was low within one picture. */
unsigned pixels_longest_gap_ns(void);

#endif
