/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The board: an ATmega328P with 16 MHz in simavr, its power, its resets and its boot loader. */

#ifndef BOARD_H
#define BOARD_H

#include "clock.h"

#include <signal.h>
#include <simavr/sim_avr.h>
#include <stddef.h>

enum cause { POWER_ON, EXTERNAL, BROWN_OUT, WATCHDOG, CAUSES };

struct board {
    avr_t *avr;
    volatile sig_atomic_t stopped; /* the emulator ends: no more time passes */
    bool powered;
    bool booting;        /* the boot loader runs; the firmware doesn't */
    bool hung;           /* the firmware runs in a circle */
    bool interruptible;  /* and interrupts are on in it */
    const char *crashed; /* why the firmware can't go on, in a word; NULL if it can */
    cycles_t crashed_at;
    unsigned resets[CAUSES];
    cycles_t boot; /* how long the boot loader runs */
    bool greeting; /* it says something */
};

extern struct board board;
extern const char *const cause_names[CAUSES];

/* Load a firmware. False, with a sentence, if that can't be done. */
bool board_load(const char *elf, char *error, size_t room);

/* Power on; the boot loader runs so long first. */
void board_power_on(cycles_t boot);
void board_power_off(void);

/* Reset the chip. The boot loader leaves the brown-out's and the watchdog's resets alone. */
void board_reset(enum cause cause);

/*
 * The firmware runs in a circle with interrupts off: for so long, or NEVER to end. What is left of
 * it is decided by its watchdog.
 */
void board_hang(cycles_t duration);

/* The same with interrupts on: they come, and return into the circle. */
void board_stand_still(cycles_t duration);

/* The firmware can't go on, for a reason in one word. Says so; the first reason stays. */
void board_crash(const char *reason);

/* Let time pass: the firmware runs, and all that is planned happens. */
void board_run(cycles_t until);

/* Now. */
static inline cycles_t board_now(void) {
    return board.avr->cycle;
}

/* The firmware executes instructions. */
static inline bool board_runs(void) {
    return board.powered && !board.booting && board.crashed == NULL;
}

/*
 * Put a function of ours in the way of the firmware's writes to a register. It gets the one that
 * was there before.
 */
struct register_write {
    avr_io_write_t before;
    void *param;
};
struct register_write board_hook_write(avr_io_addr_t address, avr_io_write_t ours);

/* What simavr did at a write, before ours: at least, the value is stored. */
void board_write(const struct register_write *hook, avr_io_addr_t address, uint8_t value);

/* The same for reads; ours alone decides what is read. */
void board_hook_read(avr_io_addr_t address, avr_io_read_t ours);

#endif
