#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CLimit.h"

static const uint64_t prime = 0x00000100000001B3;
static const uint64_t basis = 0xCBF29CE484222325;

uint64_t climit_hash(const void *bytes, size_t length) {
    // Four lanes, since a multiplication has to wait for the one before it in the same lane.
    uint64_t lanes[4] = {basis, basis + 1, basis + 2, basis + 3};
    const unsigned char *next = bytes;
    size_t left = length;
    for (; left >= sizeof lanes; left -= sizeof lanes, next += sizeof lanes) {
        uint64_t words[4];
        memcpy(words, next, sizeof words);
        for (int lane = 0; lane < 4; lane++) lanes[lane] = (lanes[lane] ^ words[lane]) * prime;
    }
    uint64_t hash = basis;
    for (int lane = 0; lane < 4; lane++) hash = (hash ^ lanes[lane]) * prime;
    for (; left > 0; left--, next++) hash = (hash ^ *next) * prime;
    return (hash ^ length) * prime;
}

bool climit_hash_file(const char *path, uint64_t *hash, uint64_t *length) {
    const size_t capacity = 1 << 20;
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    setvbuf(file, NULL, _IONBF, 0);
    char *piece = malloc(capacity);
    *hash = basis;
    *length = 0;
    size_t count = 0;
    while (piece && (count = fread(piece, 1, capacity, file)) > 0) {
        *hash = (*hash ^ climit_hash(piece, count)) * prime;
        *length += count;
    }
    const bool whole = piece && !ferror(file);
    free(piece);
    fclose(file);
    return whole;
}
