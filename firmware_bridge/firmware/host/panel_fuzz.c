/*
 * Plays the panel's program what no host and no people would do: panel-N-fuzz SEED ROUNDS
 *
 * In each round a panel is started, and bytes, contacts and time come at it: frames of all kinds,
 * damaged ones, mere noise, bouncing buttons, clocks and counters just before they begin anew, and
 * a line that takes nothing. `witness.c` looks on. The same seed plays the same rounds. It is
 * compiled with the sanitizers, so that a byte written beyond its place ends it too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../panel_core.h"
#include "host_board.h"
#include "witness.h"

/* Things that happen in one round. */
#define HAPPENINGS 200u
#define ALL_CONTACTS ((1u << CONTACTS) - 1u)

static struct panel panel;
static uint8_t closed;

/* ------------------------------------------------------------ chance */

static uint64_t chance;

/* SplitMix64: every seed is a good one. */
static uint64_t draw(void) {
    chance += 0x9E3779B97F4A7C15u;
    uint64_t mixed = chance;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

static uint32_t below(uint32_t limit) {
    return (uint32_t)(draw() % limit);
}

static bool once_in(uint32_t times) {
    return below(times) == 0;
}

/* ------------------------------------------------------------ what comes in */

static void byte(uint8_t value) {
    witness_byte(&panel, value);
    panel_take(&panel, value);
    witness_look(&panel);
}

static void bytes(const uint8_t *values, uint32_t length) {
    for (uint32_t i = 0; i < length; i++) {
        byte(values[i]);
    }
}

static void pass(uint32_t ms) {
    for (uint32_t i = 0; i < ms; i++) {
        uint16_t dropped = panel.dropped;
        witness_before(&panel);
        panel_pass(&panel, closed);
        reached.dropped += panel.dropped != dropped;
        witness_after(&panel);
        witness_look(&panel);
    }
}

/* The number of an event that was sent, or of none: no host knows what was never sent. */
static uint16_t number_to_answer(void) {
    uint8_t place = (uint8_t)below(QUEUE_LENGTH + 1);
    if (place < panel.queue.length && panel.queue.waiting[place].sent > 0) {
        return panel.queue.waiting[place].number;
    }
    return (uint16_t)(panel.queue.last - QUEUE_LENGTH - below(1000));
}

/* A body of a kind of message: its fields are mostly such that they matter. */
static uint8_t body_of(uint8_t code, uint8_t body[LONGEST_BODY]) {
    union {
        struct hello_request hello_request;
        struct state state;
        struct ping ping;
        struct event_ack event_ack;
        struct set_uid set_uid;
    } message;
    uint8_t size = 0;
    for (uint32_t i = 0; i < LONGEST_BODY; i++) {
        body[i] = (uint8_t)draw();
    }
    memcpy(&message, body, sizeof message);
    switch (code) {
    case HELLO_REQUEST_CODE:
        size = sizeof message.hello_request;
        message.hello_request.proto_min = (uint8_t)below(once_in(20) ? 4 : 2);
        message.hello_request.proto_max = (uint8_t)(once_in(20) ? below(4) : 1 + below(3));
        break;
    case STATE_CODE:
        size = sizeof message.state;
        message.state.tag = (uint16_t)below(3);
        message.state.revision = below(4);
        message.state.armed = once_in(3) ? (uint8_t)draw() : 0xFF;
        message.state.flags &= (uint8_t)(once_in(4) ? 0xFF : ~FLAGS_SEATING);
        break;
    case PING_CODE:
        size = sizeof message.ping;
        break;
    case EVENT_ACK_CODE:
        size = sizeof message.event_ack;
        message.event_ack.number = number_to_answer();
        message.event_ack.result = (uint8_t)below(6);
        message.event_ack.session = once_in(10) ? (uint32_t)draw() : panel.session;
        break;
    default:
        size = sizeof message.set_uid;
        message.set_uid.uid = below(3);
        break;
    }
    memcpy(body, &message, size);
    return size;
}

/* A frame as a host would send it, or nearly so. */
static uint8_t frame_of(uint8_t frame[LONGEST_FRAME]) {
    static const uint8_t codes[] = {HELLO_REQUEST_CODE, STATE_CODE,     STATE_CODE,  PING_CODE,
                                    EVENT_ACK_CODE,     EVENT_ACK_CODE, SET_UID_CODE};
    uint8_t body[LONGEST_BODY];
    uint8_t code = codes[below(sizeof codes)];
    uint8_t size = body_of(code, body);
    if (once_in(8)) { /* shrunk or grown */
        size = (uint8_t)below(LONGEST_BODY + 1);
    }
    if (once_in(16)) {
        code = (uint8_t)draw();
    }
    return frame_encode(frame, code, (uint8_t)draw(), body, size);
}

static void frame(void) {
    uint8_t whole[LONGEST_FRAME];
    bytes(whole, frame_of(whole));
}

/* Bits turn over, bytes get lost, come twice or from nowhere. */
static void damaged_frame(void) {
    uint8_t whole[LONGEST_FRAME];
    uint8_t length = frame_of(whole);
    uint32_t harmed = below(length);
    for (uint32_t i = 0; i < length; i++) {
        if (i != harmed) {
            byte(whole[i]);
            continue;
        }
        switch (below(4)) {
        case 0:
            byte((uint8_t)(whole[i] ^ 1u << below(8)));
            break;
        case 1:
            break;
        case 2:
            byte(whole[i]);
            byte(whole[i]);
            break;
        default:
            byte((uint8_t)draw());
            break;
        }
    }
}

static void noise(void) {
    uint32_t length = below(120);
    for (uint32_t i = 0; i < length; i++) {
        byte((uint8_t)draw());
    }
}

/* A host that keeps the link up, so that what takes long can happen at all. */
static void host_for(uint32_t ms) {
    uint8_t body[LONGEST_BODY];
    uint8_t whole[LONGEST_FRAME];
    for (uint32_t i = 0; i < ms; i += 500) {
        uint8_t size = body_of(PING_CODE, body);
        bytes(whole, frame_encode(whole, PING_CODE, 0, body, size));
        pass(ms - i < 500 ? ms - i : 500);
    }
}

static void finger(void) {
    uint8_t contact = (uint8_t)(1u << below(CONTACTS));
    for (uint32_t bounces = once_in(4) ? below(20) : 0; bounces > 0; bounces--) {
        closed ^= contact;
        pass(1);
    }
    closed ^= contact;
    pass(below(once_in(2) ? 40 : 12));
}

/* A counter never goes back, not here either. */
static void nearly_full(uint16_t *counter) {
    if (*counter < UINT16_MAX - 1) {
        *counter = UINT16_MAX - 1;
    }
}

/* Clocks and counters stand just before their end, as after weeks. */
static void grow_old(void) {
    uint16_t number = (uint16_t)(UINT16_MAX - below(3));
    panel.uptime = UINT32_MAX - below(2000);
    nearly_full(&panel.crc_errors);
    nearly_full(&panel.dropped);
    if (panel.queue.length == 0) {
        panel.queue.last = number;
        witness_number(number);
    }
}

static void start(void) {
    uint32_t uid = once_in(2) ? 0 : (uint32_t)draw();
    memset(&host_board, 0, sizeof host_board);
    host_board.room = HOST_LINE_SIZE / 2;
    host_board.uid = uid;
    closed = once_in(4) ? (uint8_t)(draw() & ALL_CONTACTS) : 0;
    panel_start(&panel, (enum reset_cause)below(5), uid, closed);
    witness_start(&panel, uid, closed);
}

/* The line takes everything, or stops in the middle of what the panel wants to say. */
static void set_room(void) {
    reached.lines_full += host_board.room < LONGEST_FRAME;
    host_board.room = once_in(6) ? below(2 * LONGEST_FRAME) : HOST_LINE_SIZE / 2;
}

/* One of all these things. */
static void happen(void) {
    set_room();
    switch (below(16)) {
    case 0:
        noise();
        break;
    case 1:
        damaged_frame();
        break;
    case 2:
        pass(below(once_in(8) ? 2500 : 300));
        break;
    case 3:
        host_for(below(once_in(4) ? 4000 : 1000));
        break;
    case 4:
        if (once_in(8)) {
            grow_old();
        }
        break;
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
        frame();
        break;
    default:
        finger();
        break;
    }
}

static void tell(void) {
    printf("frames_in=%" PRIu64 " frames_out=%" PRIu64 " crc_errors=%" PRIu64 " pictures=%" PRIu64
           " events=%" PRIu64 " resends=%" PRIu64 " chords=%" PRIu64 " masters=%" PRIu64
           " acknowledged=%" PRIu64 " dropped=%" PRIu64 " links_lost=%" PRIu64 " strangers=%" PRIu64
           " numbers_begun_anew=%" PRIu64 " clocks_begun_anew=%" PRIu64 " lines_full=%" PRIu64
           " digest=%016" PRIx64 "\n",
           reached.frames_in, reached.frames_out, reached.crc_errors, reached.pictures,
           reached.events, reached.resends, reached.chords, reached.masters, reached.acknowledged,
           reached.dropped, reached.links_lost, reached.strangers, reached.numbers_begun_anew,
           reached.clocks_begun_anew, reached.lines_full, witness_digest());
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: %s SEED ROUNDS\n", arguments[0]);
        return 2;
    }
    uint64_t seed = strtoull(arguments[1], NULL, 10);
    uint64_t rounds = strtoull(arguments[2], NULL, 10);
    for (uint64_t round = 0; round < rounds; round++) {
        /* Each round for itself: a fault is found again by its own seed, with one round. */
        chance = seed + round;
        start();
        for (uint32_t step = 0; step < HAPPENINGS; step++) {
            happen();
        }
    }
    tell();
    return 0;
}
