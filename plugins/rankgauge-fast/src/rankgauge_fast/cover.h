/*
 * What index.c, shared.c and cover.c have in common: tables of the runs of gold texts, and a sample at work.
 */
#ifndef RANKGAUGE_COVER_H
#define RANKGAUGE_COVER_H

#include "words.h"

typedef struct { int64_t gold, place, next; } Entry; /* where a run is; the next one, 0 for none */
typedef struct { uint64_t run; int64_t first, last; } Head;
typedef struct { Room heads, entries; int shift; int64_t count; } Index;

typedef struct { const uint8_t *at; int64_t size; } Text;

typedef struct {
    Bounds words;
    int64_t units, size, most; /* two for a word and one for a character without spaces; characters; what may be covered */
    int is_short, is_able;
    int64_t seen, seen_edge, first, last; /* in which text it was found last, and what it shares with the present one */
} Gold;

/* What a retrieved text shares with a gold one: a run; or one that lacks a word, and how many pieces it needs. */
typedef struct { int64_t i, j, size, needed, next; } Found;

/* A part of a gold text that a retrieved one has. */
typedef struct { int64_t row, column, start, end, units, word, count, piece; } Part;

typedef struct {
    Aligner of;
    const uint8_t *says;
    int64_t n;
    double cutoff;
    Room data, places, words, flags, hashed, reach, ends, golds, heads, shared, edge_reach, lengths, kept;
    Room found, touched, own, parts;
    Index runs, edges, inner, wholes; /* of n words, n - 1, n - 2, and of short texts */
    int has_inner;
    int64_t n_golds, n_data, n_words, n_lengths; /* of the gold texts */
    int64_t n_found, n_touched, n_parts;
    Text text;
    Bounds here; /* the words of the retrieved text at hand */
    int64_t n_here, is_described;
} Cover;

static inline Gold *gold_at(const Cover *to, int64_t gold) { return (Gold *)to->golds.at + gold; }

static inline int is_unspaced(const Cover *to, int64_t word) { return (to->of.flags[word] & UNSPACED_WORD) > 0; }

/* Return where a run is in the table, or would be. */
static inline Head *head_of(const Index *index, uint64_t run)
{
    Head *heads = index->heads.at;
    uint64_t mask = UINT64_MAX >> index->shift, at = run * SPREAD >> index->shift;
    while (heads[at].first && heads[at].run != run)
        at = (at + 1) & mask;
    return heads + at;
}

/* index.c */
int clear_index(Aligner *of, Index *index, int64_t runs);
Head *add_run(Index *index, uint64_t run, int64_t gold, int64_t place, int distinct);

/* shared.c */
int by_size(const void *one, const void *other);
void describe(Cover *to);
int read_text(Cover *to, Text text);
int read_golds(Cover *to, const Text *texts, int64_t count);
int look(Cover *to, int64_t text, int marks);

#endif
