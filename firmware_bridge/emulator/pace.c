/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Real time in slices, or none at all.
 */
#include "pace.h"

#include "board.h"
#include "line.h"

#include <time.h>

#define SLICE_US 1000     /* the board runs at least so often, */
#define BUSY_SLICE_US 250 /* and so often while bytes are under way, so that they aren't late */
#define LONGEST_GAP_US 1000000

bool pace_virtual;
static int64_t beginning;

static int64_t monotonic_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void pace_begin(void) {
    if (!pace_virtual) {
        beginning = monotonic_us();
    }
}

void pace_follow(void) {
    if (pace_virtual) {
        return;
    }
    int64_t target = monotonic_us() - beginning, behind = target - (int64_t)us_of(board_now());
    if (behind > LONGEST_GAP_US) {
        beginning += behind;
        return;
    }
    board_run((cycles_t)target * CYCLES_PER_US);
}

long pace_rest(void) {
    int64_t slice = line_busy() ? BUSY_SLICE_US : SLICE_US;
    int64_t next = (int64_t)us_of(board_now()) + slice + beginning - monotonic_us();
    return next > 0 ? (long)next * 1000 : 0;
}

int64_t pace_beginning(void) {
    return beginning;
}
