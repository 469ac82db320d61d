/* COBS, CRC and the two zeros: see framing.h. */
#include "framing.h"

#include <stdbool.h>
#include <string.h>

#define CRC_START 0xFFFFu
#define CRC_SIZE 2u
/* The type and the number, in front of the body. */
#define HEAD_SIZE 2u
_Static_assert(HEAD_SIZE + CRC_SIZE == SHORTEST_CONTENT, "the shortest frame has no body");
_Static_assert(LONGEST_FRAME == LONGEST_CODED + 2, "a frame is COBS between two zeros");

uint16_t crc16(const uint8_t *bytes, uint8_t length) {
    uint16_t crc = CRC_START;
    for (uint8_t i = 0; i < length; i++) {
        /* A byte at a time without a table: what eight steps of the shift register come to. */
        crc = (uint16_t)(crc >> 8 | crc << 8);
        crc ^= bytes[i];
        crc ^= (uint16_t)((crc & 0xFF) >> 4);
        crc ^= (uint16_t)(crc << 12);
        crc ^= (uint16_t)((crc & 0xFF) << 5);
    }
    return crc;
}

/*
 * Put zeros back where COBS has distances to the next one. The first byte is a distance too, and
 * no content. False if a distance leads beyond the end.
 */
static bool uncover(uint8_t *coded, uint8_t length) {
    uint8_t place = 0;
    while (place < length) {
        uint8_t distance = coded[place];
        if (distance > length - place) {
            return false;
        }
        coded[place] = 0;
        place = (uint8_t)(place + distance);
    }
    return true;
}

/* Replace each zero by the distance to the next one; the first byte is for the first distance. */
static void cover(uint8_t *coded, uint8_t length) {
    uint8_t distance = 1;
    for (uint8_t place = (uint8_t)(length - 1); place > 0; place--) {
        if (coded[place] == 0) {
            coded[place] = distance;
            distance = 0;
        }
        distance++;
    }
    coded[0] = distance;
}

/* Read what stood between two zeros. */
static enum framing piece_read(uint8_t *coded, uint8_t length, struct content *content) {
    if (length < SHORTEST_CONTENT + 1 || length > LONGEST_CODED || !uncover(coded, length)) {
        return FRAMING_GARBAGE;
    }
    const uint8_t *covered = coded + 1;
    uint8_t size = (uint8_t)(length - 1u - CRC_SIZE);
    uint16_t given = (uint16_t)(covered[size] | covered[size + 1] << 8);
    if (crc16(covered, size) != given) {
        return FRAMING_CRC_ERROR;
    }
    content->code = covered[0];
    content->number = covered[1];
    content->body = covered + HEAD_SIZE;
    content->length = (uint8_t)(size - HEAD_SIZE);
    return FRAMING_FRAME;
}

enum framing decoder_take(struct decoder *decoder, uint8_t byte, struct content *content) {
    if (byte != 0) {
        if (decoder->length < LONGEST_CODED) {
            decoder->coded[decoder->length] = byte;
        }
        if (decoder->length <= LONGEST_CODED) {
            decoder->length++;
        }
        return FRAMING_NOTHING;
    }
    uint8_t length = decoder->length;
    decoder->length = 0;
    /* Several zeros are as good as one. */
    return length == 0 ? FRAMING_NOTHING : piece_read(decoder->coded, length, content);
}

uint8_t frame_encode(uint8_t *frame, uint8_t code, uint8_t number, const void *body,
                     uint8_t length) {
    uint8_t *coded = frame + 1;
    uint8_t *covered = coded + 1;
    covered[0] = code;
    covered[1] = number;
    memcpy(covered + HEAD_SIZE, body, length);
    uint8_t size = (uint8_t)(HEAD_SIZE + length);
    uint16_t crc = crc16(covered, size);
    covered[size] = (uint8_t)crc;
    covered[size + 1] = (uint8_t)(crc >> 8);
    uint8_t coded_size = (uint8_t)(1u + size + CRC_SIZE);
    cover(coded, coded_size);
    frame[0] = 0;
    coded[coded_size] = 0;
    return (uint8_t)(coded_size + 2);
}
