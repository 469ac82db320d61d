/*
 * The panel's number as it is kept in the EEPROM: a record that is either whole or no record.
 *
 * At UID_RECORD_ADDRESS: uid (4 bytes, little endian), CRC-16 of these four (2 bytes, little
 * endian; see framing.h), and a byte that is UID_RECORD_VALID. Bytes are written one by one, and
 * the power may fail between any two: the last byte is spoilt first and made valid last, so that
 * no mixture of an old number and a new one is ever taken for a number.
 */
#ifndef PANEL_UID_RECORD_H
#define PANEL_UID_RECORD_H

#include <stdint.h>

/* Not 0: a supply that breaks down most often harms the cell that the address rests at. */
#define UID_RECORD_ADDRESS 16u
#define UID_RECORD_SIZE 7u
#define UID_RECORD_VALID 0x5Au
/* Writes that a record takes: each of its bytes, and the spoiling before. */
#define UID_RECORD_WRITES (UID_RECORD_SIZE + 1u)

/* The number of a record; 0 if there is none. */
uint32_t uid_record_read(const uint8_t record[UID_RECORD_SIZE]);

/* One write of a byte: where in the record, and what. */
struct uid_write {
    uint8_t place;
    uint8_t byte;
};

/* The write that is to be done after so many others, 0 to UID_RECORD_WRITES - 1. */
struct uid_write uid_record_write(uint32_t uid, uint8_t done);

#endif
