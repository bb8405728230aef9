/*
 * Alignment: which of the runs of words that two texts share are in one place of both, and say the same.
 *
 * rankgauge.matchers.alignment and other_facts have the rules, and the same in Python: names and order are theirs. All
 * places of words are those in the stream of many texts.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BREAK = 1, NEW_PIECE = 2, CAPITAL = 4, STRONG = 8, UNSPACED_WORD = 16 }; /* what is known of a word */

#define TRIES 4
#define SPARE 12
#define NEARBY 5
#define REPLACED 0.1
#define POINTS 8
#define SHIFTS 4
#define SET 1024 /* places for negations, or words that are numbers, which are few */
#define BUFFERS 12

typedef struct { int64_t i, j, size; } Run;
typedef struct { int64_t i, j; } Point;
typedef struct { int64_t begin, end; } Bounds;
typedef struct { int64_t first, count, next, times; uint64_t key; } Slot; /* of a run of words in a retrieved text */

/* What a pair is, as `Doubtful` lays it out. */
typedef struct { int64_t pair; Bounds gold, other, runs; int64_t is_ordered, needed; } Item;
typedef struct { int64_t pair, at, size; } Kept;
typedef struct { int64_t pair, word, size, begins; } Piece;

typedef struct { void *at; int64_t room; } Room;

typedef struct {
    const uint8_t *data, *flags;
    int64_t data_size, n_words, n_hashed;
    const uint64_t *words, *hashed;
    const int64_t *starts, *stops, *ends, *reach;
    uint64_t negations[SET], numbers[SET];
    int failed; /* no memory, or columns that do not fit */
    Room kept, pieces;
    int64_t n_kept, n_pieces;
    Bounds indexed; /* the retrieved text whose runs are in the slots */
    int64_t mask;
    Room slots, next, found, points, some, runs, of_point, values, before, keys, best, holders, way, chain, shifts, order;
} Aligner;

enum { NO_MEMORY = 1, WRONG = 2 };

/* Return an array with room for as many as wanted, each of some size; NULL where there is no memory. */
static void *fit(Aligner *of, Room *room, int64_t wanted, size_t each)
{
    if (wanted > room->room || !room->at) {
        int64_t more = wanted + wanted / 2 + 64;
        void *bigger = realloc(room->at, (size_t)more * each);
        if (!bigger) {
            of->failed |= NO_MEMORY;
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

static int fill(uint64_t *set, const uint64_t *words, int64_t count)
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
    int64_t first = of->stops[own] - of->starts[own], second = of->stops[theirs] - of->starts[theirs];
    int is_other = second < first;
    int64_t at = is_other ? theirs : own, longer = is_other ? own : theirs, short_size = is_other ? second : first;
    int64_t from = of->starts[at], stop = of->stops[at], long_from = of->starts[longer], long_size = is_other ? first : second;
    if (from < 1 || stop < from || stop >= of->data_size || long_from < 0 || long_size < 0 ||
        of->stops[longer] > of->data_size) {
        of->failed |= WRONG;
        return 0;
    }
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
        part = of->data + of->starts[own], short_size = first;
    int64_t characters = 0;
    for (int64_t each = 0; each < short_size; each++)
        characters += (part[each] & 0xC0) != 0x80;
    ((Piece *)of->pieces.at)[of->n_pieces++] = (Piece){item->pair, own, characters, step > 0};
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
static int agreed(Aligner *of, const Run *runs, int64_t count, const Item *item)
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
            kept[of->n_kept++] = (Kept){item->pair, runs[at].i, runs[at].size};
    }
    return of->n_kept > before;
}

/* Which runs there are. */

/* Return how many places of a text have a run that ends in it: all up to some place. */
static int64_t whole_runs(Aligner *of, Bounds text)
{
    int64_t low = text.begin, high = text.end < of->n_hashed ? text.end : of->n_hashed;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (middle + of->reach[middle] <= text.end)
            low = middle + 1;
        else
            high = middle;
    }
    return low - text.begin;
}

static int64_t slot_of(const Slot *slots, int64_t mask, uint64_t key)
{
    int64_t at = (int64_t)(key >> 32) & mask;
    while (slots[at].count && slots[at].key != key)
        at = (at + 1) & mask;
    return at;
}

/* Put the runs of a retrieved text into slots, each with its places in order; pairs of one text follow each other. */
static int index_text(Aligner *of, Bounds text, int64_t count)
{
    if (of->indexed.begin == text.begin && of->indexed.end == text.end)
        return 1;
    int64_t size = 16;
    while (size < 2 * count)
        size *= 2;
    Slot *slots = fit(of, &of->slots, size, sizeof *slots);
    int64_t *next = fit(of, &of->next, count, sizeof *next);
    of->indexed = (Bounds){-1, -1};
    if (!slots || !next)
        return 0;
    memset(slots, 0, (size_t)size * sizeof *slots);
    of->mask = size - 1;
    for (int64_t j = count - 1; j >= 0; j--) {
        Slot *slot = slots + slot_of(slots, of->mask, of->hashed[text.begin + j]);
        next[j] = slot->count ? slot->first : -1;
        slot->key = of->hashed[text.begin + j];
        slot->first = j;
        slot->count++;
    }
    of->indexed = text;
    return 1;
}

/* Choose the shifts in which most first occurrences meet; of as many the one that came first. */
static int common_shifts(const int64_t *times, const int64_t *order, int64_t count, int64_t *shifts)
{
    int found = 0;
    for (; found < SHIFTS && found < count; found++) {
        int64_t best = -1;
        for (int64_t at = 0; at < count; at++) {
            int is_taken = 0;
            for (int other = 0; other < found; other++)
                is_taken |= shifts[other] == order[at];
            if (!is_taken && (best < 0 || times[order[at]] > times[best]))
                best = order[at];
        }
        shifts[found] = best;
    }
    return found;
}

/* Write the points of texts that repeat themselves very often; return how many. */
static int64_t few_points(Aligner *of, const Item *item, int64_t n_gold, int64_t n_other, const int64_t *found, Point *points)
{
    Slot *slots = of->slots.at;
    const int64_t *next = of->next.at;
    const uint64_t *gold = of->hashed + item->gold.begin, *other = of->hashed + item->other.begin;
    int64_t *times = fit(of, &of->shifts, n_gold + n_other, sizeof *times);
    int64_t *order = fit(of, &of->order, n_gold, sizeof *order);
    int64_t *paired = fit(of, &of->values, n_gold, sizeof *paired);
    if (!times || !order || !paired)
        return 0;
    int64_t n_shifts = 0, count = 0, shifts[SHIFTS];
    memset(times, 0, (size_t)(n_gold + n_other) * sizeof *times);
    for (int64_t i = 0; i < n_gold; i++)
        if (found[i] >= 0)
            slots[found[i]].times = 0, slots[found[i]].next = slots[found[i]].first;
    for (int64_t i = 0; i < n_gold; i++) {
        paired[i] = -1;
        if (found[i] < 0)
            continue;
        Slot *slot = slots + found[i];
        if (!slot->times++) {
            int64_t shift = slot->first - i + n_gold;
            if (!times[shift]++)
                order[n_shifts++] = shift;
        }
        paired[i] = slot->next;
        if (slot->next >= 0)
            slot->next = next[slot->next];
    }
    int n_best = common_shifts(times, order, n_shifts, shifts);
    for (int64_t i = 0; i < n_gold; i++) {
        int64_t start = count;
        for (int each = -1; each < n_best; each++) {
            int64_t j = each < 0 ? paired[i] : i + shifts[each] - n_gold, at = count;
            if (j < 0 || j >= n_other || gold[i] != other[j])
                continue;
            while (at > start && points[at - 1].j >= item->other.begin + j)
                at--;
            if (at < count && points[at].j == item->other.begin + j)
                continue;
            memmove(points + at + 1, points + at, (size_t)(count - at) * sizeof *points);
            points[at] = (Point){item->gold.begin + i, item->other.begin + j};
            count++;
        }
    }
    return count;
}

/* Return how many places two texts share, and write them, in order. */
static int64_t common_points(Aligner *of, const Item *item)
{
    int64_t n_gold = whole_runs(of, item->gold), n_other = whole_runs(of, item->other), all = 0, count = 0;
    int64_t *found = fit(of, &of->found, n_gold, sizeof *found);
    if (!found || !index_text(of, item->other, n_other))
        return 0;
    const Slot *slots = of->slots.at;
    const int64_t *next = of->next.at;
    for (int64_t i = 0; i < n_gold; i++) {
        int64_t at = slot_of(slots, of->mask, of->hashed[item->gold.begin + i]);
        found[i] = slots[at].count ? at : -1;
        all += slots[at].count;
    }
    int are_many = all > POINTS * (n_gold + n_other);
    Point *points = fit(of, &of->points, are_many ? (SHIFTS + 1) * n_gold + 1 : all, sizeof *points);
    if (!points)
        return 0;
    if (are_many)
        return few_points(of, item, n_gold, n_other, found, points);
    for (int64_t i = 0; i < n_gold; i++)
        for (int64_t j = found[i] < 0 ? -1 : slots[found[i]].first; j >= 0; j = next[j])
            points[count++] = (Point){item->gold.begin + i, item->other.begin + j};
    return count;
}

/* Return whether a point comes before another one. */
static int is_before(Point point, int64_t i, int64_t j) { return point.i < i || (point.i == i && point.j < j); }

/* Write the runs that points are on, as far as they go in both texts; return how many. */
static int64_t all_runs(Aligner *of, const Point *points, int64_t count)
{
    Run *runs = fit(of, &of->runs, count, sizeof *runs);
    int64_t *of_point = fit(of, &of->of_point, count, sizeof *of_point), n_runs = 0;
    if (!runs || !of_point)
        return 0;
    for (int64_t at = 0, near = 0; at < count; at++) {
        Point point = points[at];
        while (is_before(points[near], point.i - 1, point.j - 1))
            near++;
        int goes_on = points[near].i == point.i - 1 && points[near].j == point.j - 1;
        of_point[at] = goes_on ? of_point[near] : n_runs++;
        Run *run = runs + of_point[at];
        if (!goes_on)
            run->i = point.i, run->j = point.j;
        run->size = point.i + of->reach[point.i] - run->i;
    }
    return n_runs;
}

/* Choose the longest runs, the longest first. */
static int longest(const Run *runs, int64_t count, int64_t *best)
{
    int found = 0;
    for (int64_t each = 0; each < count; each++) {
        const Run *run = runs + each;
        int at = found;
        while (at > 0) {
            const Run *other = runs + best[at - 1];
            if (other->size > run->size ||
                (other->size == run->size && (other->i < run->i || (other->i == run->i && other->j < run->j))))
                break;
            at--;
        }
        if (at == TRIES)
            continue;
        found += found < TRIES;
        for (int later = found - 1; later > at; later--)
            best[later] = best[later - 1];
        best[at] = each;
    }
    return found;
}

/* How many ways end at or before a key; keys rise. */
static int64_t not_beyond(const int64_t *keys, int64_t count, int64_t key)
{
    int64_t low = 0;
    while (low < count) {
        int64_t middle = low + (count - low) / 2;
        if (keys[middle] <= key)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* Write the runs in the same order in two texts with the most characters in all, in order; return how many. */
static int64_t best_of(Aligner *of, const Point *points, int64_t count)
{
    const int64_t *ends = of->ends, *reach = of->reach;
    int64_t *values = fit(of, &of->values, count, sizeof *values), *before = fit(of, &of->before, count, sizeof *before);
    int64_t *keys = fit(of, &of->keys, count + 1, sizeof *keys), *best = fit(of, &of->best, count + 1, sizeof *best);
    int64_t *holders = fit(of, &of->holders, count + 1, sizeof *holders);
    Run *way = fit(of, &of->way, count, sizeof *way);
    if (!values || !before || !keys || !best || !holders || !way || !count)
        return 0;
    int64_t n_keys = 1, closed = 0, near = 0, last = 0, size = 0;
    keys[0] = holders[0] = -1;
    best[0] = 0;
    for (int64_t here = 0; here < count; here++) {
        int64_t i = points[here].i, j = points[here].j, end = i + reach[i];
        for (; points[closed].i + reach[points[closed].i] <= i; closed++) {
            int64_t key = points[closed].j + reach[points[closed].i], at = not_beyond(keys, n_keys, key), stop = at;
            if (best[at - 1] >= values[closed])
                continue;
            while (stop < n_keys && best[stop] <= values[closed])
                stop++;
            size_t moved = (size_t)(n_keys - stop) * sizeof *keys;
            memmove(keys + at + 1, keys + stop, moved);
            memmove(best + at + 1, best + stop, moved);
            memmove(holders + at + 1, holders + stop, moved);
            n_keys += at + 1 - stop;
            keys[at] = key;
            best[at] = values[closed];
            holders[at] = closed;
        }
        int64_t at = not_beyond(keys, n_keys, j) - 1, value = best[at] + ends[end] - ends[i], source = holders[at];
        while (is_before(points[near], i - 1, j - 1))
            near++;
        if (points[near].i == i - 1 && points[near].j == j - 1) {
            int64_t longer = values[near] + ends[end] - ends[i - 1 + reach[i - 1]];
            if (longer >= value)
                value = longer, source = near;
        }
        values[here] = value;
        before[here] = source;
        if (value > values[last])
            last = here;
    }
    while (last >= 0) {
        Run run = {points[last].i, points[last].j, reach[points[last].i]};
        for (int64_t other = before[last]; other >= 0 && points[other].i == run.i - 1 && points[other].j == run.j - 1;
             other = before[last])
            run.i--, run.j--, run.size++, last = other;
        way[size++] = run;
        last = before[last];
    }
    for (int64_t low = 0, high = size - 1; low < high; low++, high--) {
        Run run = way[low];
        way[low] = way[high];
        way[high] = run;
    }
    return size;
}

static int is_near(const Run *run, const Run *following)
{
    int64_t own = following->i - run->i - run->size, theirs = following->j - run->j - run->size;
    return !theirs || (theirs <= 2 * own + SPARE && own <= 2 * theirs + SPARE);
}

/* Write a run and those before and behind it, in order, as far as each is near the next one; return how many. */
static int64_t around(Aligner *of, const Point *points, int64_t count, Run core)
{
    Point *some = fit(of, &of->some, count, sizeof *some);
    Run *chain = fit(of, &of->chain, 2 * count + 1, sizeof *chain);
    if (!some || !chain)
        return 0;
    int64_t n_some = 0, begin = count, end = count;
    for (int64_t at = 0; at < count; at++) {
        int64_t size = of->reach[points[at].i];
        if (points[at].i + size <= core.i && points[at].j + size <= core.j)
            some[n_some++] = points[at];
    }
    int64_t size = best_of(of, some, n_some);
    const Run *way = of->way.at;
    chain[end++] = core;
    while (size-- > 0 && is_near(way + size, chain + begin))
        chain[--begin] = way[size];
    n_some = 0;
    for (int64_t at = 0; at < count; at++)
        if (points[at].i >= core.i + core.size && points[at].j >= core.j + core.size)
            some[n_some++] = points[at];
    size = best_of(of, some, n_some);
    way = of->way.at;
    for (int64_t at = 0; at < size && is_near(chain + end - 1, way + at); at++)
        chain[end++] = way[at];
    memmove(chain, chain + begin, (size_t)(end - begin) * sizeof *chain);
    return end - begin;
}

/* Return whether a run is between the ends of a chain in both texts. */
static int is_within(const Run *run, const Run *ends)
{
    return ends[0].i <= run->i && run->i + run->size <= ends[1].i + ends[1].size && ends[0].j <= run->j &&
           run->j + run->size <= ends[1].j + ends[1].size;
}

/* Add the first runs around one of the longest that nothing contradicts; return whether there are some. */
static int align(Aligner *of, const Item *item, const Run *given)
{
    const Run *runs = given + item->runs.begin;
    int64_t n_runs = item->runs.end - item->runs.begin, n_points = 0, best[TRIES];
    if (!item->is_ordered) {
        n_points = common_points(of, item);
        n_runs = of->failed ? 0 : all_runs(of, of->points.at, n_points);
        runs = of->runs.at;
    }
    int n_tries = longest(runs, n_runs, best), n_failed = 0;
    Run failed[TRIES][2];
    for (int each = 0; each < n_tries && !of->failed; each++) {
        const Run *core = runs + best[each], *chain = core;
        int is_tried = 0;
        for (int other = 0; other < n_failed; other++)
            is_tried |= is_within(core, failed[other]);
        if (is_tried)
            continue;
        int64_t count = 1;
        if (item->is_ordered) {
            while (chain > runs && is_near(chain - 1, chain))
                chain--;
            count = core - chain + 1;
            while (chain + count < runs + n_runs && is_near(chain + count - 1, chain + count))
                count++;
        } else {
            count = around(of, of->points.at, n_points, *core);
            chain = of->chain.at;
        }
        if (!count || of->failed)
            return 0;
        failed[n_failed][0] = chain[0];
        failed[n_failed++][1] = chain[count - 1];
        if (agreed(of, chain, count, item))
            return 1;
    }
    return 0;
}

static int is_inside(Bounds part, Bounds whole)
{
    return whole.begin <= part.begin && part.begin <= part.end && part.end <= whole.end;
}

/* Return whether the texts of a pair are there, and its runs in order and in them. */
static int fits_item(const Aligner *of, const Item *item, const Run *runs, int64_t n_runs)
{
    Bounds all = {0, of->n_words}, given = {0, n_runs};
    if (!is_inside(item->gold, all) || !is_inside(item->other, all) || !is_inside(item->runs, given))
        return 0;
    int64_t i = item->gold.begin, j = item->other.begin;
    for (int64_t at = item->runs.begin; item->is_ordered && at < item->runs.end; at++) {
        Run run = runs[at];
        if (run.i < i || run.j < j || run.size < 1 || run.size > item->gold.end - run.i || run.size > item->other.end - run.j)
            return 0;
        i = run.i + run.size;
        j = run.j + run.size;
    }
    return 1;
}

static void align_all(Aligner *of, const Item *items, int64_t count, const Run *runs, int64_t n_runs)
{
    int64_t done = -1; /* the last pair of which something was added */
    for (const Item *item = items; item < items + count && !of->failed; item++) {
        if (!fits_item(of, item, runs, n_runs)) {
            of->failed |= WRONG;
            return;
        }
        int64_t kept = of->n_kept, pieces = of->n_pieces;
        if (item->pair == done || !align(of, item, runs))
            continue;
        if (of->n_pieces - pieces >= item->needed)
            done = item->pair;
        else
            of->n_kept = kept, of->n_pieces = pieces;
    }
}

/* align_pairs(data, words, flags, starts, stops, ends, hashed, reach, negations, numbers, pairs, runs): runs, pieces */
PyObject *align_pairs(PyObject *self, PyObject *args)
{
    (void)self;
    Py_buffer b[BUFFERS];
    memset(b, 0, sizeof b);
    PyObject *found = NULL;
    Aligner *of = calloc(1, sizeof *of);
    if (!of)
        return PyErr_NoMemory();
    if (PyArg_ParseTuple(args, "y*y*y*y*y*y*y*y*y*y*y*y*", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &b[6], &b[7], &b[8],
                         &b[9], &b[10], &b[11])) {
        of->data = b[0].buf, of->data_size = b[0].len, of->words = b[1].buf, of->flags = b[2].buf;
        of->starts = b[3].buf, of->stops = b[4].buf, of->ends = b[5].buf, of->hashed = b[6].buf, of->reach = b[7].buf;
        of->n_words = b[1].len / 8, of->n_hashed = b[6].len / 8, of->indexed = (Bounds){-1, -1};
        int64_t items = b[10].len / (int64_t)sizeof(Item), runs = b[11].len / (int64_t)sizeof(Run);
        int fits = b[2].len == of->n_words && b[3].len / 8 == of->n_words && b[4].len / 8 == of->n_words &&
                   b[5].len / 8 == of->n_words + 1 && b[7].len / 8 == of->n_words && of->n_hashed <= of->n_words &&
                   fill(of->negations, b[8].buf, b[8].len / 8 < SET / 2 ? b[8].len / 8 : SET / 2) &&
                   fill(of->numbers, b[9].buf, b[9].len / 8 < SET / 2 ? b[9].len / 8 : SET / 2);
        for (int64_t at = 0; fits && at < of->n_words; at++)
            fits = of->reach[at] > 0;
        if (fits) {
            Py_BEGIN_ALLOW_THREADS
            align_all(of, b[10].buf, items, b[11].buf, runs);
            Py_END_ALLOW_THREADS
        }
        if (!fits || of->failed & WRONG)
            PyErr_SetString(PyExc_ValueError, "words, pairs and columns do not fit");
        else if (of->failed)
            PyErr_NoMemory();
        else
            found = Py_BuildValue("y#y#", of->n_kept ? of->kept.at : "", (Py_ssize_t)of->n_kept * (Py_ssize_t)sizeof(Kept),
                                  of->n_pieces ? of->pieces.at : "", (Py_ssize_t)of->n_pieces * (Py_ssize_t)sizeof(Piece));
    }
    Room *rooms[] = {&of->kept, &of->pieces, &of->slots, &of->next, &of->found, &of->points, &of->some, &of->runs,
                     &of->of_point, &of->values, &of->before, &of->keys, &of->best, &of->holders, &of->way, &of->chain,
                     &of->shifts, &of->order};
    for (size_t each = 0; each < sizeof rooms / sizeof *rooms; each++)
        free(rooms[each]->at);
    free(of);
    for (int each = 0; each < BUFFERS; each++)
        if (b[each].obj)
            PyBuffer_Release(&b[each]);
    return found;
}
