/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Addresses of the ATmega328P's registers in its data space, and bits in them. */

#ifndef REGISTERS_H
#define REGISTERS_H

#define PINB 0x23
#define DDRB 0x24
#define PORTB 0x25
#define PINC 0x26
#define DDRC 0x27
#define PORTC 0x28
#define PIND 0x29
#define DDRD 0x2A
#define PORTD 0x2B

#define EECR 0x3F
#define EECR_EEPE 0x02
#define EECR_EEMPE 0x04
#define EEARL 0x41
#define EEARH 0x42

#define MCUSR 0x54
#define MCUCR 0x55
#define MCUCR_PUD 0x10

#define UCSR0A 0xC0
#define UCSR0A_RXC 0x80
#define UCSR0A_FE 0x10
#define UCSR0A_DOR 0x08
#define UCSR0A_U2X 0x02
#define UCSR0B 0xC1
#define UCSR0B_RXEN 0x10
#define UCSR0C 0xC2
#define UBRR0L 0xC4
#define UBRR0H 0xC5
#define UDR0 0xC6

#define RAM_BEGIN 0x100
#define RAM_END 0x8FF

#endif
