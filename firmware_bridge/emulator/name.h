/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A name in the file system that leads to the port, for as long as it is plugged in. */

#ifndef NAME_H
#define NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Let a name lead to a terminal. An older link to a terminal or to nowhere is replaced; all else is
 * left alone, and so is the name of another panel that is plugged in. False, with a sentence, then.
 */
bool name_take(const char *link, const char *terminal, char *error, size_t room);

/* Remove it, if it still leads there. */
void name_release(void);

#endif
