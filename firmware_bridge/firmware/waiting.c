/* The event queue: see waiting.h. */
#include "waiting.h"

#include <string.h>

#include "counting.h"
#include "memory.h"

static const uint16_t IN_FLASH resend_ms[RESEND_TIMES] = RESEND_MS;

void queue_pass(struct queue *queue) {
    for (uint8_t i = 0; i < queue->length; i++) {
        count_up(&queue->waiting[i].waited);
        count_down(&queue->waiting[i].due);
    }
}

bool queue_add(struct queue *queue, const struct gesture *gesture) {
    if (queue->length == QUEUE_LENGTH) {
        return false;
    }
    struct waiting *waiting = &queue->waiting[queue->length++];
    memset(waiting, 0, sizeof *waiting);
    waiting->gesture = *gesture;
    waiting->number = ++queue->last;
    return true;
}

static void remove_at(struct queue *queue, uint8_t place) {
    queue->length--;
    for (uint8_t i = place; i < queue->length; i++) {
        queue->waiting[i] = queue->waiting[i + 1];
    }
}

bool queue_acknowledge(struct queue *queue, uint16_t number, enum result result,
                       struct gesture *done) {
    for (uint8_t i = 0; i < queue->length; i++) {
        struct waiting *waiting = &queue->waiting[i];
        if (waiting->number != number) {
            continue;
        }
        if (result == RESULT_SEEN) {
            waiting->seen = true;
            waiting->due = RESEND_SEEN_MS;
            return false;
        }
        *done = waiting->gesture;
        remove_at(queue, i);
        return true;
    }
    return false;
}

static bool gesture_has(const struct gesture *gesture, uint8_t button) {
    return gesture->button == button || gesture->second == button;
}

const struct waiting *queue_of(const struct queue *queue, uint8_t button) {
    const struct waiting *master = NULL;
    for (uint8_t i = 0; i < queue->length; i++) {
        const struct waiting *waiting = &queue->waiting[i];
        if (gesture_has(&waiting->gesture, button)) {
            return waiting;
        }
        if (master == NULL && waiting->gesture.button == NO_BUTTON) {
            master = waiting;
        }
    }
    return master;
}

void waiting_event(const struct waiting *waiting, uint32_t session, struct event *event) {
    const struct gesture *gesture = &waiting->gesture;
    event->session = session;
    event->number = waiting->number;
    event->button = gesture->button;
    event->kind = gesture->kind;
    event->second = gesture->second;
    event->tag = gesture->sight.tag;
    event->revision = gesture->sight.revision;
    event->age = waiting->waited > UINT16_MAX - gesture->age
                     ? UINT16_MAX
                     : (uint16_t)(gesture->age + waiting->waited);
    event->tries = waiting->sent;
}

void waiting_sent(struct waiting *waiting) {
    uint8_t step = waiting->sent < RESEND_TIMES ? waiting->sent : RESEND_TIMES - 1;
    waiting->due = waiting->seen ? RESEND_SEEN_MS : resend_ms[step];
    if (waiting->sent < UINT8_MAX) {
        waiting->sent++;
    }
}
