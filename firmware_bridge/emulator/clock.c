/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The queue of what is going to happen: a binary heap, so that thousands of planned edges of
 * bouncing contacts cost nothing.
 */

#include "clock.h"

#include <stdio.h>
#include <stdlib.h>

struct planned {
    cycles_t when;
    uint64_t order; /* of planning: a heap alone would mix what happens at the same time */
    happening *what;
    uint32_t value;
};

static struct planned *heap;
static size_t count, room;
static uint64_t planned_so_far;

cycles_t clock_next = NEVER;

static bool sooner(const struct planned *one, const struct planned *other) {
    return one->when != other->when ? one->when < other->when : one->order < other->order;
}

void clock_plan(cycles_t when, happening *what, uint32_t value) {
    if (count == room) {
        room = room ? room * 2 : 256;
        heap = realloc(heap, room * sizeof *heap);
        if (heap == NULL) {
            perror("panel-emulator");
            exit(1);
        }
    }
    struct planned it = {when, planned_so_far++, what, value};
    size_t place = count++;
    while (place > 0 && sooner(&it, &heap[(place - 1) / 2])) {
        heap[place] = heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    heap[place] = it;
    clock_next = heap[0].when;
}

/* Take the next one out of the heap. */
static struct planned take(void) {
    struct planned first = heap[0], last = heap[--count];
    size_t place = 0;
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= count) {
            break;
        }
        if (child + 1 < count && sooner(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!sooner(&heap[child], &last)) {
            break;
        }
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = last;
    clock_next = count ? heap[0].when : NEVER;
    return first;
}

void clock_do(cycles_t now) {
    while (clock_next <= now) {
        struct planned it = take();
        it.what(it.when, it.value);
    }
}
