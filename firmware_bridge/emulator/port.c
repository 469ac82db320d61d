/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pseudo terminal. The speed that a program sets is read through the kernel's own header, which
 * knows speeds without a name; it can't be used together with termios.h.
 */
#define _GNU_SOURCE /* ptsname_r */

#include "port.h"

#include "board.h"
#include "line.h"
#include "name.h"
#include "pace.h"
#include "tell.h"

#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define FIRST_BAUD 115200
#define LOOK_EVERY (5 * CYCLES_PER_MS)
#define AHEAD 256 /* bytes taken before the line has room for them; more wait in the terminal */

bool port_resets = true;

static int master = -1;
static bool is_open;
static unsigned fixed_baud;
static char terminal[64];
static char name[4096];
static cycles_t looked;
static uint8_t to_program[256]; /* it gets them in pieces, as from a USB port */
static size_t to_program_count;

/* ---------------------------------------------------------------- the line's speed */

static void set_raw(int fd) {
    struct termios2 settings;
    if (ioctl(fd, TCGETS2, &settings) != 0) {
        return;
    }
    settings.c_iflag = 0;
    settings.c_oflag = 0;
    settings.c_lflag = 0;
    settings.c_cflag = CS8 | CREAD | CLOCAL | BOTHER;
    settings.c_ispeed = settings.c_ospeed = FIRST_BAUD;
    settings.c_cc[VMIN] = 1;
    settings.c_cc[VTIME] = 0;
    ioctl(fd, TCSETS2, &settings);
}

static void follow_baud(void) {
    struct termios2 settings;
    if (fixed_baud || pace_virtual) {
        line_set_baud(fixed_baud ? fixed_baud : FIRST_BAUD);
    } else if (master >= 0 && ioctl(master, TCGETS2, &settings) == 0 && settings.c_ospeed) {
        line_set_baud(settings.c_ospeed);
    }
}

void port_fix_baud(unsigned baud) {
    fixed_baud = baud;
    follow_baud();
}

unsigned port_baud(void) {
    follow_baud();
    return line_baud();
}

/* ---------------------------------------------------------------- opened, closed */

static bool somebody_there(void) {
    struct pollfd look = {master, POLLIN, 0};
    poll(&look, 1, 0);
    return !(look.revents & POLLHUP);
}

static void opened(void) {
    is_open = true;
    follow_baud();
    tell(LINE, board_now(), "opened");
    if (port_resets && board.powered) {
        board_reset(EXTERNAL);
    }
}

static void closed(void) {
    is_open = false;
    tell(LINE, board_now(), "closed");
}

/* Bytes for a port that nobody has open are lost, and so are those that nobody reads. */
static void give_bytes(void) {
    if (is_open && to_program_count && write(master, to_program, to_program_count) < 0 &&
        errno == EIO) {
        closed();
    }
    to_program_count = 0;
}

static void give_byte(uint8_t byte) {
    if (to_program_count == sizeof to_program) {
        give_bytes();
    }
    to_program[to_program_count++] = byte;
}

static void take_bytes(void) {
    uint8_t bytes[AHEAD];
    while (line_waiting() < AHEAD) {
        ssize_t count = read(master, bytes, AHEAD - line_waiting());
        if (count <= 0) {
            return;
        }
        follow_baud();
        line_send(bytes, (size_t)count);
    }
}

/*
 * Nothing tells that somebody has opened the other end, and while nobody has, a poll would return
 * at once: so it is looked at now and then. So is the speed that the program has set.
 */
void port_look(short found) {
    if (master < 0) {
        return;
    }
    give_bytes();
    if (is_open && found & POLLIN) {
        take_bytes();
    }
    if (is_open && found & POLLHUP) {
        closed();
    }
    if (board_now() - looked < LOOK_EVERY) {
        return;
    }
    looked = board_now();
    if (is_open) {
        follow_baud();
    } else if (somebody_there()) {
        opened();
    }
}

size_t port_polls(struct pollfd *polls) {
    if (!is_open || line_waiting() >= AHEAD) {
        return 0;
    }
    *polls = (struct pollfd){master, POLLIN, 0};
    return 1;
}

bool port_is_open(void) {
    return is_open;
}

/* ---------------------------------------------------------------- plugged in, unplugged */

bool port_plug(const char *link, char *error, size_t room) {
    if (pace_virtual) {
        strcpy(name, "virtual");
        return true;
    }
    master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    int slave = -1;
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 ||
        ptsname_r(master, terminal, sizeof terminal) != 0 ||
        (slave = open(terminal, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) {
        snprintf(error, room, "there is no pseudo terminal: %s", strerror(errno));
        return false;
    }
    set_raw(slave);
    close(slave);
    if (link != NULL && !name_take(link, terminal, error, room)) {
        return false;
    }
    snprintf(name, sizeof name, "%s", link ? link : terminal);
    line_to_host = give_byte;
    follow_baud();
    return true;
}

void port_unplug(void) {
    name_release();
    give_bytes();
    if (is_open) {
        closed();
    }
    if (master >= 0) {
        close(master);
    }
    master = -1;
    name[0] = '\0';
}

const char *port_name(void) {
    return name[0] ? name : "-";
}
