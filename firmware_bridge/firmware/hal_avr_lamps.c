/*
 * Lamps of any brightness on plain pins: pulses by timer 2.
 *
 * A period of 4 ms has 32 slots; a table says for each which lamps are lit in it. So the interrupt
 * only copies a byte to the port, and is over long before the next byte of the serial line.
 */
#include <avr/interrupt.h>
#include <avr/io.h>

#include "hal_avr.h"
#include "pins.h"

#define SLOTS 32u
#define SLOT_US 125ul
#define PRESCALER 8ul
#define PRESCALE_BY_8 _BV(CS21)
#define SLOT_COUNT (F_CPU / 1000000ul * SLOT_US / PRESCALER)
_Static_assert(SLOT_COUNT <= 256, "timer 2 counts 8 bits");

/* Levels that one slot stands for; each level but 0 has one slot at least. */
#define LEVELS_PER_SLOT ((UINT8_MAX + 1u) / SLOTS)

static volatile uint8_t slots[SLOTS];
static uint8_t slot;

void lamps_start(void) {
    LAMP_DDR |= SEAT_BITS;
    TCCR2A = _BV(WGM21);
    OCR2A = SLOT_COUNT - 1;
    TIMSK2 = _BV(OCIE2A);
    TCCR2B = PRESCALE_BY_8;
}

/* Pins of the port that have no lamp are inputs, whose pull-ups stay off. */
ISR(TIMER2_COMPA_vect) {
    LAMP_PORT = slots[slot];
    slot = (slot + 1u) & (SLOTS - 1u);
}

void lamps_show(const uint8_t levels[BUTTONS]) {
    uint8_t lit_slots[BUTTONS];
    for (uint8_t button = 0; button < BUTTONS; button++) {
        lit_slots[button] = (uint8_t)((levels[button] + LEVELS_PER_SLOT - 1u) / LEVELS_PER_SLOT);
    }
    for (uint8_t place = 0; place < SLOTS; place++) {
        uint8_t lit = 0;
        for (uint8_t button = 0; button < BUTTONS; button++) {
            if (place < lit_slots[button]) {
                lit |= (uint8_t)(1u << button);
            }
        }
        slots[place] = lit;
    }
}
