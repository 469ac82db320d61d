/* The board, an Arduino Uno or Nano: what its parts offer to the main program in hal_avr.c. */
#ifndef PANEL_HAL_AVR_H
#define PANEL_HAL_AVR_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

/* ------------------------------------------------------------ the serial line: hal_avr_uart.c */

void uart_start(void);

/* The next byte from the host; false if none has come. */
bool uart_take(uint8_t *byte);

/* A byte has come and waits. */
bool uart_has_byte(void);

/* Take what the receiver has, where interrupts are off for long. */
void uart_poll(void);

/* ------------------------------------------------------------ lamps: hal_avr_lamps.c */

void lamps_start(void);

/* How bright each lamp is, from 0 to 255, from now on. */
void lamps_show(const uint8_t levels[BUTTONS]);

/* ------------------------------------------------------------ coloured lamps: hal_avr_pixels.c */

void pixels_start(void);

/* The new level of a seat's pixel, and its colour (enum color); sent with `pixels_send`. */
void pixel_show(uint8_t button, uint8_t level, uint8_t color);

/* Send all pixels, if any has changed. Takes 30 microseconds for each. */
void pixels_send(void);

/* ------------------------------------------------------------ the number: hal_avr_uid.c */

/* The number that was kept; 0 if there is none. */
uint32_t uid_load(void);

/* Write the next byte of a number that has to be kept, if there is one and the EEPROM is free. */
void uid_pass(void);

#endif
