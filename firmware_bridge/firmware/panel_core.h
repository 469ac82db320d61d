/*
 * What the panel's program does, from its start to the next reset.
 *
 * It has no clock, no port and no registers: bytes, contacts and milliseconds come in, frames and
 * light come out (board.h). Everything in here is lost by a reset. The same as the model in
 * tableturn_bridge/virtual, which is where its rules are told; docs/panel.md has them in short.
 */
#ifndef PANEL_CORE_H
#define PANEL_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "contacts.h"
#include "framing.h"
#include "gestures.h"
#include "lights.h"
#include "waiting.h"

/* A sign that runs once on a lamp; PATTERN_OFF if none does. */
struct flash {
    uint16_t age;
    uint8_t name;
    /* It is about the master button. */
    bool master;
};

struct panel {
    /* Since the start. Begins again after 49 days: only PONG and the lamps' steps read it. */
    uint32_t uptime;
    uint32_t uid;
    /* That of the host which greeted first; 0 until then. */
    uint32_t session;
    /* What the host wants to be shown, if `shows`. */
    struct state picture;
    bool shows;
    /* The host speaks no version of the protocol that this panel knows. */
    bool strange;
    /* The host is heard: `silence` is the time since its last good frame. */
    bool heard;
    uint16_t silence;
    /* What is left of the lamp test. */
    uint16_t test;
    uint16_t crc_errors;
    /* Gestures that found no room in the queue. */
    uint16_t dropped;
    uint8_t frames_sent;
    uint8_t reset_cause;
    struct decoder decoder;
    struct contact contacts[CONTACTS];
    struct gestures gestures;
    struct queue queue;
    struct flash flashes[BUTTONS];
};

/*
 * Start the program, and say hello. `uid` is the number that was kept, 0 if none; bits of `closed`
 * are the contacts that are closed now: bit 0 that of button 1, bit MASTER that of the master.
 */
void panel_start(struct panel *panel, enum reset_cause cause, uint32_t uid, uint8_t closed);

/* A byte has come from the host. */
void panel_take(struct panel *panel, uint8_t byte);

/* A millisecond has passed; bits of `closed` are the contacts that are closed now. */
void panel_pass(struct panel *panel, uint8_t closed);

/* What the lamp of a button says. What the person just does goes before all else. */
struct sign panel_sign(const struct panel *panel, uint8_t button);

/* How bright the lamp of a button is with this sign, from 0 to 255. */
uint8_t panel_light(const struct panel *panel, uint8_t button, const struct sign *sign);

#endif
