/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The buttons' contacts: edges at exact times, and what the firmware reads of them.
 */
#include "contacts.h"

#include "board.h"
#include "registers.h"
#include "tell.h"

#include <simavr/avr_ioport.h>
#include <stdio.h>

#define MASTER_PIN 2
#define MOST_PLANNED 100000 /* edges; each takes 32 bytes */

static bool closed_now[CONTACTS];
static unsigned planned;

/*
 * What the firmware reads of a port. A pin that is an input follows its contact: low while that is
 * closed, else high if the firmware has switched the pull-up on. Without one the pin floats; here
 * that reads as pressed, so that a forgotten pull-up is found. Nothing of it can be undone by
 * simavr, which lets go of pressed buttons at each write to a port, and presses all at a reset.
 */
static uint8_t pins(uint8_t port, uint8_t direction, uint8_t closed, uint8_t wired) {
    bool disabled = board.avr->data[MCUCR] & MCUCR_PUD;
    uint8_t high = disabled ? 0 : port;
    uint8_t inputs = high & (uint8_t)~(closed & wired);
    return (uint8_t)((port & direction) | (inputs & ~direction));
}

static uint8_t read_pinc(avr_t *avr, avr_io_addr_t address, void *param) {
    (void)param;
    uint8_t closed = 0;
    for (unsigned button = 0; button < BUTTONS; button++) {
        closed |= (uint8_t)(closed_now[button] << button);
    }
    return avr->data[address] = pins(avr->data[PORTC], avr->data[DDRC], closed, 0x3F);
}

static uint8_t read_pind(avr_t *avr, avr_io_addr_t address, void *param) {
    (void)param;
    uint8_t closed = (uint8_t)(closed_now[MASTER] << MASTER_PIN);
    return avr->data[address] = pins(avr->data[PORTD], avr->data[DDRD], closed, 1 << MASTER_PIN);
}

/* Tell simavr too, for firmware that is woken up by a pin. */
static void pull(unsigned contact) {
    uint32_t port = contact == MASTER ? AVR_IOCTL_IOPORT_GETIRQ('D') : AVR_IOCTL_IOPORT_GETIRQ('C');
    int pin = contact == MASTER ? MASTER_PIN : (int)contact;
    if (board_runs()) {
        avr_raise_irq(avr_io_getirq(board.avr, port, pin), !closed_now[contact]);
    }
}

static void edge(cycles_t when, uint32_t value) {
    unsigned contact = value >> 1;
    bool closed = value & 1;
    planned--;
    if (closed_now[contact] == closed) {
        return;
    }
    closed_now[contact] = closed;
    pull(contact);
    const char *what = closed ? "closed" : "open";
    if (contact == MASTER) {
        tell(LAMPS, when, "contact master %s", what);
    } else {
        tell(LAMPS, when, "contact %u %s", contact, what);
    }
}

bool contacts_move(unsigned contact, bool closed, cycles_t when, unsigned bounces, cycles_t every) {
    if (planned + bounces >= MOST_PLANNED) {
        return false;
    }
    planned += bounces + 1;
    for (unsigned i = 0; i <= bounces; i++) {
        clock_plan(when + i * every, edge, contact << 1 | ((unsigned)closed ^ (i & 1)));
    }
    return true;
}

void contacts_attach(void) {
    board_hook_read(PINC, read_pinc);
    board_hook_read(PIND, read_pind);
}
