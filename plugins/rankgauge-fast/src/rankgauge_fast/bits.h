/*
 * Eight bytes as one number, the first byte lowest, and its lowest bit.
 */
#ifndef RANKGAUGE_BITS_H
#define RANKGAUGE_BITS_H

#include <stdint.h>
#include <string.h>
#ifdef _MSC_VER
#include <intrin.h>
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "words are read with their first byte lowest"
#endif

static inline uint64_t word_at(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, 8);
    return word;
}

static inline int lowest_bit(uint64_t word)
{
#ifdef _MSC_VER
    unsigned long at;
    _BitScanForward64(&at, word);
    return (int)at;
#else
    return __builtin_ctzll(word);
#endif
}

#endif
