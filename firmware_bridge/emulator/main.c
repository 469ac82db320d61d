/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * panel-emulator: the real firmware of a turn panel, on an emulated board.
 *
 * Copyright (C) 2026 the Tableturn authors. This program is free software under the GNU General
 * Public License, version 3 or later; see COPYING. It is a tool for tests, and talks to everything
 * else through its port and its control socket only.
 */

#define _GNU_SOURCE

#include "board.h"
#include "control.h"
#include "noise.h"
#include "options.h"
#include "pace.h"
#include "port.h"
#include "uid.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------- the end */

static void end(int signal) {
    (void)signal;
    board.stopped = 1;
}

static void wait_for_signals(sigset_t *signals) {
    struct sigaction action = {.sa_handler = end};
    sigemptyset(signals);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGHUP);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* Wait for something to do. A signal that comes just before still ends the wait. */
static bool wait_for(struct pollfd *polls, size_t count, const sigset_t *signals) {
    struct timespec rest = {0, pace_virtual ? 0 : pace_rest()};
    sigset_t before;
    sigprocmask(SIG_BLOCK, signals, &before);
    bool found = !board.stopped && ppoll(polls, count, pace_virtual ? NULL : &rest, &before) >= 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return found;
}

static bool is_pipe(int fd) {
    struct stat found;
    return fstat(fd, &found) == 0 && (S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode));
}

/* Whoever has started this holds the other end of the pipe; when it is gone, so is the board. */
static void look_at_stdin(short found) {
    char byte[256];
    if (found && read(STDIN_FILENO, byte, sizeof byte) <= 0) {
        board.stopped = 1;
    }
}

/* ---------------------------------------------------------------- running */

static void serve(const sigset_t *signals) {
    bool has_parent = is_pipe(STDIN_FILENO);
    while (!board.stopped) {
        struct pollfd polls[CONTROL_POLLS + 2];
        size_t count = control_polls(polls);
        size_t port = port_polls(polls + count);
        polls[count + port] = (struct pollfd){STDIN_FILENO, POLLIN, 0};
        if (!wait_for(polls, count + port + has_parent, signals)) {
            continue;
        }
        pace_follow();
        port_look(port ? polls[count].revents : 0);
        control_serve(polls, count);
        if (has_parent) {
            look_at_stdin(polls[count + port].revents);
        }
    }
}

/* The folder in which the socket was, if nothing else is in it. */
static void remove_folder_of(const char *control) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", control);
    char *last = strrchr(folder, '/');
    if (last != NULL && last != folder) {
        *last = '\0';
        rmdir(folder);
    }
}

static void fail(const char *error) {
    fprintf(stderr, "%s\n", error);
    exit(BAD_USE);
}

int main(int argc, char **argv) {
    char error[512];
    struct options options = options_read(argc, argv);
    pace_virtual = options.in_virtual_time;
    port_resets = !options.no_dtr;
    board.greeting = options.greeting;
    board.boot = options.boot_ms * CYCLES_PER_MS;
    if (!board_load(options.elf, error, sizeof error)) {
        fail(error);
    }
    noise_seed(options.seed);
    noise_set(options.noise / 2, options.noise / 2);
    if (options.uid) {
        uid_put((uint32_t)options.uid);
    }
    sigset_t signals;
    wait_for_signals(&signals);
    if (!control_open(options.control, error, sizeof error)) {
        fail(error);
    }
    if (!port_plug(options.link, error, sizeof error)) {
        control_close();
        fail(error);
    }
    port_fix_baud((unsigned)options.host_baud);
    pace_begin();
    board_power_on(pace_virtual ? 0 : board.boot);
    puts(port_name());
    fflush(stdout);
    serve(&signals);
    port_unplug();
    control_close();
    if (options.remove_folder) {
        remove_folder_of(options.control);
    }
    return 0;
}
