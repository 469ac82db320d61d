/*
 * Coloured lamps: a chain of WS2812, one for each seat, on one pin.
 *
 * Their bits are told apart by how long the pin is high, to a fraction of a microsecond, and some
 * chains take a pause of 9 microseconds for the end of the picture. So nothing may interrupt it.
 * Six pixels take 180 microseconds, and a busy serial line brings a byte each 87, of which the
 * chip's receiver keeps two: what it has is taken between two pixels.
 */
#ifdef PIXELS

#include <avr/interrupt.h>
#include <avr/io.h>
#include <util/atomic.h>

#include "hal_avr.h"
#include "memory.h"
#include "pins.h"

_Static_assert(F_CPU == 16000000ul, "the pulses of pixel_byte are counted in its clocks");

/* In the order in which the chain takes them. */
struct pixel {
    uint8_t green;
    uint8_t red;
    uint8_t blue;
};

/* No light is black: turquoise is no other seat's. Without a colour the light is white. */
static const struct pixel IN_FLASH colors[] = {
    [COLOR_NONE] = {.red = 255, .green = 255, .blue = 255},
    [COLOR_RED] = {.red = 255},
    [COLOR_BLUE] = {.blue = 255},
    [COLOR_GREEN] = {.green = 255},
    [COLOR_YELLOW] = {.red = 255, .green = 160},
    [COLOR_WHITE] = {.red = 255, .green = 255, .blue = 255},
    [COLOR_BLACK] = {.green = 160, .blue = 160},
    [COLOR_PURPLE] = {.red = 160, .blue = 255},
    [COLOR_ORANGE] = {.red = 255, .green = 64},
};
#define COLORS (sizeof colors / sizeof colors[0])

static struct pixel pixels[BUTTONS];
/* Something has to be sent; also at the start, when the chain may show anything. */
static bool changed = true;

void pixels_start(void) {
    PIXEL_DDR |= _BV(PIXEL_PIN);
}

/* A part of a colour at a level, rounded up: what is lit is never wholly dark. */
static uint8_t at_level(uint8_t part, uint8_t level) {
    return (uint8_t)(((uint16_t)part * level + UINT8_MAX - 1u) / UINT8_MAX);
}

void pixel_show(uint8_t button, uint8_t level, uint8_t color) {
    struct pixel full = colors[color < COLORS ? color : COLOR_NONE];
    pixels[button].green = at_level(full.green, level);
    pixels[button].red = at_level(full.red, level);
    pixels[button].blue = at_level(full.blue, level);
    changed = true;
}

/*
 * Eight bits, the highest first, each of 20 clocks (1.25 us): high for 6 clocks (0.38 us) says 0,
 * for 13 (0.81 us) says 1.
 */
static void pixel_byte(uint8_t byte) {
    uint8_t high = PIXEL_PORT | _BV(PIXEL_PIN);
    uint8_t low = PIXEL_PORT & (uint8_t)~_BV(PIXEL_PIN);
    uint8_t bits = 8;
    __asm__ volatile("1: out %[port], %[high]   \n"
                     "   rjmp .+0               \n" /* 2 clocks */
                     "   rjmp .+0               \n"
                     "   sbrs %[byte], 7        \n" /* over the end of a 0 */
                     "   out %[port], %[low]    \n" /* clock 6 */
                     "   lsl %[byte]            \n"
                     "   rjmp .+0               \n"
                     "   rjmp .+0               \n"
                     "   nop                    \n"
                     "   out %[port], %[low]    \n" /* clock 13 */
                     "   rjmp .+0               \n"
                     "   nop                    \n"
                     "   dec %[bits]            \n"
                     "   brne 1b                \n" /* clock 20 */
                     : [byte] "+&r"(byte), [bits] "+&d"(bits)
                     : [port] "I"(_SFR_IO_ADDR(PIXEL_PORT)), [high] "r"(high), [low] "r"(low));
}

void pixels_send(void) {
    if (!changed) {
        return;
    }
    changed = false;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) {
        for (uint8_t button = 0; button < BUTTONS; button++) {
            pixel_byte(pixels[button].green);
            pixel_byte(pixels[button].red);
            pixel_byte(pixels[button].blue);
            uart_poll();
        }
    }
}

#endif
