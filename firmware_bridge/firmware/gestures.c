/* From buttons to gestures: see gestures.h. */
#include "gestures.h"

#include "counting.h"

#define NOBODY CONTACTS

void gestures_pass(struct gestures *gestures) {
    for (uint8_t contact = 0; contact < CONTACTS; contact++) {
        count_up_long(&gestures->held[contact].age);
    }
}

/* The button that has been held alone for longest, long enough for a chord; NOBODY if none. */
static uint8_t waits_for_second(const struct gestures *gestures) {
    uint8_t longest = NOBODY;
    for (uint8_t contact = 0; contact < BUTTONS; contact++) {
        const struct held *held = &gestures->held[contact];
        if (held->role == ROLE_ALONE && held->age >= LONG_PRESS_MS &&
            (longest == NOBODY || held->age > gestures->held[longest].age)) {
            longest = contact;
        }
    }
    return longest;
}

void gestures_press(struct gestures *gestures, uint8_t contact, const struct sight *sight,
                    bool chords) {
    uint8_t first = chords && contact != MASTER ? waits_for_second(gestures) : NOBODY;
    struct held *held = &gestures->held[contact];
    held->sight = *sight;
    held->age = 0;
    held->role = ROLE_ALONE;
    if (first != NOBODY) {
        held->role = ROLE_SECOND;
        held->other = first;
        gestures->held[first].role = ROLE_FIRST;
        gestures->held[first].other = contact;
    }
}

static void gesture_of(struct gesture *gesture, const struct held *held) {
    gesture->sight = held->sight;
    gesture->age = held->age < UINT16_MAX ? (uint16_t)held->age : UINT16_MAX;
    gesture->second = NO_BUTTON;
}

bool gestures_release(struct gestures *gestures, uint8_t contact, struct gesture *gesture) {
    struct held *held = &gestures->held[contact];
    uint8_t role = held->role;
    held->role = ROLE_UP;
    switch (role) {
    case ROLE_ALONE: {
        bool is_long = held->age >= LONG_PRESS_MS;
        gesture_of(gesture, held);
        gesture->button = button_of(contact);
        if (contact == MASTER) {
            gesture->kind = is_long ? KIND_MASTER_LONG : KIND_MASTER;
        } else {
            gesture->kind = is_long ? KIND_LONG : KIND_PRESS;
        }
        return true;
    }
    case ROLE_FIRST:
    case ROLE_SECOND: {
        /* The gesture of both, whichever of them is let go first. */
        uint8_t first = role == ROLE_FIRST ? contact : held->other;
        uint8_t second = role == ROLE_FIRST ? held->other : contact;
        gesture_of(gesture, &gestures->held[first]);
        gesture->button = first;
        gesture->second = second;
        gesture->kind = KIND_CHORD;
        gestures->held[held->other].role = ROLE_SPENT;
        return true;
    }
    default:
        /* Spent, or closed since before the start. */
        return false;
    }
}

void gestures_spoil(struct gestures *gestures) {
    for (uint8_t contact = 0; contact < CONTACTS; contact++) {
        gestures->held[contact].sight.live = false;
    }
}

uint8_t gestures_become(const struct gestures *gestures, uint8_t contact) {
    const struct held *held = &gestures->held[contact];
    if (!held->sight.live) {
        return 0;
    }
    switch (held->role) {
    case ROLE_FIRST:
    case ROLE_SECOND:
        return KIND_CHORD;
    case ROLE_ALONE:
        return held->age >= LONG_PRESS_MS ? KIND_LONG : 0;
    default:
        return 0;
    }
}
