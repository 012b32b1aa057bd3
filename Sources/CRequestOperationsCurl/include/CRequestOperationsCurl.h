#ifndef CREQUESTOPERATIONSCURL_H
#define CREQUESTOPERATIONSCURL_H

#if defined(__linux__)

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "Chains.h"

// libcurl's functions that take options are variadic, and Swift cannot call those. So each has a typed form here. The
// other functions save calls between the two languages in every transfer.

#if LIBCURL_VERSION_NUM < 0x075100
#error "RequestOperations needs libcurl 7.81 or later, and its headers."
#endif

// Options named by number. Some headers mark them as deprecated, in favour of newer ones that older libraries lack.
// Other headers lack them completely. A library that does not know an option returns CURLE_UNKNOWN_OPTION.
static const CURLoption rocurl_option_protocols = (CURLoption)181;
static const CURLoption rocurl_option_root_lifetime = (CURLoption)321;
static const CURLoption rocurl_option_quick_exit = (CURLoption)322;
static const CURLMoption rocurl_multi_option_lookup_threads = (CURLMoption)20;
static const CURLMoption rocurl_multi_option_quick_exit = (CURLMoption)21;
/// The value of `rocurl_option_protocols` for http and https.
static const long rocurl_protocols_http_https = 3;

// MARK: Library

/// Initialises the library; see `rocurl_begin_work`.
CURLcode rocurl_initialize(void);
/// A thread works with the library only between these two calls. When the process exits, the libraries under libcurl
/// clean up. From then on, no thread begins to work, and the exit waits at most 2 s for those that do.
void rocurl_begin_work(void);
void rocurl_end_work(void);
/// Starts a thread that nobody joins. Returns an `errno` value, 0 if it started. Signals are blocked in it, since they
/// belong to the threads of the program, above all SIGPIPE. The exceptions are signals that a fault of the thread
/// itself raises, and the signal of profilers. Its stack has 1 MiB.
int rocurl_start_thread(void *(*run)(void *), void *context);
/// Names the calling thread; the name has at most 15 bytes.
void rocurl_name_thread(const char *name);

// MARK: Options

CURLcode rocurl_set_long(CURL *easy, CURLoption option, long value);
CURLcode rocurl_set_offset(CURL *easy, CURLoption option, int64_t value);
/// Sets an option whose value is a string, a list or other memory.
CURLcode rocurl_set_pointer(CURL *easy, CURLoption option, const void *value);
/// Sets a blob that the library does not copy. The memory must stay valid as long as the handle may use it.
CURLcode rocurl_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t count);
CURLMcode rocurl_multi_set_long(CURLM *multi, CURLMoption option, long value);

/// The functions that libcurl calls during a transfer. Each one gets the context that was set for the easy handle.
struct rocurl_callbacks {
    /// A line of a head or trailer.
    size_t (*header)(char *bytes, size_t size, size_t count, void *context);
    /// Bytes of the response's body.
    size_t (*body)(char *bytes, size_t size, size_t count, void *context);
    /// Fills a buffer with bytes of the request's body.
    size_t (*read)(char *bytes, size_t size, size_t count, void *context);
    /// Goes back in the request's body.
    int (*seek)(void *context, curl_off_t offset, int origin);
    /// A look-up begins.
    int (*lookup)(void *resolver, void *reserved, void *context);
    /// Makes a socket for an address; returns `CURL_SOCKET_BAD` if it cannot.
    curl_socket_t (*open)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
    /// A socket was made and will be connected.
    int (*socket)(void *context, curl_socket_t descriptor, curlsocktype purpose);
    /// The connection is ready, and the request is sent next.
    int (*send)(void *context, char *remote, char *local, int remote_port, int local_port);
    /// Closes the socket of a connection, even if another handle used it last. It gets the other context.
    int (*close)(void *close_context, curl_socket_t descriptor);
};

/// Sets the functions of an easy handle and their contexts. Returns libcurl's error for the first one that it refuses.
CURLcode rocurl_set_callbacks(CURL *easy, const struct rocurl_callbacks *callbacks, void *context, void *close_context);

/// A cookie jar for several easy handles, with its own lock; NULL without memory.
void *rocurl_cookies_create(void);
/// Frees a jar that no easy handle uses any more.
void rocurl_cookies_destroy(void *cookies);
/// Gives a jar to an easy handle; NULL takes the jar away.
void rocurl_set_cookies(CURL *easy, void *cookies);

// MARK: Progress of transfers

/// Removes the next finished transfer from the multi handle. Returns its context, and NULL if there is none.
void *rocurl_next_finished(CURLM *multi, CURLcode *code);

// MARK: Decompression

/// Starts to decompress gzip, with the same library as libcurl; NULL if there is none.
void *rocurl_inflate_create(void);
void rocurl_inflate_destroy(void *stream);
/// Decompresses from `input` to `output`. The counts are first the sizes of the two, and then the numbers of bytes
/// taken and made. Returns 1 at the end of a member, -1 if the input is broken, and 0 otherwise.
int rocurl_inflate(void *stream, const void *input, size_t *input_count, void *output, size_t *output_count);
/// Starts the next member after the end of one; false without memory.
bool rocurl_inflate_next_member(void *stream);

// MARK: Sockets

/// How long nothing has come over a TCP connection, in nanoseconds, counted in ticks of some milliseconds. Returns -1
/// if that is not known. A system that does not report it returns 0.
int64_t rocurl_silence(int descriptor);
/// How many bytes written to a connection the other side has not acknowledged, sent or not; -1 if that is not known.
int64_t rocurl_unreceived(int descriptor);
/// The local port of a socket, 0 for a Unix socket; -1 if the descriptor is not a socket.
int rocurl_local_port(int descriptor);
/// Whether the other side has ended a connection while nobody read from it. The end counts even behind input, as behind the
/// message that closes TLS. Input alone may count as well.
bool rocurl_has_ended(int descriptor, bool input_counts);

// MARK: Information

/// What the library tells about a transfer: a `curl_off_t`, -1 if it is not known; a `long`, 0 if it is not known; and a
/// string that is valid until the handle is used again, NULL if it is not known.
int64_t rocurl_offset_info(CURL *easy, CURLINFO info);
long rocurl_long_info(CURL *easy, CURLINFO info);
const char *rocurl_string_info(CURL *easy, CURLINFO info);
/// Whether the library keeps any kind of response field for the handle; true if the library does not report that.
bool rocurl_stores_fields(CURL *easy);

#endif
#endif
