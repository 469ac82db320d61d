/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The board: what runs the firmware, and what power and resets do to it.
 */
#include "board.h"

#include "contacts.h"
#include "lamps.h"
#include "line.h"
#include "memory.h"
#include "pixels.h"
#include "program.h"
#include "registers.h"
#include "tell.h"
#include "uart.h"

#include <simavr/avr_ioport.h>
#include <simavr/sim_core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct board board;
const char *const cause_names[CAUSES] = {"power_on", "external", "brown_out", "watchdog"};

/*
 * simavr may run several instructions at a stretch, but for no longer than this: what is planned
 * meanwhile would be late.
 */
#define STRETCH 64

#define ADDRESSES 0x10001u /* one more: simavr writes 16 bits at the last one */

/* The firmware's stack is looked at so often. */
#define LOOK_AT_STACK CYCLES_PER_MS

static cycles_t idle;       /* until simavr's next timer */
static uint8_t reset_flags; /* MCUSR as the firmware finds it at its start */
static unsigned starts; /* power switches and resets: a boot loader that was cut off must not end */

/* ---------------------------------------------------------------- loading */

/* simavr tells a lot. What matters is what the firmware must not do: simavr goes on after some of
 * it. */
static const char *forbidden;

static void listen(struct avr_t *avr, const int level, const char *format, va_list arguments) {
    (void)avr, (void)level, (void)arguments;
    if (strstr(format, "Invalid Opcode")) {
        forbidden = "opcode";
    } else if (strstr(format, "Invalid read address") || strstr(format, "Invalid write address")) {
        forbidden = "address";
    }
}

/*
 * simavr stops at a write to where there is no RAM, but only after it has written there. So there
 * is some, for each address that 16 bits have.
 */
static void give_all_addresses(avr_t *avr) {
    avr->data = realloc(avr->data, ADDRESSES);
    if (avr->data == NULL) {
        perror("panel-emulator");
        exit(1);
    }
    memset(avr->data + avr->ramend + 1, 0, ADDRESSES - (avr->ramend + 1u));
}

static void look_at_stack(cycles_t when, uint32_t value) {
    (void)value;
    if (board_runs() && !memory_stack_fits()) {
        board_crash("stack");
    }
    clock_plan(when + LOOK_AT_STACK, look_at_stack, 0);
}

bool board_load(const char *elf, char *error, size_t room) {
    static elf_firmware_t firmware; /* large */
    avr_global_logger_set(listen);
    if (!program_read(elf, &firmware)) {
        snprintf(error, room, "%s is no firmware", elf);
        return false;
    }
    avr_t *avr = board.avr = avr_make_mcu_by_name("atmega328p");
    if (avr == NULL) {
        snprintf(error, room, "this simavr knows no ATmega328P");
        return false;
    }
    avr_init(avr);
    give_all_addresses(avr);
    avr_load_firmware(avr, &firmware);
    avr->frequency = CYCLES_PER_S;
    memory_attach(&firmware);
    uart_attach();
    lamps_attach();
    pixels_attach();
    contacts_attach();
    clock_plan(LOOK_AT_STACK, look_at_stack, 0);
    return true;
}

/* ---------------------------------------------------------------- power and resets */

/* All registers as they are after a reset; simavr leaves the RAM alone, and so does the chip. */
static void reset_chip(void) {
    avr_reset(board.avr);
    idle = 1;
    board.hung = false;
    uart_reset();
    lamps_look();
    pixels_look();
}

/*
 * A reset adds its flag to those that the firmware has left; a power-on clears the others, and so
 * does a boot loader that is cut off.
 */
static void note_cause(enum cause cause) {
    static const uint8_t flags[CAUSES] = {0x01, 0x02, 0x04, 0x08};
    uint8_t left = cause == POWER_ON || board.booting ? 0 : board.avr->data[MCUSR];
    reset_flags = left | flags[cause];
}

static void start(enum cause cause) {
    if (board.crashed) {
        return;
    }
    if (board.booting) {
        board.booting = false;
        reset_chip(); /* the boot loader's time has passed simavr's timers by */
    }
    /* The watchdog keeps running after its own reset, as fast as it can; simavr has seen to that.
     */
    board.avr->data[MCUSR] = reset_flags;
    memory_paint();
    tell(LINE, board_now(), "start %s", cause_names[cause]);
}

static void boot_loader_ends(cycles_t when, uint32_t value) {
    (void)when;
    if (value >> 2 == (starts & 0x3FFFFFFF) && board.powered && board.booting) {
        start(value & 3);
    }
}

static void begin(enum cause cause, cycles_t boot) {
    starts++;
    board.resets[cause]++;
    memory_note_stack();
    note_cause(cause);
    reset_chip();
    tell(LINE, board_now(), "reset %s", cause_names[cause]);
    if (boot == 0) {
        start(cause);
        return;
    }
    board.booting = true;
    if (board.greeting) {
        line_greet();
    }
    clock_plan(board_now() + boot, boot_loader_ends, starts << 2 | cause);
}

void board_power_on(cycles_t boot) {
    board.powered = true;
    memory_forget();
    begin(POWER_ON, boot);
}

void board_power_off(void) {
    memory_note_stack();
    memory_tear();
    board.powered = board.booting = false;
    reset_chip();
    tell(LINE, board_now(), "off");
}

void board_reset(enum cause cause) {
    if (cause == POWER_ON) {
        memory_tear();
        memory_forget();
    } else if (cause == BROWN_OUT) {
        memory_tear();
    }
    begin(cause, cause == POWER_ON || cause == EXTERNAL ? board.boot : 0);
}

static bool interrupted_before; /* interrupts were on when it began to hang */

/*
 * Where the stack of a main program that stands still ends: what runs with a deeper one is an
 * interrupt. Nowhere as long as the program hasn't come to a place where interrupts are on.
 */
#define NOWHERE 0
static unsigned stands_at;

static void hang_ends(cycles_t when, uint32_t value) {
    (void)when;
    if (value != starts || !board.hung) {
        return;
    }
    board.hung = false;
    if (interrupted_before) { /* as the instruction that lets them in */
        board.avr->sreg[S_I] = 1;
        board.avr->interrupt_state = -1;
    }
}

void board_hang(cycles_t duration) {
    if (!board.hung) {
        interrupted_before = board.avr->sreg[S_I];
    }
    board.hung = true;
    board.interruptible = false;
    board.avr->sreg[S_I] = 0;
    board.avr->interrupt_state = 0;
    if (duration != NEVER) {
        clock_plan(board_now() + duration, hang_ends, starts);
    }
}

static void standing_ends(cycles_t when, uint32_t value) {
    (void)when;
    if (value == starts) {
        board.hung = false;
    }
}

void board_stand_still(cycles_t duration) {
    board.hung = board.interruptible = true;
    stands_at = NOWHERE;
    if (duration != NEVER) {
        clock_plan(board_now() + duration, standing_ends, starts);
    }
}

void board_crash(const char *reason) {
    if (board.crashed) {
        return;
    }
    board.crashed = reason;
    board.crashed_at = board_now();
    tell(CRASH, board_now(), "crash %s", reason);
}

/* ---------------------------------------------------------------- running */

/*
 * The firmware bites its own watchdog: simavr wants to run a function that resets the chip. It gets
 * what it wants, but by the way that all resets go.
 */
static void look_at_watchdog(void) {
    if (board.avr->run == avr_callback_run_raw) {
        return;
    }
    begin(WATCHDOG, 0);
    board.avr->run = avr_callback_run_raw;
}

/*
 * The instructions up to what comes next. simavr ends the stretch by itself when an interrupt is
 * raised, and when a timer is set: its limit for all further ones is one cycle.
 */
static avr_flashaddr_t run_instructions(cycles_t until) {
    avr_t *avr = board.avr;
    cycles_t stretch = until - avr->cycle;
    stretch = stretch < idle ? stretch : idle;
    avr->run_cycle_count = stretch < STRETCH ? stretch : STRETCH;
    return avr_run_one(avr);
}

static unsigned stack_pointer(void) {
    return (unsigned)(board.avr->data[R_SPL] | board.avr->data[R_SPH] << 8);
}

/*
 * The program goes in a circle just now. One that can be interrupted does so from the first moment
 * on at which interrupts are on, and whenever none of them runs.
 */
static bool stands_still(void) {
    avr_t *avr = board.avr;
    if (!board.hung || !board.interruptible) {
        return board.hung;
    }
    if (stands_at == NOWHERE && avr->sreg[S_I] && avr->interrupt_state == 0) {
        stands_at = stack_pointer();
    }
    return stands_at == stack_pointer();
}

/* An interrupt that waits is let in after this: a circle is one jump. */
#define CIRCLE 2

/* How long nothing happens while no instruction is carried out. */
static cycles_t rest_of(cycles_t until) {
    avr_t *avr = board.avr;
    cycles_t rest = idle < until - avr->cycle ? idle : until - avr->cycle;
    return avr->sreg[S_I] && avr->interrupt_state && rest > CIRCLE ? CIRCLE : rest;
}

/* Let the chip run, or sleep, for a moment, at most until then. */
static void step(cycles_t until) {
    avr_t *avr = board.avr;
    avr_flashaddr_t pc = avr->pc;
    bool still = stands_still();
    if (avr->state == cpu_Running && !still) {
        pc = run_instructions(until);
    }
    idle = avr_cycle_timer_process(avr);
    avr->pc = pc;
    if (avr->state == cpu_Crashed || forbidden) {
        board_crash(memory_stack_fits() ? forbidden ? forbidden : "lost" : "stack");
    } else if (avr->state == cpu_Sleeping && !avr->sreg[S_I] && !board.hung) {
        board_crash("asleep");
    } else if ((avr->state == cpu_Sleeping || still) && avr->cycle < until) {
        avr->cycle += rest_of(until);
    }
    if (avr->interrupt_state && (!board.hung || board.interruptible)) {
        avr_service_interrupts(avr);
    }
    look_at_watchdog();
}

void board_run(cycles_t until) {
    avr_t *avr = board.avr;
    clock_do(avr->cycle);
    while (avr->cycle < until && !board.stopped) {
        cycles_t stop = clock_next < until ? clock_next : until;
        if (!board_runs()) {
            avr->cycle = stop;
        } else {
            step(stop);
        }
        clock_do(avr->cycle);
    }
}

/* ---------------------------------------------------------------- registers */

struct register_write board_hook_write(avr_io_addr_t address, avr_io_write_t ours) {
    avr_io_addr_t io = AVR_DATA_TO_IO(address);
    struct register_write hook = {board.avr->io[io].w.c, board.avr->io[io].w.param};
    board.avr->io[io].w.c = ours;
    board.avr->io[io].w.param = NULL;
    return hook;
}

void board_write(const struct register_write *hook, avr_io_addr_t address, uint8_t value) {
    if (hook->before) {
        hook->before(board.avr, address, value, hook->param);
    } else {
        board.avr->data[address] = value;
    }
}

void board_hook_read(avr_io_addr_t address, avr_io_read_t ours) {
    avr_io_addr_t io = AVR_DATA_TO_IO(address);
    board.avr->io[io].r.c = ours;
    board.avr->io[io].r.param = NULL;
}
