/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How simulated time follows real time, or doesn't. */

#ifndef PACE_H
#define PACE_H

#include "clock.h"

/* Time only passes when it is told to. */
extern bool pace_virtual;

/* Simulated time begins now. */
void pace_begin(void);

/*
 * Let the board run up to now. Time in which this whole process was held up is left out, if it is
 * longer than a second.
 */
void pace_follow(void);

/* How long nothing has to be done, in nanoseconds of real time. */
long pace_rest(void);

/* The monotonic clock's microseconds at which simulated time was 0; 0 in virtual time. */
int64_t pace_beginning(void);

#endif
