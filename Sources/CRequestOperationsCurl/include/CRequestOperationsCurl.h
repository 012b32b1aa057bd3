#ifndef CREQUESTOPERATIONSCURL_H
#define CREQUESTOPERATIONSCURL_H

#if defined(__linux__)

#include <curl/curl.h>
#include <stdint.h>

// libcurl's functions that take options are variadic, which Swift cannot call: each has a typed form here. The rest saves
// crossings between the languages on the way of every transfer.

// Options named by number: the headers either mark them as deprecated in favour of newer ones that older libraries lack, or
// lack them themselves. A library that does not know one says CURLE_UNKNOWN_OPTION.
static const CURLoption rocurl_option_protocols = (CURLoption)181;
static const CURLoption rocurl_option_quick_exit = (CURLoption)322;
/// The value of `rocurl_option_protocols` for http and https.
static const long rocurl_protocols_http_https = 3;

// MARK: Library

/// The version of the library that runs, as 0xMMmmpp.
unsigned int rocurl_version_number(void);
/// Its version as text, such as "7.88.1".
const char *rocurl_version_text(void);
/// Its features, CURL_VERSION_… bits.
unsigned int rocurl_features(void);
/// A monotonic time in nanoseconds.
int64_t rocurl_now(void);
/// How many bytes a block from `malloc` really has.
size_t rocurl_block_size(void *block);
/// Blocks all signals on the calling thread: they belong to the threads of the program.
void rocurl_block_signals(void);

// MARK: Options

CURLcode rocurl_set_long(CURL *easy, CURLoption option, long value);
CURLcode rocurl_set_offset(CURL *easy, CURLoption option, int64_t value);
CURLcode rocurl_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode rocurl_set_pointer(CURL *easy, CURLoption option, void *value);
/// Sets a blob that the library copies.
CURLcode rocurl_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t count);
CURLMcode rocurl_multi_set_long(CURLM *multi, CURLMoption option, long value);

/// The functions that libcurl calls during a transfer, each with the context that the easy handle was given.
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
    /// A socket was made and will be connected.
    int (*socket)(void *context, curl_socket_t descriptor, curlsocktype purpose);
    /// The connection stands, the request will be sent.
    int (*send)(void *context, char *remote, char *local, int remote_port, int local_port);
};

/// Gives an easy handle its functions and their context.
void rocurl_set_callbacks(CURL *easy, const struct rocurl_callbacks *callbacks, void *context);

/// Keeps a socket from being inherited by child processes; older versions of libcurl leave it open to them.
void rocurl_close_on_exec(int descriptor);

/// A cookie jar for several easy handles, with a lock of its own; NULL without memory.
void *rocurl_cookies_create(void);
/// Frees a jar that no easy handle uses any more.
void rocurl_cookies_destroy(void *cookies);
/// Gives an easy handle a jar, or with NULL takes it away.
void rocurl_set_cookies(CURL *easy, void *cookies);

// MARK: Progress of transfers

/// A transfer that came to its end.
struct rocurl_finished {
    void *context;
    CURLcode code;
};

/// Takes finished transfers off the multi handle, at most `capacity`, and says how many.
int rocurl_take_finished(CURLM *multi, struct rocurl_finished *finished, int capacity);

/// Waits for the sockets of the multi handle, for its timers, for `wake` to be readable, or for the time to pass; what made
/// `wake` readable is taken out.
CURLMcode rocurl_wait(CURLM *multi, int wake, int milliseconds);
/// Makes a descriptor readable that another thread waits for.
void rocurl_wake(int wake);
/// A descriptor for the two functions above, or -1.
int rocurl_wake_create(void);

/// What libcurl measured of one transfer; microseconds since it began.
struct rocurl_measures {
    int64_t name_lookup, connect, secure_connect, pretransfer, first_byte, total;
    int64_t sent, received;
    long new_connections, request_size, system_error, connect_status;
    /// Valid until the handle is used again.
    const char *address;
};

void rocurl_measure(CURL *easy, struct rocurl_measures *measures);
/// The length of the body that the head declares, or -1.
int64_t rocurl_content_length(CURL *easy);
/// The number of bytes of the body sent so far.
int64_t rocurl_sent(CURL *easy);

#endif
#endif
