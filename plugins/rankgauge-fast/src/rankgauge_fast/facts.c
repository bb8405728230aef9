/*
 * Other facts: what contradicts beside and between the runs of words that two texts share.
 *
 * rankgauge.matchers.other_facts has the rules, and the same in Python: names and order are theirs.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdlib.h>
#include <string.h>
#include "words.h"

#define NEARBY 5
#define REPLACED 0.1

/* Return an array with room for as many as wanted, each of some size; NULL where there is no memory. */
void *fit(Aligner *of, Room *room, int64_t wanted, size_t each)
{
    if (wanted > room->room || !room->at) {
        int64_t more = wanted + wanted / 2 + 64;
        void *bigger = realloc(room->at, (size_t)more * each);
        if (!bigger) {
            of->failed = 1;
            return NULL;
        }
        room->at = bigger;
        room->room = more;
    }
    return room->at;
}

static int is_in(const uint64_t *set, uint64_t word)
{
    for (uint64_t at = word >> 54; set[at]; at = (at + 1) % SET)
        if (set[at] == word)
            return 1;
    return 0;
}

int fill_set(uint64_t *set, const uint64_t *words, int64_t count)
{
    for (int64_t each = 0; each < count; each++) {
        uint64_t at = words[each] >> 54;
        while (set[at] && set[at] != words[each])
            at = (at + 1) % SET;
        set[at] = words[each];
    }
    return count < SET / 2;
}

/* Other facts: what contradicts beside and between runs. */

static int negates(const Aligner *of, Bounds words)
{
    for (int64_t at = words.begin; at < words.end; at++)
        if (is_in(of->negations, of->words[at]))
            return 1;
    return 0;
}

/* Return whether a gap has a negation in one sentence with the run before it, or with the one behind it. */
static int negates_sentence(const Aligner *of, Bounds gap)
{
    for (int64_t at = gap.begin; at < gap.end && !(of->flags[at] & BREAK); at++)
        if (is_in(of->negations, of->words[at]))
            return 1;
    for (int64_t behind = gap.end; behind > gap.begin && !(of->flags[behind] & BREAK);)
        if (is_in(of->negations, of->words[--behind]))
            return 1;
    return 0;
}

static int is_fact(const Aligner *of, int64_t at)
{
    int flags = of->flags[at];
    return flags & STRONG || (flags & (CAPITAL | BREAK)) == CAPITAL || is_in(of->numbers, of->words[at]);
}

static int have_facts(const Aligner *of, Bounds own, Bounds theirs)
{
    int single = 0;
    for (int64_t at = own.begin; at < own.end; at++) {
        int64_t other = theirs.begin;
        while (other < theirs.end && of->words[other] != of->words[at])
            other++;
        if (other < theirs.end)
            continue;
        if (is_fact(of, at))
            return 1;
        single += (of->flags[at] & UNSPACED_WORD) > 0;
    }
    return single > 1;
}

static int contradict(const Aligner *of, Bounds own, Bounds theirs)
{
    int64_t size = own.end - own.begin;
    if (size == theirs.end - theirs.begin &&
        !memcmp(of->words + own.begin, of->words + theirs.begin, (size_t)size * sizeof *of->words))
        return 0;
    return negates(of, own) != negates(of, theirs) || have_facts(of, own, theirs) || have_facts(of, theirs, own);
}

/* Return how many gold words were replaced between two runs, -1 if that changes what is said. */
static int64_t between(const Aligner *of, Bounds gold, Bounds other)
{
    if (gold.begin < gold.end && other.begin < other.end)
        return contradict(of, gold, other) ? -1 : gold.end - gold.begin;
    return negates_sentence(of, gold.begin < gold.end ? gold : other) ? -1 : 0;
}

/* Return the words from a place on, away from a run, within its sentence; in order of the text. */
static Bounds stretch(const Aligner *of, int64_t at, Bounds text, int step)
{
    Bounds words = {at, at};
    if (step > 0) {
        while (words.end < text.end && words.end - at < NEARBY && !(of->flags[words.end] & BREAK))
            words.end++;
        return words;
    }
    words.begin = words.end = at + 1;
    while (words.begin > text.begin && words.end - words.begin < NEARBY)
        if (of->flags[--words.begin] & BREAK)
            break;
    return words;
}

/* Return whether a text, or a line of it, ends with a word. */
static int is_end(const Aligner *of, int64_t at, Bounds text, int step)
{
    if (step < 0)
        return at == text.begin || of->flags[at] & BREAK;
    return at == text.end - 1 || of->flags[at + 1] & BREAK;
}

/* Return whether one of two texts ends within a word; add the piece of the gold word that both have. */
static int cut(Aligner *of, int64_t own, int64_t theirs, const Item *item, int step)
{
    Bounds ours = of->places[own], others = of->places[theirs];
    int64_t first = ours.end - ours.begin, second = others.end - others.begin;
    int is_other = second < first;
    int64_t at = is_other ? theirs : own, longer = is_other ? own : theirs, short_size = is_other ? second : first;
    int64_t from = of->places[at].begin, stop = of->places[at].end, long_from = of->places[longer].begin;
    int64_t long_size = is_other ? first : second;
    const uint8_t *part = of->data + from, *whole = of->data + long_from;
    if (step < 0 && part[-1] > ' ') /* 12, may be cut from 12,500 */
        part--, short_size++;
    else if (step > 0 && of->data[stop] > ' ')
        short_size++;
    if (short_size > long_size || memcmp(step > 0 ? whole : whole + long_size - short_size, part, (size_t)short_size) ||
        !is_end(of, at, is_other ? item->other : item->gold, step))
        return 0;
    for (int64_t each = 0; each < long_size; each++)
        if (whole[each] >= '0' && whole[each] <= '9')
            return 1; /* 3 is no other number than 30, and no part of it */
    if (short_size > first) /* the sign is none of the gold word's, which is the one that is cut */
        part = of->data + of->places[own].begin, short_size = first;
    int64_t characters = 0;
    for (int64_t each = 0; each < short_size; each++)
        characters += (part[each] & 0xC0) != 0x80;
    ((Piece *)of->pieces.at)[of->n_pieces++] = (Piece){own, characters, step > 0};
    return 1;
}

/* Return how many words beside a run differ, away from it; -1 if that changes what is said. */
static int64_t beside(Aligner *of, int64_t i, int64_t j, const Item *item, int step)
{
    if (step < 0 && (of->flags[i + 1] | of->flags[j + 1]) & BREAK)
        return 0;
    Bounds own = stretch(of, i, item->gold, step), theirs = stretch(of, j, item->other, step);
    if (own.begin >= own.end || theirs.begin >= theirs.end)
        return 0;
    if (of->words[i] != of->words[j] && cut(of, i, j, item, step))
        return 0;
    if (negates(of, own) != negates(of, theirs))
        return -1;
    int64_t count = own.end - own.begin, differ = 0;
    if (theirs.end - theirs.begin < count)
        count = theirs.end - theirs.begin;
    if (step > 0)
        own.end = own.begin + count, theirs.end = theirs.begin + count;
    else
        own.begin = own.end - count, theirs.begin = theirs.end - count;
    if (contradict(of, own, theirs))
        return -1;
    for (int64_t at = 0; at < count; at++)
        differ += of->words[own.begin + at] != of->words[theirs.begin + at];
    return differ;
}

static Bounds gap_of(const Run *run, int is_other)
{
    return is_other ? (Bounds){run[0].j + run[0].size, run[1].j} : (Bounds){run[0].i + run[0].size, run[1].i};
}

/* Return whether nothing contradicts some runs; add the pieces of words at their ends. */
static int agrees(Aligner *of, const Run *runs, int64_t count, const Item *item)
{
    const Run *first = runs, *last = runs + count - 1;
    int64_t end = last->i + last->size, gaps = 0, replaced = 0;
    for (const Run *run = first; run < last; run++)
        if (run[1].i > run->i + run->size && run[1].j > run->j + run->size)
            gaps += run[1].i - run->i - run->size;
    if ((double)gaps > REPLACED * (double)(end - first->i + gaps))
        return 0;
    for (const Run *run = first; run < last; run++) {
        int64_t more = between(of, gap_of(run, 0), gap_of(run, 1));
        if (more < 0)
            return 0;
        replaced += more;
    }
    int64_t before = beside(of, first->i - 1, first->j - 1, item, -1);
    int64_t behind = before < 0 ? -1 : beside(of, end, last->j + last->size, item, 1);
    if (behind < 0)
        return 0;
    replaced += before + behind;
    return (double)replaced <= REPLACED * (double)(end - first->i + replaced);
}

static int has_new_piece(const Aligner *of, Bounds gap)
{
    for (int64_t at = gap.begin; at <= gap.end; at++)
        if (of->flags[at] & NEW_PIECE)
            return 1;
    return 0;
}

/* Add the runs that nothing contradicts, and their pieces; those between two ellipses are judged together. */
int agreed(Aligner *of, const Run *runs, int64_t count, const Item *item)
{
    int64_t before = of->n_kept;
    Kept *kept = fit(of, &of->kept, of->n_kept + count, sizeof *kept);
    if (!kept || !fit(of, &of->pieces, of->n_pieces + 2 * count, sizeof(Piece)))
        return 0;
    for (int64_t begin = 0, end = 1; begin < count; begin = end++) {
        while (end < count && !has_new_piece(of, gap_of(runs + end - 1, 0)) && !has_new_piece(of, gap_of(runs + end - 1, 1)))
            end++;
        int64_t pieces = of->n_pieces;
        if (!agrees(of, runs + begin, end - begin, item)) {
            of->n_pieces = pieces;
            continue;
        }
        for (int64_t at = begin; at < end; at++)
            kept[of->n_kept++] = (Kept){runs[at].i, runs[at].size};
    }
    return of->n_kept > before;
}

