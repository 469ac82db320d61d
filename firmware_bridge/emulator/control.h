/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The control socket: a line asks, a line answers. Lines that begin with `! ` tell what happens. */

#ifndef CONTROL_H
#define CONTROL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#define MOST_CONNECTIONS 16
#define CONTROL_POLLS (MOST_CONNECTIONS + 1)

/* Listen at a path. False, with a sentence, if that can't be done. */
bool control_open(const char *path, char *error, size_t room);

/* Remove the socket. */
void control_close(void);

/* What is to be polled. Returns how many. */
size_t control_polls(struct pollfd *polls);

/* Serve what the poll has found. */
void control_serve(const struct pollfd *polls, size_t count);

/* Send what has been told so far, as far as it is taken. */
void control_flush(void);

/* The connection that asks just now watches these topics, from now on. */
void control_watch(int topics);

#endif
