/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A byte through two different speeds: sampled where the receiver would look.
 */
#include "garble.h"

#define TOLERANCE 0.035
#define BITS_OF_A_BYTE 10 /* start, eight of the byte, stop */

/* The line at a time, in bits of the sender: low in the start bit, high before and after all. */
static bool level(uint8_t byte, double time) {
    int bit = (int)time;
    if (bit < 1) {
        return time < 0;
    }
    return bit > 8 || byte >> (bit - 1) & 1;
}

/* When the line falls next; BITS_OF_A_BYTE if it doesn't. */
static int next_start(uint8_t byte, double from) {
    int bit = (int)from;
    if (bit < from) {
        bit++;
    }
    while (bit < BITS_OF_A_BYTE && !(level(byte, bit - 0.5) && !level(byte, bit + 0.5))) {
        bit++;
    }
    return bit;
}

struct garbled garble(uint8_t byte, unsigned from_baud, unsigned to_baud) {
    double slow = from_baud < to_baud ? from_baud : to_baud;
    double fast = from_baud < to_baud ? to_baud : from_baud;
    double bit = (double)from_baud / to_baud; /* the receiver's, in bits of the sender */
    if (fast - slow <= TOLERANCE * fast) {
        return (struct garbled){1, {byte}, {false}};
    }
    struct garbled garbled = {0};
    int start = 0; /* the byte's own start bit */
    while (start < BITS_OF_A_BYTE && garbled.count < MOST_GARBLED) {
        uint8_t seen = 0;
        for (int i = 0; i < 8; i++) {
            seen |= (uint8_t)(level(byte, start + bit * (i + 1.5)) << i);
        }
        double stop = start + bit * 9.5;
        garbled.bytes[garbled.count] = seen;
        garbled.frame_error[garbled.count++] = !level(byte, stop);
        start = next_start(byte, stop);
    }
    /*
     * A little more than what is tolerated would still do for a perfect receiver; the last bit is
     * the first one to go wrong in a real one.
     */
    if (garbled.count == 1 && garbled.bytes[0] == byte) {
        garbled.bytes[0] ^= 0x80;
    }
    return garbled;
}
