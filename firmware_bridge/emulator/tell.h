/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the emulator tells those who watch. */

#ifndef TELL_H
#define TELL_H

#include "clock.h"

/* What can be watched. */
enum topic {
    LAMPS = 1, /* lamps, pixels and contacts */
    LINE = 2,  /* bytes of both directions, the port, resets */
    HOST = 4,  /* bytes as they arrive at the host */
    CRASH = 8, /* told to everybody who watches anything */
};

/* Tell an event that happened at a time. */
__attribute__((format(printf, 3, 4))) void tell(enum topic topic, cycles_t when, const char *format,
                                                ...);

/* Somebody watches this. */
bool told(enum topic topic);

#endif
