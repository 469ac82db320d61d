/* What the panel's program asks of its board, on this machine: see host_board.h. */
#include "host_board.h"

#include <string.h>

#include "../board.h"

struct host_board host_board;

bool board_send(const uint8_t *frame, uint8_t length) {
    if (length > host_board.room) {
        return false;
    }
    memcpy(host_board.line + host_board.length, frame, length);
    host_board.length += length;
    host_board.room -= length;
    return true;
}

void board_keep_uid(uint32_t uid) {
    host_board.uid = uid;
}

uint16_t board_overruns(void) {
    return host_board.overruns;
}
