/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command line.
 */

#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

/* The exit code for what can't be used. */
#define BAD_USE 2

struct options {
    const char *elf, *control, *link;
    bool in_virtual_time, greeting, no_dtr, remove_folder;
    unsigned long boot_ms, uid, seed, host_baud;
    double noise;
};

/* Ends the process, with a sentence, if they make no sense. */
struct options options_read(int argc, char **argv);

#endif
