/* Debouncing: see contacts.h. */
#include "contacts.h"

#include "panel_messages.h"

void contact_start(struct contact *contact, bool closed) {
    contact->pressed = closed;
    contact->count = closed ? DEBOUNCE_MS : 0;
}

bool contact_read(struct contact *contact, bool closed) {
    if (closed && contact->count < DEBOUNCE_MS) {
        contact->count++;
    } else if (!closed && contact->count > 0) {
        contact->count--;
    }
    bool changed = contact->count == (contact->pressed ? 0 : DEBOUNCE_MS);
    if (changed) {
        contact->pressed = !contact->pressed;
    }
    return changed;
}
