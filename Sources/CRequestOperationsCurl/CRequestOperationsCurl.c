#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "CRequestOperationsCurl.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// MARK: Library

static pthread_rwlock_t work = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static pid_t process;

static void end_all_work(void) {
    // A forked child has none of our threads. It has only a lock that threads of its parent may have held.
    if (getpid() != process) return;
    // A thread may write to a disk that does not answer. It must not keep the process from ending.
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 2;
    pthread_rwlock_timedwrlock(&work, &limit);
}

CURLcode rocurl_initialize(void) {
    CURLcode code = curl_global_init(CURL_GLOBAL_ALL);
    process = getpid();
    // Exit functions run in reverse order, so this one runs before those that the libraries have registered.
    atexit(end_all_work);
    return code;
}

void rocurl_begin_work(void) {
    pthread_rwlock_rdlock(&work);
}

void rocurl_end_work(void) {
    pthread_rwlock_unlock(&work);
}

int rocurl_start_thread(void *(*run)(void *), void *context) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    // The new thread inherits the signal mask of this one.
    sigset_t others, before;
    sigfillset(&others);
    // Signals that a fault of the thread itself raises go to the handlers that report it. Profilers need theirs too.
    const int own[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGSYS, SIGPROF};
    for (size_t index = 0; index < sizeof own / sizeof *own; index++) sigdelset(&others, own[index]);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    pthread_t thread;
    int code = pthread_create(&thread, &attributes, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return code;
}

void rocurl_name_thread(const char *name) {
    pthread_setname_np(pthread_self(), name);
}

// MARK: Options

CURLcode rocurl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode rocurl_set_offset(CURL *easy, CURLoption option, int64_t value) {
    return curl_easy_setopt(easy, option, (curl_off_t)value);
}

CURLcode rocurl_set_pointer(CURL *easy, CURLoption option, const void *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode rocurl_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_NOCOPY};
    return curl_easy_setopt(easy, option, &blob);
}

CURLMcode rocurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

CURLcode rocurl_set_callbacks(CURL *easy, const struct rocurl_callbacks *callbacks, void *context, void *close_context) {
    CURLcode code = CURLE_OK;
#define SET(option, value) (code = code ? code : curl_easy_setopt(easy, option, value))
    SET(CURLOPT_PRIVATE, context);
    SET(CURLOPT_HEADERFUNCTION, callbacks->header);
    SET(CURLOPT_HEADERDATA, context);
    SET(CURLOPT_WRITEFUNCTION, callbacks->body);
    SET(CURLOPT_WRITEDATA, context);
    SET(CURLOPT_READFUNCTION, callbacks->read);
    SET(CURLOPT_READDATA, context);
    SET(CURLOPT_SEEKFUNCTION, callbacks->seek);
    SET(CURLOPT_SEEKDATA, context);
    SET(CURLOPT_RESOLVER_START_FUNCTION, callbacks->lookup);
    SET(CURLOPT_RESOLVER_START_DATA, context);
    SET(CURLOPT_OPENSOCKETFUNCTION, callbacks->open);
    SET(CURLOPT_OPENSOCKETDATA, context);
    SET(CURLOPT_SOCKOPTFUNCTION, callbacks->socket);
    SET(CURLOPT_SOCKOPTDATA, context);
    SET(CURLOPT_PREREQFUNCTION, callbacks->send);
    SET(CURLOPT_PREREQDATA, context);
    SET(CURLOPT_CLOSESOCKETFUNCTION, callbacks->close);
    SET(CURLOPT_CLOSESOCKETDATA, close_context);
#undef SET
    return code;
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

// The mutex is recursive. libcurl may take the lock of the share while it holds that of the cookies, and one mutex
// serves both.
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

void *rocurl_next_finished(CURLM *multi, CURLcode *code) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        // The message becomes invalid when its handle is removed.
        CURL *easy = message->easy_handle;
        *code = message->data.result;
        void *context = (void *)rocurl_string_info(easy, CURLINFO_PRIVATE);
        curl_multi_remove_handle(multi, easy);
        return context;
    }
    return NULL;
}

// MARK: Decompression

// The same layout as zlib's `z_stream`, in all versions from 1.0 on.
struct zlib_stream {
    const unsigned char *input;
    unsigned int input_count;
    unsigned long total_input;
    unsigned char *output;
    unsigned int output_count;
    unsigned long total_output;
    const char *message;
    void *state, *allocate, *release, *context;
    int data_type;
    unsigned long checksum, reserved;
};

// libcurl needs zlib to decode gzip, so zlib is loaded at run time here. No package that a build otherwise needs has
// its headers.
static struct {
    const char *(*version)(void);
    int (*begin)(struct zlib_stream *, int window_bits, const char *version, int size);
    int (*again)(struct zlib_stream *, int window_bits);
    int (*run)(struct zlib_stream *, int flush);
    int (*end)(struct zlib_stream *);
} zlib;

static void load_zlib(void) {
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    *(void **)&zlib.version = dlsym(library, "zlibVersion");
    *(void **)&zlib.again = dlsym(library, "inflateReset2");
    *(void **)&zlib.run = dlsym(library, "inflate");
    *(void **)&zlib.end = dlsym(library, "inflateEnd");
    if (zlib.version && zlib.again && zlib.run && zlib.end) *(void **)&zlib.begin = dlsym(library, "inflateInit2_");
}

// The largest window, plus 16 for gzip only, or plus 32 to detect the format. The latter also accepts what some call
// deflate.
enum { gzip_bits = 15 + 16, any_bits = 15 + 32 };

void *rocurl_inflate_create(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_zlib);
    if (!zlib.begin) return NULL;
    struct zlib_stream *stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    if (zlib.begin(stream, any_bits, zlib.version(), sizeof *stream) == 0) return stream;
    free(stream);
    return NULL;
}

void rocurl_inflate_destroy(void *stream) {
    zlib.end(stream);
    free(stream);
}

bool rocurl_inflate_next_member(void *stream) {
    return zlib.again(stream, gzip_bits) == 0;
}

int rocurl_inflate(void *opaque, const void *input, size_t *input_count, void *output, size_t *output_count) {
    struct zlib_stream *stream = opaque;
    unsigned int input_limit = *input_count < 1 << 30 ? (unsigned int)*input_count : 1 << 30;
    unsigned int output_limit = *output_count < 1 << 30 ? (unsigned int)*output_count : 1 << 30;
    stream->input = input;
    stream->input_count = input_limit;
    stream->output = output;
    stream->output_count = output_limit;
    const int no_flush = 0, is_whole = 1, needs_room_or_input = -5;
    int code = zlib.run(stream, no_flush);
    *input_count = input_limit - stream->input_count;
    *output_count = output_limit - stream->output_count;
    if (code == is_whole) return 1;
    return code == 0 || code == needs_room_or_input ? 0 : -1;
}

// MARK: Sockets

int64_t rocurl_silence(int descriptor) {
    struct tcp_info information = {0};
    socklen_t size = sizeof information;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &information, &size) != 0) return -1;
    if (size < offsetof(struct tcp_info, tcpi_last_ack_recv)) return -1;
    return (int64_t)information.tcpi_last_data_recv * 1000000;
}

int64_t rocurl_unreceived(int descriptor) {
    int count = 0;
    return ioctl(descriptor, TIOCOUTQ, &count) == 0 ? count : -1;
}

int rocurl_local_port(int descriptor) {
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } address = {0};
    socklen_t size = sizeof address;
    if (getsockname(descriptor, &address.any, &size) != 0) return -1;
    switch (address.any.sa_family) {
    case AF_INET: return ntohs(address.four.sin_port);
    case AF_INET6: return ntohs(address.six.sin6_port);
    default: return 0;
    }
}

bool rocurl_has_ended(int descriptor, bool input_counts) {
    struct pollfd state = {.fd = descriptor, .events = POLLIN | POLLRDHUP};
    if (poll(&state, 1, 0) <= 0) return false;
    return input_counts || state.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL);
}

// MARK: Information

int64_t rocurl_offset_info(CURL *easy, CURLINFO info) {
    curl_off_t value = -1;
    curl_easy_getinfo(easy, info, &value);
    return value;
}

long rocurl_long_info(CURL *easy, CURLINFO info) {
    long value = 0;
    curl_easy_getinfo(easy, info, &value);
    return value;
}

const char *rocurl_string_info(CURL *easy, CURLINFO info) {
    const char *value = NULL;
    curl_easy_getinfo(easy, info, &value);
    return value;
}

bool rocurl_stores_fields(CURL *easy) {
    // Older headers and libraries lack `curl_easy_nextheader`.
    void *(*next)(CURL *, unsigned int, int, void *);
    *(void **)&next = dlsym(RTLD_DEFAULT, "curl_easy_nextheader");
    const unsigned int all_kinds = 31;
    return !next || next(easy, all_kinds, 0, NULL) || next(easy, all_kinds, -1, NULL);
}

#endif
