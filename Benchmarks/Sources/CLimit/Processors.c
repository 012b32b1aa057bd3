#define _GNU_SOURCE
#include "CLimit.h"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum { batches = 100, passes = 1000 };

/// What the two threads pass to each other; nothing else lies on its cache line.
static union {
    _Alignas(128) _Atomic int turn;
    char line[128];
} shared;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void pass(int from, int to) {
    while (atomic_load_explicit(&shared.turn, memory_order_acquire) != from) {}
    atomic_store_explicit(&shared.turn, to, memory_order_release);
}

static void *answer(void *unused) {
    for (int index = 0; index < batches * passes; index++) pass(1, 0);
    return unused;
}

static void *ask(void *fastest) {
    int64_t best = INT64_MAX;
    for (int index = 0; index < batches; index++) {
        int64_t began = now();
        for (int count = 0; count < passes; count++) pass(0, 1);
        int64_t each = (now() - began) / passes;
        if (each < best) best = each;
    }
    *(int64_t *)fastest = best;
    return NULL;
}

/// Starts a thread that runs on one processor alone.
static int start(pthread_t *thread, int processor, void *(*run)(void *), void *context) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    int code = pthread_create(thread, &attributes, run, context);
    pthread_attr_destroy(&attributes);
    return code;
}

int64_t climit_processor_distance(void) {
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable)) return 0;
    int found[2], count = 0;
    for (int processor = 0; processor < CPU_SETSIZE && count < 2; processor++) {
        if (CPU_ISSET(processor, &usable)) found[count++] = processor;
    }
    if (count < 2) return 0;
    pthread_t answering, asking;
    int64_t fastest = 0;
    if (start(&answering, found[1], answer, NULL)) return 0;
    if (start(&asking, found[0], ask, &fastest)) {
        for (int index = 0; index < batches * passes; index++) pass(0, 1);
    } else {
        pthread_join(asking, NULL);
    }
    pthread_join(answering, NULL);
    return fastest;
}
#else
int64_t climit_processor_distance(void) {
    return 0;
}
#endif
