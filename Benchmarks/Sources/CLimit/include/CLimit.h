#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The limit: what a C program over libcurl's multi interface makes of the same work. Its easy handles, connections and
/// body buffers are kept and used again; each request has a URL of its own, and each response's status, version of HTTP,
/// length and hash are checked.

/// The work of a session.
struct climit_order {
    /// The URL, to which each request appends its number.
    const char *url;
    /// How many requests are under way at a time.
    int in_flight;
    /// The length of every body.
    size_t expected_length;
    /// The hash of every body; see `climit_hash`.
    uint64_t expected_hash;
    /// The PEM file of the certificate that is trusted; NULL without TLS.
    const char *authority;
    /// Whether HTTP/2 is spoken, all requests over one connection.
    bool http2;
    /// The header lines that every request has beside those of libcurl, and their number.
    const char *const *fields;
    size_t field_count;
};

/// What came of a run.
struct climit_result {
    /// The requests that ended.
    size_t requests;
    /// Those of them that failed or whose response was not the expected one.
    size_t failures;
    /// The first failure as a sentence.
    char failure[256];
    /// The nanoseconds of each request, if it was asked for.
    uint64_t *latencies;
};

struct climit_session;

/// Opens a session; NULL if libcurl gives no handle. The strings of the order must outlive it.
struct climit_session *climit_open(const struct climit_order *order);

/// Makes requests for so many seconds or, if that is not 0, so many requests, and returns when the last has ended.
/// `latencies` has room for that of `capacity` requests, or is NULL.
struct climit_result climit_run(
    struct climit_session *session, double seconds, size_t count, uint64_t *latencies, size_t capacity);

/// Closes the session and its connections.
void climit_close(struct climit_session *session);

/// The limit for files: the same interface with libcurl's own settings, whose pieces are written and read by write(2) and
/// read(2). It keeps its connection.
struct climit_mover;

/// Makes one; NULL if libcurl gives no handle.
struct climit_mover *climit_open_mover(void);

/// Downloads a page to a file. Returns NULL when it is there, or the failure as a sentence, which is kept until the next one.
const char *climit_download(struct climit_mover *mover, const char *url, const char *path);

/// Uploads a file to a page by PUT; returns as `climit_download` does.
const char *climit_upload(struct climit_mover *mover, const char *path, const char *url);

/// Closes it and its connection.
void climit_close_mover(struct climit_mover *mover);

/// The hash with which all clients check a body: FNV-1a over words of 64 bits in four lanes, then over the length.
uint64_t climit_hash(const void *bytes, size_t length);

/// The hash of a file, taken piece by piece, and its length; false if the file cannot be read.
bool climit_hash_file(const char *path, uint64_t *hash, uint64_t *length);

/// Gives freed memory back to the system (`malloc_trim(0)`, which Swift's overlay of glibc does not have).
void climit_trim(void);

/// The nanoseconds in which a cache line goes from one processor to another and back, or 0 where there is only one, or no way to
/// say. It tells whether the host of a virtual machine has its processors share a cache at the moment.
int64_t climit_processor_distance(void);

/// The version of libcurl and of the libraries that it uses.
const char *climit_curl_version(void);
