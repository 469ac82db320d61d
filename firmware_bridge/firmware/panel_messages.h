/*
 * The messages between host and panel: written by generate.py from tableturn_bridge/protocol.py and
 * frames.py. Change those, never this file.
 */
#ifndef PANEL_MESSAGES_H
#define PANEL_MESSAGES_H

#include <stdint.h>

/* Bodies are structures as they travel: little endian, without padding. */
#define PACKED __attribute__((packed))
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "messages are little endian");

/* The version of this protocol. */
#define PROTOCOL_VERSION 1u
/* Buttons for seats that a panel has at least. */
#define FEWEST_BUTTONS 2u
/*
 * Buttons for seats that a panel has at most: the picture has so many lamps. The service has room
 * for larger panels, with a button for each of the eight seats that a table can have.
 */
#define MOST_BUTTONS 6u
/* Bytes of a message's body at most. */
#define LONGEST_BODY 32u
/* Stands for the button that belongs to no seat, and for no second button. */
#define NO_BUTTON 255u
/* Without a valid frame for so long, the panel disarms, empties its queue and shows it. */
#define LINK_LOST_MS 2000u
/* The panel sends an event again after these times; the last one repeats. */
#define RESEND_MS {120u, 240u, 480u, 960u}
#define RESEND_TIMES 4u
/* It sends an event so rarely once the host has seen it. */
#define RESEND_SEEN_MS 1000u
/* A button counts as pressed or released after so long without bouncing. */
#define DEBOUNCE_MS 8u
/* A press of at least this length is a long one. */
#define LONG_PRESS_MS 800u
/* Without a final answer for so long, the lamp of the pressed button shows an error. */
#define ANSWER_PATIENCE_MS 3000u
/* Events that a panel keeps: of all six seats and the master button at the same moment. */
#define QUEUE_LENGTH 7u

/* Bytes of a frame without a body, before COBS: type, number and CRC. */
#define SHORTEST_CONTENT 4u
#define LONGEST_CONTENT 36u
/* Bytes between the zeros at most: COBS adds one to so few. */
#define LONGEST_CODED 37u

/*
 * The kinds of gestures in `Event`. All are decided when the button is let go.
 *
 * The numbers are those of `tableturn.v1.Gesture`.
 */
enum kind {
    KIND_PRESS = 1,
    KIND_LONG = 2,
    KIND_CHORD = 3,
    KIND_MASTER = 4,
    KIND_MASTER_LONG = 5,
};

/* What the host says to an event. All but SEEN are final. */
enum result {
    RESULT_SEEN = 0,
    RESULT_ACCEPTED = 1,
    RESULT_STALE = 2,
    RESULT_REJECTED = 3,
};

/* Why the panel started. */
enum reset_cause {
    RESET_CAUSE_UNKNOWN = 0,
    RESET_CAUSE_POWER_ON = 1,
    RESET_CAUSE_EXTERNAL = 2,
    RESET_CAUSE_BROWN_OUT = 3,
    RESET_CAUSE_WATCHDOG = 4,
};

/* What a panel has beyond lamps and buttons. */
enum caps {
    CAPS_MASTER_BUTTON = 1,
    CAPS_PIXELS = 2,
    /* It is no board, but a model of one. */
    CAPS_VIRTUAL = 4,
};

/* What holds for the whole table: the lower half of `State.flags`; see `marked`. */
enum flags {
    FLAGS_PAUSED = 1,
    FLAGS_OVER = 2,
    /* The time of a seat that is asked runs out, or has run out. */
    FLAGS_TIME_LOW = 4,
    /* Seats are being taken by pressing. */
    FLAGS_SEATING = 8,
};

/* The colours of seats, in the order in which tables have them; 0 for none. */
enum color {
    COLOR_NONE = 0,
    COLOR_RED = 1,
    COLOR_BLUE = 2,
    COLOR_GREEN = 3,
    COLOR_YELLOW = 4,
    COLOR_WHITE = 5,
    COLOR_BLACK = 6,
    COLOR_PURPLE = 7,
    COLOR_ORANGE = 8,
};

/*
 * The button whose lamp has the start player's mark: the upper half of `State.flags`.
 *
 * A panel that doesn't know the mark shows the same picture without it.
 */
static inline uint8_t marked(uint8_t flags) {
    return flags >> 4;
}

/* The pattern of one lamp in `state`, and its colour. */
static inline uint8_t lamp_pattern(uint8_t lamp) {
    return lamp & 0x0F;
}
static inline uint8_t lamp_color(uint8_t lamp) {
    return lamp >> 4;
}

/* ------------------------------------------------------------ host to panel */

#define HELLO_REQUEST_CODE 0x01u

/* Who is there? `session` is adopted by a panel that has none, that is after a reset. */
struct hello_request {
    uint8_t proto_min;
    uint8_t proto_max;
    uint32_t session;
} PACKED;
_Static_assert(sizeof(struct hello_request) == 6, "hello_request has no padding");

#define STATE_CODE 0x02u

/*
 * The whole picture.
 *
 * `tag` names the table, so that revision 57 of one is never taken for that of its rematch. `armed`
 * are the buttons whose gestures count now, `staged` those whose seats have a turn staged: bit 0 is
 * button 1. `lamps` has a pattern and a colour for each button. `flags` has the `Flags` of the
 * table, and above them the number of the button that is `marked`.
 */
struct state {
    uint16_t tag;
    uint32_t revision;
    uint8_t armed;
    uint8_t staged;
    uint8_t lamps[6];
    uint8_t flags;
    uint8_t brightness;
} PACKED;
_Static_assert(sizeof(struct state) == 16, "state has no padding");

#define PING_CODE 0x03u

/* How are you? */
struct ping {
    uint16_t token;
} PACKED;
_Static_assert(sizeof(struct ping) == 2, "ping has no padding");

#define EVENT_ACK_CODE 0x04u

/* What became of an event of a session. */
struct event_ack {
    uint16_t number;
    uint8_t result;
    uint32_t session;
} PACKED;
_Static_assert(sizeof(struct event_ack) == 7, "event_ack has no padding");

#define SET_UID_CODE 0x05u

/* Keep this number: you have none yet. */
struct set_uid {
    uint32_t uid;
} PACKED;
_Static_assert(sizeof(struct set_uid) == 4, "set_uid has no padding");

/* ------------------------------------------------------------ panel to host */

#define HELLO_CODE 0x81u

/*
 * Here I am: the answer to `HelloRequest`, and sent unasked after a reset with session 0.
 *
 * `protocol` is the version that the panel speaks with this host; if the host's span has none that
 * it knows, the nearest one that it does know.
 */
struct hello {
    uint8_t protocol;
    uint8_t major;
    uint8_t minor;
    uint32_t uid;
    uint32_t session;
    uint8_t reset_cause;
    uint8_t buttons;
    uint16_t caps;
    uint32_t build;
} PACKED;
_Static_assert(sizeof(struct hello) == 19, "hello has no padding");

#define PONG_CODE 0x83u

/*
 * How the panel is: the revision that it shows, and counters since its start.
 *
 * `uptime` is in milliseconds. Counters stop at their largest value.
 */
struct pong {
    uint16_t token;
    uint32_t revision;
    uint32_t uptime;
    uint32_t session;
    uint16_t crc_errors;
    uint16_t overruns;
    uint16_t dropped;
    uint8_t queue;
} PACKED;
_Static_assert(sizeof(struct pong) == 21, "pong has no padding");

#define EVENT_CODE 0x84u

/*
 * A gesture. Sent until it is acknowledged.
 *
 * `number` counts the events of a session. `button` counts from 0; it is `NO_BUTTON` for the one
 * that belongs to no seat, and so is `second` without a second button. `tag` and `revision` are
 * those that the panel showed when the button was pressed; `age` is the time since then in
 * milliseconds, `tries` how often it was sent before.
 */
struct event {
    uint32_t session;
    uint16_t number;
    uint8_t button;
    uint8_t kind;
    uint8_t second;
    uint16_t tag;
    uint32_t revision;
    uint16_t age;
    uint8_t tries;
} PACKED;
_Static_assert(sizeof(struct event) == 18, "event has no padding");

#endif
