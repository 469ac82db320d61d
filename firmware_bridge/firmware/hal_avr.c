/*
 * The main program on the board: each millisecond it reads the contacts and shows the lamps;
 * in between it takes what the serial line has brought, and sleeps.
 */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <avr/wdt.h>
#include <util/atomic.h>

#include "hal_avr.h"
#include "panel_core.h"
#include "pins.h"

#define TICKS_PER_SECOND 1000ul
/* Timer 1 counts clocks. */
#define TICK_COUNT (F_CPU / TICKS_PER_SECOND)
_Static_assert(TICK_COUNT <= 65536, "timer 1 counts 16 bits");

static struct panel panel;
/* Milliseconds that have passed, and of which the program knows nothing yet. */
static volatile uint8_t ticks;

/* Why the chip started, as its register said before it was cleared. */
static uint8_t reset_flags __attribute__((section(".noinit")));

/*
 * After the watchdog's reset the watchdog runs on, with its shortest time: it has to be stopped
 * before memory is cleared. That needs its flag to be cleared first.
 */
__attribute__((naked, used, section(".init3"))) static void stop_watchdog(void) {
    reset_flags = MCUSR;
    MCUSR = 0;
    wdt_disable();
}

/*
 * The most telling one: after the power has come the other flags mean nothing, and a boot loader
 * that was entered by the reset pin may leave by the watchdog. One that clears the register leaves
 * the cause unknown.
 */
static enum reset_cause cause_of(uint8_t flags) {
    if (flags & _BV(PORF)) {
        return RESET_CAUSE_POWER_ON;
    }
    if (flags & _BV(EXTRF)) {
        return RESET_CAUSE_EXTERNAL;
    }
    if (flags & _BV(BORF)) {
        return RESET_CAUSE_BROWN_OUT;
    }
    return flags & _BV(WDRF) ? RESET_CAUSE_WATCHDOG : RESET_CAUSE_UNKNOWN;
}

static void contacts_start(void) {
    BUTTON_PORT |= SEAT_BITS;
    MASTER_PORT |= _BV(MASTER_PIN);
    /* A pull-up needs a moment until the pin has followed it. */
    for (uint8_t i = 0; i < UINT8_MAX; i++) {
        __asm__ volatile("nop");
    }
}

/* The contacts that are closed: they pull their pins down. */
static uint8_t contacts_closed(void) {
    uint8_t closed = (uint8_t)~BUTTON_PINS & SEAT_BITS;
    if (!(MASTER_PINS & _BV(MASTER_PIN))) {
        closed |= (uint8_t)(1u << MASTER);
    }
    return closed;
}

static void ticks_start(void) {
    OCR1A = TICK_COUNT - 1;
    TIMSK1 = _BV(OCIE1A);
    TCCR1B = _BV(WGM12) | _BV(CS10);
}

ISR(TIMER1_COMPA_vect) {
    ticks++;
}

static bool tick_take(void) {
    bool passed = false;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) {
        if (ticks > 0) {
            ticks--;
            passed = true;
        }
    }
    return passed;
}

static void show_lamps(void) {
    static uint8_t levels[BUTTONS];
    bool changed = false;
    for (uint8_t button = 0; button < BUTTONS; button++) {
        struct sign sign = panel_sign(&panel, button);
        uint8_t level = panel_light(&panel, button, &sign);
#ifdef PIXELS
        static uint8_t colors[BUTTONS];
        if (level != levels[button] || sign.color != colors[button]) {
            colors[button] = sign.color;
            pixel_show(button, level, sign.color);
        }
#endif
        changed |= level != levels[button];
        levels[button] = level;
    }
    if (changed) {
        lamps_show(levels);
    }
#ifdef PIXELS
    pixels_send();
#endif
}

/* Sleep until an interrupt, unless one has brought something to do by now. */
static void rest(void) {
    cli();
    if (ticks == 0 && !uart_has_byte()) {
        sleep_enable();
        sei(); /* takes effect after the next instruction: none gets in between */
        sleep_cpu();
        sleep_disable();
    }
    sei();
}

int main(void) {
    wdt_enable(WDTO_500MS);
    contacts_start();
    lamps_start();
#ifdef PIXELS
    pixels_start();
#endif
    uart_start();
    ticks_start();
    set_sleep_mode(SLEEP_MODE_IDLE);
    panel_start(&panel, cause_of(reset_flags), uid_load(), contacts_closed());
    sei();
    for (;;) {
        uint8_t byte;
        while (uart_take(&byte)) {
            panel_take(&panel, byte);
        }
        while (tick_take()) {
            panel_pass(&panel, contacts_closed());
            show_lamps();
            uid_pass();
            wdt_reset();
        }
        rest();
    }
}
