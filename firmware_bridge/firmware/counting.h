/*
 * Counters that stop at their largest value.
 *
 * All times are kept as milliseconds that have passed, never as points of a clock: so nothing
 * happens a second time when a clock of 32 bits begins again after 49 days.
 */
#ifndef PANEL_COUNTING_H
#define PANEL_COUNTING_H

#include <stdint.h>

static inline void count_up(uint16_t *counter) {
    if (*counter < UINT16_MAX) {
        (*counter)++;
    }
}

static inline void count_up_long(uint32_t *counter) {
    if (*counter < UINT32_MAX) {
        (*counter)++;
    }
}

static inline void count_down(uint16_t *counter) {
    if (*counter > 0) {
        (*counter)--;
    }
}

#endif
