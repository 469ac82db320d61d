/*
 * Presses, long presses and chords, told apart when a button is let go.
 *
 * A second button makes a chord only if the first has been held for a long press by then: two
 * people who press at the same moment say two things, never one. While seats are taken nothing is
 * a chord: one who holds a button to begin, and one who sits down, are two people.
 */
#ifndef PANEL_GESTURES_H
#define PANEL_GESTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

/* What the panel showed when a button was pressed. */
struct sight {
    uint32_t revision;
    uint16_t tag;
    /* It showed a table at all: without one, no gesture counts. */
    bool live;
    bool armed;
};

/* What somebody has done with a button. Buttons are numbered as in `event`. */
struct gesture {
    struct sight sight;
    /* Milliseconds from the press to the release. */
    uint16_t age;
    uint8_t kind;
    uint8_t button;
    uint8_t second;
};

enum role {
    ROLE_UP,
    /* Held alone. */
    ROLE_ALONE,
    /* Held, and another button was pressed then. */
    ROLE_FIRST,
    /* That other button. */
    ROLE_SECOND,
    /* Held still, but its chord has been told. */
    ROLE_SPENT,
};

/* One button that is down, or is not. */
struct held {
    struct sight sight;
    /* Milliseconds since the press: long enough to tell any two presses apart. */
    uint32_t age;
    uint8_t role;
    /* The other button of a chord, for ROLE_FIRST and ROLE_SECOND. */
    uint8_t other;
};

/* Zeroed memory: no button is down. */
struct gestures {
    struct held held[CONTACTS];
};

/* The number of a contact in `event`. */
static inline uint8_t button_of(uint8_t contact) {
    return contact == MASTER ? NO_BUTTON : contact;
}

/* A millisecond has passed. */
void gestures_pass(struct gestures *gestures);

/* A button has gone down; `chords` says that it may be the second one of a chord. */
void gestures_press(struct gestures *gestures, uint8_t contact, const struct sight *sight,
                    bool chords);

/* A button has been let go: what this says. False if it says nothing more. */
bool gestures_release(struct gestures *gestures, uint8_t contact, struct gesture *gesture);

/* What is held now won't count: the table it was meant for is no longer shown. */
void gestures_spoil(struct gestures *gestures);

/* Which gesture a held button has become, beyond a short press: KIND_LONG, KIND_CHORD, or 0. */
uint8_t gestures_become(const struct gestures *gestures, uint8_t contact);

#endif
