/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The serial line between host and chip: how long bytes take, and what becomes of them on the way.
 */

#ifndef LINE_H
#define LINE_H

#include "clock.h"

#include <stddef.h>

/* Bytes from the host, sent one after the other. False if there is no room for them. */
bool line_send(const uint8_t *bytes, size_t count);

/* How many more bytes there is room for. */
size_t line_room(void);

/* Bytes from the host that are still on their way. */
size_t line_waiting(void);

/* Forget what the host has sent: the cable was pulled out. */
void line_cut(void);

/* The host's speed, in baud. */
void line_set_baud(unsigned baud);
unsigned line_baud(void);

/* The chip has begun to send a byte. */
void line_from_chip(uint8_t byte);

/* The chip was reset: what it was sending is lost. */
void line_chip_reset(void);

/* The boot loader says something, at the host's speed. */
void line_greet(void);

/* Bytes that the firmware has sent. */
unsigned line_sent(void);

/* Something is on its way, in either direction. */
bool line_busy(void);

/* Where bytes for the host go; set by the port. */
extern void (*line_to_host)(uint8_t byte);

#endif
