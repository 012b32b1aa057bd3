#ifndef CREQUESTOPERATIONSCURL_CHAINS_H
#define CREQUESTOPERATIONSCURL_CHAINS_H

#if defined(__linux__)

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

/// The SHA-256 digests of a certificate: of its `SubjectPublicKeyInfo`, and of all of it.
struct rocurl_certificate {
    uint8_t key[32];
    uint8_t whole[32];
};

/// Judges the chain that OpenSSL has verified, the server's certificate first. Returns false to end the handshake.
typedef bool (*rocurl_judge)(void *context, const struct rocurl_certificate *chain, int count);

/// The version of OpenSSL that these functions use, such as "3.0.11".
const char *rocurl_openssl_version(void);

/// Sets the function that gets the `SSL_CTX` of each new connection of an easy handle.
CURLcode rocurl_set_context_function(CURL *easy, curl_ssl_ctx_callback function);

/// Has the chains of all connections of an `SSL_CTX` judged. The context is released with it. Returns false without memory.
///
/// A certificate for another host ends the handshake before that. If the connection may be one to an HTTPS proxy, it goes on
/// unjudged instead: libcurl checks the names of proxies, and of servers a second time.
bool rocurl_judge_chains(
    void *ssl_context, const char *host, bool may_be_proxy, rocurl_judge judge, void *context,
    void (*release)(void *context));

#endif
#endif
