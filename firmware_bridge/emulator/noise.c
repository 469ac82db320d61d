/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The generator is splitmix64: small, and the same everywhere. */

#include "noise.h"

static uint64_t state[DIRECTIONS];
static double flips, drops;

void noise_seed(uint64_t seed) {
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        state[direction] = seed + (uint64_t)direction * 0xD1B54A32D192ED03u;
    }
}

void noise_set(double new_flips, double new_drops) {
    flips = new_flips;
    drops = new_drops;
}

static uint64_t next(enum direction direction) {
    uint64_t bits = state[direction] += 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
}

/* True with this probability. */
static bool happens(enum direction direction, double probability) {
    return (double)(next(direction) >> 11) * 0x1p-53 < probability;
}

bool noise_through(enum direction direction, uint8_t *byte) {
    if (drops > 0 && happens(direction, drops)) {
        return false;
    }
    if (flips > 0 && happens(direction, flips)) {
        *byte ^= (uint8_t)(1u << (next(direction) >> 61));
    }
    return true;
}
