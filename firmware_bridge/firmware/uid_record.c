/* The number that lasts: see uid_record.h. */
#include "uid_record.h"

#include <string.h>

#include "framing.h"

#define UID_SIZE sizeof(uint32_t)
#define CHECK_PLACE UID_SIZE
#define VALID_PLACE (UID_RECORD_SIZE - 1u)

static uint16_t check_of(uint32_t uid) {
    uint8_t bytes[UID_SIZE];
    memcpy(bytes, &uid, UID_SIZE);
    return crc16(bytes, UID_SIZE);
}

uint32_t uid_record_read(const uint8_t record[UID_RECORD_SIZE]) {
    uint32_t uid;
    uint16_t check;
    memcpy(&uid, record, UID_SIZE);
    memcpy(&check, record + CHECK_PLACE, sizeof check);
    return record[VALID_PLACE] == UID_RECORD_VALID && check == check_of(uid) ? uid : 0;
}

struct uid_write uid_record_write(uint32_t uid, uint8_t done) {
    if (done == 0) {
        return (struct uid_write){VALID_PLACE, (uint8_t)~UID_RECORD_VALID};
    }
    uint8_t record[UID_RECORD_SIZE];
    uint16_t check = check_of(uid);
    memcpy(record, &uid, UID_SIZE);
    memcpy(record + CHECK_PLACE, &check, sizeof check);
    record[VALID_PLACE] = UID_RECORD_VALID;
    uint8_t place = (uint8_t)(done - 1u);
    return (struct uid_write){place, record[place]};
}
