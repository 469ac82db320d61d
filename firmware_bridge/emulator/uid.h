/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The panel's number in the EEPROM, as the firmware keeps it (see uid_record.h there): at 16, the
 * number (4 bytes, little endian), CRC-16 of these (2 bytes), and 0x5A.
 */

#ifndef UID_H
#define UID_H

#include <stdint.h>

void uid_put(uint32_t uid);

/* 0 if there is none, or a broken one. */
uint32_t uid_get(void);

#endif
