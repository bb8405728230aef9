/*
 * Cover: what retrieved texts have of the gold texts of their sample, in runs of words that say the same in both.
 *
 * rankgauge.matchers.common_runs has the rules, and the same in numpy. Each retrieved text is read, its runs are looked up,
 * and it is forgotten. Where it matters what all of them together may cover, they are read twice.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdlib.h>
#include <string.h>
#include "cover.h"

#define MOST_WORDS ((int64_t)1 << 40)

static int add_part(Cover *to, Part part)
{
    Part *parts = fit(&to->of, &to->parts, to->n_parts + 1, sizeof *parts);
    if (parts)
        parts[to->n_parts++] = part;
    return parts != NULL;
}

static int add_run_part(Cover *to, int64_t row, int64_t column, int64_t at, int64_t size)
{
    const int64_t *ends = to->of.ends;
    int64_t first = gold_at(to, column)->words.begin, units = 0;
    for (int64_t word = at; word < at + size; word++)
        units += 2 - is_unspaced(to, word);
    return add_part(to, (Part){row, column, ends[at] - ends[first], ends[at + size] - ends[first], units, at - first, size, 0});
}

static int add_piece_part(Cover *to, int64_t row, int64_t column, const Piece *piece)
{
    const int64_t *ends = to->of.ends;
    int64_t first = gold_at(to, column)->words.begin, word = piece->word;
    int64_t start = (piece->begins ? ends[word] : ends[word + 1] - piece->size) - ends[first];
    return add_part(to, (Part){row, column, start, start + piece->size, 0, word - first, 1, piece->begins ? 1 : 2});
}

/* Of parts with one start, the one that was found first comes first: its number is in the column meanwhile. */
static int by_start(const void *one, const void *other)
{
    const Part *first = one, *second = other;
    if (first->start != second->start)
        return first->start < second->start ? -1 : 1;
    return (first->column > second->column) - (first->column < second->column);
}

/* Add what aligning found, if there are enough pieces; return whether there was something. */
static int add_aligned(Cover *to, int64_t row, int64_t column, const Item *item, const Run *runs)
{
    Aligner *of = &to->of;
    of->n_kept = of->n_pieces = 0;
    int is_found = align(of, item, runs) && of->n_pieces >= item->needed;
    if (!is_found || of->failed)
        return 0;
    int64_t begin = to->n_parts;
    for (int64_t each = 0; each < of->n_kept; each++) {
        Kept kept = ((Kept *)of->kept.at)[each];
        if (!add_run_part(to, row, column, kept.at, kept.size))
            return 0;
    }
    for (int64_t each = 0; each < of->n_pieces; each++)
        if (!add_piece_part(to, row, column, (Piece *)of->pieces.at + each))
            return 0;
    Part *parts = (Part *)to->parts.at + begin;
    int64_t count = to->n_parts - begin;
    for (int64_t each = 0; each < count; each++)
        parts[each].column = each;
    qsort(parts, (size_t)count, sizeof *parts, by_start);
    for (int64_t each = 0; each < count; each++)
        parts[each].column = column;
    return 1;
}

/* Return whether one of two texts ends at both ends of a run, or a line, a sentence or a cell does. */
static int is_bare(const Cover *to, const Item *item, const Run *run)
{
    const uint8_t *flags = to->of.flags;
    int64_t end = run->i + run->size, stop = run->j + run->size;
    return (run->i == item->gold.begin || run->j == item->other.begin || (flags[run->i] | flags[run->j]) & BREAK) &&
           (end == item->gold.end || stop == item->other.end || (flags[end] | flags[stop]) & BREAK);
}

/* Add what a pair has in common whose shared places are known. */
static int add_pair(Cover *to, int64_t row, int64_t column)
{
    const Gold *gold = gold_at(to, column);
    const Found *all = to->found.at;
    const int64_t *reach = to->of.reach;
    Run *runs = fit(&to->of, &to->own, to->n_found + 1, sizeof *runs);
    if (!runs)
        return 0;
    int64_t count = 0;
    int in_order = 1;
    for (int64_t each = gold->first, i = 0, j = 0; each; each = all[each].next) {
        int goes_on = count && all[each].i == i + 1 && all[each].j == j + 1;
        i = all[each].i, j = all[each].j;
        in_order = in_order && i >= 0; /* a run that is in the gold text several times */
        if (!in_order)
            break;
        if (!goes_on)
            runs[count++] = (Run){i, j, 0};
        runs[count - 1].size = i + reach[i] - runs[count - 1].i;
    }
    for (int64_t each = 1; in_order && each < count; each++)
        in_order = runs[each].i >= runs[each - 1].i + runs[each - 1].size &&
                   runs[each].j >= runs[each - 1].j + runs[each - 1].size;
    Item item = {gold->words, to->here, {0, count}, in_order, 0};
    if (in_order && count == 1 && is_bare(to, &item, runs))
        return add_run_part(to, row, column, runs->i, runs->size);
    add_aligned(to, row, column, &item, runs);
    return !to->of.failed;
}

/* Add what a retrieved text has of the gold texts of its sample. */
static int add_text(Cover *to, int64_t row)
{
    int64_t *touched = to->touched.at;
    if (!to->n_touched)
        return 1;
    describe(to);
    qsort(touched, (size_t)to->n_touched, sizeof *touched, by_size);
    for (int64_t each = 0; each < to->n_touched && !to->of.failed; each++) {
        int64_t column = touched[each];
        const Gold *gold = gold_at(to, column);
        const Found *all = to->found.at, *first = all + gold->first;
        if (gold->is_short) {
            add_run_part(to, row, column, first->i, first->size);
        } else if (!first->size) {
            add_pair(to, row, column);
        } else {
            int is_found = 0; /* the first one that is found counts */
            for (int64_t at = gold->first; at && !is_found && !to->of.failed; at = all[at].next) {
                Run run = {all[at].i, all[at].j, all[at].size};
                Item item = {gold->words, to->here, {0, 1}, 1, (int)all[at].needed};
                is_found = add_aligned(to, row, column, &item, &run);
            }
        }
    }
    return !to->of.failed;
}

/* Note which gold texts can reach the cutoff, if all retrieved ones cover what they share with it. */
static int find_able(Cover *to, const Text *texts, int64_t count)
{
    Aligner *of = &to->of;
    size_t places = (size_t)1 << (64 - to->runs.shift);
    uint8_t *shared = fit(of, &to->shared, (int64_t)places, 1), *kept = to->kept.at;
    int64_t *edge_reach = fit(of, &to->edge_reach, to->n_words + 1, sizeof *edge_reach);
    if (!shared || !edge_reach)
        return 0;
    memset(shared, 0, places);
    memset(edge_reach, 0, (size_t)to->n_words * sizeof *edge_reach);
    for (int64_t text = 0; text < count; text++) {
        if (!read_text(to, texts[text]) || !look(to, text, 1))
            return 0;
        kept[text] = to->n_touched > 0;
        if (!to->n_touched)
            continue;
        const Bounds *first = of->places + to->here.begin, *last = of->places + to->here.end - 1;
        int64_t ends = characters_of(of->data, *first) + characters_of(of->data, *last);
        for (int64_t each = 0; each < to->n_touched; each++)
            gold_at(to, ((int64_t *)to->touched.at)[each])->most += ends; /* both may be cut */
    }
    const int64_t *heads = to->heads.at, *reach = of->reach;
    for (int64_t each = 0; each < to->n_golds; each++) {
        Gold *gold = gold_at(to, each);
        int64_t covered = gold->words.begin;
        for (int64_t at = gold->words.begin; at < gold->words.end; at++) {
            int64_t end = heads[at] >= 0 && shared[heads[at]] ? at + reach[at] : at;
            end = end < at + edge_reach[at] ? at + edge_reach[at] : end;
            covered = covered < end ? end : covered;
            gold->most += at < covered ? of->ends[at + 1] - of->ends[at] : 0;
        }
        gold->is_able = (double)gold->most >= to->cutoff * (double)gold->size;
        gold->seen = gold->seen_edge = -1;
    }
    return 1;
}

static int add_sample(Cover *to, const Text *golds, int64_t n_golds, const Text *texts, int64_t count)
{
    uint8_t *kept = fit(&to->of, &to->kept, count + 1, 1);
    if (!kept || !read_golds(to, golds, n_golds))
        return 0;
    memset(kept, 1, (size_t)count);
    if (to->cutoff > 0 && n_golds && !find_able(to, texts, count))
        return 0;
    for (int64_t text = 0; text < count; text++)
        if ((kept[text] || to->n_lengths) && (!read_text(to, texts[text]) || !look(to, text, 0) || !add_text(to, text)))
            return 0;
    return 1;
}

static int add_samples(Cover *to, const Text *texts, const int64_t *golds, const int64_t *others, int64_t samples,
                       int64_t *counts, int64_t *sizes)
{
    for (int64_t each = 0; each < samples; each++) {
        int64_t before = to->n_parts;
        if (!add_sample(to, texts, golds[each], texts + golds[each], others[each]))
            return 0;
        for (int64_t gold = 0; gold < golds[each]; gold++)
            *sizes++ = gold_at(to, gold)->size;
        counts[each] = to->n_parts - before;
        texts += golds[each] + others[each];
    }
    return 1;
}

static Text *texts_of(PyObject *parts, Py_ssize_t count)
{
    Text *texts = malloc((size_t)(count + 1) * sizeof *texts);
    if (!texts)
        PyErr_NoMemory();
    for (Py_ssize_t each = 0; texts && each < count; each++) {
        char *bytes;
        Py_ssize_t size;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(parts, each), &bytes, &size) < 0) {
            free(texts);
            return NULL;
        }
        texts[each] = (Text){(const uint8_t *)bytes, size};
    }
    return texts;
}

/* Return whether counts say of all texts which are gold, and which retrieved. */
static int fits_counts(const int64_t *golds, const int64_t *others, int64_t samples, int64_t left, int64_t n_sizes)
{
    for (int64_t each = 0; each < samples; each++) {
        if (golds[each] < 0 || others[each] < 0 || golds[each] > left || others[each] > left - golds[each])
            return 0;
        left -= golds[each] + others[each];
        n_sizes -= golds[each];
    }
    return !left && !n_sizes;
}

/*
 * cover_texts(parts, golds, others, n, cutoff, says, negations, numbers, counts, sizes): the parts of gold texts that are
 * covered. Texts are prepared, in a tuple: the gold texts of a sample, then its retrieved ones.
 */
PyObject *cover_texts(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *parts, *found = NULL;
    Py_buffer b[7];
    long long n;
    memset(b, 0, sizeof b);
    Cover *to = calloc(1, sizeof *to);
    if (!to)
        return PyErr_NoMemory();
    if (PyArg_ParseTuple(args, "O!y*y*Ldy*y*y*w*w*", &PyTuple_Type, &parts, &b[0], &b[1], &n, &to->cutoff, &b[2], &b[3], &b[4],
                         &b[5], &b[6])) {
        int64_t samples = b[0].len / 8, count = PyTuple_Size(parts);
        int fits = b[1].len == b[0].len && b[2].len == 256 && b[5].len == b[0].len && n > 0 &&
                   fits_counts(b[0].buf, b[1].buf, samples, count, b[6].len / 8) &&
                   fill_set(to->of.negations, b[3].buf, b[3].len / 8 < SET / 2 ? b[3].len / 8 : SET / 2) &&
                   fill_set(to->of.numbers, b[4].buf, b[4].len / 8 < SET / 2 ? b[4].len / 8 : SET / 2);
        Text *texts = fits ? texts_of(parts, count) : NULL;
        to->n = n < MOST_WORDS ? n : MOST_WORDS;
        to->says = b[2].buf;
        int done = 0;
        if (texts) {
            Py_BEGIN_ALLOW_THREADS
            done = add_samples(to, texts, b[0].buf, b[1].buf, samples, b[5].buf, b[6].buf);
            Py_END_ALLOW_THREADS
        }
        if (!fits)
            PyErr_SetString(PyExc_ValueError, "texts and columns do not fit");
        else if (done)
            found = PyBytes_FromStringAndSize(to->n_parts ? to->parts.at : "",
                                              (Py_ssize_t)to->n_parts * (Py_ssize_t)sizeof(Part));
        else if (texts)
            PyErr_NoMemory();
        free(texts);
    }
    Room *rooms[] = {&to->data, &to->places, &to->words, &to->flags, &to->hashed, &to->reach, &to->ends, &to->golds,
                     &to->heads, &to->shared, &to->edge_reach, &to->lengths, &to->kept, &to->found, &to->touched,
                     &to->own, &to->parts, &to->runs.heads, &to->runs.entries, &to->edges.heads, &to->edges.entries,
                     &to->inner.heads, &to->inner.entries, &to->wholes.heads, &to->wholes.entries};
    for (size_t each = 0; each < sizeof rooms / sizeof *rooms; each++)
        free(((Room *)rooms[each])->at);
    free_rooms(&to->of);
    free(to);
    for (int each = 0; each < 7; each++)
        if (b[each].obj)
            PyBuffer_Release(&b[each]);
    return found;
}
