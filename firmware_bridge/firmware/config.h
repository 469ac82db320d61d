/*
 * What is chosen when the firmware is compiled, and its version.
 *
 * BUTTONS and PIXELS come from `make BUTTONS=4 PIXELS=yes`, FIRMWARE_BUILD from the Makefile too: a
 * checksum of the sources, so that the same sources always make the same program.
 */
#ifndef PANEL_CONFIG_H
#define PANEL_CONFIG_H

#include "panel_messages.h"

#define FIRMWARE_MAJOR 1u
#define FIRMWARE_MINOR 0u

#ifndef FIRMWARE_BUILD
#define FIRMWARE_BUILD 0u
#endif

/* Seats, each with a button and a lamp. */
#ifndef BUTTONS
#define BUTTONS 4u
#endif
_Static_assert(BUTTONS >= FEWEST_BUTTONS && BUTTONS <= MOST_BUTTONS, "a panel has 2 to 6 buttons");

/* A WS2812 for each seat, in its colour, beside the lamp. */
#ifdef PIXELS
#define FIRMWARE_CAPS (CAPS_MASTER_BUTTON | CAPS_PIXELS)
#else
#define FIRMWARE_CAPS CAPS_MASTER_BUTTON
#endif

/* Contacts are numbered like seats; the last one is the master button, which belongs to no seat. */
#define MASTER BUTTONS
#define CONTACTS (BUTTONS + 1u)

#endif
