#if defined(__linux__)

#include "Chains.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Certificates beyond these are not looked at. A verified chain has two to four.
enum { most_certificates = 16 };

struct judgement {
    char *host;
    bool may_be_proxy;
    rocurl_judge judge;
    void *context;
    void (*release)(void *context);
};

const char *rocurl_openssl_version(void) {
#ifdef OPENSSL_VERSION_STRING
    return OpenSSL_version(OPENSSL_VERSION_STRING);
#else
    return "";
#endif
}

static int place_of_judgement = -1;
static pthread_once_t has_place = PTHREAD_ONCE_INIT;

static void free_judgement(void *parent, void *value, CRYPTO_EX_DATA *data, int place, long number, void *argument) {
    (void)parent, (void)data, (void)place, (void)number, (void)argument;
    struct judgement *judgement = value;
    if (!judgement) return;
    judgement->release(judgement->context);
    free(judgement->host);
    free(judgement);
}

static void make_place(void) {
    place_of_judgement = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_judgement);
}

static bool digest(int (*encode)(const void *, unsigned char **), const void *part, uint8_t *result) {
    unsigned char *bytes = NULL;
    int count = encode(part, &bytes);
    if (count <= 0) return false;
    bool is_done = EVP_Digest(bytes, (size_t)count, result, NULL, EVP_sha256(), NULL) == 1;
    OPENSSL_free(bytes);
    return is_done;
}

static int encode_key(const void *key, unsigned char **bytes) { return i2d_X509_PUBKEY(key, bytes); }
static int encode_certificate(const void *certificate, unsigned char **bytes) { return i2d_X509(certificate, bytes); }

// Whether a certificate is for a host, or for one that differs only by a hyphen instead of an underscore: in OpenSSL, no
// wildcard stands for an underscore, and libcurl, which looks at the name again, takes it.
static bool is_for(X509 *certificate, const char *host) {
    if (X509_check_host(certificate, host, 0, 0, NULL) == 1) return true;
    if (!strchr(host, '_')) return X509_check_ip_asc(certificate, host, 0) == 1;
    char *other = strdup(host);
    if (!other) return false;
    for (char *place = other; *place; place++) {
        if (*place == '_') *place = '-';
    }
    bool is_for = X509_check_host(certificate, other, 0, 0, NULL) == 1;
    free(other);
    return is_for;
}

// Takes the place of OpenSSL's own function, and calls that first.
static int verify(X509_STORE_CTX *store, void *argument) {
    int result = X509_verify_cert(store);
    if (result != 1) return result;
    struct judgement *judgement = argument;
    if (!is_for(X509_STORE_CTX_get0_cert(store), judgement->host)) {
        if (judgement->may_be_proxy) return 1;
        X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH);
        return 0;
    }
    STACK_OF(X509) *chain = X509_STORE_CTX_get0_chain(store);
    struct rocurl_certificate certificates[most_certificates];
    int count = 0;
    for (; count < sk_X509_num(chain) && count < most_certificates; count++) {
        X509 *certificate = sk_X509_value(chain, count);
        if (!digest(encode_key, X509_get_X509_PUBKEY(certificate), certificates[count].key) ||
            !digest(encode_certificate, certificate, certificates[count].whole)) {
            break;
        }
    }
    if (judgement->judge(judgement->context, certificates, count)) return 1;
    X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
}

CURLcode rocurl_set_context_function(CURL *easy, curl_ssl_ctx_callback function) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, function);
}

bool rocurl_judge_chains(
    void *ssl_context, const char *host, bool may_be_proxy, rocurl_judge judge, void *context,
    void (*release)(void *context)) {
    pthread_once(&has_place, make_place);
    struct judgement *judgement = malloc(sizeof *judgement);
    if (!judgement) return false;
    *judgement = (struct judgement){strdup(host), may_be_proxy, judge, context, release};
    if (!judgement->host || place_of_judgement < 0 ||
        SSL_CTX_set_ex_data(ssl_context, place_of_judgement, judgement) != 1) {
        free(judgement->host);
        free(judgement);
        return false;
    }
    SSL_CTX_set_cert_verify_callback(ssl_context, verify, judgement);
    return true;
}

#endif
