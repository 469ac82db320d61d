/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The receiver, in place of simavr's: see uart.h.
 */
#include "uart.h"

#include "board.h"
#include "line.h"
#include "registers.h"

#include <simavr/avr_uart.h>
#include <string.h>

#define BUFFER 2
#define BITS_OF_A_BYTE 10

struct uart_counts uart_counts;

struct frame {
    uint8_t byte;
    bool error;
};

static struct frame held[BUFFER + 1]; /* the last one is the shift register's */
static unsigned holding;
static bool no_room; /* for the byte that arrives just now */
static bool overrun; /* the flag DOR */
static avr_uart_t *uart;
static struct register_write ucsra_write, ucsrb_write, ucsrc_write, ubrrl_write;

unsigned uart_bit(void) {
    const uint8_t *data = board.avr->data;
    unsigned divisor = (unsigned)(data[UBRR0L] | (data[UBRR0H] & 0xF) << 8) + 1;
    return divisor * (data[UCSR0A] & UCSR0A_U2X ? 8 : 16);
}

unsigned uart_baud(void) {
    return (CYCLES_PER_S + uart_bit() / 2) / uart_bit();
}

/* ---------------------------------------------------------------- receiving */

/* Set the flags, and ask for the interrupt as long as there is something to read. */
static void show(void) {
    avr_t *avr = board.avr;
    uint8_t flags = avr->data[UCSR0A] & (uint8_t)~(UCSR0A_RXC | UCSR0A_FE | UCSR0A_DOR);
    if (overrun) {
        flags |= UCSR0A_DOR;
    }
    if (holding && held[0].error) {
        flags |= UCSR0A_FE;
    }
    avr->data[UCSR0A] = flags | (holding ? UCSR0A_RXC : 0);
    if (holding) {
        avr_raise_interrupt(avr, &uart->rxc);
    } else if (uart->rxc.pending) {
        avr_clear_interrupt(avr, &uart->rxc);
        avr->data[UCSR0A] &= (uint8_t)~UCSR0A_RXC; /* simavr leaves this one set */
    }
}

/* The boot loader takes what comes for itself. */
static bool listens(void) {
    return board_runs() && board.avr->data[UCSR0B] & UCSR0B_RXEN;
}

void uart_begins(void) {
    no_room = holding > BUFFER;
}

bool uart_arrives(uint8_t byte, bool frame_error) {
    if (!listens()) {
        return false;
    }
    uart_counts.received++;
    uart_counts.frame_errors += frame_error;
    if (no_room) {
        uart_counts.overruns++;
        uart_counts.told_of += !overrun;
        overrun = true;
    } else if (holding <= BUFFER) {
        held[holding++] = (struct frame){byte, frame_error};
    }
    show();
    return !no_room;
}

static uint8_t read_udr(avr_t *avr, avr_io_addr_t address, void *param) {
    (void)param;
    if (holding) {
        avr->data[address] = held[0].byte;
        memmove(held, held + 1, --holding * sizeof *held);
        overrun = false;
        show();
    }
    return avr->data[address];
}

static uint8_t read_ucsra(avr_t *avr, avr_io_addr_t address, void *param) {
    (void)param;
    return avr->data[address];
}

/* ---------------------------------------------------------------- settings */

/*
 * simavr computes the time of a byte when UBRR0L is written, with eleven bits. On silicon, the
 * order of writing doesn't matter, and 8N1 has ten.
 */
static void time_bytes(void) {
    uart->cycles_per_byte = uart_bit() * BITS_OF_A_BYTE;
}

static void write_ucsra(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param) {
    (void)avr, (void)param;
    board_write(&ucsra_write, address, value);
    show(); /* nothing that is written changes the receiver's flags */
    time_bytes();
}

static void write_ucsrb(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param) {
    (void)param;
    board_write(&ucsrb_write, address, value);
    if (!(avr->data[UCSR0B] & UCSR0B_RXEN)) {
        holding = 0;
        overrun = false;
    }
    show();
}

static void write_ucsrc(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param) {
    (void)avr, (void)param;
    board_write(&ucsrc_write, address, value);
    time_bytes();
}

static void write_ubrrl(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param) {
    (void)avr, (void)param;
    board_write(&ubrrl_write, address, value);
    time_bytes();
}

static void sent(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq, (void)param;
    line_from_chip((uint8_t)value);
}

/* ---------------------------------------------------------------- set-up */

void uart_attach(void) {
    for (avr_io_t *io = board.avr->io_port; io != NULL; io = io->next) {
        if (strcmp(io->kind, "uart") == 0 && ((avr_uart_t *)io)->name == '0') {
            uart = (avr_uart_t *)io;
        }
    }
    uart->flags =
        0; /* simavr prints nothing, and doesn't sleep when the firmware looks at its flags */
    board_hook_read(UDR0, read_udr);
    board_hook_read(UCSR0A, read_ucsra);
    ucsra_write = board_hook_write(UCSR0A, write_ucsra);
    ucsrb_write = board_hook_write(UCSR0B, write_ucsrb);
    ucsrc_write = board_hook_write(UCSR0C, write_ucsrc);
    ubrrl_write = board_hook_write(UBRR0L, write_ubrrl);
    avr_irq_register_notify(avr_io_getirq(board.avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT),
                            sent, NULL);
}

void uart_reset(void) {
    holding = 0;
    overrun = no_room = false;
    time_bytes();
    line_chip_reset();
}
