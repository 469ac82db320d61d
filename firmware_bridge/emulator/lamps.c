/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Light: each edge of the pins is kept for a while, so that a share of time can be told.
 */
#include "lamps.h"

#include "board.h"
#include "registers.h"
#include "tell.h"

#define WINDOW (4 * CYCLES_PER_MS)
#define LOOK_EVERY (250 * CYCLES_PER_US)
#define FULL 255u
#define NOTABLE 8
/* Edges of the last 4 ms that are remembered; faster flicker loses the oldest ones. */
#define EDGES 512u

struct edge {
    cycles_t when;
    cycles_t lit; /* how long the lamp had been lit until then, since the emulator began */
    bool high;    /* from then on */
};

struct lamp {
    struct edge edges[EDGES]; /* the last one is always there */
    unsigned newest, oldest;
    unsigned told;
};

static struct lamp lamps[LAMP_COUNT];
static struct register_write portb_write, ddrb_write, pinb_write;

static cycles_t lit_at(const struct edge *edge, cycles_t when) {
    return edge->lit + (edge->high ? when - edge->when : 0);
}

static void set(struct lamp *lamp, bool high, cycles_t now) {
    const struct edge *last = &lamp->edges[lamp->newest % EDGES];
    if (last->high == high) {
        return;
    }
    cycles_t lit = lit_at(last, now);
    lamp->newest++;
    lamp->edges[lamp->newest % EDGES] = (struct edge){now, lit, high};
    if (lamp->newest - lamp->oldest == EDGES) {
        lamp->oldest++;
    }
}

void lamps_look(void) {
    uint8_t high = board.avr->data[PORTB] & board.avr->data[DDRB];
    for (unsigned i = 0; i < LAMP_COUNT; i++) {
        set(&lamps[i], board.powered && high >> i & 1, board_now());
    }
}

unsigned lamps_level(unsigned i) {
    struct lamp *lamp = &lamps[i];
    cycles_t now = board_now(), then = now > WINDOW ? now - WINDOW : 0;
    while (lamp->oldest != lamp->newest && lamp->edges[(lamp->oldest + 1) % EDGES].when <= then) {
        lamp->oldest++;
    }
    const struct edge *first = &lamp->edges[lamp->oldest % EDGES];
    cycles_t before = first->when <= then ? lit_at(first, then) : first->lit;
    cycles_t lit = lit_at(&lamp->edges[lamp->newest % EDGES], now) - before;
    return (unsigned)((lit * FULL + WINDOW / 2) / WINDOW);
}

static void tell_lamps(cycles_t when, uint32_t value) {
    (void)value;
    for (unsigned i = 0; i < LAMP_COUNT && told(LAMPS); i++) {
        unsigned level = lamps_level(i), was = lamps[i].told;
        unsigned change = level > was ? level - was : was - level;
        if (change > NOTABLE || (change && (level == 0 || level == FULL))) {
            lamps[i].told = level;
            tell(LAMPS, when, "lamp %u %u", i, level);
        }
    }
    clock_plan(when + LOOK_EVERY, tell_lamps, 0);
}

static void write_portb(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param) {
    (void)avr, (void)param;
    board_write(&portb_write, address, value);
    lamps_look();
}

static void write_ddrb(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param) {
    (void)avr, (void)param;
    board_write(&ddrb_write, address, value);
    lamps_look();
}

static void write_pinb(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param) {
    (void)avr, (void)param;
    board_write(&pinb_write, address, value); /* toggles */
    lamps_look();
}

void lamps_attach(void) {
    portb_write = board_hook_write(PORTB, write_portb);
    ddrb_write = board_hook_write(DDRB, write_ddrb);
    pinb_write = board_hook_write(PINB, write_pinb);
    clock_plan(LOOK_EVERY, tell_lamps, 0);
}
