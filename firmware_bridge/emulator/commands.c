/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What can be asked at the control socket, one function for each command.
 */
#include "commands.h"

#include "board.h"
#include "contacts.h"
#include "control.h"
#include "lamps.h"
#include "line.h"
#include "memory.h"
#include "noise.h"
#include "pace.h"
#include "pixels.h"
#include "port.h"
#include "tell.h"
#include "uart.h"
#include "uid.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WORDS 16
#define LONGEST_US UINT64_C(360000000000) /* 100 hours: longer ones are mistakes */
#define MOST_BOUNCES 10000

static char said[4 * PATH_MAX];

/* ---------------------------------------------------------------- words */

__attribute__((format(printf, 1, 2))) static bool ok(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    strcpy(said, "ok ");
    vsnprintf(said + 3, sizeof said - 3, format, arguments);
    va_end(arguments);
    return true;
}

__attribute__((format(printf, 1, 2))) static bool refuse(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    strcpy(said, "error ");
    vsnprintf(said + 6, sizeof said - 6, format, arguments);
    va_end(arguments);
    return true;
}

static bool done(void) {
    return ok("t=%" PRIu64, us_of(board_now()));
}

static bool number(const char *word, uint64_t most, uint64_t *value) {
    char *end;
    if (word == NULL || !isdigit((unsigned char)*word)) {
        return false;
    }
    *value = strtoull(word, &end, 10);
    return *end == '\0' && *value <= most;
}

static bool share(const char *word, double *value) {
    char *end;
    if (word == NULL || !(isdigit((unsigned char)*word) || *word == '.')) {
        return false;
    }
    *value = strtod(word, &end);
    return *end == '\0' && *value >= 0 && *value <= 1;
}

/* What follows `key=` in a word; NULL if that is another word. */
static const char *after(const char *word, const char *key) {
    size_t length = strlen(key);
    return word && strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1
                                                                          : NULL;
}

/* ---------------------------------------------------------------- time and line */

static bool do_clock(char **words) {
    (void)words;
    return ok("t=%" PRIu64 " mono=%" PRId64, us_of(board_now()), pace_beginning());
}

static bool do_run(char **words) {
    uint64_t us;
    if (!pace_virtual) {
        return refuse("time passes by itself: this is real time");
    }
    if (!number(words[1], LONGEST_US, &us)) {
        return false;
    }
    board_run(board_now() + us * CYCLES_PER_US);
    return board.crashed ? false : done();
}

static int nibble(char digit) {
    static const char digits[] = "0123456789abcdef";
    const char *place = digit ? strchr(digits, tolower((unsigned char)digit)) : NULL;
    return place ? (int)(place - digits) : -1;
}

static bool do_send(char **words) {
    if (!pace_virtual) {
        return refuse("in real time, bytes come through the port");
    }
    if (words[1] == NULL || strlen(words[1]) % 2) {
        return false;
    }
    size_t count = strlen(words[1]) / 2;
    uint8_t *bytes = malloc(count + 1);
    bool fits = bytes != NULL;
    for (size_t i = 0; fits && i < count; i++) {
        int high = nibble(words[1][2 * i]), low = nibble(words[1][2 * i + 1]);
        fits = high >= 0 && low >= 0;
        if (fits) {
            bytes[i] = (uint8_t)(high << 4 | low);
        }
    }
    if (!fits) {
        free(bytes);
        return false;
    }
    bool sent = !board.powered || line_send(bytes, count); /* without power, nobody is there */
    free(bytes);
    return sent ? done() : refuse("%zu bytes wait to be sent already", line_waiting());
}

static bool do_baud(char **words) {
    uint64_t baud;
    if (!number(words[1], 4000000, &baud) || (baud && baud < 300)) {
        return false;
    }
    port_fix_baud((unsigned)baud);
    return done();
}

static bool do_noise(char **words) {
    double flips, drops;
    if (share(words[1], &flips) && words[2] == NULL) {
        flips = drops = flips / 2;
    } else if (!share(after(words[1], "flips"), &flips) ||
               (words[2] && !share(after(words[2], "drops"), &drops))) {
        return false;
    } else if (words[2] == NULL) {
        drops = 0;
    }
    noise_set(flips, drops);
    return done();
}

/* ---------------------------------------------------------------- contacts and lamps */

static bool do_contact(char **words) {
    uint64_t contact = MASTER, at = us_of(board_now()), bounces = 0, every = 400;
    if (words[1] == NULL || words[2] == NULL) {
        return false;
    }
    if (strcmp(words[1], "master") != 0 && !number(words[1], BUTTONS - 1, &contact)) {
        return false;
    }
    bool closed = strcmp(words[2], "closed") == 0;
    if (!closed && strcmp(words[2], "open") != 0) {
        return false;
    }
    for (char **word = words + 3; *word; word++) {
        if (!number(after(*word, "at"), UINT64_MAX / CYCLES_PER_US, &at) &&
            !number(after(*word, "bounces"), MOST_BOUNCES, &bounces) &&
            !number(after(*word, "every"), LONGEST_US, &every)) {
            return false;
        }
    }
    if (bounces % 2) {
        return refuse("after an odd number of bounces a contact isn't %s", words[2]);
    }
    if (at < us_of(board_now())) {
        return refuse("t=%" PRIu64 " has passed", at);
    }
    cycles_t when = at * CYCLES_PER_US > board_now() ? at * CYCLES_PER_US : board_now();
    if (!contacts_move((unsigned)contact, closed, when, (unsigned)bounces, every * CYCLES_PER_US)) {
        return refuse("too many edges are planned already");
    }
    clock_do(board_now());
    return done();
}

static bool do_lamps(char **words) {
    (void)words;
    char levels[LAMP_COUNT * 4 + 1] = "";
    for (unsigned i = 0; i < LAMP_COUNT; i++) {
        sprintf(levels + strlen(levels), "%s%u", i ? "," : "", lamps_level(i));
    }
    return ok("t=%" PRIu64 " levels=%s pixels=%s", us_of(board_now()), levels, pixels_shown());
}

/* ---------------------------------------------------------------- the board */

/* The port's name as one word: spaces and the like as in an address, such as %20. */
static const char *port_word(void) {
    static char word[3 * PATH_MAX + 1];
    char *end = word;
    for (const char *from = port_name(); *from; from++) {
        bool plain = (unsigned char)*from > ' ' && *from != '%';
        end += sprintf(end, plain ? "%c" : "%%%02X", (unsigned char)*from);
    }
    *end = '\0';
    return word;
}

static bool do_state(char **words) {
    (void)words;
    return ok("t=%" PRIu64 " powered=%d booting=%d hung=%d open=%d port=%s baud=%u host_baud=%u "
              "uid=%" PRIu32 " rx=%u tx=%u overruns=%u overrun_flags=%u frame_errors=%u "
              "pixel_faults=%u pixel_gap_ns=%u eeprom_writes=%u "
              "resets=power_on:%u,external:%u,brown_out:%u,watchdog:%u crashed=%s",
              us_of(board_now()), board.powered, board.booting, board.hung, port_is_open(),
              port_word(), uart_baud(), port_baud(), uid_get(), uart_counts.received, line_sent(),
              uart_counts.overruns, uart_counts.told_of, uart_counts.frame_errors, pixels_faults(),
              pixels_longest_gap_ns(), memory_eeprom_writes(), board.resets[POWER_ON],
              board.resets[EXTERNAL], board.resets[BROWN_OUT], board.resets[WATCHDOG],
              board.crashed ? board.crashed : "-");
}

static bool do_reset(char **words) {
    for (enum cause cause = 0; cause < CAUSES; cause++) {
        if (words[1] == NULL || strcmp(words[1], cause_names[cause]) != 0) {
            continue;
        }
        if (!board.powered) {
            return refuse("the board has no power");
        }
        board_reset(cause);
        return done();
    }
    return false;
}

static bool do_hang(char **words) {
    uint64_t us = 0;
    bool busy = words[1] && strcmp(words[1], "busy") == 0;
    const char *how_long = words[busy ? 2 : 1];
    if ((how_long && !number(how_long, LONGEST_US, &us)) || (!busy && words[1] && words[2])) {
        return false;
    }
    if (!board_runs()) {
        return refuse("the firmware doesn't run");
    }
    if (board.hung && board.interruptible != busy) {
        return refuse("it hangs already, in the other way");
    }
    cycles_t duration = how_long ? us * CYCLES_PER_US : NEVER;
    if (busy) {
        board_stand_still(duration);
    } else {
        board_hang(duration);
    }
    return done();
}

static bool do_stack(char **words) {
    (void)words;
    unsigned used, free_bytes;
    memory_stack(&used, &free_bytes);
    return ok("used=%u free=%u", used, free_bytes);
}

static bool do_unplug(char **words) {
    (void)words;
    if (!board.powered) {
        return refuse("it is unplugged already");
    }
    port_unplug();
    line_cut();
    board_power_off();
    return done();
}

/* The name of the port is the rest of the line, whatever is in it. */
static bool do_plug(char **words) {
    char error[5000];
    if (board.powered) {
        return refuse("it is plugged in already");
    }
    if (!port_plug(words[1], error, sizeof error)) {
        port_unplug();
        return refuse("%s", error);
    }
    board_power_on(board.boot);
    return ok("port=%s t=%" PRIu64, port_word(), us_of(board_now()));
}

static bool do_watch(char **words) {
    static const struct {
        const char *word;
        int topics;
    } choices[] = {{"lamps", LAMPS}, {"line", LINE}, {"host", HOST}, {"all", LAMPS | LINE}};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        if (words[1] == NULL || strcmp(words[1], choices[i].word) != 0) {
            continue;
        }
        control_watch(choices[i].topics | CRASH);
        return done();
    }
    return false;
}

/* ---------------------------------------------------------------- all of them */

static const struct {
    const char *name;
    bool (*what)(char **words); /* false: the words have no sense */
    unsigned most_words;
    bool in_a_crash; /* it still makes sense when the firmware can't go on */
    const char *usage;
} commands[] = {
    {"clock", do_clock, 1, true, "clock"},
    {"run", do_run, 2, false, "run MICROSECONDS"},
    {"send", do_send, 2, false, "send HEX"},
    {"contact", do_contact, 6, false,
     "contact 0..5|master closed|open [at=MICROSECONDS] [bounces=N] [every=MICROSECONDS]"},
    {"lamps", do_lamps, 1, false, "lamps"},
    {"state", do_state, 1, true, "state"},
    {"reset", do_reset, 2, false, "reset external|power_on|brown_out|watchdog"},
    {"hang", do_hang, 3, false, "hang [busy] [MICROSECONDS]"},
    {"unplug", do_unplug, 1, false, "unplug"},
    {"plug", do_plug, 2, false, "plug [LINK]"},
    {"noise", do_noise, 3, false, "noise SHARE, or noise flips=SHARE drops=SHARE"},
    {"baud", do_baud, 2, false, "baud N, or 0 for what the program sets"},
    {"stack", do_stack, 1, false, "stack"},
    {"watch", do_watch, 2, true, "watch lamps|line|host|all"},
};

/* What follows a word and one space, if the line begins so; it is cut off there. NULL if not. */
static char *rest_of(char *line, const char *word) {
    size_t length = strlen(word);
    if (strncmp(line, word, length) != 0 || line[length] != ' ' || line[length + 1] == '\0') {
        return NULL;
    }
    line[length] = '\0';
    return line + length + 1;
}

const char *command_do(char *line) {
    char *words[MOST_WORDS + 1] = {NULL}, *rest = NULL;
    unsigned count = 0;
    char *name = rest_of(line, "plug");
    for (char *word = strtok_r(line, " \t\r", &rest); word && count < MOST_WORDS;
         word = strtok_r(NULL, " \t\r", &rest)) {
        words[count++] = word;
    }
    if (name) {
        words[1] = name, count = 2;
    }
    for (size_t i = 0; count && i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(words[0], commands[i].name) != 0) {
            continue;
        }
        bool understood = (board.crashed && !commands[i].in_a_crash) ||
                          (count <= commands[i].most_words && commands[i].what(words));
        if (board.crashed && !commands[i].in_a_crash) {
            refuse("the firmware has crashed: %s at t=%" PRIu64, board.crashed,
                   us_of(board.crashed_at));
        } else if (!understood) {
            refuse("say: %s", commands[i].usage);
        }
        return said;
    }
    refuse("there is no such command: %s", count ? words[0] : "(nothing)");
    return said;
}
