/* A board for tests on this machine: its line is a buffer, its memory a variable. */
#ifndef PANEL_HOST_BOARD_H
#define PANEL_HOST_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#define HOST_LINE_SIZE 65536u

struct host_board {
    uint8_t line[HOST_LINE_SIZE];
    uint32_t length;
    /* How many more bytes the line takes until it is emptied. */
    uint32_t room;
    /* What is kept without power. */
    uint32_t uid;
    uint16_t overruns;
};

extern struct host_board host_board;

#endif
