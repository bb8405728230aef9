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
#ifdef _MSC_VER
#include <intrin.h>
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "words are read with their first byte lowest"
#endif

#define PADDING 32
#define PIECE 16384      /* bytes whose blanks are found at once: what is kept of them stays in the first cache */
#define MOST_FIELDS 6
#define LONGEST_TIE 64   /* rows with equal scores; longer ties are left to a sort */

/* Memory that is needed soon, and likely to be in no cache. */
#ifdef __GNUC__
#define FETCH(place) __builtin_prefetch(place)
#else
#define FETCH(place) (void)(place)
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

/* Return a bit for each of 64 bytes that is 32 or less. */
static inline uint64_t blanks_in(const uint8_t *bytes)
{
    uint64_t blanks = 0;
#if defined(__SSE2__) || defined(_M_X64)
    const __m128i most = _mm_set1_epi8(32);
    for (int part = 0; part < 4; part++) {
        __m128i bytes_here = _mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 * part));
        __m128i is_blank = _mm_cmpeq_epi8(_mm_min_epu8(bytes_here, most), bytes_here);
        blanks |= (uint64_t)(uint32_t)_mm_movemask_epi8(is_blank) << (16 * part);
    }
#else
    for (int part = 0; part < 8; part++) {
        uint64_t word = word_at(bytes + 8 * part);
        uint64_t above = (word & 0x7F7F7F7F7F7F7F7FU) + 0x5F5F5F5F5F5F5F5FU; /* the high bit of what is over 32 */
        uint64_t is_blank = ~(above | word) & 0x8080808080808080U;
        blanks |= (((is_blank >> 7) * 0x0102040810204080U) >> 56) << (8 * part);
    }
#endif
    return blanks;
}

/* The first n of eight bytes. */
static inline uint64_t first_bytes(uint64_t word, int64_t n)
{
    return n < 8 ? word & (((uint64_t)1 << (8 * n)) - 1) : word;
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
    for (; length > 8; length -= 8, a += 8, b += 8)
        if (word_at(a) != word_at(b))
            return 0;
    return first_bytes(word_at(a) ^ word_at(b), length) == 0;
}

static const double POWERS[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};

/* Read the 1 to 8 digits that a word ends with; return 0 if there is something else among them. */
static inline int digits_of(uint64_t word, int64_t n, uint64_t *value)
{
    uint64_t mask = ~(uint64_t)0 << (64 - 8 * n);
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

/* Read a number without exponent; NaN for anything else, which may be a number all the same. */
static inline double number_of(const uint8_t *start, const uint8_t *end, int64_t *guess)
{
    int negative = *start == '-';
    start += negative;
    int64_t decimals = *guess, length = end - start;
    if (decimals < 0 || decimals + 1 >= length || end[-1 - decimals] != '.') {
        for (decimals = 0; decimals < length && end[-1 - decimals] != '.'; decimals++) { }
        if (decimals == length)
            decimals = -1; /* there is no point */
        *guess = decimals;
    }
    int64_t whole = length - decimals - 1, behind = decimals > 0 ? decimals : 0;
    uint64_t mantissa = 0, part = 0;
    if (whole > 0 && decimals > 0 && whole + decimals <= 8) { /* most: both parts as one word, which has no point */
        uint64_t word = (word_at(end - 8) & ~(uint64_t)0 << (64 - 8 * decimals)) | word_at(end - decimals - 9) >> 8 * decimals;
        if (!digits_of(word, whole + decimals, &mantissa))
            return NAN;
        double value = (double)(int64_t)mantissa / POWERS[decimals];
        return negative ? -value : value;
    }
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
    double value = quotient(mantissa, behind);
    return negative ? -value : value;
}

/* What lines are read into. */
typedef struct {
    const uint8_t *bytes;
    int64_t *starts, *lengths;                     /* the documents */
    uint64_t *keys;                                /* NULL where nobody asks */
    double *numbers;
    int64_t *query_starts, *query_lengths, *first; /* stretches of one query, and their first lines */
    int64_t capacity, rows, queries, unread, decimals;
} Lines;

/* Read the line at *begin* whose fields end at *ends*, both counted from *base*; return whether it is plain. */
static inline int read_line(Lines *to, int64_t base, uint32_t begin, const uint32_t *ends, int fields, int number)
{
    const uint8_t *bytes = to->bytes + base;
    int64_t n = to->rows, last = to->queries - 1, length = (int64_t)ends[0] - begin;
    if (n == to->capacity || bytes[begin] == '#' || bytes[ends[fields - 1]] != '\n' || length == 0)
        return 0;
    for (int field = 0; field < fields - 1; field++)
        if ((bytes[ends[field]] != ' ' && bytes[ends[field]] != '\t') || ends[field + 1] == ends[field] + 1)
            return 0;
    if (last < 0 || to->query_lengths[last] != length ||
        !is_same(to->bytes + to->query_starts[last], bytes + begin, length)) {
        to->query_starts[++last] = base + begin;
        to->query_lengths[last] = length;
        to->first[last] = n;
        to->queries++;
    }
    uint32_t start = ends[1] + 1;
    length = (int64_t)ends[2] - start;
    to->starts[n] = base + start;
    to->lengths[n] = length;
    if (to->keys)
        to->keys[n] = key_of(bytes + start, length);
    to->numbers[n] = number_of(bytes + ends[number - 1] + 1, bytes + ends[number], &to->decimals);
    to->unread += to->numbers[n] != to->numbers[n];
    to->rows++;
    return 1;
}

/* Read the lines from begin to end, where the last one ends; return whether all are plain. */
static inline int read_all(Lines *to, int64_t begin, int64_t end, int fields, int number)
{
    uint32_t ends[PIECE + 64 + MOST_FIELDS]; /* where fields end, counted from *base* */
    uint8_t tail[64];
    int64_t at = begin, base = begin, held = 0;
    while (at < end) {
        int64_t used = 0, stop = end - at < PIECE ? end : at + PIECE;
        uint32_t line = 0; /* the line that is read next */
        if (stop - base > (int64_t)1 << 30)
            return 0;
        for (; at < stop; at += 64) {
            const uint8_t *here = to->bytes + at;
            uint32_t offset = (uint32_t)(at - base);
            if (end - at < 64) { /* nothing is read behind the end */
                memset(tail, 255, 64);
                memcpy(tail, here, (size_t)(end - at));
                here = tail;
            }
            for (uint64_t blanks = blanks_in(here); blanks; blanks &= blanks - 1)
                ends[held++] = offset + (uint32_t)lowest_bit(blanks);
        }
        for (; held - used >= fields; used += fields) {
            if (!read_line(to, base, line, ends + used, fields, number))
                return 0;
            line = ends[used + fields - 1] + 1;
        }
        held -= used;
        for (int64_t place = 0; place < held; place++)
            ends[place] = ends[used + place] - line;
        base += line;
    }
    return held == 0;
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
    Lines to = {b[0].buf, b[1].buf, b[2].buf, b[3].len ? b[3].buf : NULL, b[4].buf,
                b[5].buf, b[6].buf, b[7].buf, b[1].len / 8, 0, 0, 0, -1};
    int fits = begin >= PADDING && end >= begin && end <= b[0].len - PADDING;
    fits = fits && (!b[3].len || has_room(&b[3], to.capacity));
    for (int each = 2; each < 8; each++)
        fits = fits && (each == 3 || has_room(&b[each], to.capacity));
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
    uint32_t *table;
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

/* Put a number where its key leads in the table; return its place there, or -1 where it has to look too far. */
static inline int64_t slot_of(const Join *join, int shift, uint64_t mask, uint64_t key, int64_t gold, int64_t count, int64_t first)
{
    uint64_t slot = key >> shift;
    for (int tries = 0; tries < FARTHEST; tries++, slot = (slot + 1) & mask) {
        uint32_t there = join->table[slot];
        if (!there || (there <= count ? join->gold[gold + there - 1].key : join->keys[first + there - 1 - count]) == key)
            return (int64_t)slot;
    }
    return -1;
}

/* Join one query; return 0 if it is anything but distinct documents in order of score. */
static int join_query(Join *join, int64_t query, int64_t first)
{
    int64_t end = first + join->row_counts[query], place = join->places[query];
    int64_t gold = join->begins[place], count = join->begins[place + 1] - gold, all = count + end - first;
    int bits = 4;
    while ((int64_t)1 << bits < 2 * all)
        bits++;
    if (bits > 30)
        return 0;
    if ((int64_t)1 << bits > join->room) {
        free(join->table);
        join->room = (int64_t)1 << bits;
        join->table = malloc((size_t)join->room * sizeof *join->table);
        if (!join->table) {
            join->room = 0;
            return 0;
        }
    }
    memset(join->table, 0, sizeof *join->table << bits);
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    for (int64_t nth = 0; nth < count; nth++) {
        int64_t slot = slot_of(join, 64 - bits, mask, join->gold[gold + nth].key, gold, count, first);
        if (slot < 0 || join->table[slot])
            return 0;
        join->table[slot] = (uint32_t)(nth + 1);
    }
    double before = INFINITY;
    for (int64_t row = first; row < end; row++) {
        int64_t slot = slot_of(join, 64 - bits, mask, join->keys[row], gold, count, first);
        double score = score_at(join, row);
        if (slot < 0 || !(score <= before))
            return 0;
        before = score;
        uint32_t there = join->table[slot];
        if (there > count || (there && !is_judged(join, row, join->gold + gold + there - 1)))
            return 0;
        join->table[slot] = (uint32_t)(count + row - first + 1);
        if (there && !note(join, query, first, end, row, gold + there - 1))
            return 0;
    }
    return 1;
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
    free(join.table);
    Py_END_ALLOW_THREADS
    release(b, 15);
    if (!done)
        Py_RETURN_NONE;
    return PyLong_FromLongLong(join.hits);
}

static PyMethodDef METHODS[] = {
    {"read_lines", read_lines, METH_VARARGS, "Read lines into columns."},
    {"index_texts", index_texts, METH_VARARGS, "Put texts into a table."},
    {"find_texts", find_texts, METH_VARARGS, "Find texts in a table."},
    {"join_judged", join_judged, METH_VARARGS, "Join rows with judgments."},
    {NULL, NULL, 0, NULL},
};

/* Which functions with which arguments these are; rankgauge.catalog.compiled_kernel expects the same number. */
static int state_interface(PyObject *module)
{
    return PyModule_AddIntConstant(module, "INTERFACE", 1);
}

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, state_interface}, {0, NULL}};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_kernel", NULL, 0, METHODS, SLOTS, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void)
{
    return PyModuleDef_Init(&MODULE);
}
