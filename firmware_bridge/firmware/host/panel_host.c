/*
 * The panel's program as a library, for tests in Python: one panel, worked with plain numbers.
 *
 * What is public in the core (crc16, decoder_take, frame_encode, uid_record_read ...) can be called
 * as it is.
 */
#include <string.h>

#include "../panel_core.h"
#include "host_board.h"

static struct panel panel;

uint8_t host_buttons(void);
uint32_t host_size(void);
void host_power(uint32_t uid);
void host_start(uint8_t cause, uint8_t closed);
void host_take(const uint8_t *bytes, uint32_t length);
void host_pass(uint8_t closed);
uint32_t host_fetch(uint8_t *into);
void host_set_room(uint32_t room);
void host_set_overruns(uint16_t overruns);
void host_set_uptime(uint32_t uptime);
void host_set_number(uint16_t number);
uint32_t host_uid(void);
void host_lamps(uint8_t *into);

/* How many buttons it was compiled for. */
uint8_t host_buttons(void) {
    return BUTTONS;
}

/* Bytes of all that the program keeps, on this machine. */
uint32_t host_size(void) {
    return sizeof panel;
}

/* A new board, whose memory has this number. */
void host_power(uint32_t uid) {
    memset(&host_board, 0, sizeof host_board);
    host_board.uid = uid;
    host_board.room = HOST_LINE_SIZE;
}

/* The program starts, and says hello. */
void host_start(uint8_t cause, uint8_t closed) {
    panel_start(&panel, (enum reset_cause)cause, host_board.uid, closed);
}

/* Bytes come from the host. */
void host_take(const uint8_t *bytes, uint32_t length) {
    for (uint32_t i = 0; i < length; i++) {
        panel_take(&panel, bytes[i]);
    }
}

/* A millisecond passes. */
void host_pass(uint8_t closed) {
    panel_pass(&panel, closed);
}

/* The bytes that were sent since the last time; returns how many. */
uint32_t host_fetch(uint8_t *into) {
    uint32_t length = host_board.length;
    memcpy(into, host_board.line, length);
    host_board.length = 0;
    host_board.room = HOST_LINE_SIZE;
    return length;
}

/* The line takes so many bytes only, until they are fetched. */
void host_set_room(uint32_t room) {
    host_board.room = room < HOST_LINE_SIZE - host_board.length ? room : 0;
}

void host_set_overruns(uint16_t overruns) {
    host_board.overruns = overruns;
}

/* As if it had run for so long. */
void host_set_uptime(uint32_t uptime) {
    panel.uptime = uptime;
}

/* As if the last event had had this number. */
void host_set_number(uint16_t number) {
    panel.queue.last = number;
}

/* The number that lasts without power. */
uint32_t host_uid(void) {
    return host_board.uid;
}

/* What the lamps say, as four bytes for each: name of the sign, whether marked, level, colour. */
void host_lamps(uint8_t *into) {
    for (uint8_t button = 0; button < BUTTONS; button++) {
        struct sign sign = panel_sign(&panel, button);
        *into++ = sign.name;
        *into++ = sign.marked;
        *into++ = panel_light(&panel, button, &sign);
        *into++ = sign.color;
    }
}
