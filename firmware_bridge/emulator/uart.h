/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The chip's side of the serial line: a receiver that loses bytes as silicon does.
 *
 * simavr's own receiver keeps 64 bytes, looks at no speed and counts eleven bits for each byte.
 * Here it is replaced: a buffer of two bytes, a shift register behind it, and an overrun for what
 * comes then. The sender is simavr's, with ten bits for each byte.
 */

#ifndef UART_H
#define UART_H

#include "clock.h"

struct uart_counts {
    unsigned received; /* bytes that arrived at the UART, lost or not */
    unsigned overruns; /* of them, those that found no room */
    unsigned told_of;  /* how often the firmware was told, by the flag DOR */
    unsigned frame_errors;
};

extern struct uart_counts uart_counts;

void uart_attach(void);

/* The chip was reset. */
void uart_reset(void);

/* A byte begins to arrive: whether there is room for it is decided now. */
void uart_begins(void);

/* It has arrived, perhaps without its stop bit. False if it was lost. */
bool uart_arrives(uint8_t byte, bool frame_error);

/* Cycles for each bit, as the firmware has set them. */
unsigned uart_bit(void);

/* The baud rate that the firmware has set. */
unsigned uart_baud(void);

#endif
