/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the chip remembers: RAM, with the stack in it, and EEPROM. */

#ifndef MEMORY_H
#define MEMORY_H

#include "board.h"

#include <simavr/sim_elf.h>

/* Learn where the firmware's variables end, and watch the EEPROM being written. */
void memory_attach(const elf_firmware_t *firmware);

/* RAM without power has no sense any more. */
void memory_forget(void);

/* The power fails: a byte of the EEPROM that is just being written is erased, and no more. */
void memory_tear(void);

/* Paint the RAM that the firmware's variables leave over, to see later what the stack has used. */
void memory_paint(void);

/* Remember how deep the stack was, before the RAM is painted again. */
void memory_note_stack(void);

/* The stack has not reached the variables since the RAM was painted. */
bool memory_stack_fits(void);

/* The most that the stack has used since the emulator began, and what is left beyond that. */
void memory_stack(unsigned *used, unsigned *free);

/* Bytes of the EEPROM. */
void memory_write_eeprom(unsigned address, const uint8_t *bytes, unsigned count);
void memory_read_eeprom(unsigned address, uint8_t *bytes, unsigned count);

/* How many bytes of it the firmware has written. */
unsigned memory_eeprom_writes(void);

#endif
