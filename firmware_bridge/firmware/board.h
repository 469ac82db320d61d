/*
 * What the panel's program asks of its board. The AVR code answers, and the host's test library.
 */
#ifndef PANEL_BOARD_H
#define PANEL_BOARD_H

#include <stdbool.h>
#include <stdint.h>

/* Send a frame, whole or not at all; false if there is no room for it now. */
bool board_send(const uint8_t *frame, uint8_t length);

/* Keep this number without power. Takes its time, but never the caller's. */
void board_keep_uid(uint32_t uid);

/* How many bytes from the host were lost because nobody took them in time, since the start. */
uint16_t board_overruns(void);

#endif
