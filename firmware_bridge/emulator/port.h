/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The port that programs open: a pseudo terminal, and a name for it that lasts. */

#ifndef PORT_H
#define PORT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

/* Plug it in, with a name in the file system if there is one. False, with a sentence, if not. */
bool port_plug(const char *link, char *error, size_t room);

/* Pull it out: who has it open gets an error, and its name is gone. */
void port_unplug(void);

/* What programs open; `-` while it is unplugged, `virtual` if it is only the control socket. */
const char *port_name(void);

/* A program has it open. */
bool port_is_open(void);

/* The host's line has this speed, whatever a program sets; 0: what the program sets. */
void port_fix_baud(unsigned baud);

/* The host's speed at this moment. */
unsigned port_baud(void);

/* Opening the port resets the board. */
extern bool port_resets;

/* What is to be polled, while that makes sense. Returns how many. */
size_t port_polls(struct pollfd *polls);

/*
 * Look whether it was opened or closed, and take what a program has written. `found` is what the
 * poll has found.
 */
void port_look(short found);

#endif
