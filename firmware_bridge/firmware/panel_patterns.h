/*
 * What lamps say and how: written by generate.py from tableturn_bridge/patterns.py. Change that,
 * never this file.
 *
 * What a lamp does to say something: sixteen patterns and a mark, told apart without colours.
 *
 * A pattern runs through 16 steps of 64 milliseconds, a little over a second, and begins again; bit
 * 0 is the first step. DIM patterns light the lamp at a quarter of its brightness, breathing ones
 * let it swell and fade over two runs. Lamps of one panel run in step, so that what is true of the
 * whole table is seen as one movement.
 *
 * The host chooses the patterns below OWN in `State`; the panel itself shows those from there on.
 */
#ifndef PANEL_PATTERNS_H
#define PANEL_PATTERNS_H

#include <stdint.h>

/* Milliseconds of one step. */
#define STEP_MS 64u
#define STEPS 16u
#define BRIGHTEST 255u

/* All lamps are lit for so long after a start. */
#define LAMP_TEST_MS 256u

/* What a lamp says. */
enum pattern {
    /* Nothing is asked of this seat. */
    PATTERN_OFF = 0,
    /* It is this seat's turn. */
    PATTERN_TURN = 1,
    /* A turn is staged: press to confirm it. */
    PATTERN_STAGED = 2,
    /* This seat is next. */
    PATTERN_NEXT = 3,
    /* This seat has confirmed, where all do so at the same time. */
    PATTERN_READY = 4,
    /* Press to take a seat, or to play on yourself where a bot does so for you. */
    PATTERN_FREE = 5,
    /* This seat is taken; the game has not begun. */
    PATTERN_SEATED = 6,
    /* The game is paused. */
    PATTERN_PAUSED = 7,
    /* Between two rounds. */
    PATTERN_BETWEEN = 8,
    /* It is this seat's turn, and its time runs out, or has run out. */
    PATTERN_LOW = 9,
    /* This seat has won, just now. */
    PATTERN_WINNER = 10,
    /* The bridge is there, but can't reach the service. */
    PATTERN_SERVICE_LOST = 11,
    /* This panel can't be used here: another bridge holds it, or the table is another panel's. */
    PATTERN_ELSEWHERE = 12,
    /* The host is not heard, or not yet. */
    PATTERN_LINK_LOST = 13,
    /* Host and panel have no protocol version in common. */
    PATTERN_VERSION = 14,
    /* A gesture waits for its answer. */
    PATTERN_PENDING = 15,
};
#define PATTERNS 16u

/* How a pattern looks, beyond the steps in which the lamp is lit. */
enum look {
    LOOK_PLAIN = 0,
    /* At a quarter of the brightness. */
    LOOK_DIM = 1,
    /* Up in one run, down in the next. */
    LOOK_BREATHES = 2,
};

/* The shape of each pattern: its steps and its look, in the order of the numbers. */
#define PATTERN_SHAPES \
    { \
        [PATTERN_OFF] = {0x0000u, LOOK_PLAIN}, \
        [PATTERN_TURN] = {0xFFFFu, LOOK_PLAIN}, \
        [PATTERN_STAGED] = {0x3FFFu, LOOK_PLAIN}, \
        [PATTERN_NEXT] = {0xFFFFu, LOOK_DIM}, \
        [PATTERN_READY] = {0x0FFFu, LOOK_DIM}, \
        [PATTERN_FREE] = {0x000Fu, LOOK_PLAIN}, \
        [PATTERN_SEATED] = {0x7FFFu, LOOK_DIM}, \
        [PATTERN_PAUSED] = {0xFFFFu, LOOK_BREATHES}, \
        [PATTERN_BETWEEN] = {0xFFFFu, LOOK_DIM | LOOK_BREATHES}, \
        [PATTERN_LOW] = {0x0F0Fu, LOOK_PLAIN}, \
        [PATTERN_WINNER] = {0x3737u, LOOK_PLAIN}, \
        [PATTERN_SERVICE_LOST] = {0x0005u, LOOK_PLAIN}, \
        [PATTERN_ELSEWHERE] = {0x0015u, LOOK_PLAIN}, \
        [PATTERN_LINK_LOST] = {0x0001u, LOOK_PLAIN}, \
        [PATTERN_VERSION] = {0x0555u, LOOK_PLAIN}, \
        [PATTERN_PENDING] = {0x5555u, LOOK_PLAIN}, \
    }

/*
 * The start player's mark, on top of what the lamp says: it is the opposite in these two steps, so
 * that a light has two short gaps, and a dark lamp two short dim lights.
 */
#define MARK_STEPS 0x0500u
/* Three flashes: the gesture was refused. Runs once. */
#define REFUSED_STEPS 0x0333u
/* Two flashes: what the gesture was meant for had passed. Runs once. */
#define STALE_STEPS 0x0033u
/* One flash: this button has nothing to say now. Runs once. */
#define NOT_ARMED_STEPS 0x0003u
/* Runs until the answer comes: the gesture has waited for too long. */
#define NO_ANSWER_STEPS 0x00FFu
/* A held button, and a second one: the lamps of both. */
#define HELD_CHORD_STEPS 0x3333u

#endif
