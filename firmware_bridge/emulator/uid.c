/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The panel's number: the same record as the firmware's, made independently.
 */
#include "uid.h"

#include "memory.h"

#include <string.h>

#define ADDRESS 16
#define NUMBER 4
#define RECORD 7
#define VALID 0x5A

static void make_record(uint32_t uid, uint8_t record[RECORD]) {
    uint16_t crc = 0xFFFF;
    for (int i = 0; i < NUMBER; i++) {
        record[i] = (uint8_t)(uid >> 8 * i);
        crc ^= (uint16_t)(record[i] << 8);
        for (int bit = 0; bit < 8; bit++) {
            crc = (uint16_t)(crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0));
        }
    }
    record[NUMBER] = (uint8_t)crc;
    record[NUMBER + 1] = (uint8_t)(crc >> 8);
    record[RECORD - 1] = VALID;
}

void uid_put(uint32_t uid) {
    uint8_t record[RECORD];
    make_record(uid, record);
    memory_write_eeprom(ADDRESS, record, RECORD);
}

uint32_t uid_get(void) {
    uint8_t found[RECORD], right[RECORD];
    memory_read_eeprom(ADDRESS, found, RECORD);
    uint32_t uid = 0;
    for (int i = NUMBER - 1; i >= 0; i--) {
        uid = uid << 8 | found[i];
    }
    make_record(uid, right);
    return memcmp(found, right, RECORD) == 0 ? uid : 0;
}
