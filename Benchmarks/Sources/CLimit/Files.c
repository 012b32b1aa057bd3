#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "CLimit.h"

struct climit_mover {
    CURLM *multi;
    CURL *easy;
    char failure[256];
};

/// libcurl takes any other number than that of the bytes for a failure.
static size_t write_piece(char *bytes, size_t size, size_t count, void *context) {
    const int *file = context;
    const size_t length = size * count;
    for (size_t written = 0; written < length;) {
        const ssize_t part = write(*file, bytes + written, length - written);
        if (part < 0 && errno != EINTR) return 0;
        if (part > 0) written += (size_t)part;
    }
    return length;
}

static size_t read_piece(char *bytes, size_t size, size_t count, void *context) {
    const int *file = context;
    ssize_t length;
    do length = read(*file, bytes, size * count);
    while (length < 0 && errno == EINTR);
    return length < 0 ? CURL_READFUNC_ABORT : (size_t)length;
}

/// Otherwise libcurl would write what answers an upload to standard output.
static size_t drop_piece(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    (void)context;
    return size * count;
}

struct climit_mover *climit_open_mover(void) {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return NULL;
    struct climit_mover *mover = calloc(1, sizeof *mover);
    if (!mover) return NULL;
    mover->multi = curl_multi_init();
    mover->easy = curl_easy_init();
    if (mover->multi && mover->easy) return mover;
    climit_close_mover(mover);
    return NULL;
}

void climit_close_mover(struct climit_mover *mover) {
    curl_easy_cleanup(mover->easy);
    curl_multi_cleanup(mover->multi);
    free(mover);
}

static const char *fail(struct climit_mover *mover, const char *what, const char *why) {
    snprintf(mover->failure, sizeof mover->failure, "%s: %s", what, why);
    return mover->failure;
}

/// Carries out the transfer for which the easy handle is set up.
static const char *run(struct climit_mover *mover, const char *url) {
    curl_easy_setopt(mover->easy, CURLOPT_URL, url);
    curl_easy_setopt(mover->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(mover->easy, CURLOPT_FAILONERROR, 1L);
    CURLMcode state = curl_multi_add_handle(mover->multi, mover->easy);
    CURLcode code = CURLE_OK;
    for (int running = 1; state == CURLM_OK && running > 0;) {
        state = curl_multi_perform(mover->multi, &running);
        int left;
        for (CURLMsg *message; (message = curl_multi_info_read(mover->multi, &left));)
            if (message->msg == CURLMSG_DONE) code = message->data.result;
        if (running > 0) curl_multi_poll(mover->multi, NULL, 0, 1000, NULL);
    }
    curl_multi_remove_handle(mover->multi, mover->easy);
    if (state != CURLM_OK) return fail(mover, url, curl_multi_strerror(state));
    return code == CURLE_OK ? NULL : fail(mover, url, curl_easy_strerror(code));
}

const char *climit_download(struct climit_mover *mover, const char *url, const char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return fail(mover, path, strerror(errno));
    curl_easy_reset(mover->easy);
    curl_easy_setopt(mover->easy, CURLOPT_WRITEFUNCTION, write_piece);
    curl_easy_setopt(mover->easy, CURLOPT_WRITEDATA, &file);
    const char *failure = run(mover, url);
    return close(file) == 0 || failure ? failure : fail(mover, path, strerror(errno));
}

const char *climit_upload(struct climit_mover *mover, const char *path, const char *url) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return fail(mover, path, strerror(errno));
    struct stat status;
    if (fstat(file, &status) != 0) {
        const char *failure = fail(mover, path, strerror(errno));
        close(file);
        return failure;
    }
    curl_easy_reset(mover->easy);
    curl_easy_setopt(mover->easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(mover->easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)status.st_size);
    curl_easy_setopt(mover->easy, CURLOPT_READFUNCTION, read_piece);
    curl_easy_setopt(mover->easy, CURLOPT_READDATA, &file);
    curl_easy_setopt(mover->easy, CURLOPT_WRITEFUNCTION, drop_piece);
    const char *failure = run(mover, url);
    close(file);
    return failure;
}
