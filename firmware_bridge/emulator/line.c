/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The serial line: bytes take their time, and may not arrive as they were sent.
 */
#include "line.h"

#include "board.h"
#include "garble.h"
#include "noise.h"
#include "tell.h"
#include "uart.h"

#include <stdio.h>

#define BITS_OF_A_BYTE 10
#define SILENCE (2 * CYCLES_PER_MS) /* a piece of the line ends after so much silence */
#define LONGEST_PIECE 128
#define QUEUE 65536u

void (*line_to_host)(uint8_t byte);

static unsigned host_baud = 115200;

/* ---------------------------------------------------------------- telling */

/* Bytes are told in pieces: a frame, or what comes between two silences. */
struct piece {
    const char *name;
    enum topic topic;
    uint8_t bytes[LONGEST_PIECE];
    unsigned count;
    bool has_begun; /* something other than a zero is in it */
    cycles_t last;
};

static struct piece from_firmware = {.name = "tx", .topic = LINE};
static struct piece at_firmware = {.name = "rx", .topic = LINE};
static struct piece at_host = {.name = "host", .topic = HOST};
static struct piece *const pieces[] = {&from_firmware, &at_firmware, &at_host};

static void tell_piece(struct piece *piece) {
    char hex[2 * LONGEST_PIECE + 1];
    for (unsigned i = 0; i < piece->count; i++) {
        sprintf(hex + 2 * i, "%02x", piece->bytes[i]);
    }
    if (piece->count) {
        tell(piece->topic, piece->last, "%s %s", piece->name, hex);
    }
    piece->count = 0;
    piece->has_begun = false;
}

static void silence(cycles_t when, uint32_t which) {
    if (pieces[which]->count && pieces[which]->last + SILENCE <= when) {
        tell_piece(pieces[which]);
    }
}

static void add(unsigned which, uint8_t byte, cycles_t when) {
    struct piece *piece = pieces[which];
    if (!told(piece->topic)) {
        return;
    }
    piece->bytes[piece->count++] = byte;
    piece->last = when;
    if (piece->count == LONGEST_PIECE || (byte == 0 && piece->has_begun)) {
        tell_piece(piece);
        return;
    }
    piece->has_begun |= byte != 0;
    clock_plan(when + SILENCE, silence, which);
}

/* ---------------------------------------------------------------- host to chip */

static uint8_t queue[QUEUE];
static size_t first, waiting;
static unsigned cable; /* cut so often: a byte of the old cable must not arrive */
static bool sending;

static cycles_t host_byte(void) {
    return (BITS_OF_A_BYTE * CYCLES_PER_S + host_baud / 2) / host_baud;
}

static void arrives(uint8_t byte, bool frame_error, cycles_t when) {
    if (!noise_through(TO_CHIP, &byte)) {
        return;
    }
    if (uart_arrives(byte, frame_error)) {
        add(1, byte, when);
    }
}

static void host_byte_ends(cycles_t when, uint32_t value);

static void host_byte_begins(cycles_t when) {
    sending = waiting > 0;
    if (!sending) {
        return;
    }
    uart_begins();
    clock_plan(when + host_byte(), host_byte_ends, cable);
}

static void host_byte_ends(cycles_t when, uint32_t value) {
    if (value != cable) {
        return;
    }
    uint8_t byte = queue[first];
    first = (first + 1) % QUEUE;
    waiting--;
    struct garbled garbled = garble(byte, host_baud, uart_baud());
    for (unsigned i = 0; i < garbled.count; i++) {
        arrives(garbled.bytes[i], garbled.frame_error[i], when);
    }
    host_byte_begins(when);
}

bool line_send(const uint8_t *bytes, size_t count) {
    if (count > line_room()) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        queue[(first + waiting + i) % QUEUE] = bytes[i];
    }
    waiting += count;
    if (!sending) {
        host_byte_begins(board_now());
    }
    return true;
}

size_t line_room(void) {
    return QUEUE - waiting;
}

size_t line_waiting(void) {
    return waiting;
}

void line_cut(void) {
    cable++;
    waiting = 0;
    sending = false;
}

void line_set_baud(unsigned baud) {
    host_baud = baud;
}

unsigned line_baud(void) {
    return host_baud;
}

/* ---------------------------------------------------------------- chip to host */

static cycles_t chip_free; /* the chip's last byte ends then */
static unsigned chip;      /* reset so often: a byte that was cut off must not arrive */
static unsigned sent, under_way;

static void to_host(uint8_t byte, cycles_t when) {
    if (!noise_through(TO_HOST, &byte)) {
        return;
    }
    add(2, byte, when);
    if (line_to_host) {
        line_to_host(byte);
    }
}

static void chip_byte_ends(cycles_t when, uint32_t value) {
    if (value >> 8 != (chip & 0xFFFFFF)) {
        return;
    }
    under_way--;
    sent++;
    add(0, (uint8_t)value, when);
    struct garbled garbled = garble((uint8_t)value, uart_baud(), host_baud);
    for (unsigned i = 0; i < garbled.count; i++) {
        to_host(garbled.bytes[i], when);
    }
}

void line_from_chip(uint8_t byte) {
    cycles_t now = board_now(), begins = chip_free > now ? chip_free : now;
    chip_free = begins + BITS_OF_A_BYTE * uart_bit();
    under_way++;
    clock_plan(chip_free, chip_byte_ends, (uint32_t)chip << 8 | byte);
}

void line_chip_reset(void) {
    chip++;
    under_way = 0;
    chip_free = 0;
}

static void greeting_byte_ends(cycles_t when, uint32_t value) {
    if (value >> 8 == (chip & 0xFFFFFF)) {
        to_host((uint8_t)value, when);
    }
}

void line_greet(void) {
    static const uint8_t greeting[] = "\x00\xf0\x0d boot\x06\x1e\x14\xff";
    for (unsigned i = 0; i < sizeof greeting - 1; i++) {
        clock_plan(board_now() + (i + 1) * host_byte(), greeting_byte_ends,
                   (uint32_t)chip << 8 | greeting[i]);
    }
}

unsigned line_sent(void) {
    return sent;
}

bool line_busy(void) {
    return sending || under_way > 0;
}
