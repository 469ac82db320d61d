/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The buttons' contacts: PC0 to PC5, and PD2 for the master button, each to ground. */

#ifndef CONTACTS_H
#define CONTACTS_H

#include "clock.h"

#define BUTTONS 6
#define MASTER 6
#define CONTACTS 7

void contacts_attach(void);

/*
 * Close or open a contact at a time; then it bounces: so many more edges, every so often. False if
 * too many edges are planned already.
 */
bool contacts_move(unsigned contact, bool closed, cycles_t when, unsigned bounces, cycles_t every);

#endif
