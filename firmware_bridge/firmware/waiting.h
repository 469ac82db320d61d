/* Gestures that wait for their answer: kept, sent again, and given up with the link. */
#ifndef PANEL_WAITING_H
#define PANEL_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "gestures.h"

/* An event in the queue. */
struct waiting {
    struct gesture gesture;
    uint16_t number;
    /* Milliseconds until it is sent the next time. */
    uint16_t due;
    /* Milliseconds since the gesture was made. */
    uint16_t waited;
    /* How often it has been sent. */
    uint8_t sent;
    /* The host has it, and asks for patience. */
    bool seen;
};

/* Events in the order of their making, each with its own timer. Zeroed memory: nothing waits. */
struct queue {
    struct waiting waiting[QUEUE_LENGTH];
    uint8_t length;
    /* The number of the last event. */
    uint16_t last;
};

/* A millisecond has passed. */
void queue_pass(struct queue *queue);

/* Keep a gesture, to be sent at once. False if there is no room. */
bool queue_add(struct queue *queue, const struct gesture *gesture);

/*
 * The host has answered. True if an event is done by that and no longer waits: its gesture is in
 * `done`.
 */
bool queue_acknowledge(struct queue *queue, uint16_t number, enum result result,
                       struct gesture *done);

/* The event of a lamp's button, or of the master button, that has waited longest; or NULL. */
const struct waiting *queue_of(const struct queue *queue, uint8_t button);

/* What is sent of an event now. */
void waiting_event(const struct waiting *waiting, uint32_t session, struct event *event);

/* It has been sent: the next time comes later and later, up to the last step. */
void waiting_sent(struct waiting *waiting);

/* Without an answer for too long: its lamp says so. */
static inline bool waiting_is_late(const struct waiting *waiting) {
    return waiting->waited >= ANSWER_PATIENCE_MS;
}

#endif
