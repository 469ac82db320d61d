/* One contact, read once each millisecond: pressed or released, bounces apart. */
#ifndef PANEL_CONTACTS_H
#define PANEL_CONTACTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A counter goes up while the contact is closed and down while it is open; the button counts as
 * pressed when the counter has reached DEBOUNCE_MS, and as released when it is back at zero. So
 * bounces of any number cost time, but never make a second press.
 */
struct contact {
    uint8_t count;
    bool pressed;
};

/* A contact that is closed at the start counts as pressed from the first: it makes no press. */
void contact_start(struct contact *contact, bool closed);

/* Read it for one more millisecond. True if the button has been pressed or released by that. */
bool contact_read(struct contact *contact, bool closed);

#endif
