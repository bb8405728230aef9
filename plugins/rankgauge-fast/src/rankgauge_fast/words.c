/*
 * The words of prepared texts: where each stands, what is known of it, and its hash, in one pass over the bytes.
 *
 * What bytes are, and what they say of the words beside them, comes with each call: rankgauge.matchers.word_runs has
 * both tables, and the same in numpy.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <string.h>
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "words are read with their first byte lowest"
#endif

#define SPREAD 0x9E3779B97F4A7C15ULL
#define SALT 0xD1B54A32D192ED03ULL
#define PADDING 16 /* blanks behind all words, so that eight bytes can be read from any place on */
#define BUFFERS 12

enum { IN_WORD = 1, MARK = 2, DIGIT = 4 };                       /* what a byte is */
enum { BREAK = 1, NEW_PIECE = 2, CAPITAL = 4, STRONG = 8 };      /* what is known of a word */

typedef struct {
    const uint8_t *raw, *data, *kinds, *says; /* the texts, the same in small letters, and what bytes are and say */
    int64_t size, texts;
    uint64_t *words;
    int64_t *text;
    uint8_t *flags;
    int64_t *ends, *first, *starts, *stops, *pointed;
    int64_t n_pointed; /* how many words are numbers with points or commas */
    uint8_t plain[256]; /* which bytes are parts of words and say nothing */
} Words;

static uint64_t some_bytes(const uint8_t *at, int64_t count)
{
    uint64_t word;
    memcpy(&word, at, 8);
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

/* Return whether a mark between two bytes of words belongs to theirs. */
static int joins(uint8_t mark, int before, int behind)
{
    return mark == '_' || ((mark == '-' || mark == '/') && ((before | behind) & DIGIT)) || (before & behind & DIGIT);
}

/* Return where a word ends; set what it says of itself, and how many characters it has. */
static int64_t word_end(Words *to, int64_t start, int64_t number, int *flags, int64_t *characters)
{
    const uint8_t *raw = to->raw;
    int64_t at = start, beyond = 0;
    int is_pointed = 0;
    for (;;) {
        while (to->plain[raw[at]]) /* nearly all of most texts */
            at++;
        uint8_t code = raw[at];
        int kind = to->kinds[code];
        if (kind & IN_WORD) {
            *flags |= to->says[code] == CAPITAL && at > start ? STRONG : to->says[code];
            beyond += (code & 0xC0) == 0x80;
            at++;
            continue;
        }
        if (!(kind & MARK))
            break;
        int before = to->kinds[raw[at - 1]], behind = to->kinds[raw[at + 1]];
        if (!(before & IN_WORD) || !(behind & IN_WORD) || !joins(code, before, behind))
            break;
        if (code == '_')
            *flags |= STRONG;
        is_pointed |= (code == '.' || code == ',') && (before & behind & DIGIT);
        at++;
    }
    if (is_pointed)
        to->pointed[to->n_pointed++] = number;
    *characters = at - start - beyond;
    return at;
}

/* Return how many words there are, or -1 where there are not as many texts as was said. */
static int64_t read_all(Words *to)
{
    int64_t count = 0, text = 0, end = to->size - PADDING;
    int before = 0, is_first = 1; /* what signs say of the next word, and whether it is the first one of its text */
    to->ends[0] = to->first[0] = 0;
    for (int64_t at = 0; at < end;) {
        uint8_t code = to->raw[at];
        if (!(to->kinds[code] & IN_WORD)) {
            before |= to->says[code];
            if (!code) {
                if (++text == to->texts)
                    return -1;
                to->first[text] = count;
                is_first = 1;
            }
            at++;
            continue;
        }
        int own = 0;
        int64_t characters, stop = word_end(to, at, count, &own, &characters);
        if (is_first)
            before = (before & ~NEW_PIECE) | BREAK;
        to->starts[count] = at;
        to->stops[count] = stop;
        to->text[count] = text;
        to->flags[count] = (uint8_t)(before | own);
        to->words[count] = hashed(to->data + at, stop - at);
        to->ends[count + 1] = to->ends[count] + characters;
        count++;
        before = is_first = 0;
        at = stop;
    }
    to->first[to->texts] = count;
    return text + 1 == to->texts ? count : -1;
}

/* read_words(raw, data, kinds, says, words, text, flags, ends, first, starts, stops, pointed) */
PyObject *read_words(PyObject *self, PyObject *args)
{
    (void)self;
    Py_buffer b[BUFFERS];
    memset(b, 0, sizeof b);
    int fits = PyArg_ParseTuple(args, "y*y*y*y*w*w*w*w*w*w*w*w*", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &b[6], &b[7],
                                &b[8], &b[9], &b[10], &b[11]);
    int64_t count = -1;
    Words to = {b[0].buf, b[1].buf, b[2].buf, b[3].buf, b[0].len,  b[8].len / 8 - 1, b[4].buf,  b[5].buf,
                b[6].buf, b[7].buf, b[8].buf, b[9].buf, b[10].buf, b[11].buf,        0, {0}};
    if (fits) {
        int64_t most = to.size / 2;
        fits = to.size >= PADDING && b[1].len == to.size && b[2].len == 256 && b[3].len == 256 && to.texts > 0 &&
               b[6].len >= most;
        for (int each = 4; each < BUFFERS; each++)
            fits = fits && (each == 6 || each == 8 || b[each].len / 8 >= most + (each == 7));
        for (int64_t at = 1; fits && at <= PADDING; at++)
            fits = !to.kinds[to.raw[to.size - at]];
        for (int code = 0; fits && code < 0x80; code++)
            to.plain[code] = to.kinds[code] == IN_WORD && !to.says[code];
        if (fits) {
            Py_BEGIN_ALLOW_THREADS
            count = read_all(&to);
            Py_END_ALLOW_THREADS
        }
        if (count < 0)
            PyErr_SetString(PyExc_ValueError, "texts and columns do not fit");
    }
    for (int each = 0; each < BUFFERS; each++)
        if (b[each].obj)
            PyBuffer_Release(&b[each]);
    return count < 0 ? NULL : Py_BuildValue("LL", (long long)count, (long long)to.n_pointed);
}
