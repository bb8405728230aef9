/*
 * The words of prepared texts: where each is, what is known of it, and its hash.
 *
 * rankgauge.matchers.word_runs has the same in numpy. Words are found 64 bytes at a time: a bit for each byte that may be
 * part of one, and bits for the signs that are where they are between letters and digits.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdlib.h>
#include <string.h>
#if (defined(__SSE2__) || defined(_M_X64)) && !defined(RANKGAUGE_FAST_PLAIN)
#define BY_SIXTEEN
#include <emmintrin.h>
#endif
#include "bits.h"
#include "words.h"

#define SALT 0xD1B54A32D192ED03ULL
#define BUFFERS 10
#define BLOCK 64
#define SHORT_NUMBER 64

/* Which of 64 bytes are letters and digits (or parts of what is not ASCII), digits, and signs that may join them. */
typedef struct { uint64_t word, digit, line, hyphen, point; } Bits;

#ifdef BY_SIXTEEN

static __m128i is_below(__m128i bytes, char first, char count)
{
    __m128i from = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
    return _mm_cmpeq_epi8(_mm_min_epu8(from, _mm_set1_epi8((char)(count - 1))), from);
}

static uint64_t bits_of(__m128i bytes) { return (uint64_t)(uint32_t)_mm_movemask_epi8(bytes); }

static Bits bits_at(const uint8_t *at)
{
    Bits bits = {0, 0, 0, 0, 0};
    for (int part = 0; part < BLOCK; part += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(at + part));
        __m128i digit = is_below(bytes, '0', 10), either = _mm_or_si128(bytes, _mm_set1_epi8(2)); /* of "-/" and ",." */
        __m128i letter = is_below(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 26);
        __m128i point = _mm_or_si128(_mm_cmpeq_epi8(either, _mm_set1_epi8('.')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8(':')));
        bits.word |= bits_of(_mm_or_si128(bytes, _mm_or_si128(letter, digit))) << part; /* a high bit is beyond ASCII */
        bits.digit |= bits_of(digit) << part;
        bits.line |= bits_of(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('_'))) << part;
        bits.hyphen |= bits_of(_mm_cmpeq_epi8(either, _mm_set1_epi8('/'))) << part;
        bits.point |= bits_of(point) << part;
    }
    return bits;
}

#else

static Bits bits_at(const uint8_t *at)
{
    Bits bits = {0, 0, 0, 0, 0};
    for (int each = 0; each < BLOCK; each++) {
        uint8_t code = at[each];
        uint64_t bit = 1ULL << each;
        int is_digit = (uint8_t)(code - '0') < 10;
        bits.word |= is_digit || (uint8_t)((code | 0x20) - 'a') < 26 || code >= 0x80 ? bit : 0;
        bits.digit |= is_digit ? bit : 0;
        bits.line |= code == '_' ? bit : 0;
        bits.hyphen |= code == '-' || code == '/' ? bit : 0;
        bits.point |= code == '.' || code == ',' || code == ':' ? bit : 0;
    }
    return bits;
}

#endif

static Bits bits_before(const uint8_t *data, int64_t at, int64_t end)
{
    uint8_t last[BLOCK] = {0};
    if (end - at >= BLOCK)
        return bits_at(data + at);
    if (at < end)
        memcpy(last, data + at, (size_t)(end - at));
    return bits_at(last);
}

/*
 * Write where the words of a part of the data are; return how many. There has to be room for one more than half of its
 * bytes. What is before and behind it is no part of them.
 */
int64_t find_words(const uint8_t *data, Bounds text, Bounds *places)
{
    int64_t *edges = &places->begin, *edge = edges;
    Bits now = bits_before(data, text.begin, text.end), next;
    uint64_t word = 0, digit = 0, inside = 0; /* of the byte before the block, as its lowest bit */
    for (int64_t at = text.begin; at < text.end; at += BLOCK, now = next) {
        next = bits_before(data, at + BLOCK, text.end);
        uint64_t before = now.word << 1 | word, behind = now.word >> 1 | next.word << 63;
        uint64_t digits = now.digit << 1 | digit, digits_behind = now.digit >> 1 | next.digit << 63;
        uint64_t joins = now.line | (now.hyphen & (digits | digits_behind)) | (now.point & digits & digits_behind);
        uint64_t own = now.word | (joins & before & behind), changes = own ^ (own << 1 | inside);
        for (; changes; changes &= changes - 1)
            *edge++ = at + lowest_bit(changes);
        word = now.word >> 63, digit = now.digit >> 63, inside = own >> 63;
    }
    if ((edge - edges) & 1)
        *edge++ = text.end;
    return (edge - edges) / 2;
}

static uint64_t some_bytes(const uint8_t *at, int64_t count)
{
    uint64_t word = word_at(at);
    return count < 8 ? word & ((1ULL << 8 * count) - 1) : word;
}

static uint64_t hashed(const uint8_t *word, int64_t size)
{
    uint64_t hash = some_bytes(word, size);
    for (int64_t end = 8; end < size; end += 8)
        hash = hash * SALT ^ (some_bytes(word + end, size - end) + SPREAD);
    hash *= SPREAD;
    return hash ^ hash >> 32;
}

static int is_digit(uint8_t code) { return (uint8_t)(code - '0') < 10; }

/* Write a number without thousands commas and zeros behind its point; return its size, 0 for what is no number. */
static int64_t plain_number(const uint8_t *word, int64_t size, uint8_t *plain)
{
    int64_t digits = 0, made = 0, at = 0, groups = 0;
    for (; at < size && word[at] != '.'; at++) {
        if (word[at] == ',') {
            if (groups ? digits != 3 : digits > 3)
                return 0;
            groups++;
            digits = 0;
        } else {
            if (!is_digit(word[at]))
                return 0;
            plain[made++] = word[at];
            digits++;
        }
    }
    if (groups && digits != 3)
        return 0;
    if (at == size)
        return made;
    int64_t whole = made;
    plain[made++] = '.';
    for (at++; at < size; at++) {
        if (!is_digit(word[at]))
            return 0;
        plain[made++] = word[at];
    }
    while (made > whole && (plain[made - 1] == '0' || plain[made - 1] == '.'))
        made--;
    return made;
}

/* Set the hash of what begins with a digit; return whether there was memory. */
static int hash_number(const uint8_t *word, int64_t size, uint64_t *hash)
{
    uint8_t some[SHORT_NUMBER + WORD_PADDING], *plain = some;
    if (size > SHORT_NUMBER && !(plain = malloc((size_t)size + WORD_PADDING)))
        return 0;
    int64_t made = plain_number(word, size, plain);
    memset(plain + made, 0, WORD_PADDING);
    *hash = made ? hashed(plain, made) : hashed(word, size);
    if (plain != some)
        free(plain);
    return 1;
}

/* Set the hashes of words in small letters; return how many, fewer than there are if there was no memory. */
int64_t hash_words(const uint8_t *data, const Bounds *places, int64_t count, uint64_t *words)
{
    for (int64_t each = 0; each < count; each++) {
        const uint8_t *word = data + places[each].begin;
        int64_t size = places[each].end - places[each].begin;
        if (!is_digit(*word))
            words[each] = hashed(word, size);
        else if (!hash_number(word, size, words + each))
            return each;
    }
    return count;
}

/* Set what is known of words, by the signs before each and by its own; the text begins at some place. */
void describe_words(const uint8_t *raw, const uint8_t *says, int64_t from, const Bounds *places, int64_t count, uint8_t *flags)
{
    for (int64_t each = 0, at = from; each < count; each++) {
        int known = 0;
        for (; at < places[each].begin; at++)
            known |= says[raw[at]];
        if (!each)
            known = (known & ~NEW_PIECE) | BREAK; /* an ellipsis may be the end of the text before */
        known |= says[raw[at]];
        for (at++; at < places[each].end; at++) {
            uint8_t code = raw[at];
            if ((uint8_t)(code - 'A') < 26 || is_digit(code) || code == '_')
                known |= STRONG;
        }
        flags[each] = (uint8_t)known;
    }
}

int64_t characters_of(const uint8_t *data, Bounds word)
{
    int64_t count = 0;
    for (int64_t at = word.begin; at < word.end; at++)
        count += (data[at] & 0xC0) != 0x80;
    return count;
}

/* Make capital letters of ASCII small. */
void lower(uint8_t *data, int64_t size)
{
    for (int64_t at = 0; at < size; at++)
        data[at] = (uint8_t)(data[at] + ((uint8_t)(data[at] - 'A') < 26 ? 0x20 : 0));
}

typedef struct {
    const uint8_t *raw, *data, *says; /* the texts, the same in small letters, and what a sign says of the word behind it */
    int64_t size, texts;
    uint64_t *words;
    int64_t *text;
    uint8_t *flags;
    int64_t *ends, *first, *starts, *stops;
} Words;

/* Return how many words there are, -1 if there are not as many texts as was said, or -2 if there is no memory. */
static int64_t read_all(const Words *to)
{
    int64_t end = to->size - WORD_PADDING, count = 0, text = 0;
    Bounds *places = malloc((size_t)(end / 2 + 2) * sizeof *places);
    if (!places)
        return -2;
    to->ends[0] = to->first[0] = 0;
    for (int64_t from = 0, stop = -1; stop < end && text >= 0; from = stop + 1) {
        const uint8_t *parted = from < end ? memchr(to->raw + from, 0, (size_t)(end - from)) : NULL;
        stop = parted ? parted - to->raw : end;
        int64_t found = text < to->texts ? find_words(to->data, (Bounds){from, stop}, places) : 0;
        if (text == to->texts) {
            text = -1;
        } else if (hash_words(to->data, places, found, to->words + count) < found) {
            text = -2;
        } else {
            describe_words(to->raw, to->says, from, places, found, to->flags + count);
            for (int64_t each = 0; each < found; each++, count++) {
                to->starts[count] = places[each].begin;
                to->stops[count] = places[each].end;
                to->text[count] = text;
                to->ends[count + 1] = to->ends[count] + characters_of(to->data, places[each]);
            }
            to->first[++text] = count;
        }
    }
    free(places);
    return text < 0 ? text : text == to->texts ? count : -1;
}

/* read_words(raw, data, says, words, text, flags, ends, first, starts, stops): how many words there are */
PyObject *read_words(PyObject *self, PyObject *args)
{
    (void)self;
    Py_buffer b[BUFFERS];
    memset(b, 0, sizeof b);
    int fits = PyArg_ParseTuple(args, "y*y*y*w*w*w*w*w*w*w*", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &b[6], &b[7], &b[8],
                                &b[9]);
    int64_t count = -1;
    Words to = {b[0].buf, b[1].buf, b[2].buf, b[0].len,  b[7].len / 8 - 1, b[3].buf,
                b[4].buf, b[5].buf, b[6].buf, b[7].buf, b[8].buf,         b[9].buf};
    if (fits) {
        int64_t most = to.size / 2;
        fits = to.size >= WORD_PADDING && b[1].len == to.size && b[2].len == 256 && to.texts > 0 && b[5].len >= most;
        for (int each = 3; each < BUFFERS; each++)
            fits = fits && (each == 5 || each == 7 || b[each].len / 8 >= most + (each == 6));
        if (fits) {
            Py_BEGIN_ALLOW_THREADS
            count = read_all(&to);
            Py_END_ALLOW_THREADS
        }
        if (count == -2)
            PyErr_NoMemory();
        else if (count < 0)
            PyErr_SetString(PyExc_ValueError, "texts and columns do not fit");
    }
    for (int each = 0; each < BUFFERS; each++)
        if (b[each].obj)
            PyBuffer_Release(&b[each]);
    return count < 0 ? NULL : PyLong_FromLongLong((long long)count);
}
