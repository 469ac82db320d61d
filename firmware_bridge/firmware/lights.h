/* What a lamp says at a moment, and the light that this makes. */
#ifndef PANEL_LIGHTS_H
#define PANEL_LIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "panel_patterns.h"

/* What a lamp can say beyond the patterns. */
enum sign_name {
    SIGN_TEST = PATTERNS,
    SIGN_HELD_LONG,
    SIGN_HELD_CHORD,
    SIGN_REFUSED,
    SIGN_STALE,
    SIGN_NOT_ARMED,
    SIGN_NO_ANSWER,
};

/* The signs that run once take as long as one run of a pattern. */
#define RUN_MS (STEPS * STEP_MS)

/* How a sign looks: the steps in which the lamp is lit, and how (enum look). */
struct shape {
    uint16_t steps;
    uint8_t look;
};

struct sign {
    struct shape shape;
    /* A pattern or one of enum sign_name. */
    uint8_t name;
    uint8_t color;
    /* It has the start player's mark. */
    bool marked;
    /* Runs once: its steps are counted from its own beginning, not with those of other lamps. */
    bool once;
};

/* The sign of a pattern. */
struct sign sign_of_pattern(uint8_t pattern, uint8_t color);

/* One of the signs beyond the patterns, in a colour. Not for SIGN_HELD_LONG. */
struct sign sign_of_name(uint8_t name, uint8_t color);

/* The same with the mark of the start player on top. */
void sign_mark(struct sign *sign);

/* The button has been held for a long press: its lamp turns into the opposite. */
void sign_hold_long(struct sign *sign);

/* How bright a lamp is, from 0 to `brightness`, so many milliseconds after the sign began. */
uint8_t sign_light(const struct sign *sign, uint8_t brightness, uint32_t age);

#endif
