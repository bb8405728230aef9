/*
 * Alignment: which of the runs of words that two texts share are in one place of both.
 *
 * rankgauge.matchers.alignment has the rules, and the same in Python: names and order are theirs. All places of words
 * are those in a stream of the gold texts of a sample and one retrieved text.
 */
#include <stdlib.h>
#include <string.h>
#include "words.h"

#define TRIES 4
#define SPARE 12
#define POINTS 8
#define SHIFTS 4

typedef struct { int64_t i, j; } Point;
typedef struct { int64_t first, count, next, times; uint64_t key; } Slot; /* of a run of words in a retrieved text */

/* Return how many places of a text have a run that ends in it: all up to some place. */
static int64_t whole_runs(Aligner *of, Bounds text)
{
    int64_t low = text.begin, high = text.end;
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
int align(Aligner *of, const Item *item, const Run *given)
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

void free_rooms(Aligner *of)
{
    Room *rooms[] = {&of->kept, &of->pieces, &of->slots, &of->next, &of->found, &of->points, &of->some, &of->runs,
                     &of->of_point, &of->values, &of->before, &of->keys, &of->best, &of->holders, &of->way, &of->chain,
                     &of->shifts, &of->order};
    for (size_t each = 0; each < sizeof rooms / sizeof *rooms; each++)
        free(rooms[each]->at);
}
