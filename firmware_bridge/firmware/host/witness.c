/* What must never happen: see witness.h. */
#include "witness.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_board.h"
#include "textbook.h"

/* Gestures that were made lately: one that finds the line full is sent later than it is made. */
#define MADE 256u

/* What a picture said when a button went down, and since when it is down. */
struct press {
    bool down;
    bool live;
    bool armed;
    uint16_t tag;
    uint32_t revision;
};

/* A gesture that may be told: its button was let go, and all was as it must be. */
struct made {
    bool open;
    uint8_t contact;
    struct press press;
};

/* An event that the host doesn't have the last word on yet. */
struct told {
    bool open;
    bool seen;
    struct event event;
    /* When it was sent last, and when it was seen last. */
    uint64_t at;
    uint64_t seen_at;
};

struct reached reached;

static struct {
    uint64_t now;
    uint64_t heard_at;
    bool heard;
    /* What the host has said. */
    uint8_t piece[LONGEST_PIECE];
    uint32_t length;
    uint32_t session;
    uint32_t uid;
    bool strange;
    bool shows;
    struct state picture;
    /* What people have done. */
    struct press presses[CONTACTS];
    bool pressed[CONTACTS];
    struct made made[MADE];
    uint32_t made_next;
    /* What the panel has said. */
    uint8_t frames_sent;
    uint16_t number;
    /* So many after it are never heard of: the line was full until they were given up. */
    uint16_t unheard;
    /* A damaged frame has answered what was never sent: numbers may come in any order then. */
    bool any_order;
    struct told told[QUEUE_LENGTH];
    uint16_t crc_errors;
    uint16_t dropped;
    uint64_t digest;
} seen;

#define MUST(condition) must((condition), #condition, __LINE__)

static void must(bool holds, const char *condition, int line) {
    if (!holds) {
        fprintf(stderr, "witness.c:%d: %s, at %" PRIu64 " ms\n", line, condition, seen.now);
        abort();
    }
}

/* ------------------------------------------------------------ what the host says */

/* Events that wait and have never been sent. */
static uint16_t unsent(const struct panel *panel) {
    uint16_t found = 0;
    for (uint8_t i = 0; i < panel->queue.length; i++) {
        found = (uint16_t)(found + (panel->queue.waiting[i].sent == 0));
    }
    return found;
}

static void forget_all(const struct panel *panel) {
    seen.shows = false;
    for (uint8_t contact = 0; contact < CONTACTS; contact++) {
        seen.presses[contact].live = false;
    }
    memset(seen.told, 0, sizeof seen.told);
    memset(seen.made, 0, sizeof seen.made);
    seen.unheard = (uint16_t)(seen.unheard + unsent(panel));
}

static void host_acknowledges(const struct panel *panel, const struct event_ack *ack) {
    if (ack->session != seen.session || ack->result > RESULT_REJECTED) {
        return;
    }
    for (uint32_t i = 0; i < QUEUE_LENGTH; i++) {
        struct told *told = &seen.told[i];
        if (told->open && told->event.number == ack->number) {
            told->seen = true;
            told->seen_at = seen.now;
            told->open = ack->result == RESULT_SEEN;
            reached.acknowledged++;
            return;
        }
    }
    seen.any_order |= unsent(panel) > 0;
}

static void host_says(const struct panel *panel, const uint8_t *content, uint32_t size) {
    const uint8_t *body = content + 2;
    uint32_t length = size - SHORTEST_CONTENT;
    struct hello_request request;
    struct event_ack ack;
    seen.heard = true;
    seen.heard_at = seen.now;
    reached.frames_in++;
    if (content[0] == HELLO_REQUEST_CODE && length >= sizeof request) {
        memcpy(&request, body, sizeof request);
        seen.strange = request.proto_min > 1 || request.proto_max < 1;
        if (seen.strange) {
            reached.strangers++;
            forget_all(panel);
        } else if (seen.session == 0) {
            seen.session = request.session;
        }
    } else if (content[0] == STATE_CODE && length >= sizeof seen.picture && seen.session != 0 &&
               !seen.strange) {
        memcpy(&seen.picture, body, sizeof seen.picture);
        seen.shows = true;
        reached.pictures++;
    } else if (content[0] == EVENT_ACK_CODE && length >= sizeof ack) {
        memcpy(&ack, body, sizeof ack);
        host_acknowledges(panel, &ack);
    } else if (content[0] == SET_UID_CODE && length >= sizeof seen.uid && seen.uid == 0) {
        memcpy(&seen.uid, body, sizeof seen.uid);
    }
}

void witness_byte(const struct panel *panel, uint8_t byte) {
    if (byte != 0) {
        if (seen.length < LONGEST_PIECE) {
            seen.piece[seen.length++] = byte;
        }
        return;
    }
    uint8_t content[LONGEST_PIECE];
    uint32_t size;
    uint32_t length = seen.length;
    seen.length = 0;
    if (length == 0) {
        return;
    }
    switch (piece_of(seen.piece, length, content, &size)) {
    case PIECE_FRAME:
        host_says(panel, content, size);
        break;
    case PIECE_CRC:
        reached.crc_errors++;
        break;
    default:
        break;
    }
}

/* ------------------------------------------------------------ what people do */

static bool armed(uint8_t contact) {
    return seen.shows && contact < BUTTONS && (seen.picture.armed >> contact & 1);
}

static void went_down(uint8_t contact) {
    seen.presses[contact] = (struct press){
        .down = true,
        .live = seen.shows,
        .armed = armed(contact),
        .tag = seen.picture.tag,
        .revision = seen.picture.revision,
    };
}

/* Whatever gesture comes of it, it may only be told if its table is still there. */
static void went_up(uint8_t contact) {
    struct press *press = &seen.presses[contact];
    press->down = false;
    if (!press->live || !seen.shows) {
        return;
    }
    struct made *made = &seen.made[seen.made_next++ % MADE];
    made->open = true;
    made->contact = contact;
    made->press = *press;
    made->press.armed = press->armed && armed(contact);
}

void witness_before(const struct panel *panel) {
    for (uint8_t contact = 0; contact < CONTACTS; contact++) {
        seen.pressed[contact] = panel->contacts[contact].pressed;
    }
    seen.now++;
    if (seen.heard && seen.now - seen.heard_at >= LINK_LOST_MS) {
        seen.heard = false;
        reached.links_lost += seen.shows;
        forget_all(panel);
    }
}

void witness_after(const struct panel *panel) {
    for (uint8_t contact = 0; contact < CONTACTS; contact++) {
        bool pressed = panel->contacts[contact].pressed;
        if (pressed && !seen.pressed[contact]) {
            went_down(contact);
        } else if (!pressed && seen.pressed[contact]) {
            went_up(contact);
        }
    }
    reached.clocks_begun_anew += panel->uptime == 0;
}

/* ------------------------------------------------------------ what the panel says */

/* One of the gestures that may be told is this one: it is told by that. */
static bool was_made(const struct event *event) {
    for (uint32_t i = 0; i < MADE; i++) {
        struct made *made = &seen.made[i];
        bool chord = event->kind == KIND_CHORD;
        uint8_t button = button_of(made->contact);
        if (!made->open || (button != event->button && !(chord && button == event->second))) {
            continue;
        }
        if ((event->kind == KIND_PRESS || event->kind == KIND_LONG) && !made->press.armed) {
            continue;
        }
        /* A chord is told with what was shown when the held one was pressed. */
        const struct press *press =
            chord && button != event->button ? &seen.presses[event->button] : &made->press;
        if (press->tag == event->tag && press->revision == event->revision) {
            made->open = false;
            return true;
        }
    }
    return false;
}

static void check_new(const struct event *event) {
    bool master = event->button == NO_BUTTON;
    MUST(master || event->button < BUTTONS);
    MUST(event->kind >= KIND_PRESS && event->kind <= KIND_MASTER_LONG);
    MUST((event->kind == KIND_MASTER || event->kind == KIND_MASTER_LONG) == master);
    MUST((event->kind == KIND_CHORD) == (event->second != NO_BUTTON));
    MUST(event->second == NO_BUTTON || event->second < BUTTONS);
    MUST(event->second == NO_BUTTON || event->second != event->button);
    MUST((uint16_t)(event->number - seen.number - 1) == seen.unheard || seen.any_order);
    MUST(was_made(event));
    MUST(event->kind == KIND_PRESS || event->kind == KIND_MASTER || event->age >= LONG_PRESS_MS);
    seen.number = event->number;
    seen.unheard = 0;
    reached.events++;
    reached.chords += event->kind == KIND_CHORD;
    reached.masters += master;
    reached.numbers_begun_anew += event->number == 0;
    for (uint32_t i = 0; i < QUEUE_LENGTH; i++) {
        if (!seen.told[i].open) {
            seen.told[i] = (struct told){.open = true, .event = *event, .at = seen.now};
            return;
        }
    }
    MUST(!"more events wait than the queue has room for");
}

/* Sent again: the same but for its age and how often it was sent, and not too soon. */
static void check_again(struct told *told, const struct event *event) {
    static const uint16_t pauses[] = RESEND_MS;
    struct event before = told->event;
    uint8_t steps = before.tries < RESEND_TIMES ? before.tries : RESEND_TIMES - 1;
    uint64_t passed = seen.now - told->at;
    bool just_seen = told->seen && told->seen_at >= told->at;
    MUST(event->tries == (before.tries == UINT8_MAX ? UINT8_MAX : before.tries + 1));
    MUST(passed >= (told->seen && !just_seen ? RESEND_SEEN_MS : 0));
    MUST(!just_seen || seen.now - told->seen_at >= RESEND_SEEN_MS);
    MUST(told->seen || passed >= pauses[steps]);
    MUST(event->age >= before.age);
    MUST(event->age == UINT16_MAX || (uint64_t)(event->age - before.age) == passed);
    before.age = event->age;
    before.tries = event->tries;
    MUST(memcmp(&before, event, sizeof before) == 0);
    told->event = *event;
    told->at = seen.now;
    reached.resends++;
}

static void check_event(const struct event *event) {
    MUST(seen.session != 0 && event->session == seen.session);
    MUST(seen.shows);
    for (uint32_t i = 0; i < QUEUE_LENGTH; i++) {
        if (seen.told[i].open && seen.told[i].event.number == event->number) {
            check_again(&seen.told[i], event);
            return;
        }
    }
    MUST(event->tries == 0);
    check_new(event);
}

static void panel_says(const struct panel *panel, const uint8_t *content, uint32_t size) {
    const uint8_t *body = content + 2;
    uint32_t length = size - SHORTEST_CONTENT;
    struct hello hello;
    struct pong pong;
    struct event event;
    MUST(content[1] == seen.frames_sent);
    seen.frames_sent++;
    reached.frames_out++;
    switch (content[0]) {
    case HELLO_CODE:
        MUST(length == sizeof hello);
        memcpy(&hello, body, sizeof hello);
        MUST(hello.session == seen.session);
        MUST(hello.uid == seen.uid);
        MUST(hello.buttons == BUTTONS);
        break;
    case PONG_CODE:
        MUST(length == sizeof pong);
        memcpy(&pong, body, sizeof pong);
        MUST(pong.session == seen.session);
        MUST(pong.revision == (seen.shows ? seen.picture.revision : 0));
        MUST(pong.queue <= QUEUE_LENGTH);
        MUST(pong.uptime == panel->uptime);
        break;
    case EVENT_CODE:
        MUST(length == sizeof event);
        memcpy(&event, body, sizeof event);
        check_event(&event);
        break;
    default:
        MUST(!"the panel sends nothing else");
    }
}

static void check_line(const struct panel *panel) {
    const uint8_t *line = host_board.line;
    uint32_t at = 0;
    while (at < host_board.length) {
        uint8_t content[LONGEST_FRAME];
        uint32_t size;
        MUST(line[at] == 0);
        uint32_t end = at + 1;
        while (end < host_board.length && line[end] != 0) {
            end++;
        }
        MUST(end < host_board.length);
        MUST(end - at - 1 <= LONGEST_CODED);
        MUST(piece_of(line + at + 1, end - at - 1, content, &size) == PIECE_FRAME);
        panel_says(panel, content, size);
        at = end + 1;
    }
    for (uint32_t i = 0; i < host_board.length; i++) {
        seen.digest = (seen.digest ^ line[i]) * 0x100000001B3u;
    }
    host_board.length = 0;
}

/* ------------------------------------------------------------ what the panel is */

static void check_lamps(const struct panel *panel) {
    for (uint8_t button = 0; button < BUTTONS; button++) {
        struct sign sign = panel_sign(panel, button);
        uint8_t level = panel_light(panel, button, &sign);
        MUST(sign.name <= SIGN_NO_ANSWER);
        MUST(!seen.shows || level <= seen.picture.brightness || panel->test > 0);
        if (panel->test == 0 && !seen.shows) {
            MUST(sign.name == (seen.strange ? PATTERN_VERSION : PATTERN_LINK_LOST));
        }
        if (panel->test == 0 && seen.shows) {
            MUST(sign.color == seen.picture.lamps[button] >> 4);
        }
    }
}

static void check_chords(const struct panel *panel) {
    for (uint8_t contact = 0; contact < CONTACTS; contact++) {
        const struct held *held = &panel->gestures.held[contact];
        MUST(held->role <= ROLE_SPENT);
        MUST(held->role == ROLE_UP || panel->contacts[contact].pressed);
        if (held->role == ROLE_FIRST || held->role == ROLE_SECOND) {
            MUST(held->other < BUTTONS && held->other != contact);
            const struct held *other = &panel->gestures.held[held->other];
            MUST(other->other == contact);
            MUST(other->role == (held->role == ROLE_FIRST ? ROLE_SECOND : ROLE_FIRST));
        }
    }
}

void witness_look(const struct panel *panel) {
    check_line(panel);
    MUST(panel->session == seen.session);
    MUST(panel->uid == seen.uid && host_board.uid == seen.uid);
    MUST(panel->strange == seen.strange);
    MUST(panel->shows == seen.shows);
    MUST(panel->heard == seen.heard);
    MUST(!panel->heard || panel->silence < LINK_LOST_MS);
    MUST(panel->queue.length <= QUEUE_LENGTH);
    MUST(panel->shows || panel->queue.length == 0);
    MUST(panel->crc_errors >= seen.crc_errors && panel->dropped >= seen.dropped);
    seen.crc_errors = panel->crc_errors;
    seen.dropped = panel->dropped;
    MUST(panel->decoder.length <= LONGEST_CODED + 1);
    check_lamps(panel);
    check_chords(panel);
}

/* ------------------------------------------------------------ beginning */

void witness_start(const struct panel *panel, uint32_t uid, uint8_t closed) {
    uint64_t digest = seen.digest;
    memset(&seen, 0, sizeof seen);
    seen.digest = digest;
    seen.uid = uid;
    for (uint8_t contact = 0; contact < CONTACTS; contact++) {
        MUST(panel->contacts[contact].pressed == (closed >> contact & 1));
    }
    witness_look(panel);
    MUST(seen.frames_sent == 1);
}

void witness_number(uint16_t number) {
    seen.number = number;
    seen.unheard = 0;
}

uint64_t witness_digest(void) {
    return seen.digest;
}
