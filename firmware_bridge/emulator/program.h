/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file with the firmware. */

#ifndef PROGRAM_H
#define PROGRAM_H

#include <simavr/sim_elf.h>
#include <stdbool.h>

/* Read a program for the chip. False if the file is none, whatever it is. */
bool program_read(const char *path, elf_firmware_t *firmware);

#endif
