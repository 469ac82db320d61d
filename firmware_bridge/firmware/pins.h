/*
 * What is wired where, on an Arduino Uno or Nano (ATmega328P at 16 MHz).
 *
 * Buttons connect their pin to ground; the chip's own pull-ups hold it up while they are open.
 * LEDs are between their pin and ground, each with a resistor: on is high.
 */
#ifndef PANEL_PINS_H
#define PANEL_PINS_H

#include <avr/io.h>

#include "config.h"

/* One bit for each seat, from bit 0. */
#define SEAT_BITS ((1u << BUTTONS) - 1u)

/* Buttons of seats: PC0 to PC5 (A0 to A5). */
#define BUTTON_PORT PORTC
#define BUTTON_PINS PINC

/* Lamps of seats: PB0 to PB5 (D8 to D13). */
#define LAMP_DDR DDRB
#define LAMP_PORT PORTB

/* The master button: PD2 (D2). */
#define MASTER_PORT PORTD
#define MASTER_PINS PIND
#define MASTER_PIN PD2

/* The first pixel's data: PD6 (D6). */
#define PIXEL_DDR DDRD
#define PIXEL_PORT PORTD
#define PIXEL_PIN PD6

#endif
