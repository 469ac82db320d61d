/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command line: what is there, what it may be, and a sentence for what it may not.
 */

#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BOOT_MS 50
#define LONGEST_BOOT_MS 60000
#define SLOWEST_BAUD 300
#define FASTEST_BAUD 4000000

static const char usage[] =
    "panel-emulator --elf FILE --control PATH [--link PATH] [--virtual] [--boot-ms N] "
    "[--greeting]\n"
    "               [--no-dtr] [--uid N] [--noise SHARE] [--seed N] [--host-baud N]\n"
    "               [--remove-folder]\n";

enum {
    ELF,
    CONTROL,
    LINK,
    VIRTUAL,
    BOOT,
    GREETING,
    NO_DTR,
    UID,
    NOISE,
    SEED,
    BAUD,
    REMOVE_FOLDER,
    HELP
};

static const struct option known[] = {
    {"elf", required_argument, NULL, ELF},
    {"control", required_argument, NULL, CONTROL},
    {"link", required_argument, NULL, LINK},
    {"virtual", no_argument, NULL, VIRTUAL},
    {"boot-ms", required_argument, NULL, BOOT},
    {"greeting", no_argument, NULL, GREETING},
    {"no-dtr", no_argument, NULL, NO_DTR},
    {"uid", required_argument, NULL, UID},
    {"noise", required_argument, NULL, NOISE},
    {"seed", required_argument, NULL, SEED},
    {"host-baud", required_argument, NULL, BAUD},
    {"remove-folder", no_argument, NULL, REMOVE_FOLDER},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

_Noreturn static void bad_use(const char *sentence, const char *what) {
    fprintf(stderr, sentence, what);
    fputc('\n', stderr);
    exit(BAD_USE);
}

static unsigned long number(int option, unsigned long most) {
    char *end;
    errno = 0;
    unsigned long value = strtoul(optarg, &end, 10);
    if (*optarg < '0' || *optarg > '9' || *end || errno || value > most) {
        fprintf(stderr, "--%s must be a number from 0 to %lu, not %s\n", known[option].name, most,
                optarg);
        exit(BAD_USE);
    }
    return value;
}

static double share(void) {
    char *end;
    double value = strtod(optarg, &end);
    if (end == optarg || *end || !(value >= 0 && value <= 1)) {
        bad_use("--noise must be a share from 0 to 1, not %s", optarg);
    }
    return value;
}

static void take_flag(struct options *options, int option, const char *word) {
    switch (option) {
    case VIRTUAL:
        options->in_virtual_time = true;
        break;
    case GREETING:
        options->greeting = true;
        break;
    case NO_DTR:
        options->no_dtr = true;
        break;
    case REMOVE_FOLDER:
        options->remove_folder = true;
        break;
    case HELP:
        fputs(usage, stdout);
        exit(0);
    default:
        bad_use("there is no option %s, or its value is missing", word);
    }
}

/* A path; an empty one would be a name that nobody finds. */
static const char *path(int option) {
    if (*optarg == '\0') {
        bad_use("--%s must be a path, not empty", known[option].name);
    }
    return optarg;
}

static void take(struct options *options, int option, const char *word) {
    switch (option) {
    case ELF:
        options->elf = path(option);
        break;
    case CONTROL:
        options->control = path(option);
        break;
    case LINK:
        options->link = path(option);
        break;
    case BOOT:
        options->boot_ms = number(option, LONGEST_BOOT_MS);
        break;
    case UID:
        options->uid = number(option, UINT32_MAX);
        break;
    case NOISE:
        options->noise = share();
        break;
    case SEED:
        options->seed = number(option, UINT32_MAX);
        break;
    case BAUD:
        options->host_baud = number(option, FASTEST_BAUD);
        break;
    default:
        take_flag(options, option, word);
    }
}

struct options options_read(int argc, char **argv) {
    struct options options = {.boot_ms = BOOT_MS, .seed = 1};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        take(&options, option, argv[optind - 1]);
    }
    if (optind < argc) {
        bad_use("nothing is known of %s", argv[optind]);
    }
    if (options.elf == NULL || options.control == NULL) {
        bad_use("%s is missing", options.elf ? "--control PATH" : "--elf FILE");
    }
    if (options.host_baud && options.host_baud < SLOWEST_BAUD) {
        bad_use("--host-baud must be at least %s", "300");
    }
    return options;
}
