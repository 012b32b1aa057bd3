#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "CRequestOperationsCurl.h"

#if defined(__linux__)

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

// MARK: Library

unsigned int rocurl_version_number(void) {
    return curl_version_info(CURLVERSION_FIRST)->version_num;
}

const char *rocurl_version_text(void) {
    return curl_version_info(CURLVERSION_FIRST)->version;
}

unsigned int rocurl_features(void) {
    return (unsigned int)curl_version_info(CURLVERSION_FIRST)->features;
}

int64_t rocurl_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

size_t rocurl_block_size(void *block) {
    return malloc_usable_size(block);
}

void rocurl_block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

// MARK: Options

CURLcode rocurl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode rocurl_set_offset(CURL *easy, CURLoption option, int64_t value) {
    return curl_easy_setopt(easy, option, (curl_off_t)value);
}

CURLcode rocurl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode rocurl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode rocurl_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob);
}

CURLMcode rocurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

void rocurl_set_callbacks(CURL *easy, const struct rocurl_callbacks *callbacks, void *context) {
    curl_easy_setopt(easy, CURLOPT_PRIVATE, context);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, callbacks->header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, callbacks->body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, callbacks->read);
    curl_easy_setopt(easy, CURLOPT_READDATA, context);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, callbacks->seek);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, context);
    curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, callbacks->lookup);
    curl_easy_setopt(easy, CURLOPT_RESOLVER_START_DATA, context);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, callbacks->socket);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, context);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callbacks->send);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
}

void rocurl_close_on_exec(int descriptor) {
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

// MARK: Cookies

static void lock_share(CURL *easy, curl_lock_data data, curl_lock_access access, void *mutex) {
    (void)easy, (void)data, (void)access;
    pthread_mutex_lock(mutex);
}

static void unlock_share(CURL *easy, curl_lock_data data, void *mutex) {
    (void)easy, (void)data;
    pthread_mutex_unlock(mutex);
}

// Recursive: libcurl may take the lock of the share itself while it holds that of the cookies, and one mutex serves both.
struct cookie_share {
    CURLSH *share;
    pthread_mutex_t mutex;
};

void *rocurl_cookies_create(void) {
    struct cookie_share *cookies = malloc(sizeof *cookies);
    if (!cookies) return NULL;
    cookies->share = curl_share_init();
    if (!cookies->share) {
        free(cookies);
        return NULL;
    }
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&cookies->mutex, &recursive);
    pthread_mutexattr_destroy(&recursive);
    curl_share_setopt(cookies->share, CURLSHOPT_LOCKFUNC, lock_share);
    curl_share_setopt(cookies->share, CURLSHOPT_UNLOCKFUNC, unlock_share);
    curl_share_setopt(cookies->share, CURLSHOPT_USERDATA, &cookies->mutex);
    curl_share_setopt(cookies->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
    return cookies;
}

void rocurl_cookies_destroy(void *opaque) {
    struct cookie_share *cookies = opaque;
    curl_share_cleanup(cookies->share);
    pthread_mutex_destroy(&cookies->mutex);
    free(cookies);
}

void rocurl_set_cookies(CURL *easy, void *opaque) {
    struct cookie_share *cookies = opaque;
    curl_easy_setopt(easy, CURLOPT_SHARE, cookies ? cookies->share : NULL);
}

// MARK: Progress of transfers

int rocurl_take_finished(CURLM *multi, struct rocurl_finished *finished, int capacity) {
    int count = 0;
    CURLMsg *message;
    int left;
    while (count < capacity && (message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        // The message does not survive the removal of its handle.
        CURL *easy = message->easy_handle;
        finished[count].code = message->data.result;
        finished[count].context = NULL;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&finished[count].context);
        curl_multi_remove_handle(multi, easy);
        count++;
    }
    return count;
}

CURLMcode rocurl_wait(CURLM *multi, int wake, int milliseconds) {
    struct curl_waitfd waker = {.fd = wake, .events = CURL_WAIT_POLLIN, .revents = 0};
    CURLMcode code = curl_multi_poll(multi, &waker, 1, milliseconds, NULL);
    if (waker.revents) {
        uint64_t count;
        ssize_t ignored = read(wake, &count, sizeof count);
        (void)ignored;
    }
    return code;
}

void rocurl_wake(int wake) {
    uint64_t one = 1;
    ssize_t ignored = write(wake, &one, sizeof one);
    (void)ignored;
}

int rocurl_wake_create(void) {
    return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

static int64_t offset_info(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    curl_easy_getinfo(easy, info, &value);
    return value;
}

static long long_info(CURL *easy, CURLINFO info) {
    long value = 0;
    curl_easy_getinfo(easy, info, &value);
    return value;
}

void rocurl_measure(CURL *easy, struct rocurl_measures *measures) {
    measures->name_lookup = offset_info(easy, CURLINFO_NAMELOOKUP_TIME_T);
    measures->connect = offset_info(easy, CURLINFO_CONNECT_TIME_T);
    measures->secure_connect = offset_info(easy, CURLINFO_APPCONNECT_TIME_T);
    measures->pretransfer = offset_info(easy, CURLINFO_PRETRANSFER_TIME_T);
    measures->first_byte = offset_info(easy, CURLINFO_STARTTRANSFER_TIME_T);
    measures->total = offset_info(easy, CURLINFO_TOTAL_TIME_T);
    measures->sent = offset_info(easy, CURLINFO_SIZE_UPLOAD_T);
    measures->received = offset_info(easy, CURLINFO_SIZE_DOWNLOAD_T);
    measures->new_connections = long_info(easy, CURLINFO_NUM_CONNECTS);
    measures->request_size = long_info(easy, CURLINFO_REQUEST_SIZE);
    measures->system_error = long_info(easy, CURLINFO_OS_ERRNO);
    measures->connect_status = long_info(easy, CURLINFO_HTTP_CONNECTCODE);
    measures->address = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &measures->address);
}

int64_t rocurl_content_length(CURL *easy) {
    curl_off_t length = -1;
    curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    return length;
}

int64_t rocurl_sent(CURL *easy) {
    return offset_info(easy, CURLINFO_SIZE_UPLOAD_T);
}

#endif
