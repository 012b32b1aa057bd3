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

/// Judges the chain that OpenSSL has verified, the server's certificate first. `name` is the name that the handshake asked for;
/// NULL for an address. Returns false to end the handshake.
typedef bool (*rocurl_judge)(void *context, const char *name, const struct rocurl_certificate *chain, int count);

/// Sets the function that gets the `SSL_CTX` of each new connection of an easy handle.
CURLcode rocurl_set_context_function(CURL *easy, curl_ssl_ctx_callback function);

/// Has the chains of all connections of an `SSL_CTX` judged. The context is released with it. Returns false without memory.
bool rocurl_judge_chains(void *ssl_context, rocurl_judge judge, void *context, void (*release)(void *context));

#endif
#endif
