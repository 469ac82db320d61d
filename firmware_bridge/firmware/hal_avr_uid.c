/* The panel's number in the EEPROM. A byte takes 3.4 ms to be written: nobody waits for it. */
#include <avr/eeprom.h>

#include "board.h"
#include "hal_avr.h"
#include "uid_record.h"

static uint32_t kept;
static uint8_t writes_done = UID_RECORD_WRITES;

static uint8_t *address_of(uint8_t place) {
    return (uint8_t *)(uintptr_t)(UID_RECORD_ADDRESS + place);
}

uint32_t uid_load(void) {
    uint8_t record[UID_RECORD_SIZE];
    eeprom_read_block(record, address_of(0), sizeof record);
    return uid_record_read(record);
}

void board_keep_uid(uint32_t uid) {
    kept = uid;
    writes_done = 0;
}

void uid_pass(void) {
    if (writes_done == UID_RECORD_WRITES || !eeprom_is_ready()) {
        return;
    }
    struct uid_write write = uid_record_write(kept, writes_done++);
    eeprom_update_byte(address_of(write.place), write.byte);
}
