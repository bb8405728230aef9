/*
 * What is shared by the files that read words, align the runs that texts share, and say what these cover.
 */
#ifndef RANKGAUGE_WORDS_H
#define RANKGAUGE_WORDS_H

#include <stddef.h>
#include <stdint.h>

enum { BREAK = 1, NEW_PIECE = 2, CAPITAL = 4, STRONG = 8, UNSPACED_WORD = 16 }; /* what is known of a word */

#define SPREAD 0x9E3779B97F4A7C15ULL
#define UNSPACED_SIGN 4 /* is before a character of a script without spaces */
#define WORD_PADDING 16 /* bytes behind all words, so that eight can be read from any place on */
#define SET 1024        /* places for negations, or words that are numbers, which are few */

typedef struct { int64_t begin, end; } Bounds;
typedef struct { int64_t i, j, size; } Run;
typedef struct { void *at; int64_t room; } Room;

/* What a pair is: its texts, which of some runs are its own, whether these follow each other, and the least of pieces. */
typedef struct { Bounds gold, other, runs; int is_ordered, needed; } Item;
typedef struct { int64_t at, size; } Kept;
typedef struct { int64_t word, size, begins; } Piece;

typedef struct {
    const uint8_t *data, *flags;
    const uint64_t *words, *hashed; /* a hash of each word, and of the run from it on */
    const Bounds *places;           /* where words are in the data */
    const int64_t *ends, *reach;    /* how many characters gold words before each have, and words of the run from it on */
    uint64_t negations[SET], numbers[SET];
    int failed; /* there was no memory */
    Room kept, pieces;
    int64_t n_kept, n_pieces;
    Bounds indexed; /* the retrieved text whose runs are in the slots */
    int64_t mask;
    Room slots, next, found, points, some, runs, of_point, values, before, keys, best, holders, way, chain, shifts, order;
} Aligner;

/* words.c */
int64_t find_words(const uint8_t *data, Bounds text, Bounds *places);
int64_t hash_words(const uint8_t *data, const Bounds *places, int64_t count, uint64_t *words);
void describe_words(const uint8_t *raw, const uint8_t *says, int64_t from, const Bounds *places, int64_t count, uint8_t *flags);
int64_t characters_of(const uint8_t *data, Bounds word);
void lower(uint8_t *data, int64_t size);

/* facts.c */
void *fit(Aligner *of, Room *room, int64_t wanted, size_t each);
int fill_set(uint64_t *set, const uint64_t *words, int64_t count);
int agreed(Aligner *of, const Run *runs, int64_t count, const Item *item);

/* alignment.c */
int align(Aligner *of, const Item *item, const Run *given);
void free_rooms(Aligner *of);

#endif
