/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The control socket: who is connected, what they watch, and lines in both directions.
 */
#define _GNU_SOURCE /* accept4 */

#include "control.h"

#include "commands.h"
#include "tell.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LONGEST_LINE 140000 /* a `send` of everything that there is room for */
#define LONGEST_EVENT 512
#define FLUSH_FROM (64 * 1024)
#define MOST_UNREAD (64 * 1024 * 1024) /* whoever watches and doesn't read is let go */

struct text {
    char *bytes;
    size_t count, room;
};

struct connection {
    int fd; /* -1: free */
    int topics;
    struct text in, out;
};

static int listener = -1;
static char socket_path[sizeof((struct sockaddr_un *)0)->sun_path];
static struct connection connections[MOST_CONNECTIONS];
static struct connection *asking;

/* ---------------------------------------------------------------- text */

static void append(struct text *text, const char *bytes, size_t count) {
    if (text->count + count > text->room) {
        text->room = 2 * (text->count + count);
        text->bytes = realloc(text->bytes, text->room);
        if (text->bytes == NULL) {
            perror("panel-emulator");
            exit(1);
        }
    }
    memcpy(text->bytes + text->count, bytes, count);
    text->count += count;
}

static void take(struct text *text, size_t count) {
    text->count -= count;
    memmove(text->bytes, text->bytes + count, text->count);
}

/* ---------------------------------------------------------------- connections */

static void hang_up(struct connection *connection) {
    close(connection->fd);
    connection->fd = -1;
    connection->topics = 0;
    connection->in.count = connection->out.count = 0;
}

static void flush(struct connection *connection) {
    while (connection->fd >= 0 && connection->out.count) {
        ssize_t sent = send(connection->fd, connection->out.bytes, connection->out.count,
                            MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0) {
            take(&connection->out, (size_t)sent);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            break;
        } else if (errno != EINTR) {
            hang_up(connection);
        }
    }
    if (connection->out.count > MOST_UNREAD) {
        hang_up(connection);
    }
}

void control_flush(void) {
    for (int i = 0; i < MOST_CONNECTIONS; i++) {
        if (connections[i].fd >= 0) {
            flush(&connections[i]);
        }
    }
}

static void say(struct connection *connection, const char *bytes, size_t count) {
    append(&connection->out, bytes, count);
    if (connection->out.count > FLUSH_FROM) {
        flush(connection);
    }
}

bool told(enum topic topic) {
    for (int i = 0; i < MOST_CONNECTIONS; i++) {
        if (connections[i].fd >= 0 && connections[i].topics & (int)topic) {
            return true;
        }
    }
    return false;
}

void tell(enum topic topic, cycles_t when, const char *format, ...) {
    if (!told(topic)) {
        return;
    }
    char event[LONGEST_EVENT] = "! ";
    va_list arguments;
    va_start(arguments, format);
    int length = 2 + vsnprintf(event + 2, sizeof event - 2, format, arguments);
    va_end(arguments);
    length +=
        snprintf(event + length, sizeof event - (size_t)length, " t=%" PRIu64 "\n", us_of(when));
    for (int i = 0; i < MOST_CONNECTIONS; i++) {
        if (connections[i].fd >= 0 && connections[i].topics & (int)topic) {
            say(&connections[i], event, (size_t)length);
        }
    }
}

void control_watch(int topics) {
    asking->topics |= topics;
}

/* ---------------------------------------------------------------- serving */

static void answer(struct connection *connection, char *line) {
    asking = connection;
    const char *words = command_do(line);
    if (connection->fd >= 0) {
        say(connection, words, strlen(words));
        say(connection, "\n", 1);
    }
}

static void answer_all(struct connection *connection) {
    char *end;
    while (connection->fd >= 0 && connection->in.count &&
           (end = memchr(connection->in.bytes, '\n', connection->in.count)) != NULL) {
        *end = '\0';
        size_t length = (size_t)(end - connection->in.bytes) + 1;
        answer(connection, connection->in.bytes);
        if (connection->fd >= 0) {
            take(&connection->in, length);
        }
    }
    if (connection->in.count > LONGEST_LINE) {
        hang_up(connection);
    }
    flush(connection);
}

static void listen_to(struct connection *connection) {
    char bytes[16384];
    ssize_t count = recv(connection->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count > 0) {
        append(&connection->in, bytes, (size_t)count);
        answer_all(connection);
    } else if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        hang_up(connection);
    }
}

static void accept_one(void) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) {
        return;
    }
    for (int i = 0; i < MOST_CONNECTIONS; i++) {
        if (connections[i].fd < 0) {
            connections[i].fd = fd;
            return;
        }
    }
    close(fd);
}

size_t control_polls(struct pollfd *polls) {
    size_t count = 0;
    polls[count++] = (struct pollfd){listener, POLLIN, 0};
    for (int i = 0; i < MOST_CONNECTIONS; i++) {
        if (connections[i].fd >= 0) {
            polls[count++] = (struct pollfd){
                connections[i].fd, (short)(POLLIN | (connections[i].out.count ? POLLOUT : 0)), 0};
        }
    }
    return count;
}

void control_serve(const struct pollfd *polls, size_t count) {
    for (size_t p = 0; p < count; p++) {
        if (polls[p].revents == 0) {
            continue;
        }
        if (polls[p].fd == listener) {
            accept_one();
        }
        for (int i = 0; i < MOST_CONNECTIONS; i++) {
            if (connections[i].fd == polls[p].fd &&
                polls[p].revents & (POLLIN | POLLHUP | POLLERR)) {
                listen_to(&connections[i]);
            }
        }
    }
    control_flush();
}

/* ---------------------------------------------------------------- set-up */

/* A socket that a killed emulator has left behind; anything else belongs to somebody. */
static void remove_stale(const char *path) {
    struct stat found;
    if (lstat(path, &found) != 0 || !S_ISSOCK(found.st_mode)) {
        return;
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(probe, (struct sockaddr *)&address, sizeof address) != 0 && errno == ECONNREFUSED) {
        unlink(path);
    }
    close(probe);
}

bool control_open(const char *path, char *error, size_t room) {
    for (int i = 0; i < MOST_CONNECTIONS; i++) {
        connections[i].fd = -1;
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        snprintf(error, room, "the path of the control socket is too long: %s", path);
        return false;
    }
    strcpy(address.sun_path, path);
    remove_stale(path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    mode_t mask = umask(0177); /* whoever may connect may do everything */
    int bound = bind(listener, (struct sockaddr *)&address, sizeof address);
    umask(mask);
    if (bound != 0 || listen(listener, SOMAXCONN) != 0) {
        snprintf(error, room, "%s can't be the control socket: %s", path, strerror(errno));
        return false;
    }
    strcpy(socket_path, path);
    return true;
}

void control_close(void) {
    if (*socket_path) {
        unlink(socket_path);
    }
}
