/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Simulated time, and what is going to happen.
 *
 * Time is counted in cycles of the chip since the emulator began. It never goes back, and neither
 * resets nor the power switch touch it. simavr has room for 64 timers and forgets all of them at a
 * reset, so that everything around the chip is kept in a queue of our own.
 */

#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t cycles_t;

#define CYCLES_PER_US 16u
#define CYCLES_PER_MS 16000u
#define CYCLES_PER_S 16000000u
#define NEVER UINT64_MAX

/* Something that happens at a time, with a value that was given when it was planned. */
typedef void happening(cycles_t when, uint32_t value);

/* When the next thing happens, or NEVER. */
extern cycles_t clock_next;

/* Let something happen. What is planned for the same time happens in the order of planning. */
void clock_plan(cycles_t when, happening *what, uint32_t value);

/* Do all that is due now. */
void clock_do(cycles_t now);

static inline uint64_t us_of(cycles_t cycles) {
    return cycles / CYCLES_PER_US;
}

#endif
