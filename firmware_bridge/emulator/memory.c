/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * RAM and EEPROM, as far as tests look into them or power is taken from them.
 */
#include "memory.h"

#include "registers.h"

#include <simavr/avr_eeprom.h>
#include <string.h>

#define PAINT 0xC5
#define ERASED 0xFF
/* A byte of the EEPROM is erased and written in so long (data sheet, table 8-2). */
#define EEPROM_WRITE (3400 * CYCLES_PER_US)
/* The painted bytes next to the variables that are looked at again and again. */
#define GUARD 32

static uint16_t variables_end; /* the first byte beyond .data, .bss and .noinit */
static unsigned deepest;
static bool painted;
static cycles_t eeprom_busy_until;
static unsigned eeprom_writes;
static struct register_write eecr_write;

/* ---------------------------------------------------------------- EEPROM */

static bool eeprom_busy(void) {
    return board_now() < eeprom_busy_until;
}

static unsigned eeprom_address(void) {
    return (unsigned)(board.avr->data[EEARL] | board.avr->data[EEARH] << 8) & 0x3FF;
}

/* simavr writes at once. The chip takes its time, and whoever waits for it waits. */
static void write_eecr(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param) {
    (void)param;
    bool writes = value & EECR_EEPE && avr->data[EECR] & EECR_EEMPE;
    if (writes && eeprom_busy()) {
        return; /* as the chip: not before the last byte is done */
    }
    board_write(&eecr_write, address, value);
    if (writes) {
        eeprom_busy_until = board_now() + EEPROM_WRITE;
        eeprom_writes++;
    }
}

unsigned memory_eeprom_writes(void) {
    return eeprom_writes;
}

static uint8_t read_eecr(avr_t *avr, avr_io_addr_t address, void *param) {
    (void)param;
    uint8_t rest = avr->data[address] & (uint8_t)~EECR_EEPE;
    return rest | (eeprom_busy() ? EECR_EEPE : 0);
}

void memory_tear(void) {
    const uint8_t erased = ERASED;
    if (eeprom_busy()) {
        memory_write_eeprom(eeprom_address(), &erased, 1);
    }
    eeprom_busy_until = 0;
}

void memory_write_eeprom(unsigned address, const uint8_t *bytes, unsigned count) {
    avr_eeprom_desc_t piece = {(uint8_t *)bytes, (uint16_t)address, count};
    avr_ioctl(board.avr, AVR_IOCTL_EEPROM_SET, &piece);
}

void memory_read_eeprom(unsigned address, uint8_t *bytes, unsigned count) {
    avr_eeprom_desc_t piece = {bytes, (uint16_t)address, count};
    avr_ioctl(board.avr, AVR_IOCTL_EEPROM_GET, &piece);
}

/* ---------------------------------------------------------------- RAM */

void memory_attach(const elf_firmware_t *firmware) {
    variables_end = (uint16_t)(RAM_BEGIN + firmware->datasize + firmware->bsssize);
    for (uint32_t i = 0; i < firmware->symbolcount; i++) {
        if (strcmp(firmware->symbol[i]->symbol, "_end") == 0) {
            variables_end = (uint16_t)(firmware->symbol[i]->addr & 0xFFFF);
        }
    }
    eecr_write = board_hook_write(EECR, write_eecr);
    board_hook_read(EECR, read_eecr);
}

void memory_forget(void) {
    memory_note_stack();
    uint32_t bits = 0x2545F491; /* not random: two runs have to be the same */
    for (unsigned address = RAM_BEGIN; address <= RAM_END; address++) {
        bits ^= bits << 13, bits ^= bits >> 17, bits ^= bits << 5;
        board.avr->data[address] = (uint8_t)bits;
    }
    painted = false;
}

void memory_paint(void) {
    memory_note_stack();
    memset(board.avr->data + variables_end, PAINT, RAM_END + 1u - variables_end);
    painted = true;
}

static unsigned used_now(void) {
    unsigned lowest = variables_end;
    while (lowest <= RAM_END && board.avr->data[lowest] == PAINT) {
        lowest++;
    }
    return RAM_END + 1u - lowest;
}

void memory_note_stack(void) {
    if (painted && used_now() > deepest) {
        deepest = used_now();
    }
}

bool memory_stack_fits(void) {
    unsigned pointer = (unsigned)(board.avr->data[R_SPL] | board.avr->data[R_SPH] << 8);
    if (pointer < variables_end || pointer > RAM_END) {
        return false;
    }
    for (unsigned i = 0; i < GUARD; i++) {
        if (board.avr->data[variables_end + i] != PAINT) {
            return false;
        }
    }
    return true;
}

void memory_stack(unsigned *used, unsigned *free) {
    memory_note_stack();
    *used = deepest;
    *free = RAM_END + 1u - variables_end - deepest;
}
