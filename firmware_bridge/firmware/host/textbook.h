/*
 * Frames of the line, read as the books describe COBS and CRC-16: slowly, and apart from the code
 * that is to be tested.
 */
#ifndef PANEL_TEXTBOOK_H
#define PANEL_TEXTBOOK_H

#include <stdint.h>

/* The longest piece of the line that is read; no frame is as long. */
#define LONGEST_PIECE 300u

/* What stands between two zeros: a frame, one whose CRC is wrong, or what can't be one. */
enum piece {
    PIECE_FRAME,
    PIECE_CRC,
    PIECE_GARBAGE,
};

/* Take COBS off a piece; the content with its CRC goes into `content`, of the piece's length. */
enum piece piece_of(const uint8_t *piece, uint32_t length, uint8_t *content, uint32_t *size);

#endif
