/*
 * Shared runs: the words of the gold texts of a sample and of one retrieved text at a time behind them, and which runs
 * of words these share.
 *
 * rankgauge.matchers.word_runs and common_runs have the same in numpy.
 */
#include <stdlib.h>
#include <string.h>
#include "cover.h"

void describe(Cover *to)
{
    if (!to->is_described)
        describe_words(to->text.at - to->n_data, to->says, to->n_data, to->of.places + to->here.begin,
                       to->here.end - to->here.begin, (uint8_t *)to->flags.at + to->here.begin);
    to->is_described = 1;
}

/* Set how many words the run from each word of the text on has, beyond its end if it is too long. */
static void set_reach(Cover *to)
{
    int64_t *reach = to->reach.at, units = 0, end = to->here.begin;
    for (int64_t at = to->here.begin; at < to->here.end; at++) {
        while (units < 2 * to->n && end < to->here.end)
            units += 2 - is_unspaced(to, end++);
        reach[at] = units < 2 * to->n ? to->here.end + 1 - at : end - at;
        units -= 2 - is_unspaced(to, at);
    }
}

static uint64_t run_at(const uint64_t *words, int64_t at, int64_t size)
{
    uint64_t run = words[at];
    for (int64_t each = 1; each < size; each++)
        run = run * SPREAD + words[at + each];
    return run;
}

/* Read the words of a text, and the runs from each on, behind those of the gold texts; return whether there was memory. */
int read_text(Cover *to, Text text)
{
    Aligner *of = &to->of;
    int64_t most = to->n_words + text.size / 2 + 2;
    uint8_t *data = fit(of, &to->data, to->n_data + text.size + WORD_PADDING + 1, 1);
    Bounds *places = fit(of, &to->places, most, sizeof *places);
    uint64_t *words = fit(of, &to->words, most, sizeof *words), *hashed = fit(of, &to->hashed, most, sizeof *hashed);
    uint8_t *flags = fit(of, &to->flags, most, 1);
    int64_t *reach = fit(of, &to->reach, most, sizeof *reach), n = to->n;
    if (!data || !places || !words || !hashed || !flags || !reach)
        return 0;
    of->data = data, of->places = places, of->words = words, of->hashed = hashed, of->flags = flags, of->reach = reach;
    memcpy(data + to->n_data, text.at, (size_t)text.size);
    memset(data + to->n_data + text.size, 0, WORD_PADDING + 1);
    lower(data + to->n_data, text.size);
    int64_t begin = to->n_words, count = find_words(data, (Bounds){to->n_data, to->n_data + text.size}, places + begin);
    if (hash_words(data, places + begin, count, words + begin) < count) {
        of->failed = 1;
        return 0;
    }
    to->text = text;
    to->here = (Bounds){begin, begin + count};
    to->is_described = 0;
    of->indexed = (Bounds){-1, -1};
    if (memchr(text.at, UNSPACED_SIGN, (size_t)text.size)) {
        describe(to);
        set_reach(to);
        for (int64_t at = begin; at < begin + count; at++)
            if (at + reach[at] <= begin + count)
                hashed[at] = run_at(words, at, reach[at]);
        return 1;
    }
    for (int64_t at = begin; at < begin + count; at++)
        reach[at] = n;
    for (int64_t at = begin; at + n <= begin + count; at++)
        hashed[at] = run_at(words, at, n);
    return 1;
}

/* Put the runs of some size of all gold texts that are not short into a table. */
static int index_edges(Cover *to, Index *index, int64_t size)
{
    if (!clear_index(&to->of, index, to->n_words))
        return 0;
    for (int64_t gold = 0; gold < to->n_golds; gold++) {
        Gold *own = gold_at(to, gold);
        for (int64_t at = own->words.begin; !own->is_short && at + size <= own->words.end; at++)
            add_run(index, run_at(to->of.words, at, size), gold, at, 0);
    }
    return 1;
}

int by_size(const void *one, const void *other)
{
    int64_t first = *(const int64_t *)one, second = *(const int64_t *)other;
    return (first > second) - (first < second);
}

/* Read the gold texts of a sample, and put their runs into tables. */
int read_golds(Cover *to, const Text *texts, int64_t count)
{
    Aligner *of = &to->of;
    to->n_data = 1; /* a blank comes first */
    to->n_words = to->n_lengths = to->has_inner = 0;
    to->n_golds = count;
    Gold *golds = fit(of, &to->golds, count + 1, sizeof *golds);
    int64_t *lengths = fit(of, &to->lengths, count + 1, sizeof *lengths);
    uint8_t *data = fit(of, &to->data, 1, 1);
    if (!golds || !lengths || !data)
        return 0;
    data[0] = ' ';
    for (int64_t gold = 0; gold < count; gold++) {
        if (!read_text(to, texts[gold]))
            return 0;
        describe(to);
        int64_t *ends = fit(of, &to->ends, to->here.end + 1, sizeof *ends), units = 0;
        if (!ends)
            return 0;
        if (!gold)
            ends[0] = 0;
        for (int64_t at = to->here.begin; at < to->here.end; at++) {
            ends[at + 1] = ends[at] + characters_of(of->data, of->places[at]);
            units += 2 - is_unspaced(to, at);
        }
        of->ends = ends;
        golds[gold] = (Gold){to->here, units, ends[to->here.end] - ends[to->here.begin], 0, units < 4 * to->n, 1, -1, -1, 0, 0};
        to->n_data += texts[gold].size + 1;
        to->n_words = to->here.end;
        if (golds[gold].is_short && units)
            lengths[to->n_lengths++] = to->here.end - to->here.begin;
    }
    int64_t *heads = fit(of, &to->heads, to->n_words + 1, sizeof *heads);
    if (!heads || !clear_index(of, &to->runs, to->n_words) || !clear_index(of, &to->wholes, to->n_lengths))
        return 0;
    for (int64_t gold = 0; gold < count; gold++) {
        Bounds words = golds[gold].words;
        int64_t size = words.end - words.begin;
        if (golds[gold].is_short && size)
            add_run(&to->wholes, run_at(of->words, words.begin, size) ^ (uint64_t)size * SPREAD, gold, words.begin, 0);
        for (int64_t at = words.begin; at < words.end; at++)
            heads[at] = golds[gold].is_short || at + of->reach[at] > words.end
                            ? -1
                            : add_run(&to->runs, of->hashed[at], gold, at, 1) - (Head *)to->runs.heads.at;
    }
    int64_t distinct = 0;
    qsort(lengths, (size_t)to->n_lengths, sizeof *lengths, by_size);
    for (int64_t each = 0; each < to->n_lengths; each++)
        if (!distinct || lengths[distinct - 1] != lengths[each])
            lengths[distinct++] = lengths[each];
    to->n_lengths = distinct;
    return to->n < 2 || index_edges(to, &to->edges, to->n - 1);
}

static int add_found(Cover *to, int64_t gold, Found found)
{
    Gold *own = gold_at(to, gold);
    Found *all = fit(&to->of, &to->found, to->n_found + 2, sizeof *all);
    if (!all)
        return 0;
    all[++to->n_found] = found;
    if (own->first)
        all[own->last].next = to->n_found;
    else
        own->first = to->n_found;
    own->last = to->n_found;
    return 1;
}

/* Note that a gold text shares something with the present one. */
static int touch(Cover *to, int64_t gold, int64_t text)
{
    Gold *own = gold_at(to, gold);
    if (own->seen == text)
        return 1;
    int64_t *touched = fit(&to->of, &to->touched, to->n_touched + 1, sizeof *touched);
    if (!touched)
        return 0;
    touched[to->n_touched++] = gold;
    own->seen = text;
    own->first = own->last = 0;
    return 1;
}

/* Which runs that lack a word are looked up: of which table, from which word on, and on which sides a piece has to be. */
typedef struct { const Index *index; int64_t at, size; int before, behind; } Side;

static int sides_of(Cover *to, Side *sides)
{
    int64_t count = to->here.end - to->here.begin, n = to->n;
    if (n < 2 || count < n)
        return 0;
    sides[0] = (Side){&to->edges, to->here.begin + 1, n - 1, 1, 0};
    sides[1] = (Side){&to->edges, to->here.end - n, n - 1, 0, 1};
    if (n < 3 || count != n)
        return 2;
    if (!to->has_inner) {
        to->has_inner = 1;
        if (!index_edges(to, &to->inner, n - 2))
            return 0;
    }
    sides[2] = (Side){&to->inner, to->here.begin + 1, n - 2, 1, 1};
    return 3;
}

/* Return whether the words beside a run in two texts end, or begin, with the same letter. */
static int fits_side(const Cover *to, const Side *side, const Entry *entry)
{
    const Aligner *of = &to->of;
    Bounds words = gold_at(to, entry->gold)->words;
    int64_t first = entry->place - 1, last = entry->place + side->size;
    if (side->before &&
        (first < words.begin || of->data[of->places[first].end - 1] != of->data[of->places[side->at - 1].end - 1]))
        return 0;
    return !side->behind || (last < words.end &&
                             of->data[of->places[last].begin] == of->data[of->places[side->at + side->size].begin]);
}

/* Return whether no word of a run, nor one behind it, is a character of a script without spaces. */
static int is_spaced(Cover *to, int64_t at)
{
    describe(to);
    for (int64_t end = at + to->n; at < end && at < to->here.end; at++)
        if (is_unspaced(to, at))
            return 0;
    return 1;
}

/*
 * Find what the present text shares with gold texts that may be covered; *marks* notes only which runs are shared.
 * Return whether there was memory.
 */
int look(Cover *to, int64_t text, int marks)
{
    const Aligner *of = &to->of;
    const Entry *entries = to->runs.entries.at;
    Side sides[3];
    to->n_found = to->n_touched = 0;
    for (int64_t j = to->here.begin; j < to->here.end && j + of->reach[j] <= to->here.end; j++) {
        Head *head = head_of(&to->runs, of->hashed[j]);
        for (int64_t each = head->first; each; each = entries[each].next) {
            int64_t gold = entries[each].gold;
            if (gold_at(to, gold)->is_able &&
                (!touch(to, gold, text) || (!marks && !add_found(to, gold, (Found){entries[each].place, j, 0, 0, 0}))))
                return 0;
        }
        if (marks && head->first)
            ((uint8_t *)to->shared.at)[head - (Head *)to->runs.heads.at] = 1;
    }
    int n_sides = sides_of(to, sides);
    for (int each = 0; each < n_sides; each++) {
        const Side *side = sides + each;
        const Entry *others = side->index->entries.at;
        int64_t at = head_of(side->index, run_at(of->words, side->at, side->size))->first;
        if (at && !is_spaced(to, side->at))
            continue;
        for (; at; at = others[at].next) {
            Gold *own = gold_at(to, others[at].gold);
            if (!own->is_able || (own->seen == text && own->seen_edge != text) || !fits_side(to, side, others + at))
                continue;
            own->seen_edge = text;
            if (!touch(to, others[at].gold, text))
                return 0;
            if (marks) {
                int64_t *reach = (int64_t *)to->edge_reach.at + others[at].place;
                *reach = *reach < side->size ? side->size : *reach;
                continue;
            }
            Found found = {others[at].place, side->at, side->size, side->before + side->behind, 0};
            if (!add_found(to, others[at].gold, found))
                return 0;
        }
    }
    if (marks)
        return !to->of.failed;
    for (int64_t each = 0; each < to->n_lengths; each++) {
        int64_t size = ((int64_t *)to->lengths.at)[each];
        for (int64_t j = to->here.begin; j + size <= to->here.end; j++) {
            uint64_t run = run_at(of->words, j, size) ^ (uint64_t)size * SPREAD;
            const Entry *wholes = to->wholes.entries.at;
            for (int64_t at = head_of(&to->wholes, run)->first; at; at = wholes[at].next) {
                int64_t gold = wholes[at].gold;
                if (gold_at(to, gold)->seen == text)
                    continue;
                if (!touch(to, gold, text) || !add_found(to, gold, (Found){wholes[at].place, j, size, 0, 0}))
                    return 0;
            }
        }
    }
    return !to->of.failed;
}
