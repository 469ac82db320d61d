/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A bit is a high pulse: short for 0, long for 1. A long pause shows what has come. The bounds are
 * those of the WS2812's data sheet, with its tolerances.
 */

#include "pixels.h"

#include "board.h"
#include "registers.h"
#include "tell.h"

#include <stdio.h>
#include <string.h>

#define PIN 6
#define BITS 24
#define SHORTEST 3 /* cycles of 62.5 ns: 0.2 us */
#define SHORT 8    /* 0 is 0.2 to 0.5 us */
#define LONG 10    /* 1 is 0.6 us and more */
#define LONGEST 80 /* 5 us */
#define PAUSE (50 * CYCLES_PER_US)

static uint8_t bytes[MOST_PIXELS * 3]; /* green, red, blue */
static unsigned bits;
static bool high;
static cycles_t changed;
static char shown[MOST_PIXELS * 7 + 1] = "-";
static unsigned faults;
static cycles_t longest_gap;
static struct register_write portd_write, ddrd_write, pind_write;

static void show(cycles_t when) {
    char fresh[sizeof shown] = "";
    if (bits % BITS != 0) {
        faults++;
    }
    for (unsigned i = 0; i < bits / BITS; i++) {
        sprintf(fresh + strlen(fresh), "%s%02x%02x%02x", i ? "," : "", bytes[3 * i + 1],
                bytes[3 * i], bytes[3 * i + 2]);
    }
    bits = 0;
    memset(bytes, 0, sizeof bytes);
    if (*fresh == '\0' || strcmp(fresh, shown) == 0) {
        return;
    }
    strcpy(shown, fresh);
    tell(LAMPS, when, "pixels %s", shown);
}

/* The line is looked at until it has been low for long enough. */
static void look(cycles_t when, uint32_t value) {
    (void)value;
    cycles_t silent = high ? when : changed;
    if (silent + PAUSE > when) {
        clock_plan(silent + PAUSE, look, 0);
    } else {
        show(when);
    }
}

static void bit(cycles_t length) {
    bool understood =
        (length >= SHORTEST && length <= SHORT) || (length >= LONG && length <= LONGEST);
    if (!understood || bits == MOST_PIXELS * BITS) {
        faults++;
        return;
    }
    if (bits == 0) {
        clock_plan(board_now() + PAUSE, look, 0);
    }
    if (length >= LONG) {
        bytes[bits / 8] |= (uint8_t)(0x80 >> bits % 8);
    }
    bits++;
}

void pixels_look(void) {
    bool now_high = board.powered && board.avr->data[PORTD] & board.avr->data[DDRD] & 1 << PIN;
    cycles_t now = board_now();
    if (now_high == high) {
        return;
    }
    if (now_high && bits && now - changed > longest_gap) {
        longest_gap = now - changed;
    }
    if (!now_high) {
        bit(now - changed);
    }
    high = now_high;
    changed = now;
}

const char *pixels_shown(void) {
    return shown;
}

unsigned pixels_faults(void) {
    return faults;
}

unsigned pixels_longest_gap_ns(void) {
    return (unsigned)(longest_gap * 1000 / CYCLES_PER_US);
}

static void write_portd(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param) {
    (void)avr, (void)param;
    board_write(&portd_write, address, value);
    pixels_look();
}

static void write_ddrd(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param) {
    (void)avr, (void)param;
    board_write(&ddrd_write, address, value);
    pixels_look();
}

static void write_pind(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param) {
    (void)avr, (void)param;
    board_write(&pind_write, address, value);
    pixels_look();
}

void pixels_attach(void) {
    portd_write = board_hook_write(PORTD, write_portd);
    ddrd_write = board_hook_write(DDRD, write_ddrd);
    pind_write = board_hook_write(PIND, write_pind);
}
