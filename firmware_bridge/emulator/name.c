/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The port's name. Whether another panel has it can't be seen from a link: the terminal that it
 * leads to may be somebody else's by now. So who has a name also has a socket, in the kernel's
 * abstract namespace, that is called after it; the kernel takes it back however its owner ends.
 * Virtual panels do the same.
 */
#define _GNU_SOURCE

#include "name.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define TERMINALS "/dev/pts/"
#define TRIES 20
#define PAUSE_NS 20000000

static char name[PATH_MAX]; /* empty if there is none */
static char target[64];
static int claim = -1;

/* ---------------------------------------------------------------- whose name it is */

/* FNV-1a, of 64 bits. */
static uint64_t hash(const char *text) {
    uint64_t sum = UINT64_C(0xCBF29CE484222325);
    for (; *text; text++) {
        sum = (sum ^ (uint8_t)*text) * UINT64_C(0x100000001B3);
    }
    return sum;
}

/* The last part of a path, and the folder that it is in. */
static const char *split(const char *link, char folder[PATH_MAX]) {
    const char *last = strrchr(link, '/');
    if (last == NULL) {
        strcpy(folder, ".");
        return link;
    }
    size_t length = last == link ? 1 : (size_t)(last - link);
    memcpy(folder, link, length);
    folder[length] = '\0';
    return last + 1;
}

/* False if another panel has the name. */
static bool claim_name(const char *link) {
    char folder[PATH_MAX], text[PATH_MAX + 64];
    const char *last = split(link, folder);
    struct stat found;
    if (stat(folder, &found) != 0) {
        return true; /* the link will fail */
    }
    snprintf(text, sizeof text, "%ju:%ju:%s", (uintmax_t)found.st_dev, (uintmax_t)found.st_ino,
             last);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1,
                          "tableturn-panel-%016" PRIx64, hash(text));
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    claim = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* An emulator whose parent was killed needs a moment to end. */
    for (int tries = 0; bind(claim, (struct sockaddr *)&address, size) != 0; tries++) {
        if (errno != EADDRINUSE) {
            return true; /* no such names here: nobody can be asked */
        }
        if (tries == TRIES) {
            return false;
        }
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    }
    return true;
}

/* ---------------------------------------------------------------- the link */

static bool leads_to(const char *link, char *where, size_t room) {
    ssize_t length = readlink(link, where, room - 1);
    where[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* What is there may be replaced: nothing, or a link to a terminal or to nowhere. */
static bool is_free(const char *link, char *error, size_t room) {
    struct stat found;
    char where[PATH_MAX];
    if (lstat(link, &found) != 0) {
        return true;
    }
    if (!leads_to(link, where, sizeof where)) {
        snprintf(error, room, "%s is a file already, and no link to a port: choose another name",
                 link);
        return false;
    }
    if (strncmp(where, TERMINALS, strlen(TERMINALS)) != 0 && stat(link, &found) == 0) {
        snprintf(error, room, "%s leads to %s, which is no panel's port: choose another name", link,
                 where);
        return false;
    }
    return true;
}

static bool make_link(const char *link, const char *terminal, char *error, size_t room) {
    char fresh[PATH_MAX + 16];
    snprintf(fresh, sizeof fresh, "%s.%d", link, (int)getpid());
    unlink(fresh);
    if (symlink(terminal, fresh) != 0 || rename(fresh, link) != 0) {
        snprintf(error, room, "%s can't lead to the port: %s", link, strerror(errno));
        unlink(fresh);
        return false;
    }
    return true;
}

static void let_go(void) {
    if (claim >= 0) {
        close(claim);
    }
    claim = -1;
    name[0] = '\0';
}

bool name_take(const char *link, const char *terminal, char *error, size_t room) {
    if (*link == '\0' || strlen(link) >= sizeof name || strpbrk(link, "\r\n")) {
        snprintf(error, room, "the name of a port is one line, not empty and not so long");
        return false;
    }
    if (!is_free(link, error, room)) {
        return false;
    }
    if (!claim_name(link)) {
        snprintf(error, room, "%s is the port of another panel: choose another name", link);
        let_go();
        return false;
    }
    if (!make_link(link, terminal, error, room)) {
        let_go();
        return false;
    }
    strcpy(name, link);
    snprintf(target, sizeof target, "%s", terminal);
    return true;
}

void name_release(void) {
    char where[PATH_MAX];
    if (*name && leads_to(name, where, sizeof where) && strcmp(where, target) == 0) {
        unlink(name);
    }
    let_go();
}
