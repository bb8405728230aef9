/*
 * Texts before their words are read: what `joined_words` makes of each.
 *
 * `joined_words` (rankgauge.matchers.spelling) is the rule. Of a text with entities or other signs that are seldom
 * found, nothing is made here: it is handed back.
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
    uint8_t *plain; /* a text without escapes */
    int64_t plain_room;
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

/* Return whether a character of valid UTF-8, with a null character behind it, is white space. */
static int is_space(const uint8_t *at)
{
    if (*at < 0x80)
        return (*at >= '\t' && *at <= '\r') || (*at > 0x1B && *at <= ' ');
    if (*at == 0xC2)
        return at[1] == 0x85 || at[1] == 0xA0;
    if (*at == 0xE2)
        return at[1] == 0x80 ? at[2] <= 0x8A || at[2] == 0xA8 || at[2] == 0xA9 || at[2] == 0xAF
                             : at[1] == 0x81 && at[2] == 0x9F;
    return (*at == 0xE1 && at[1] == 0x9A && at[2] == 0x80) || (*at == 0xE3 && at[1] == 0x80 && at[2] == 0x80);
}

/* Where a Markdown link points. */
static int link_target(Cleaning *of)
{
    int64_t at = of->at + 1;
    if (of->at && of->in[of->at - 1] == ']')
        for (;; at++) {
            uint8_t code = code_at(of, at);
            if (code <= PIECE + 1 && at < of->size)
                return HANDED_BACK;
            if (code == ')') {
                of->out[of->made++] = ' ';
                of->at = at + 1;
                return DONE;
            }
            if (code == '(' || at >= of->size || is_space(of->in + at))
                break;
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

/* Characters by their names, which are often seen, and what is made of them. */
static int entity(Cleaning *of)
{
    static const char *const NAMES[] = {"&amp;&", "&lt;<", "&gt;>", "&quot;\"", "&nbsp; "};
    for (size_t each = 0; each < sizeof NAMES / sizeof *NAMES; each++) {
        int64_t size = (int64_t)strlen(NAMES[each]) - 1;
        if (of->size - of->at >= size && !memcmp(of->in + of->at, NAMES[each], (size_t)size)) {
            of->out[of->made++] = (uint8_t)NAMES[each][size];
            of->at += size;
            return DONE;
        }
    }
    if (is_entity(of))
        return HANDED_BACK;
    of->out[of->made++] = of->in[of->at++];
    return DONE;
}

/* Return whether a name in small letters is one of several, with a bar behind each. */
static int is_among(const char *names, const char *name, size_t size)
{
    for (const char *at = names; *at; at = strchr(at, '|') + 1)
        if (!strncmp(at, name, size) && at[size] == '|')
            return 1;
    return 0;
}

/* A tag of HTML, if it is a known one. */
static int tag(Cleaning *of)
{
    static const char BLOCKS[] =
        "article|aside|blockquote|body|br|button|caption|center|col|dd|details|div|dl|dt|figcaption|figure|footer|"
        "h1|h2|h3|h4|h5|h6|head|header|hr|html|input|li|link|main|meta|nav|ol|p|pre|script|section|style|summary|table|"
        "tbody|td|tfoot|th|thead|title|tr|ul|";
    static const char INLINE[] =
        "a|abbr|b|big|cite|code|del|em|font|i|img|ins|kbd|mark|q|s|samp|small|span|strike|strong|sub|sup|tt|u|var|wbr|";
    char name[12];
    int64_t at = of->at + 1;
    at += code_at(of, at) == '/';
    size_t size = 0;
    for (; is_plain(code_at(of, at)) && size < sizeof name; at++) {
        uint8_t code = code_at(of, at);
        name[size++] = (char)(is_letter(code) ? code | 0x20 : code);
    }
    if (code_at(of, at) >= 0x80)
        return HANDED_BACK;
    int is_block = is_among(BLOCKS, name, size);
    if (size && size < sizeof name && (is_block || is_among(INLINE, name, size)) &&
        (code_at(of, at) == '/' || code_at(of, at) == '>' || (at < of->size && is_space(of->in + at)))) {
        while (at < of->size && of->in[at] != '>' && of->in[at] != '<' && of->in[at] > PIECE + 1)
            at++;
        if (at < of->size && of->in[at] <= PIECE + 1)
            return HANDED_BACK;
        if (code_at(of, at) == '>') {
            of->out[of->made++] = is_block ? '\n' : ' ';
            of->at = at + 1;
            return DONE;
        }
    }
    of->out[of->made++] = of->in[of->at++];
    return DONE;
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

static int hex(uint8_t code)
{
    return is_digit(code) ? code - '0' : (uint8_t)((code | 0x20) - 'a') < 6 ? (code | 0x20) - 'a' + 10 : -1;
}

/* Return the code of "\\u00e9" at a place; -1 if there is none. */
static int32_t escaped_code(const Cleaning *of, int64_t at)
{
    int32_t code = 0;
    if (code_at(of, at) != '\\' || code_at(of, at + 1) != 'u')
        return -1;
    for (int each = 2; each < 6; each++) {
        int digit = hex(code_at(of, at + each));
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

/* Set what an escape stands for; return how many bytes it has, 0 if it is none. */
static int escape_at(const Cleaning *of, int64_t at, int32_t *code)
{
    static const char NAMES[] = "\"\\/bfnrt", STAND_FOR[] = "\"\\/\b\f\n\r\t";
    uint8_t name = code_at(of, at + 1);
    const char *simple = name ? strchr(NAMES, name) : NULL;
    if (simple) {
        *code = STAND_FOR[simple - NAMES];
        return 2;
    }
    *code = escaped_code(of, at);
    if (*code >= 0xD800 && *code < 0xDC00) {
        int32_t low = escaped_code(of, at + 6);
        if (low < 0xDC00 || low > 0xDFFF)
            return 0;
        *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
        return 12;
    }
    return *code < 0 || (*code >= 0xDC00 && *code < 0xE000) ? 0 : 6;
}

static int64_t encoded(int32_t code, uint8_t *out)
{
    if (code < 0x80) {
        *out = (uint8_t)(code <= PIECE + 1 ? ' ' : code);
        return 1;
    }
    int bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int each = bytes - 1; each; each--, code >>= 6)
        out[each] = (uint8_t)(0x80 | (code & 0x3F));
    *out = (uint8_t)(code | (bytes == 2 ? 0xC0 : bytes == 3 ? 0xE0 : 0xF0));
    return bytes;
}

/* Read on from the text without its JSON escapes, if there are some; no character has more bytes than its escape. */
static int without_escapes(Cleaning *of)
{
    if (!memchr(of->in, '\\', (size_t)of->size))
        return 1;
    if (of->size >= of->plain_room) {
        uint8_t *plain = realloc(of->plain, (size_t)of->size + 1);
        if (!plain) {
            PyErr_NoMemory();
            return 0;
        }
        of->plain = plain;
        of->plain_room = of->size + 1;
    }
    int64_t made = 0;
    for (int64_t at = 0; at < of->size;) {
        int32_t code;
        int size = of->in[at] == '\\' ? escape_at(of, at, &code) : 0;
        if (size)
            made += encoded(code, of->plain + made);
        else
            of->plain[made++] = of->in[at];
        at += size ? size : 1;
    }
    of->plain[made] = 0;
    of->in = of->plain;
    of->size = made;
    return 1;
}

/* Write what is made of a text; return whether it was. */
static int clean(Cleaning *of)
{
    of->at = of->made = 0;
    of->wide = -1;
    if (!without_escapes(of))
        return FAILED;
    /* What has a null character is handed back, wherever it ends here. */
    of->special['n'] = strstr((const char *)of->in, "nnot") != NULL;
    of->special['N'] = strstr((const char *)of->in, "NNOT") != NULL;
    if (!reserve(of, 2 * of->size + 8)) /* "'t" becomes " not", and nothing else grows more but wide words */
        return FAILED;
    while (of->at < of->size) {
        const uint8_t *in = of->in + of->at; /* a null character is behind the text, and special */
        uint8_t *out = of->out + of->made;
        while (!of->special[*in])
            *out++ = *in++;
        of->at = in - of->in;
        of->made = out - of->out;
        if (of->at >= of->size)
            break;
        uint8_t code = *in;
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
        case '<':
            done = tag(of);
            break;
        case '&':
            done = entity(of);
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
    Cleaning of = {NULL, signs.buf, 0, 0, NULL, 0, 0, NULL, 0, 0, known, {0}};
    for (int code = 0; code < 256; code++)
        of.special[code] = code >= 0x80 || code <= 4 || strchr("\n-('.<&", code) != NULL;
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
    free(of.plain);
    PyBuffer_Release(&signs);
    if (done == FAILED) {
        Py_XDECREF(found);
        return NULL;
    }
    return found;
}
