/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lamps' light: how much of the time the pins PB0 to PB5 have been high. */

#ifndef LAMPS_H
#define LAMPS_H

#include "clock.h"

#define LAMP_COUNT 6

void lamps_attach(void);

/* Look at the pins now, after something that isn't a write of the firmware. */
void lamps_look(void);

/* The share of the last 4 ms in which a lamp was lit, from 0 to 255. Exact in cycles. */
unsigned lamps_level(unsigned lamp);

#endif
