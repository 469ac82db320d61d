/*
 * Looks on while the fuzzer plays, and says what must never happen.
 *
 * It reads both directions of the line with a decoder of its own, knows what the host has said and
 * which buttons went down and up, and holds all that the panel says against that. It shares no code
 * with the panel.
 */
#ifndef PANEL_WITNESS_H
#define PANEL_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "../panel_core.h"

/* What the fuzzer has reached; a fuzzer that reaches nothing proves nothing. */
struct reached {
    uint64_t frames_in;
    uint64_t frames_out;
    uint64_t crc_errors;
    uint64_t pictures;
    uint64_t events;
    uint64_t resends;
    uint64_t chords;
    uint64_t masters;
    uint64_t acknowledged;
    uint64_t dropped;
    uint64_t links_lost;
    uint64_t strangers;
    uint64_t numbers_begun_anew;
    uint64_t clocks_begun_anew;
    uint64_t lines_full;
};

extern struct reached reached;

/* The panel has started anew. */
void witness_start(const struct panel *panel, uint32_t uid, uint8_t closed);

/* The fuzzer has set the number of the last event, as if so many had been made. */
void witness_number(uint16_t number);

/* A byte goes to the panel: called before it does. */
void witness_byte(const struct panel *panel, uint8_t byte);

/* A millisecond goes by: called before and after it does. */
void witness_before(const struct panel *panel);
void witness_after(const struct panel *panel);

/* The panel has done something: look at what it has sent, and at what it is now. */
void witness_look(const struct panel *panel);

/* All that the panel has sent, in one number: the same for the same play. */
uint64_t witness_digest(void);

#endif
