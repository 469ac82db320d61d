/* Signs and their light: see lights.h. */
#include "lights.h"

#include "memory.h"

#define ALWAYS 0xFFFFu
/* Dim lamps have this part of the brightness. */
#define DIM_PART 4u

static const struct shape IN_FLASH pattern_shapes[PATTERNS] = PATTERN_SHAPES;

static const uint16_t IN_FLASH sign_steps[] = {
    [SIGN_TEST - PATTERNS] = ALWAYS,
    [SIGN_HELD_CHORD - PATTERNS] = HELD_CHORD_STEPS,
    [SIGN_REFUSED - PATTERNS] = REFUSED_STEPS,
    [SIGN_STALE - PATTERNS] = STALE_STEPS,
    [SIGN_NOT_ARMED - PATTERNS] = NOT_ARMED_STEPS,
    [SIGN_NO_ANSWER - PATTERNS] = NO_ANSWER_STEPS,
};

struct sign sign_of_pattern(uint8_t pattern, uint8_t color) {
    struct sign sign = {.name = pattern, .color = color, .shape = pattern_shapes[pattern]};
    return sign;
}

struct sign sign_of_name(uint8_t name, uint8_t color) {
    struct sign sign = {
        .name = name, .color = color, .shape = {sign_steps[name - PATTERNS], LOOK_PLAIN}};
    return sign;
}

void sign_mark(struct sign *sign) {
    if (sign->shape.steps == 0) {
        sign->shape.look |= LOOK_DIM;
    }
    sign->shape.steps ^= MARK_STEPS;
    sign->marked = true;
}

void sign_hold_long(struct sign *sign) {
    sign->name = SIGN_HELD_LONG;
    sign->shape.steps ^= ALWAYS;
    sign->shape.look = LOOK_PLAIN;
    sign->marked = false;
}

/* So many parts of a level, rounded up: what is lit is never wholly dark. */
static uint8_t part_of(uint8_t level, uint8_t share, uint8_t of) {
    unsigned parts = (unsigned)level * share + of - 1u;
    return (uint8_t)(parts / of);
}

uint8_t sign_light(const struct sign *sign, uint8_t brightness, uint32_t age) {
    /* Breathing takes two runs: one to swell, one to fade. */
    uint8_t place = (uint8_t)(age / STEP_MS % (2 * STEPS));
    if (!(sign->shape.steps >> place % STEPS & 1)) {
        return 0;
    }
    uint8_t level = sign->shape.look & LOOK_DIM ? part_of(brightness, 1, DIM_PART) : brightness;
    if (sign->shape.look & LOOK_BREATHES) {
        uint8_t swell = place < STEPS ? place : (uint8_t)(2 * STEPS - 1 - place);
        level = part_of(level, (uint8_t)(swell + 1u), STEPS);
    }
    return level;
}
