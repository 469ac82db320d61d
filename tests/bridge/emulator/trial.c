/*
 * A small program for the board, that does what a test asks of it by single letters. Whatever is no
 * letter of its own comes back as it is. When it starts it says `m` and the reset's cause.
 */
#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <avr/wdt.h>
#include <stdint.h>
#include <util/delay.h>

static uint8_t cause __attribute__((section(".noinit")));

/* The watchdog runs on after its own reset, as fast as it can. */
__attribute__((naked, used, section(".init3"))) void stop_watchdog(void);
void stop_watchdog(void) {
    cause = MCUSR;
    MCUSR = 0;
    wdt_disable();
}

static void put(uint8_t byte) {
    while (!(UCSR0A & _BV(UDRE0))) {
    }
    UDR0 = byte;
}

/* The flags, then the byte: as it has to be read. */
static uint8_t get(uint8_t *flags) {
    while (!(UCSR0A & _BV(RXC0))) {
        wdt_reset();
    }
    *flags = UCSR0A & (_BV(FE0) | _BV(DOR0));
    return UDR0;
}

/* Listen to nothing for 5 ms, then tell what is there: flags and byte of each. */
static void be_deaf(void) {
    _delay_ms(5);
    while (UCSR0A & _BV(RXC0)) {
        uint8_t flags, byte = get(&flags);
        put(flags);
        put(byte);
    }
    put('.');
}

static void send_bit(uint8_t one) {
    if (one) {
        PORTD |= _BV(PD6);
        __builtin_avr_delay_cycles(10);
        PORTD &= (uint8_t)~_BV(PD6);
        __builtin_avr_delay_cycles(4);
    } else {
        PORTD |= _BV(PD6);
        __builtin_avr_delay_cycles(3);
        PORTD &= (uint8_t)~_BV(PD6);
        __builtin_avr_delay_cycles(10);
    }
}

static void send_pixels(void) {
    static const uint8_t colors[] = {0x22, 0x11, 0x33, 0xFF, 0x00, 0x80};
    DDRD |= _BV(PD6);
    for (uint8_t i = 0; i < sizeof colors; i++) {
        for (uint8_t bit = 0x80; bit; bit >>= 1) {
            send_bit(colors[i] & bit);
        }
    }
}

/* A pulse of 0.56 us, which is neither 0 nor 1; then two good ones. */
static void send_nonsense(void) {
    DDRD |= _BV(PD6);
    PORTD |= _BV(PD6);
    __builtin_avr_delay_cycles(7);
    PORTD &= (uint8_t)~_BV(PD6);
    send_bit(1);
    send_bit(0);
}

/* A quarter of the time, for a while: 1 ms on, 3 ms off. */
static void shine(void) {
    DDRB |= _BV(PB2);
    for (uint8_t i = 0; i < 10; i++) {
        PORTB |= _BV(PB2);
        _delay_ms(1);
        PORTB &= (uint8_t)~_BV(PB2);
        _delay_ms(3);
    }
}

static uint8_t dig(uint16_t depth) {
    volatile uint8_t hole[32];
    hole[0] = (uint8_t)depth;
    return depth ? (uint8_t)(dig(depth - 1) + hole[0]) : hole[0];
}

/* Light half of the time, by an interrupt each millisecond, whatever the main program does. */
ISR(TIMER1_COMPA_vect) {
    PORTB ^= _BV(PB2);
}

static void blink(void) {
    DDRB |= _BV(PB2);
    OCR1A = 15999;
    TIMSK1 = _BV(OCIE1A);
    TCCR1B = _BV(WGM12) | _BV(CS10);
    sei();
}

static void sleep_for_good(void) {
    cli();
    sleep_enable();
    sleep_cpu();
}

static void do_as_told(uint8_t letter) {
    switch (letter) {
    case 'B':
        put(PINC & 0x3F);
        put(PIND & _BV(PD2));
        break;
    case 'C':
        blink();
        break;
    case 'D':
        be_deaf();
        break;
    case 'E':
        eeprom_write_byte((uint8_t *)5, 1);
        eeprom_write_byte((uint8_t *)6, 2);
        put('.');
        break;
    case 'F':
        put(eeprom_read_byte((uint8_t *)5));
        put(eeprom_read_byte((uint8_t *)6));
        break;
    case 'G':
        send_nonsense();
        break;
    case 'H':
        put(dig(10));
        break;
    case 'I':
        __asm__ volatile(".word 0x9404");
        break;
    case 'K':
        for (;;) {
        }
        break;
    case 'L':
        shine();
        break;
    case 'N':
        *(volatile uint8_t *)0xFFF0 = 0;
        break;
    case 'O':
        put(dig(100));
        break;
    case 'P':
        send_pixels();
        break;
    case 'Q':
        DDRB |= 0x3F;
        PORTB |= 0x3F;
        break;
    case 'S':
        sleep_for_good();
        break;
    case 'U':
        PORTC = 0x3F;
        PORTD |= _BV(PD2);
        break;
    default:
        put(letter);
        break;
    }
}

int main(void) {
    UBRR0L = 16; /* before U2X0: silicon doesn't care */
    UCSR0A = _BV(U2X0);
    UCSR0B = _BV(RXEN0) | _BV(TXEN0);
    wdt_enable(WDTO_500MS);
    put('m');
    put(cause);
    for (;;) {
        uint8_t flags, letter = get(&flags);
        do_as_told(letter);
    }
}
