/* The serial line: 115200 baud, 8N1, both directions by interrupt through rings of bytes. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <util/atomic.h>

#include "board.h"
#include "counting.h"
#include "framing.h"
#include "hal_avr.h"

#define BAUD 115200ul
/* With U2X0 a bit has 8 clocks: 117647 baud, 2.1 % too fast; 16 clocks would be 3.5 % too slow. */
#define CLOCKS_PER_BIT 8ul
#define BAUD_DIVISOR ((F_CPU + CLOCKS_PER_BIT * BAUD / 2) / (CLOCKS_PER_BIT * BAUD) - 1)

/* Powers of two. 64 bytes last 5.5 ms on the line; the program takes them each millisecond. */
#define RECEIVED_SIZE 64u
/* Four of the longest frames, which have 28 bytes: more than the line takes in ten milliseconds. */
#define SENDING_SIZE 128u
_Static_assert(SENDING_SIZE > LONGEST_FRAME, "a frame is sent whole");

/* A ring is empty when both places are the same; so one byte of it is never used. */
static volatile uint8_t received[RECEIVED_SIZE];
static volatile uint8_t received_in;
static volatile uint8_t received_out;
static volatile uint8_t sending[SENDING_SIZE];
static volatile uint8_t sending_in;
static volatile uint8_t sending_out;
static volatile uint16_t overruns;

static uint8_t after(uint8_t place, uint8_t size) {
    return (uint8_t)((place + 1u) & (size - 1u));
}

void uart_start(void) {
    /* First the speed's doubling, then the divisor: some emulators look at both only then. */
    UCSR0A = _BV(U2X0);
    UBRR0H = (uint8_t)(BAUD_DIVISOR >> 8);
    UBRR0L = (uint8_t)BAUD_DIVISOR;
    UCSR0C = _BV(UCSZ01) | _BV(UCSZ00);
    UCSR0B = _BV(RXEN0) | _BV(TXEN0) | _BV(RXCIE0);
}

/* Take a byte that the receiver has. Interrupts are off. */
static inline void receive(void) {
    uint8_t status = UCSR0A; /* before the byte: reading that moves the next one up */
    uint8_t byte = UDR0;
    uint8_t next = after(received_in, RECEIVED_SIZE);
    bool full = next == received_out;
    if (full || (status & _BV(DOR0))) {
        uint16_t count = overruns;
        count_up(&count);
        overruns = count;
    }
    if (!full) {
        received[received_in] = byte;
        received_in = next;
    }
}

ISR(USART_RX_vect) {
    receive();
}

void uart_poll(void) {
    while (UCSR0A & _BV(RXC0)) {
        receive();
    }
}

ISR(USART_UDRE_vect) {
    uint8_t place = sending_out;
    if (place == sending_in) {
        UCSR0B &= (uint8_t)~_BV(UDRIE0);
        return;
    }
    UDR0 = sending[place];
    sending_out = after(place, SENDING_SIZE);
}

bool uart_has_byte(void) {
    return received_in != received_out;
}

bool uart_take(uint8_t *byte) {
    uint8_t place = received_out;
    if (place == received_in) {
        return false;
    }
    *byte = received[place];
    received_out = after(place, RECEIVED_SIZE);
    return true;
}

bool board_send(const uint8_t *frame, uint8_t length) {
    uint8_t place = sending_in;
    uint8_t used = (uint8_t)((place - sending_out) & (SENDING_SIZE - 1u));
    if (length > SENDING_SIZE - 1u - used) {
        return false;
    }
    for (uint8_t i = 0; i < length; i++) {
        sending[place] = frame[i];
        place = after(place, SENDING_SIZE);
    }
    sending_in = place;
    /* The interrupt clears this bit in the same register. */
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) {
        UCSR0B |= _BV(UDRIE0);
    }
    return true;
}

uint16_t board_overruns(void) {
    uint16_t count;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) {
        count = overruns;
    }
    return count;
}
