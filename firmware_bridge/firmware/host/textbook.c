/* Frames, read as the books describe them: see textbook.h. */
#include "textbook.h"

#include <stdbool.h>

#include "../panel_messages.h"

static uint16_t crc_of(const uint8_t *bytes, uint32_t length) {
    uint32_t shift = 0xFFFF;
    for (uint32_t i = 0; i < length; i++) {
        for (int bit = 7; bit >= 0; bit--) {
            bool out = (shift >> 15 & 1) != (uint32_t)(bytes[i] >> bit & 1);
            shift = (shift << 1 & 0xFFFF) ^ (out ? 0x1021 : 0);
        }
    }
    return (uint16_t)shift;
}

enum piece piece_of(const uint8_t *piece, uint32_t length, uint8_t *content, uint32_t *size) {
    *size = 0;
    for (uint32_t at = 0; at < length;) {
        uint32_t run = piece[at];
        if (at + run > length) {
            return PIECE_GARBAGE;
        }
        for (uint32_t i = 1; i < run; i++) {
            content[(*size)++] = piece[at + i];
        }
        at += run;
        if (at < length) {
            content[(*size)++] = 0;
        }
    }
    if (*size < SHORTEST_CONTENT || *size > LONGEST_CONTENT) {
        return PIECE_GARBAGE;
    }
    uint16_t given = (uint16_t)(content[*size - 2] | content[*size - 1] << 8);
    return given == crc_of(content, *size - 2) ? PIECE_FRAME : PIECE_CRC;
}
