#ifndef CREQUESTOPERATIONSCURL_H
#define CREQUESTOPERATIONSCURL_H

#if defined(__linux__)

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

// libcurl's functions that take options are variadic, which Swift cannot call: each has a typed form here. The rest saves
// crossings between the languages on the way of every transfer.

// What headers older than the oldest supported library lack, so that a build with them says at run time what is missing.
#if LIBCURL_VERSION_NUM < 0x074700
#define CURL_BLOB_NOCOPY 0
struct curl_blob {
    void *data;
    size_t len;
    unsigned int flags;
};
#endif
#if LIBCURL_VERSION_NUM < 0x074900
static const CURLcode CURLE_PROXY = (CURLcode)97;
#endif
#ifndef CURL_PREREQFUNC_OK
#define CURL_PREREQFUNC_OK 0
#define CURL_PREREQFUNC_ABORT 1
#endif

// Options named by number: the headers either mark them as deprecated in favour of newer ones that older libraries lack, or
// lack them themselves. A library that does not know one says CURLE_UNKNOWN_OPTION.
static const CURLoption rocurl_option_protocols = (CURLoption)181;
static const CURLoption rocurl_option_root_lifetime = (CURLoption)321;
static const CURLoption rocurl_option_quick_exit = (CURLoption)322;
static const CURLMoption rocurl_multi_option_lookup_threads = (CURLMoption)20;
static const CURLMoption rocurl_multi_option_quick_exit = (CURLMoption)21;
static const CURLoption rocurl_option_send_function = (CURLoption)20312;
static const CURLoption rocurl_option_send_data = (CURLoption)10313;
static const CURLoption rocurl_option_certificate = (CURLoption)40291;
static const CURLoption rocurl_option_key = (CURLoption)40292;
static const CURLoption rocurl_option_roots = (CURLoption)40309;
static const CURLoption rocurl_option_proxy_roots = (CURLoption)40310;
/// The value of `rocurl_option_protocols` for http and https.
static const long rocurl_protocols_http_https = 3;

// MARK: Library

/// Initialises the library; see `rocurl_begin_work`.
CURLcode rocurl_initialize(void);
/// A thread works with the library between these two. When the process exits, the libraries under libcurl clean up after
/// themselves: from then on no thread begins to work, and the exit waits for those that do, 2 s at most.
void rocurl_begin_work(void);
void rocurl_end_work(void);
/// The version of the library that runs, as 0xMMmmpp.
unsigned int rocurl_version_number(void);
/// Its features, CURL_VERSION_… bits.
unsigned int rocurl_features(void);
/// The name and version of its TLS library, such as "OpenSSL/3.0.11"; NULL without one.
const char *rocurl_tls_library(void);
/// The file and the folder in which it looks for the roots of the system; NULL where it was built without.
const char *rocurl_root_file(void);
const char *rocurl_root_folder(void);
/// A monotonic time in nanoseconds.
int64_t rocurl_now(void);
/// How many bytes a block from `malloc` really has.
size_t rocurl_block_size(void *block);
/// Starts a thread that nobody joins. Signals are blocked, since they belong to the threads of the program, SIGPIPE above all;
/// except those that a fault of the thread itself raises, and that of profilers. Its stack has 1 MiB. Returns an `errno` value, 0 if it started.
int rocurl_start_thread(void *(*run)(void *), void *context);
/// Names the calling thread, in 15 bytes at most.
void rocurl_name_thread(const char *name);

// MARK: Options

CURLcode rocurl_set_long(CURL *easy, CURLoption option, long value);
CURLcode rocurl_set_offset(CURL *easy, CURLoption option, int64_t value);
CURLcode rocurl_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode rocurl_set_pointer(CURL *easy, CURLoption option, void *value);
/// Sets a blob that the library does not copy: it stays where it is for as long as the handle may use it.
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
    /// Makes a socket for an address; `CURL_SOCKET_BAD` if there is none to have.
    curl_socket_t (*open)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
    /// A socket was made and will be connected.
    int (*socket)(void *context, curl_socket_t descriptor, curlsocktype purpose);
    /// The connection stands, the request will be sent.
    int (*send)(void *context, char *remote, char *local, int remote_port, int local_port);
};

/// The size in bytes, as the kernel counts, of the receive buffer with which a connection over TCP begins, as far as
/// `net.core.rmem_max` allows; on Linux 5.15 and later.
enum { rocurl_receive_buffer = 512 << 10 };
/// About so many bytes the kernel takes for a connection over TCP that it cannot send yet; there too.
enum { rocurl_unsent_bytes = 128 << 10 };

/// Makes the socket of a connection; -1 with `errno` set if the system has none to give.
int rocurl_open_socket(const struct curl_sockaddr *address);

/// Gives an easy handle its functions and their context; says what the library has against the first that it refuses.
CURLcode rocurl_set_callbacks(CURL *easy, const struct rocurl_callbacks *callbacks, void *context);

/// Gives an easy handle the function that closes the sockets of its connections, whoever uses them last.
CURLcode rocurl_set_close(CURL *easy, curl_closesocket_callback close, void *context);

/// Gives a multi handle the functions that hear what it waits for.
void rocurl_set_waiting(CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer, void *context);

/// The context that an easy handle was given.
void *rocurl_context(CURL *easy);

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

// MARK: Decompression

/// Begins to decompress gzip, with the library that libcurl does it with; NULL where there is none.
void *rocurl_inflate_create(void);
void rocurl_inflate_destroy(void *stream);
/// Decompresses from `input` to `output`; the counts are those of the bytes there, and then of those taken and made. Returns 1 at
/// the end of a member, -1 if the input is broken, and 0 otherwise.
int rocurl_inflate(void *stream, const void *input, size_t *input_count, void *output, size_t *output_count);
/// After the end of a member, begins with the next; false without memory.
bool rocurl_inflate_next_member(void *stream);

// MARK: Waiting

/// Something that happened to a descriptor.
struct rocurl_event {
    int descriptor;
    /// CURL_CSELECT_IN and CURL_CSELECT_OUT; both at its end.
    int readiness;
};

/// A set of descriptors to wait for, or -1.
int rocurl_epoll_create(void);
/// Watches a descriptor for `after` in place of `before`, bits as in `rocurl_event`, 0 for nothing.
bool rocurl_watch(int epoll, int descriptor, int before, int after);
/// Has each call of `rocurl_wake` count as one thing that happens, without `rocurl_take_wakes` in between.
bool rocurl_watch_wakes(int epoll, int wake);
/// Waits until something happens to descriptors of the set, or the time has passed; how many events there are.
int rocurl_wait(int epoll, struct rocurl_event *events, int capacity, int milliseconds);
/// The number of bytes written to a connection of TCP, sent or not; -1 as long as none was sent, for other descriptors, and
/// where the system does not tell.
int64_t rocurl_written(int descriptor);
/// For how long nothing has come over a connection of TCP, in nanoseconds, counted in ticks of some milliseconds; -1 if that is
/// not known. A system that does not tell says 0.
int64_t rocurl_silence(int descriptor);
/// How many of the bytes written to a connection the other side has not acknowledged, sent or not; -1 if that is not known.
int64_t rocurl_unreceived(int descriptor);
/// Where a connection begins and ends. One of a Unix socket has no ports.
struct rocurl_ends {
    int local_port;
    /// 0 if the other side is not known any more.
    int remote_port;
    /// That of the address, which is in network order, with zeros behind it.
    int remote_family;
    unsigned char remote_address[16];
};
/// Finds both ends of a connection, the other one unless it was reset; false if the descriptor is none of a socket.
bool rocurl_find_ends(int descriptor, struct rocurl_ends *ends);
/// Whether a connection from a port on our side to a port of an address, as text, has these ends as far as they are known.
bool rocurl_may_have_ends(const struct rocurl_ends *ends, int local_port, const char *remote_address, int remote_port);
/// Ends a connection that nobody uses, so that whoever looks at it next finds its end, behind 64 KiB at most.
void rocurl_end_idle(int descriptor);
/// Tells the processor that this thread is looking out for something.
void rocurl_spin_hint(void);
/// How many descriptors the process may have open, by its soft limit; the largest number if that is not bounded or not known.
int64_t rocurl_descriptor_limit(void);
/// On how many processors the thread may run; 0 if that cannot be said.
int rocurl_usable_processors(void);
/// A descriptor for the functions about wakes, or -1.
int rocurl_wake_create(void);
/// Wakes the thread that waits for the descriptor, or is going to.
void rocurl_wake(int wake);
/// How often that was done since the last time; waits for once.
uint64_t rocurl_take_wakes(int wake);

/// What libcurl measured of one transfer; microseconds since it began.
struct rocurl_measures {
    int64_t name_lookup, connect, secure_connect, request_sent;
    int64_t sent, received;
    long new_connections;
    /// Valid until the handle is used again.
    const char *address;
};

/// Leaves the times of connecting as they are for a request that was sent over a connection that stood.
void rocurl_measure(CURL *easy, bool is_unsent, struct rocurl_measures *measures);
/// How many bytes of the body have come so far, before decompression.
int64_t rocurl_received(CURL *easy);
/// The other end of the connection that a transfer uses. The text is valid until the handle is used again.
void rocurl_find_remote_end(CURL *easy, const char **address, int *port);
/// The length of the body that the head declares, or -1.
int64_t rocurl_content_length(CURL *easy);
/// The last `errno` of its connecting.
long rocurl_system_error(CURL *easy);
/// Whether a transfer that failed with `CURLE_PROXY` did so since the host of its request has no address for the proxy.
bool rocurl_is_unresolved_behind_proxy(CURL *easy);
/// Whether the library keeps a field of a response for the handle, of whatever kind; true if it does not tell.
bool rocurl_stores_fields(CURL *easy);
/// The number of bytes of the body sent so far.
int64_t rocurl_sent(CURL *easy);

#endif
#endif
