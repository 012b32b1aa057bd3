#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "CLimit.h"

struct transfer {
    CURL *easy;
    char *url;
    size_t url_capacity;
    char *body;
    size_t length;
    size_t capacity;
    uint64_t began;
};

struct climit_session {
    struct climit_order order;
    CURLM *multi;
    struct curl_slist *fields;
    struct transfer *transfers;
    size_t number;
};

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static size_t take(char *bytes, size_t size, size_t count, void *context) {
    struct transfer *transfer = context;
    size_t length = size * count;
    if (transfer->length + length > transfer->capacity) return 0;
    memcpy(transfer->body + transfer->length, bytes, length);
    transfer->length += length;
    return length;
}

static bool prepare(struct climit_session *session, struct transfer *transfer) {
    const struct climit_order *order = &session->order;
    transfer->easy = curl_easy_init();
    transfer->url_capacity = strlen(order->url) + 24;
    transfer->url = malloc(transfer->url_capacity);
    // One byte more than is expected, so that a longer body is seen to be longer.
    transfer->capacity = order->expected_length + 1;
    transfer->body = malloc(transfer->capacity);
    if (!transfer->easy || !transfer->url || !transfer->body) return false;
    curl_easy_setopt(transfer->easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(transfer->easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(transfer->easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(transfer->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, session->fields);
    if (order->authority) curl_easy_setopt(transfer->easy, CURLOPT_CAINFO, order->authority);
    curl_easy_setopt(
        transfer->easy, CURLOPT_HTTP_VERSION,
        (long)(order->http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    // Otherwise the first requests would each open a connection before HTTP/2 is agreed upon.
    if (order->http2) curl_easy_setopt(transfer->easy, CURLOPT_PIPEWAIT, 1L);
    return true;
}

static bool keep_fields(struct climit_session *session) {
    for (size_t index = 0; index < session->order.field_count; index++) {
        struct curl_slist *longer = curl_slist_append(session->fields, session->order.fields[index]);
        if (!longer) return false;
        session->fields = longer;
    }
    return true;
}

struct climit_session *climit_open(const struct climit_order *order) {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return NULL;
    struct climit_session *session = calloc(1, sizeof *session);
    if (!session) return NULL;
    session->order = *order;
    session->multi = curl_multi_init();
    session->transfers = calloc((size_t)order->in_flight, sizeof *session->transfers);
    if (!session->multi || !session->transfers || !keep_fields(session)) return NULL;
    curl_multi_setopt(session->multi, CURLMOPT_MAXCONNECTS, 512L);
    for (int index = 0; index < order->in_flight; index++)
        if (!prepare(session, &session->transfers[index])) return NULL;
    return session;
}

void climit_close(struct climit_session *session) {
    for (int index = 0; index < session->order.in_flight; index++) {
        struct transfer *transfer = &session->transfers[index];
        curl_easy_cleanup(transfer->easy);
        free(transfer->url);
        free(transfer->body);
    }
    curl_multi_cleanup(session->multi);
    curl_slist_free_all(session->fields);
    free(session->transfers);
    free(session);
}

static void begin(struct climit_session *session, struct transfer *transfer, bool timed) {
    if (timed) transfer->began = now();
    session->number += 1;
    snprintf(transfer->url, transfer->url_capacity, "%s%zu", session->order.url, session->number);
    transfer->length = 0;
    curl_easy_setopt(transfer->easy, CURLOPT_URL, transfer->url);
    curl_multi_add_handle(session->multi, transfer->easy);
}

static void check(
    const struct climit_order *order, const struct transfer *transfer, CURLcode code, struct climit_result *result) {
    long status = 0, version = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(transfer->easy, CURLINFO_HTTP_VERSION, &version);
    if (code == CURLE_OK && status == 200
        && version == (order->http2 ? CURL_HTTP_VERSION_2_0 : CURL_HTTP_VERSION_1_1)
        && transfer->length == order->expected_length
        && climit_hash(transfer->body, transfer->length) == order->expected_hash)
        return;
    if (result->failures++ > 0) return;
    snprintf(
        result->failure, sizeof result->failure, "%s: %s, status %ld, version %ld, %zu bytes", transfer->url,
        curl_easy_strerror(code), status, version, transfer->length);
}

struct climit_result climit_run(
    struct climit_session *session, double seconds, size_t count, uint64_t *latencies, size_t capacity) {
    struct climit_result result = {.latencies = latencies};
    const uint64_t end = now() + (uint64_t)(seconds * 1e9);
    size_t begun = 0;
    int running = 0;
    for (; running < session->order.in_flight && (!count || begun < count); running++, begun++)
        begin(session, &session->transfers[running], latencies != NULL);
    while (running > 0) {
        int active;
        curl_multi_perform(session->multi, &active);
        int left;
        for (CURLMsg *message; (message = curl_multi_info_read(session->multi, &left));) {
            if (message->msg != CURLMSG_DONE) continue;
            struct transfer *transfer;
            const CURLcode code = message->data.result;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
            check(&session->order, transfer, code, &result);
            if (latencies && result.requests < capacity) latencies[result.requests] = now() - transfer->began;
            result.requests += 1;
            curl_multi_remove_handle(session->multi, transfer->easy);
            if (count ? begun < count : now() < end) {
                begin(session, transfer, latencies != NULL);
                begun += 1;
            } else {
                running -= 1;
            }
        }
        if (running > 0) curl_multi_poll(session->multi, NULL, 0, 1000, NULL);
    }
    return result;
}

const char *climit_curl_version(void) {
    return curl_version();
}
