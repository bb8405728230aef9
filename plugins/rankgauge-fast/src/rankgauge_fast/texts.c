/*
 * Texts before their words are read: what `joined_words` makes of each, and which retrieved ones may share words with
 * gold ones of their sample.
 *
 * `joined_words` (rankgauge.matchers.spelling) is the rule. Of a text with escapes, tags, entities or other signs that
 * are seldom found, nothing is made here: it is handed back.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { IN_WORD = 1, MARK = 2, DIGIT = 4 }; /* what a byte of a prepared text is */

#define PIECE 3         /* stands for an ellipsis */
#define MOST 512        /* bytes of a word with letters beyond ASCII, together with what it hangs on */
#define TABLE (0x80 + 0x300)
enum { PART = 0, HAND_BACK = 1, APOSTROPHE = 2, ELLIPSIS = 3 }; /* what the table of signs says; or an ASCII sign */

static int is_digit(uint8_t code) { return (uint8_t)(code - '0') < 10; }

static int is_letter(uint8_t code) { return (uint8_t)((code | 0x20) - 'a') < 26; }

static int is_plain(uint8_t code) { return is_letter(code) || is_digit(code); }

static int is_blank(uint8_t code) { return code == ' ' || code == '\t'; }

typedef struct {
    const uint8_t *in, *signs;
    int64_t size, at;
    uint8_t *out;
    int64_t made, room;
    int64_t wide;     /* where the last word with letters beyond ASCII ends in what was made */
    PyObject *known;  /* what is made of such words */
    uint8_t special[256];
} Cleaning;

enum { FAILED = -1, HANDED_BACK = 0, DONE = 1 };

static int reserve(Cleaning *of, int64_t more)
{
    if (of->made + more <= of->room)
        return 1;
    int64_t room = 2 * (of->made + more) + 256;
    uint8_t *out = realloc(of->out, (size_t)room);
    if (!out) {
        PyErr_NoMemory();
        return 0;
    }
    of->out = out;
    of->room = room;
    return 1;
}

/* Return the byte at a place of the text; 0 behind its end. */
static uint8_t code_at(const Cleaning *of, int64_t at) { return at < of->size ? of->in[at] : 0; }

/* Return what the table says of the character at a place beyond ASCII; set how many bytes it has. */
static uint8_t sign_at(const Cleaning *of, int64_t at, int *bytes)
{
    const uint8_t *in = of->in + at; /* valid UTF-8, with a null character behind it */
    *bytes = in[0] < 0xE0 ? 2 : in[0] < 0xF0 ? 3 : 4;
    if (in[0] == 0xC2 || in[0] == 0xC3)
        return of->signs[(in[0] & 1) << 6 | (in[1] & 0x3F)];
    if (in[0] == 0xE2 && in[1] < 0x8C)
        return of->signs[0x80 + ((in[1] & 0x0F) << 6 | (in[2] & 0x3F))];
    return PART;
}

/* A word cut at the end of a line: hyphen, line end, and blanks go. */
static int joined_lines(Cleaning *of)
{
    int64_t at = of->at + 1;
    at += code_at(of, at) == ' ';
    at += code_at(of, at) == '\r';
    if (code_at(of, at) != '\n') {
        of->out[of->made++] = of->in[of->at++];
        return DONE;
    }
    for (at++; is_blank(code_at(of, at));)
        at++;
    uint8_t before = of->at ? of->in[of->at - 1] : 0, behind = code_at(of, at);
    if (before >= 0x80 || behind >= 0x80 || of->wide == of->made)
        return HANDED_BACK;
    if (!is_letter(before) || !is_letter(behind)) {
        of->out[of->made++] = of->in[of->at++];
        return DONE;
    }
    char both[14] = {0}; /* can-not, ca-nnot, x-cannot */
    int64_t own = of->made < 5 ? of->made : 5, others = of->size - at < 8 ? of->size - at : 8;
    memcpy(both, of->out + of->made - own, (size_t)own);
    memcpy(both + own, of->in + at, (size_t)others);
    if (strstr(both, "not") || strstr(both, "NOT"))
        return HANDED_BACK;
    of->at = at;
    return DONE;
}

/* A line end, without the number of a list behind it. */
static void begun_line(Cleaning *of)
{
    of->out[of->made++] = '\n';
    int64_t at = ++of->at, digits = 0;
    while (is_blank(code_at(of, at)))
        at++;
    while (digits < 3 && is_digit(code_at(of, at)))
        at++, digits++;
    if (digits && (code_at(of, at) == '.' || code_at(of, at) == ')') && is_blank(code_at(of, at + 1)))
        of->at = at + 2;
}

/* Where a Markdown link points. */
static int link_target(Cleaning *of)
{
    int64_t at = of->at + 1;
    if (of->at && of->in[of->at - 1] == ']')
        for (;; at++) {
            uint8_t code = code_at(of, at);
            if (code >= 0x80 || code == '\\' || (code <= PIECE + 1 && at < of->size))
                return HANDED_BACK;
            if (code == ')') {
                of->out[of->made++] = ' ';
                of->at = at + 1;
                return DONE;
            }
            if (code == '(' || at >= of->size || (code >= '\t' && code <= '\r') || (code > 0x1B && code <= ' '))
                break; /* the end, or white space */
        }
    of->out[of->made++] = of->in[of->at++];
    return DONE;
}

/* What stands for `not` behind a letter: "don't", and an apostrophe otherwise. */
static int apostrophe(Cleaning *of, int bytes, uint8_t plain)
{
    uint8_t before = of->at ? of->in[of->at - 1] : 0, letter = code_at(of, of->at + bytes);
    uint8_t behind = code_at(of, of->at + bytes + 1);
    if ((before == 'n' && letter == 't') || (before == 'N' && letter == 'T')) {
        if (behind >= 0x80 || (behind == '-' && code_at(of, of->at + bytes + 2) <= ' '))
            return HANDED_BACK;
        if (!is_plain(behind)) {
            memcpy(of->out + of->made, " not", 4);
            of->made += 4;
            of->at += bytes + 1;
            return DONE;
        }
    }
    of->out[of->made++] = plain;
    of->at += bytes;
    return DONE;
}

/* An n, and maybe the rest of `cannot`, of which two words are made. */
static int letter_n(Cleaning *of)
{
    const uint8_t *in = of->in + of->at;
    int64_t at = of->at, left = of->size - at;
    of->out[of->made++] = in[0];
    of->at++;
    const char *rest = in[0] == 'n' ? "not" : "NOT";
    if (left < 4 || memcmp(in + 1, rest, 3) || at < 2)
        return DONE;
    int is_can = in[0] == 'n' ? in[-1] == 'a' && (in[-2] == 'c' || in[-2] == 'C') : in[-1] == 'A' && in[-2] == 'C';
    uint8_t before = at > 2 ? in[-3] : ' ', behind = left > 4 ? in[4] : ' ';
    if (!is_can)
        return DONE;
    if (before >= 0x80 || behind >= 0x80 || (behind == '-' && code_at(of, at + 5) <= ' '))
        return HANDED_BACK;
    if (!is_plain(before) && before != '_' && !is_plain(behind))
        of->out[of->made++] = ' ';
    return DONE;
}

/* Dots, three or more of which are an ellipsis. */
static void dots(Cleaning *of)
{
    int64_t at = of->at, count = 0;
    for (int bytes;; at += bytes) {
        uint8_t code = code_at(of, at);
        if (code == '.')
            bytes = 1, count++;
        else if (code == 0xE2 && sign_at(of, at, &bytes) == ELLIPSIS)
            count += 3;
        else
            break;
    }
    of->at = at;
    if (count > 2)
        of->out[of->made++] = PIECE;
    else
        while (count--)
            of->out[of->made++] = '.';
}

/* Return whether a character may be named here: "&amp;". */
static int is_entity(const Cleaning *of)
{
    int64_t at = of->at + 1;
    at += code_at(of, at) == '#';
    while (is_plain(code_at(of, at)))
        at++;
    return code_at(of, at) >= 0x80 || (code_at(of, at) == ';' && at > of->at + 1);
}

/* Letters and digits in a row, some of them beyond ASCII. */
static int wide_word(Cleaning *of)
{
    char key[MOST + 8];
    int64_t first = of->made, size = 0;
    while (first && is_plain(of->out[first - 1]))
        first--;
    if (first > 1) { /* the two characters before it decide whether it is one word with what these end */
        key[size++] = is_digit(of->out[first - 2]) ? '0' : ' ';
        key[size++] = (char)(of->out[first - 1] < 0x80 && strchr("_-/.,:", of->out[first - 1]) ? of->out[first - 1] : ' ');
    } else if (first) {
        key[size++] = ' ';
    }
    if (of->made - first > MOST / 2)
        return HANDED_BACK;
    memcpy(key + size, of->out + first, (size_t)(of->made - first));
    size += of->made - first;
    for (;;) {
        int bytes = 1;
        uint8_t code = code_at(of, of->at);
        if (code >= 0x80 ? sign_at(of, of->at, &bytes) != PART : !is_plain(code))
            break;
        if (size + bytes > MOST)
            return HANDED_BACK;
        memcpy(key + size, of->in + of->at, (size_t)bytes);
        size += bytes;
        of->at += bytes;
    }
    key[size] = 0;
    if (strstr(key, "annot") || strstr(key, "ANNOT"))
        return HANDED_BACK; /* a sign in between may part it */
    PyObject *word = PyUnicode_DecodeUTF8(key, size, NULL);
    PyObject *made = word ? PyObject_GetItem(of->known, word) : NULL;
    char *bytes;
    Py_ssize_t length;
    int done = made && PyBytes_AsStringAndSize(made, &bytes, &length) == 0 &&
               reserve(of, length + 2 * (of->size - of->at) + 8);
    if (done) {
        memcpy(of->out + first, bytes, (size_t)length);
        of->made = of->wide = first + length;
    }
    Py_XDECREF(word);
    Py_XDECREF(made);
    return done ? DONE : FAILED;
}

static int beyond_ascii(Cleaning *of)
{
    int bytes;
    uint8_t sign = sign_at(of, of->at, &bytes);
    switch (sign) {
    case PART:
        return wide_word(of);
    case HAND_BACK:
        return HANDED_BACK;
    case APOSTROPHE:
        return apostrophe(of, bytes, ' ');
    case ELLIPSIS:
        dots(of);
        return DONE;
    }
    of->out[of->made++] = sign;
    of->at += bytes;
    return DONE;
}

/* Write what is made of a text; return whether it was. */
static int clean(Cleaning *of)
{
    of->at = of->made = 0;
    of->wide = -1;
    /* What has a null character is handed back, wherever it ends here. */
    of->special['n'] = strstr((const char *)of->in, "nnot") != NULL;
    of->special['N'] = strstr((const char *)of->in, "NNOT") != NULL;
    if (!reserve(of, 2 * of->size + 8)) /* "'t" becomes " not", and nothing else grows more but wide words */
        return FAILED;
    while (of->at < of->size) {
        uint8_t code = of->in[of->at];
        if (!of->special[code]) {
            of->out[of->made++] = code;
            of->at++;
            continue;
        }
        int done = DONE;
        switch (code) {
        case '\n':
            begun_line(of);
            break;
        case '-':
            done = joined_lines(of);
            break;
        case '(':
            done = link_target(of);
            break;
        case '\'':
            done = apostrophe(of, 1, '\'');
            break;
        case '.':
            dots(of);
            break;
        case 'n':
        case 'N':
            done = letter_n(of);
            break;
        case '<': {
            uint8_t next = code_at(of, of->at + 1 + (code_at(of, of->at + 1) == '/'));
            if (is_letter(next) || next >= 0x80)
                return HANDED_BACK;
            of->out[of->made++] = of->in[of->at++];
            break;
        }
        case '&':
            if (is_entity(of))
                return HANDED_BACK;
            of->out[of->made++] = of->in[of->at++];
            break;
        default:
            if (code < 0x80)
                return HANDED_BACK;
            done = beyond_ascii(of);
        }
        if (done != DONE)
            return done;
    }
    return DONE;
}

/* prepare_texts(texts, signs, known) returns a list with bytes for each text, and None for those that are handed back */
PyObject *prepare_texts(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *texts, *known;
    Py_buffer signs;
    if (!PyArg_ParseTuple(args, "Oy*O", &texts, &signs, &known))
        return NULL;
    Py_ssize_t count = PyList_Check(texts) ? PyList_Size(texts) : -1;
    PyObject *found = count < 0 || signs.len != TABLE ? NULL : PyList_New(count);
    if (!found && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "texts and signs do not fit");
    Cleaning of = {NULL, signs.buf, 0, 0, NULL, 0, 0, 0, known, {0}};
    for (int code = 0; code < 256; code++)
        of.special[code] = code >= 0x80 || code <= 4 || strchr("\n-('.<&\\", code) != NULL;
    int done = found ? DONE : FAILED;
    for (Py_ssize_t each = 0; done != FAILED && each < count; each++) {
        PyObject *text = PyList_GetItem(texts, each), *made = NULL; /* borrowed; a wide word may change the list */
        Py_ssize_t size = 0;
        if (!text) {
            done = FAILED;
            break;
        }
        Py_INCREF(text);
        of.in = (const uint8_t *)PyUnicode_AsUTF8AndSize(text, &size);
        of.size = size;
        done = of.in ? clean(&of) : PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) ? HANDED_BACK : FAILED;
        if (done == DONE) {
            made = PyBytes_FromStringAndSize((const char *)of.out, (Py_ssize_t)of.made);
            if (!made)
                done = FAILED;
        } else if (done == HANDED_BACK) {
            PyErr_Clear(); /* half a surrogate pair */
            made = Py_None;
            Py_INCREF(made);
        }
        Py_DECREF(text);
        if (made)
            PyList_SetItem(found, each, made);
    }
    free(of.out);
    PyBuffer_Release(&signs);
    if (done == FAILED) {
        Py_XDECREF(found);
        return NULL;
    }
    return found;
}
