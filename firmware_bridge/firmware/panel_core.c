/* The panel's program: see panel_core.h. */
#include "panel_core.h"

#include <string.h>

#include "board.h"
#include "counting.h"

/* ------------------------------------------------------------ what is sent */

/* The longest message of the panel: the stack has no room to waste. */
#define LONGEST_SENT sizeof(struct pong)
_Static_assert(sizeof(struct hello) <= LONGEST_SENT, "hello has room");
_Static_assert(sizeof(struct event) <= LONGEST_SENT, "event has room");

/* True if there was room for the message. Frames that are not sent have no number. */
static bool send(struct panel *panel, uint8_t code, const void *body, uint8_t length) {
    uint8_t frame[FRAME_SIZE(LONGEST_SENT)];
    uint8_t size = frame_encode(frame, code, panel->frames_sent, body, length);
    if (!board_send(frame, size)) {
        return false;
    }
    panel->frames_sent++;
    return true;
}

/* Without room the host hears nothing, and asks again. */
static void say_hello(struct panel *panel) {
    struct hello hello = {
        .protocol = PROTOCOL_VERSION,
        .major = FIRMWARE_MAJOR,
        .minor = FIRMWARE_MINOR,
        .uid = panel->uid,
        .session = panel->session,
        .reset_cause = panel->reset_cause,
        .buttons = BUTTONS,
        .caps = FIRMWARE_CAPS,
        .build = FIRMWARE_BUILD,
    };
    send(panel, HELLO_CODE, &hello, sizeof hello);
}

static void say_pong(struct panel *panel, uint16_t token) {
    struct pong pong = {
        .token = token,
        .revision = panel->shows ? panel->picture.revision : 0,
        .uptime = panel->uptime,
        .session = panel->session,
        .crc_errors = panel->crc_errors,
        .overruns = board_overruns(),
        .dropped = panel->dropped,
        .queue = panel->queue.length,
    };
    send(panel, PONG_CODE, &pong, sizeof pong);
}

/* Events that are due. The first that finds no room stays due, and no later one overtakes it. */
static void send_events(struct panel *panel) {
    for (uint8_t i = 0; i < panel->queue.length; i++) {
        struct waiting *waiting = &panel->queue.waiting[i];
        struct event event;
        if (waiting->due > 0) {
            continue;
        }
        waiting_event(waiting, panel->session, &event);
        if (!send(panel, EVENT_CODE, &event, sizeof event)) {
            break;
        }
        waiting_sent(waiting);
    }
}

/* ------------------------------------------------------------ lamps */

/* A lamp tells of this gesture; the master button has all lamps for it. */
static bool tells_of(uint8_t button, const struct gesture *gesture) {
    return gesture->button == NO_BUTTON || gesture->button == button || gesture->second == button;
}

/* Run a sign once on the lamps of a gesture's buttons. */
static void flash_gesture(struct panel *panel, const struct gesture *gesture, uint8_t name) {
    if (!panel->shows) {
        return; /* all lamps say so already */
    }
    for (uint8_t button = 0; button < BUTTONS; button++) {
        if (tells_of(button, gesture)) {
            struct flash *one = &panel->flashes[button];
            one->name = name;
            one->age = 0;
            one->master = gesture->button == NO_BUTTON;
        }
    }
}

/*
 * A gesture waits from now on, and its lamps have to say so: they flash no longer. With the master
 * button's, its own flashes end; a seat's run on.
 */
static void end_flashes(struct panel *panel, const struct gesture *gesture) {
    for (uint8_t button = 0; button < BUTTONS; button++) {
        struct flash *one = &panel->flashes[button];
        if (tells_of(button, gesture) && (one->master || gesture->button != NO_BUTTON)) {
            one->name = PATTERN_OFF;
        }
    }
}

static void pass_flashes(struct panel *panel) {
    for (uint8_t button = 0; button < BUTTONS; button++) {
        struct flash *one = &panel->flashes[button];
        one->age++;
        if (one->age >= RUN_MS) {
            one->age = 0;
            one->name = PATTERN_OFF;
        }
    }
}

struct sign panel_sign(const struct panel *panel, uint8_t button) {
    if (panel->test > 0) {
        return sign_of_name(SIGN_TEST, COLOR_NONE);
    }
    if (panel->strange) {
        return sign_of_pattern(PATTERN_VERSION, COLOR_NONE);
    }
    if (!panel->shows) {
        return sign_of_pattern(PATTERN_LINK_LOST, COLOR_NONE);
    }
    uint8_t lamp = panel->picture.lamps[button];
    uint8_t color = lamp_color(lamp);
    struct sign sign = sign_of_pattern(lamp_pattern(lamp), color);
    if (marked(panel->picture.flags) == button + 1) {
        sign_mark(&sign);
    }
    switch (gestures_become(&panel->gestures, button)) {
    case KIND_CHORD:
        return sign_of_name(SIGN_HELD_CHORD, color);
    case KIND_LONG:
        sign_hold_long(&sign);
        return sign;
    default:
        break;
    }
    if (panel->flashes[button].name != PATTERN_OFF) {
        struct sign once = sign_of_name(panel->flashes[button].name, color);
        once.once = true;
        return once;
    }
    const struct waiting *waiting = queue_of(&panel->queue, button);
    if (waiting != NULL) {
        return waiting_is_late(waiting) ? sign_of_name(SIGN_NO_ANSWER, color)
                                        : sign_of_pattern(PATTERN_PENDING, color);
    }
    return sign;
}

uint8_t panel_light(const struct panel *panel, uint8_t button, const struct sign *sign) {
    uint8_t brightness = panel->shows ? panel->picture.brightness : BRIGHTEST;
    return sign_light(sign, brightness, sign->once ? panel->flashes[button].age : panel->uptime);
}

/* ------------------------------------------------------------ the link */

/* Nothing that was shown or waits counts any more. */
static void give_up(struct panel *panel) {
    panel->shows = false;
    memset(panel->flashes, 0, sizeof panel->flashes);
    gestures_spoil(&panel->gestures);
    panel->queue.length = 0;
}

static void pass_link(struct panel *panel) {
    if (!panel->heard) {
        return;
    }
    panel->silence++;
    if (panel->silence >= LINK_LOST_MS) {
        panel->heard = false;
        give_up(panel);
    }
}

/* ------------------------------------------------------------ buttons */

static bool is_armed(const struct panel *panel, uint8_t button) {
    return panel->shows && button < BUTTONS && (panel->picture.armed >> button & 1);
}

/*
 * A gesture counts if its table is still shown and it answers what is asked. A press that began
 * before its button was armed was meant for something else.
 */
static bool counts(const struct panel *panel, const struct gesture *gesture) {
    if (!panel->shows || !gesture->sight.live) {
        return false;
    }
    if (gesture->kind == KIND_PRESS || gesture->kind == KIND_LONG) {
        return gesture->sight.armed && is_armed(panel, gesture->button);
    }
    return true;
}

static void pressed(struct panel *panel, uint8_t contact) {
    struct sight sight = {0};
    bool chords = true;
    if (panel->shows) {
        sight.live = true;
        sight.tag = panel->picture.tag;
        sight.revision = panel->picture.revision;
        sight.armed = is_armed(panel, contact);
        chords = !(panel->picture.flags & FLAGS_SEATING);
    }
    gestures_press(&panel->gestures, contact, &sight, chords);
}

static void released(struct panel *panel, uint8_t contact) {
    struct gesture gesture;
    if (!gestures_release(&panel->gestures, contact, &gesture)) {
        return;
    }
    if (!counts(panel, &gesture)) {
        flash_gesture(panel, &gesture, SIGN_NOT_ARMED);
    } else if (queue_add(&panel->queue, &gesture)) {
        end_flashes(panel, &gesture);
    } else { /* nobody may think that it counted */
        count_up(&panel->dropped);
        flash_gesture(panel, &gesture, SIGN_REFUSED);
    }
}

static void read_contacts(struct panel *panel, uint8_t closed) {
    for (uint8_t contact = 0; contact < CONTACTS; contact++) {
        struct contact *one = &panel->contacts[contact];
        if (!contact_read(one, closed >> contact & 1)) {
            continue;
        }
        if (one->pressed) {
            pressed(panel, contact);
        } else {
            released(panel, contact);
        }
    }
}

/* ------------------------------------------------------------ messages */

static void greeted(struct panel *panel, const struct hello_request *request) {
    panel->strange = PROTOCOL_VERSION < request->proto_min || PROTOCOL_VERSION > request->proto_max;
    if (panel->strange) {
        give_up(panel);
    } else if (panel->session == 0) {
        panel->session = request->session;
    }
    say_hello(panel);
}

static void answered(struct panel *panel, const struct event_ack *ack) {
    struct gesture done;
    if (ack->session != panel->session || ack->result > RESULT_REJECTED ||
        !queue_acknowledge(&panel->queue, ack->number, (enum result)ack->result, &done)) {
        return;
    }
    if (ack->result == RESULT_STALE) {
        flash_gesture(panel, &done, SIGN_STALE);
    } else if (ack->result == RESULT_REJECTED) {
        flash_gesture(panel, &done, SIGN_REFUSED);
    }
}

/* A new picture. A button that is armed by it says no longer that it has nothing to say. */
static void show(struct panel *panel, const struct state *picture) {
    for (uint8_t button = 0; button < BUTTONS; button++) {
        if ((picture->armed >> button & 1) && !is_armed(panel, button) &&
            panel->flashes[button].name == SIGN_NOT_ARMED) {
            panel->flashes[button].name = PATTERN_OFF;
        }
    }
    panel->picture = *picture;
    panel->shows = true;
}

/*
 * Copy a body into its structure: what is known of it, what a later version has added is left out.
 * False if it is shorter than known.
 */
static bool body_into(const struct content *content, void *message, uint8_t size) {
    if (content->length < size) {
        return false;
    }
    memcpy(message, content->body, size);
    return true;
}

/* Do what a message asks for. Types that this version doesn't know ask for nothing. */
static void heed(struct panel *panel, const struct content *content) {
    union {
        struct hello_request hello_request;
        struct state state;
        struct ping ping;
        struct event_ack event_ack;
        struct set_uid set_uid;
    } message;
    switch (content->code) {
    case HELLO_REQUEST_CODE:
        if (body_into(content, &message, sizeof message.hello_request)) {
            greeted(panel, &message.hello_request);
        }
        break;
    case STATE_CODE:
        if (panel->session != 0 && !panel->strange &&
            body_into(content, &message, sizeof message.state)) {
            show(panel, &message.state);
        }
        break;
    case PING_CODE:
        if (body_into(content, &message, sizeof message.ping)) {
            say_pong(panel, message.ping.token);
        }
        break;
    case EVENT_ACK_CODE:
        if (body_into(content, &message, sizeof message.event_ack)) {
            answered(panel, &message.event_ack);
        }
        break;
    case SET_UID_CODE:
        if (panel->uid == 0 && body_into(content, &message, sizeof message.set_uid) &&
            message.set_uid.uid != 0) {
            panel->uid = message.set_uid.uid;
            board_keep_uid(panel->uid);
        }
        break;
    default:
        break;
    }
}

/* ------------------------------------------------------------ inputs */

void panel_start(struct panel *panel, enum reset_cause cause, uint32_t uid, uint8_t closed) {
    memset(panel, 0, sizeof *panel);
    panel->uid = uid;
    panel->reset_cause = (uint8_t)cause;
    panel->test = LAMP_TEST_MS;
    for (uint8_t contact = 0; contact < CONTACTS; contact++) {
        contact_start(&panel->contacts[contact], closed >> contact & 1);
    }
    say_hello(panel);
}

void panel_take(struct panel *panel, uint8_t byte) {
    struct content content;
    switch (decoder_take(&panel->decoder, byte, &content)) {
    case FRAMING_FRAME:
        /* A frame of any type is a sign of life. */
        panel->heard = true;
        panel->silence = 0;
        heed(panel, &content);
        break;
    case FRAMING_CRC_ERROR:
        count_up(&panel->crc_errors);
        break;
    default:
        break;
    }
}

void panel_pass(struct panel *panel, uint8_t closed) {
    panel->uptime++;
    count_down(&panel->test);
    gestures_pass(&panel->gestures);
    queue_pass(&panel->queue);
    pass_flashes(panel);
    pass_link(panel);
    read_contacts(panel, closed);
    send_events(panel);
}
