/*
 * Lines of runs and judgments as columns, and the judged rows of runs: what rankgauge does with numpy, in one pass each.
 *
 * Nothing here decides what is right. What is not plainly well-formed is handed back (None), and numpy's road reads it
 * or says what is wrong. Texts stand in a buffer with PADDING bytes before the first and behind the last.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#endif
#include "bits.h"

#define PADDING 32
#define MOST_FIELDS 6
#define LONGEST_TIE 64   /* rows with equal scores; longer ties are left to a sort */

/* Memory that is needed soon, and likely to be in no cache. */
#ifdef __GNUC__
#define FETCH(place) __builtin_prefetch(place)
#else
#define FETCH(place) (void)(place)
#endif

#if defined(__SSE2__) || defined(_M_X64)
static inline __m128i sixteen_at(const uint8_t *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

/* Return a bit for each of 16 bytes that is 32 or less. */
static inline uint32_t blanks_in(const uint8_t *bytes)
{
    __m128i most = _mm_set1_epi8(32), here = sixteen_at(bytes);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(here, most), here));
}

/* Return a bit for each of 16 bytes that is the same in two texts. */
static inline uint32_t common_bytes(const uint8_t *a, const uint8_t *b)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(sixteen_at(a), sixteen_at(b)));
}
#else
#define LOW 0x7F7F7F7F7F7F7F7FU

/* Return a bit for each of eight bytes whose high bit is clear. */
static inline uint32_t clear_bytes(uint64_t word)
{
    return (uint32_t)((((~word & ~LOW) >> 7) * 0x0102040810204080U) >> 56);
}

static inline uint32_t blanks_in(const uint8_t *bytes)
{
    uint64_t a = word_at(bytes), b = word_at(bytes + 8); /* 95 more than 32 is 127, and sets no high bit */
    return clear_bytes(((a & LOW) + 0x5F5F5F5F5F5F5F5FU) | a) | clear_bytes(((b & LOW) + 0x5F5F5F5F5F5F5F5FU) | b) << 8;
}

static inline uint32_t common_bytes(const uint8_t *a, const uint8_t *b)
{
    uint64_t x = word_at(a) ^ word_at(b), y = word_at(a + 8) ^ word_at(b + 8);
    return clear_bytes(((x & LOW) + LOW) | x) | clear_bytes(((y & LOW) + LOW) | y) << 8;
}
#endif

/* Masks of the last n of eight bytes, as a word holds them. */
#define ALL (~(uint64_t)0)
static const uint64_t LAST[] = {0, ALL << 56, ALL << 48, ALL << 40, ALL << 32, ALL << 24, ALL << 16, ALL << 8, ALL};

/* The first n of eight bytes. */
static inline uint64_t first_bytes(uint64_t word, int64_t n)
{
    return n < 8 ? word & ~LAST[8 - n] : word;
}

/* The hash that `Slices.keys` gives a text of one byte or more. */
static inline uint64_t key_of(const uint8_t *text, int64_t length)
{
    uint64_t key = first_bytes(word_at(text), length) * 0x9E3779B97F4A7C15U;
    key ^= key >> 29;
    for (int64_t done = 8; done < length; done += 8) {
        key ^= first_bytes(word_at(text + done), length - done);
        key *= 0xC2B2AE3D27D4EB4FU;
        key ^= key >> 31;
    }
    return key;
}

static inline int is_same(const uint8_t *a, const uint8_t *b, int64_t length)
{
    for (; length > 16; length -= 16, a += 16, b += 16)
        if (common_bytes(a, b) != 0xFFFF)
            return 0;
    return (common_bytes(a, b) | ~(uint32_t)0 << length) == ~(uint32_t)0;
}

static const double POWERS[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};

/* Read the 1 to 8 digits that a word ends with; return 0 if there is something else among them. */
static inline int digits_of(uint64_t word, int64_t n, uint64_t *value)
{
    uint64_t mask = LAST[n];
    word &= mask;
    if ((word & (word + (0x0606060606060606U & mask)) & 0xF0F0F0F0F0F0F0F0U) != (0x3030303030303030U & mask))
        return 0;
    word &= 0x0F0F0F0F0F0F0F0FU;
    word = (word * 10 + (word >> 8)) & 0x00FF00FF00FF00FFU;
    word = (word * 100 + (word >> 16)) & 0x0000FFFF0000FFFFU;
    *value = (word * 10000 + (word >> 32)) & 0xFFFFFFFFU;
    return 1;
}

static inline int digits_before(const uint8_t *end, int64_t n, uint64_t *value)
{
    return digits_of(word_at(end - 8), n, value);
}

/*
 * Return mantissa / 10**decimals, correctly rounded, of at most 8 digits before the point and 16 behind it.
 *
 * The power is exact. Up to 2**53 the division rounds once. Above, the exact remainder of the rounded quotient (Dekker)
 * corrects it; `_quotient` in rankgauge.io.trec.decimal_texts has the proof.
 */
static inline double quotient(uint64_t mantissa, int64_t decimals)
{
    double power = POWERS[decimals], high = (double)mantissa, value = high / power;
    if (mantissa <= (uint64_t)1 << 53)
        return value;
    double low = (double)(int64_t)(mantissa - (uint64_t)high), product = value * power;
    double scaled = 134217729.0 * value, a = scaled - (scaled - value), a_low = value - a;
    scaled = 134217729.0 * power;
    double b = scaled - (scaled - power), b_low = power - b;
    double error = a_low * b_low - (((product - a * b) - a_low * b) - a * b_low);
    return value + (((high - product) - error) + low) / power;
}

/* Read a number without sign and exponent; NaN for anything else, which may be a number all the same. */
static double any_number(const uint8_t *start, const uint8_t *end, int64_t *guess)
{
    int64_t decimals = *guess, length = end - start;
    if (decimals < 0 || decimals + 1 >= length || end[-1 - decimals] != '.') {
        for (decimals = 0; decimals < length && end[-1 - decimals] != '.'; decimals++) { }
        if (decimals == length)
            decimals = -1; /* there is no point */
        *guess = decimals;
    }
    int64_t whole = length - decimals - 1, behind = decimals > 0 ? decimals : 0;
    uint64_t mantissa = 0, part = 0;
    if (whole < 1 || whole > 8 || decimals == 0 || behind > 16 || whole + behind > 19)
        return NAN;
#if FLT_EVAL_METHOD != 0
    if (whole + behind > 15)
        return NAN;
#endif
    if (!digits_before(end - decimals - 1, whole, &mantissa))
        return NAN;
    int64_t first = behind < 8 ? behind : 8;
    if (first) {
        static const uint64_t TENS[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
        if (!digits_before(end - behind + first, first, &part))
            return NAN;
        mantissa = mantissa * TENS[first] + part;
        if (behind > 8) {
            if (!digits_before(end, behind - 8, &part))
                return NAN;
            mantissa = mantissa * TENS[behind - 8] + part;
        }
    }
    return quotient(mantissa, behind);
}

/* Read a number that most likely has *guess decimals and up to 8 digits: two words without the point make one of them. */
static inline double likely_number(const uint8_t *start, const uint8_t *end, int64_t *guess)
{
    int64_t decimals = *guess, digits = end - start - 1;
    if (decimals > 0 && digits > decimals && digits <= 8 && end[-1 - decimals] == '.') {
        uint64_t word = word_at(end - decimals - 9) >> 8 * decimals | (word_at(end - 8) & LAST[decimals]), mantissa;
        if (digits_of(word, digits, &mantissa))
            return (double)(int64_t)mantissa / POWERS[decimals];
    }
    return any_number(start, end, guess);
}

static inline double number_of(const uint8_t *start, const uint8_t *end, int64_t *guess)
{
    return *start == '-' ? -likely_number(start + 1, end, guess) : likely_number(start, end, guess);
}

/* What lines are read into. */
typedef struct {
    const uint8_t *bytes;
    int64_t *starts, *lengths;                     /* the documents */
    uint64_t *keys;                                /* NULL where nobody asks */
    double *numbers;
    int64_t *query_starts, *query_lengths, *first; /* stretches of one query, and their first lines */
    int64_t rows, queries, unread;
} Lines;

/* How the line before began or ended; *others* has a bit for each of its first 16 bytes behind its length. */
typedef struct {
    const uint8_t *text;
    int64_t length;
    uint32_t others;
} Pattern;

static Pattern pattern_of(const uint8_t *text, int64_t length)
{
    Pattern pattern = {text, length, length < 16 ? ~(uint32_t)0 << length & 0xFFFF : 0};
    return pattern;
}

static inline int repeats(const uint8_t *at, const Pattern *pattern)
{
    if ((common_bytes(at, pattern->text) | pattern->others) != 0xFFFF)
        return 0;
    return pattern->length <= 16 || is_same(at + 16, pattern->text + 16, pattern->length - 16);
}

static const uint8_t *next_blank(const uint8_t *at)
{
    uint32_t blanks;
    for (; !(blanks = blanks_in(at)); at += 16) { }
    return at + lowest_bit(blanks);
}

/* Find where the fields of any line end, the last one with a newline; return whether it is plain. */
static int split(const uint8_t *line, int fields, const uint8_t **ends)
{
    if (*line == '#')
        return 0;
    for (int field = 0; field < fields; field++, line++) {
        const uint8_t *end = ends[field] = next_blank(line);
        if (end == line || (field == fields - 1 ? *end != '\n' : *end != ' ' && *end != '\t'))
            return 0;
        line = end;
    }
    return 1;
}

/* Where the fields end that differ from line to line. */
typedef struct {
    const uint8_t *document, *rank, *number;
} Ends;

/* Find these behind the head of a line; return whether they end within 32 bytes and the tail follows. */
static inline int are_alike(const uint8_t *document, int number, const Pattern *tail, Ends *ends)
{
    uint32_t first = blanks_in(document) | blanks_in(document + 16) << 16, second = first & (first - 1);
    uint32_t last = number == 4 ? second & (second - 1) : second, until = last ^ (last - 1);
    if (!last || first & (first << 1 | 1) & until) /* a field is empty, or there is none */
        return 0;
    ends->document = document + lowest_bit(first);
    ends->rank = number == 4 ? document + lowest_bit(second) : ends->document;
    ends->number = document + lowest_bit(last);
    return *ends->document == ' ' && *ends->rank == ' ' && repeats(ends->number, tail);
}

/*
 * Read the lines from begin to end; return whether all are plain. Columns have room for as many as can be there.
 *
 * Lines of one query begin and end alike. Behind `q1 Q0 d7 1 2.5 tag\n`, whose *head* is `q1 Q0 ` and *tail* ` tag\n`,
 * the line `q1 Q0 d8 2 1.5 tag\n` has the same head, so the 32 bytes behind it are looked at together: `d8 2 1.5 ...`
 * has blanks at 2, 4 and 8, which end the document, the rank and the score, and the same tail follows. Only the next
 * line has to wait for this one's end. Any other line is split field by field.
 */
static inline int read_all(Lines *columns, int64_t begin, int64_t end, int fields, int number)
{
    const Lines to = *columns; /* what is stored below changes nothing in it */
    const uint8_t *line = to.bytes + begin, *stop = to.bytes + end;
    Pattern head = {line, 0, 0}, tail = head;
    int64_t n = 0, queries = 0, unread = 0, decimals = -1;
    if (end > begin && stop[-1] != '\n')
        return 0;
    for (; line < stop; n++) {
        const uint8_t *document = line + head.length;
        Ends ends;
        if (head.length && repeats(line, &head) && are_alike(document, number, &tail, &ends)) {
            line = ends.number + tail.length;
        } else {
            const uint8_t *all[MOST_FIELDS];
            if (!split(line, fields, all))
                return 0;
            int64_t length = all[0] - line;
            if (!queries || to.query_lengths[queries - 1] != length ||
                !is_same(to.bytes + to.query_starts[queries - 1], line, length)) {
                to.query_starts[queries] = line - to.bytes;
                to.query_lengths[queries] = length;
                to.first[queries++] = n;
            }
            document = all[1] + 1;
            ends.document = all[2];
            ends.rank = all[number - 1];
            ends.number = all[number];
            head = pattern_of(line, document - line);
            line = all[fields - 1] + 1;
            tail = pattern_of(ends.number, line - ends.number);
        }
        to.starts[n] = document - to.bytes;
        to.lengths[n] = ends.document - document;
        if (to.keys)
            to.keys[n] = key_of(document, ends.document - document);
        double value = number_of(ends.rank + 1, ends.number, &decimals);
        to.numbers[n] = value;
        unread += value != value;
    }
    columns->rows = n;
    columns->queries = queries;
    columns->unread = unread;
    return 1;
}

static int has_room(const Py_buffer *buffer, int64_t count)
{
    return (int64_t)(buffer->len / 8) >= count;
}

static void release(Py_buffer *buffers, int count)
{
    for (int each = 0; each < count; each++)
        if (buffers[each].obj)
            PyBuffer_Release(&buffers[each]);
}

/* read_lines(bytes, begin, end, is_run, starts, lengths, keys, numbers, query_starts, query_lengths, first) */
static PyObject *read_lines(PyObject *self, PyObject *args)
{
    (void)self;
    Py_buffer b[8];
    memset(b, 0, sizeof b);
    long long begin, end;
    int is_run;
    if (!PyArg_ParseTuple(args, "y*LLpw*w*w*w*w*w*w*", &b[0], &begin, &end, &is_run, &b[1], &b[2], &b[3],
                          &b[4], &b[5], &b[6], &b[7])) {
        release(b, 8);
        return NULL;
    }
    Lines to = {b[0].buf, b[1].buf, b[2].buf, b[3].len ? b[3].buf : NULL, b[4].buf, b[5].buf, b[6].buf, b[7].buf, 0, 0, 0};
    int64_t most = (end - begin) / (is_run ? 12 : 8) + 1; /* "q 0 d 1 1 t\n" and "q 0 d 1\n" are the shortest lines */
    int fits = begin >= PADDING && end >= begin && end <= b[0].len - PADDING;
    for (int each = 1; each < 8; each++)
        fits = fits && (has_room(&b[each], most) || (each == 3 && !to.keys));
    if (!fits) {
        release(b, 8);
        PyErr_SetString(PyExc_ValueError, "lines and columns do not fit");
        return NULL;
    }
    int done;
    Py_BEGIN_ALLOW_THREADS
    done = is_run ? read_all(&to, begin, end, 6, 4) : read_all(&to, begin, end, 4, 3);
    Py_END_ALLOW_THREADS
    release(b, 8);
    if (!done)
        Py_RETURN_NONE;
    return Py_BuildValue("LLL", (long long)to.rows, (long long)to.queries, (long long)to.unread);
}

/* Texts in a buffer, and a table of them: in each slot the high half of a key, and the place of its text, from 1. */
typedef struct {
    const uint8_t *bytes;
    const int64_t *starts, *lengths;
    uint64_t *table;
    int shift;
    uint64_t mask;
} Texts;

#define FARTHEST 64 /* slots that are looked at for a key */
#define AT_ONCE 16  /* texts that are looked up together, so that their places in memory are fetched at the same time */

/* Put a text into the table; return whether there was a slot near the one where its key leads. */
static int insert(const Texts *to, int64_t place)
{
    uint64_t key = key_of(to->bytes + to->starts[place], to->lengths[place]), slot = key >> to->shift;
    for (int tries = 0; tries < FARTHEST; tries++, slot = (slot + 1) & to->mask)
        if (!to->table[slot]) {
            to->table[slot] = (key & 0xFFFFFFFF00000000U) | (uint64_t)(place + 1);
            return 1;
        }
    return 0;
}

/* Return the place of a text with some key; -1 if it is not in the table. */
static int64_t find(const Texts *in, uint64_t key, const uint8_t *text, int64_t length)
{
    uint64_t slot = key >> in->shift;
    for (int tries = 0; tries < FARTHEST && in->table[slot]; tries++, slot = (slot + 1) & in->mask) {
        int64_t place = (int64_t)(in->table[slot] & 0xFFFFFFFFU) - 1;
        if (!((in->table[slot] ^ key) >> 32) && in->lengths[place] == length &&
            is_same(text, in->bytes + in->starts[place], length))
            return place;
    }
    return -1;
}

static void find_all(const Texts *in, const Texts *asked, int64_t count, int64_t *places)
{
    uint64_t keys[AT_ONCE];
    for (int64_t at = 0; at < count; at += AT_ONCE) {
        int64_t n = count - at < AT_ONCE ? count - at : AT_ONCE;
        for (int64_t nth = 0; nth < n; nth++) {
            keys[nth] = key_of(asked->bytes + asked->starts[at + nth], asked->lengths[at + nth]);
            FETCH(&in->table[keys[nth] >> in->shift]);
        }
        for (int64_t nth = 0; nth < n; nth++) {
            uint64_t place = in->table[keys[nth] >> in->shift] & 0xFFFFFFFFU;
            FETCH(&in->starts[place ? place - 1 : 0]);
            FETCH(&in->lengths[place ? place - 1 : 0]);
        }
        for (int64_t nth = 0; nth < n; nth++) {
            uint64_t place = in->table[keys[nth] >> in->shift] & 0xFFFFFFFFU;
            FETCH(in->bytes + in->starts[place ? place - 1 : 0]);
        }
        for (int64_t nth = 0; nth < n; nth++)
            places[at + nth] = find(in, keys[nth], asked->bytes + asked->starts[at + nth], asked->lengths[at + nth]);
    }
}

/* Return whether a table, of a power of two slots, has room for some texts; take it if so. */
static int takes(Texts *in, const Py_buffer *table, int64_t count)
{
    int64_t slots = table->len / 8;
    in->table = table->buf;
    in->mask = (uint64_t)slots - 1;
    for (in->shift = 64; in->shift > 32 && (int64_t)1 << (64 - in->shift) < slots; in->shift--) { }
    return slots > count && (int64_t)1 << (64 - in->shift) == slots && slots > 1;
}

/* index_texts(bytes, starts, lengths, table): put distinct texts into a table of zeros; return whether that works */
static PyObject *index_texts(PyObject *self, PyObject *args)
{
    (void)self;
    Py_buffer b[4];
    memset(b, 0, sizeof b);
    if (!PyArg_ParseTuple(args, "y*y*y*w*", &b[0], &b[1], &b[2], &b[3])) {
        release(b, 4);
        return NULL;
    }
    Texts to = {b[0].buf, b[1].buf, b[2].buf, NULL, 0, 0};
    int64_t count = b[1].len / 8;
    int fits = has_room(&b[2], count) && takes(&to, &b[3], count);
    int done = 1;
    for (int64_t place = 0; fits && done && place < count; place++)
        done = insert(&to, place);
    release(b, 4);
    if (!fits)
        return PyErr_Format(PyExc_ValueError, "texts and table do not fit");
    return PyBool_FromLong(done);
}

/* find_texts(bytes, starts, lengths, table, asked bytes, starts, lengths, places): the place of each text, or -1 */
static PyObject *find_texts(PyObject *self, PyObject *args)
{
    (void)self;
    Py_buffer b[8];
    memset(b, 0, sizeof b);
    if (!PyArg_ParseTuple(args, "y*y*y*w*y*y*y*w*", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &b[6], &b[7])) {
        release(b, 8);
        return NULL;
    }
    Texts in = {b[0].buf, b[1].buf, b[2].buf, NULL, 0, 0}, asked = {b[4].buf, b[5].buf, b[6].buf, NULL, 0, 0};
    int64_t known = b[1].len / 8, count = b[5].len / 8;
    int fits = known > 0 && has_room(&b[2], known) && takes(&in, &b[3], known) && has_room(&b[6], count) &&
               has_room(&b[7], count);
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        find_all(&in, &asked, count, b[7].buf);
        Py_END_ALLOW_THREADS
    }
    release(b, 8);
    if (!fits)
        return PyErr_Format(PyExc_ValueError, "texts, table and places do not fit");
    Py_RETURN_NONE;
}

/* A judgment: its document's key, and start << 16 | length; together in memory, since most of them are in no cache. */
typedef struct {
    uint64_t key;
    int64_t slice;
} Gold;

/* Rows of a run, the judgments that they are joined with, and what comes of it. */
typedef struct {
    const uint8_t *bytes, *gold_bytes;
    const int64_t *starts, *lengths;
    const uint64_t *keys;
    const double *scores;
    const int64_t *row_counts, *places;
    const Gold *gold;
    const int64_t *begins; /* the first judgment of each query, and how many judgments there are */
    int64_t queries;
    int by_id, narrow;
    int64_t *owners, *judgments, *rank, *low, *high;
    int64_t capacity, hits;
    uint32_t *tags; /* of `join_query`, and as many numbers of judgments behind them */
    int64_t room;
} Join;

static double score_at(const Join *join, int64_t row)
{
    double score = join->scores[row];
    return join->narrow ? (double)(float)score : score;
}

static int is_judged(const Join *join, int64_t row, const Gold *gold)
{
    int64_t length = join->lengths[row];
    const uint8_t *text = join->gold_bytes + (gold->slice >> 16);
    return (gold->slice & 0xFFFF) == length && is_same(join->bytes + join->starts[row], text, length);
}

static int is_after(const Join *join, int64_t i, int64_t j)
{
    int64_t a = join->lengths[i], b = join->lengths[j];
    int order = memcmp(join->bytes + join->starts[i], join->bytes + join->starts[j], (size_t)(a < b ? a : b));
    return order ? order > 0 : a > b;
}

/* Note a judged row of a query whose rows stand from *first* to *end* in order; return 0 if it is tied with many. */
static int note(Join *join, int64_t query, int64_t first, int64_t end, int64_t row, int64_t judgment)
{
    double score = score_at(join, row);
    int64_t low = row, high = row, above = 0, n = join->hits++;
    while (low > first && score_at(join, low - 1) == score && row - low < LONGEST_TIE)
        low--;
    while (high + 1 < end && score_at(join, high + 1) == score && high - row < LONGEST_TIE)
        high++;
    if (high - low >= LONGEST_TIE || n == join->capacity)
        return 0;
    for (int64_t other = low; join->by_id && other <= high; other++)
        above += is_after(join, other, row);
    join->owners[n] = query;
    join->judgments[n] = judgment;
    join->low[n] = low - first + 1;
    join->high[n] = high - first + 1;
    join->rank[n] = join->by_id ? low - first + 1 + above : row - first + 1;
    return 1;
}

#define JUDGED 1U /* the bit of a tag that says that its document is judged, and was not retrieved so far */

/* Return the slot that has some tag, or the free one where it belongs; -1 where neither is near. */
static inline int64_t slot_of(const Join *join, uint64_t slot, uint64_t mask, uint32_t tag)
{
    for (int tries = 0; tries < FARTHEST; tries++, slot = (slot + 1) & mask)
        if (!join->tags[slot] || !((join->tags[slot] ^ tag) & ~JUDGED))
            return (int64_t)slot;
    return -1;
}

/*
 * Join one query; return 0 if it is anything but distinct documents in order of score.
 *
 * Each document leaves a tag in a table: the low half of its key, in the slot where the high bits lead. Judgments come
 * first, and the place beside their tag says which they are. A row that finds its own tag is judged, or it is there for
 * the second time; two documents with one tag are taken for the latter, which numpy then sees is not so.
 */
static int join_query(Join *join, int64_t query, int64_t first)
{
    int64_t end = first + join->row_counts[query], place = join->places[query];
    int64_t gold = join->begins[place], count = join->begins[place + 1] - gold;
    int bits = 4;
    while ((int64_t)1 << bits < 4 * (count + end - first)) /* so sparse that most find a free slot at once */
        bits++;
    if (bits > 30)
        return 0;
    if ((int64_t)1 << bits > join->room) {
        free(join->tags);
        join->room = (int64_t)1 << bits;
        join->tags = malloc((size_t)join->room * 2 * sizeof *join->tags);
        if (!join->tags) {
            join->room = 0;
            return 0;
        }
    }
    uint32_t *tags = join->tags, *numbers = tags + join->room;
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    memset(tags, 0, sizeof *tags << bits);
    for (int64_t nth = 0; nth < count; nth++) {
        uint64_t key = join->gold[gold + nth].key;
        int64_t slot = slot_of(join, key >> (64 - bits), mask, (uint32_t)key | 2);
        if (slot < 0 || tags[slot])
            return 0;
        tags[slot] = (uint32_t)key | 2 | JUDGED;
        numbers[slot] = (uint32_t)nth;
    }
    double before = INFINITY;
    int rises = 0;
    for (int64_t row = first; row < end; row++) {
        uint64_t key = join->keys[row];
        uint32_t tag = ((uint32_t)key | 2) & ~JUDGED; /* never 0, which is a free slot */
        int64_t slot = slot_of(join, key >> (64 - bits), mask, tag);
        if (slot < 0)
            return 0;
        if (tags[slot]) {
            int64_t judgment = gold + numbers[slot];
            if (!(tags[slot] & JUDGED) || !is_judged(join, row, join->gold + judgment) ||
                !note(join, query, first, end, row, judgment))
                return 0;
        }
        tags[slot] = tag;
        double score = score_at(join, row);
        rises |= !(score <= before);
        before = score;
    }
    return !rises;
}

/*
 * join_judged(bytes, starts, lengths, keys, scores, row_counts, places, judgments' bytes, judgments, judged, by_id,
 * narrow, owners, judgments, rank, low, high): how many rows are judged, or None
 */
static PyObject *join_judged(PyObject *self, PyObject *args)
{
    (void)self;
    Py_buffer b[15];
    memset(b, 0, sizeof b);
    int by_id, narrow;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*y*y*y*y*y*ppw*w*w*w*w*", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &b[6], &b[7],
                          &b[8], &b[9], &by_id, &narrow, &b[10], &b[11], &b[12], &b[13], &b[14])) {
        release(b, 15);
        return NULL;
    }
    Join join = {b[0].buf, b[7].buf, b[1].buf, b[2].buf, b[3].buf, b[4].buf, b[5].buf, b[6].buf, b[8].buf, b[9].buf,
                 b[5].len / 8, by_id, narrow, b[10].buf, b[11].buf, b[12].buf, b[13].buf, b[14].buf, b[10].len / 8,
                 0, NULL, 0};
    int fits = b[6].len / 8 >= join.queries;
    int64_t total = 0, known = b[9].len / 8 - 1, judgments = b[8].len / (int64_t)sizeof(Gold);
    for (int64_t query = 0; fits && query < join.queries; query++) {
        int64_t place = join.places[query];
        total += join.row_counts[query];
        fits = join.row_counts[query] >= 0 && place >= 0 && place < known && join.begins[place] >= 0 &&
               join.begins[place] < join.begins[place + 1] && join.begins[place + 1] <= judgments;
    }
    for (int each = 1; each < 5; each++)
        fits = fits && has_room(&b[each], total);
    for (int each = 11; each < 15; each++)
        fits = fits && has_room(&b[each], join.capacity);
    if (!fits) {
        release(b, 15);
        PyErr_SetString(PyExc_ValueError, "rows, judgments and columns do not fit");
        return NULL;
    }
    int done = 1;
    Py_BEGIN_ALLOW_THREADS
    int64_t first = 0;
    for (int64_t query = 0; done && query < join.queries; query++) {
        if (query + 12 < join.queries) { /* judgments stand in another order, and most are in no cache */
            FETCH(&join.begins[join.places[query + 12]]);
            FETCH(&join.gold[join.begins[join.places[query + 8]]]);
            FETCH(&join.gold_bytes[join.gold[join.begins[join.places[query + 4]]].slice >> 16]);
        }
        done = join_query(&join, query, first);
        first += join.row_counts[query];
    }
    free(join.tags);
    Py_END_ALLOW_THREADS
    release(b, 15);
    if (!done)
        Py_RETURN_NONE;
    return PyLong_FromLongLong(join.hits);
}

PyObject *read_words(PyObject *self, PyObject *args);    /* words.c */
PyObject *prepare_texts(PyObject *self, PyObject *args); /* texts.c */
PyObject *cover_texts(PyObject *self, PyObject *args);   /* cover.c */
PyObject *score_few(PyObject *self, PyObject *args);     /* few.c */

static PyMethodDef METHODS[] = {
    {"read_lines", read_lines, METH_VARARGS, "Read lines into columns."},
    {"index_texts", index_texts, METH_VARARGS, "Put texts into a table."},
    {"find_texts", find_texts, METH_VARARGS, "Find texts in a table."},
    {"join_judged", join_judged, METH_VARARGS, "Join rows with judgments."},
    {"read_words", read_words, METH_VARARGS, "Find the words of texts."},
    {"prepare_texts", prepare_texts, METH_VARARGS, "Prepare texts for their words."},
    {"cover_texts", cover_texts, METH_VARARGS, "Find which parts of gold texts are in the retrieved ones."},
    {"score_few", score_few, METH_VARARGS, "Score a few queries in dictionaries."},
    {NULL, NULL, 0, NULL},
};

/* Which functions with which arguments these are; rankgauge.kernel expects the same number. */
static int state_interface(PyObject *module)
{
    return PyModule_AddIntConstant(module, "INTERFACE", 6);
}

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, state_interface}, {0, NULL}};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_kernel", NULL, 0, METHODS, SLOTS, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void)
{
    return PyModuleDef_Init(&MODULE);
}
