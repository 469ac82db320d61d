/*
 * How messages travel: 00 | COBS(type, number, body, CRC-16) | 00, found again after any garbage.
 *
 * The same as tableturn_bridge/frames.py, a byte at a time.
 */
#ifndef PANEL_FRAMING_H
#define PANEL_FRAMING_H

#include <stdint.h>

#include "panel_messages.h"

/* A frame with the zeros that enclose it, and the byte that COBS adds. */
#define FRAME_SIZE(body_size) ((body_size) + SHORTEST_CONTENT + 3u)
#define LONGEST_FRAME FRAME_SIZE(LONGEST_BODY)

/* What a byte has completed. */
enum framing {
    /* Nothing yet. */
    FRAMING_NOTHING,
    /* A frame with a correct CRC, of whatever type. */
    FRAMING_FRAME,
    /* A piece of a frame's length whose CRC is wrong. */
    FRAMING_CRC_ERROR,
    /* A piece that can't be a frame: too short, too long, or no COBS. */
    FRAMING_GARBAGE,
};

/* The bytes since the last zero; zeroed memory is a decoder at its beginning. */
struct decoder {
    uint8_t coded[LONGEST_CODED];
    /* One more than fit says that the piece is too long already. */
    uint8_t length;
};

/* What is in a good frame. `body` points into the decoder, and is good until the next byte. */
struct content {
    uint8_t code;
    uint8_t number;
    uint8_t length;
    const uint8_t *body;
};

/* Take a byte from the line. `content` is filled in with FRAMING_FRAME only. */
enum framing decoder_take(struct decoder *decoder, uint8_t byte, struct content *content);

/*
 * Write the frame of a message, of FRAME_SIZE(length) bytes; returns that. The body has at most
 * LONGEST_BODY bytes.
 */
uint8_t frame_encode(uint8_t *frame, uint8_t code, uint8_t number, const void *body,
                     uint8_t length);

/* CRC-16 with the polynomial 0x1021 from 0xFFFF: 0x29B1 for "123456789". */
uint16_t crc16(const uint8_t *bytes, uint8_t length);

#endif
