#include "CLookups.h"

#if defined(__linux__)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static struct lookups lookups[LOOKUPS_GROUPS];
static bool is_answered[LOOKUPS_GROUPS];
static int failures_left[LOOKUPS_GROUPS];

static int group_of(const char *name) {
    static const char suffix[] = ".lookups.test";
    size_t length = name ? strlen(name) : 0;
    size_t end = sizeof suffix - 1;
    if (length <= end || strcmp(name + length - end, suffix)) return -1;
    int group = name[length - end - 1] - '0';
    return group >= 0 && group < LOOKUPS_GROUPS ? group : -1;
}

static void end_wait(void *context) {
    struct lookups *these = context;
    these->current--;
    pthread_mutex_unlock(&lock);
}

static void wait_for_answer(int group) {
    pthread_mutex_lock(&lock);
    struct lookups *these = &lookups[group];
    these->all++;
    these->current++;
    if (these->current > these->most) these->most = these->current;
    // libcurl 8.16 cancels the threads of look-ups that nobody wants any more.
    pthread_cleanup_push(end_wait, these);
    while (!is_answered[group]) pthread_cond_wait(&answered, &lock);
    pthread_cleanup_pop(1);
}

static bool fails(int group) {
    pthread_mutex_lock(&lock);
    bool fails = failures_left[group] > 0;
    if (fails) failures_left[group]--;
    pthread_mutex_unlock(&lock);
    return fails;
}

// The program's own function comes before that of the C library, for libcurl as well.
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **addresses) {
    int (*system)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
        (int (*)(const char *, const char *, const struct addrinfo *, struct addrinfo **))dlsym(RTLD_NEXT, "getaddrinfo");
    int group = group_of(name);
    if (group < 0) return system(name, service, hints, addresses);
    // From 8.20 on, libcurl asks for each family by itself. It connects to the first address that it gets, and keeps the name
    // for others when it has both answers. So that of IPv6 comes at once: the name is known when the address is.
    if (hints && hints->ai_family == AF_INET6) return EAI_NONAME;
    wait_for_answer(group);
    if (fails(group)) return EAI_AGAIN;
    return system("127.0.0.1", service, hints, addresses);
}

struct lookups lookups_of(int group) {
    pthread_mutex_lock(&lock);
    struct lookups these = lookups[group];
    pthread_mutex_unlock(&lock);
    return these;
}

void lookups_fail(int group, int count) {
    pthread_mutex_lock(&lock);
    failures_left[group] = count;
    pthread_mutex_unlock(&lock);
}

void lookups_answer(int group) {
    pthread_mutex_lock(&lock);
    is_answered[group] = true;
    pthread_cond_broadcast(&answered);
    pthread_mutex_unlock(&lock);
}
#endif
