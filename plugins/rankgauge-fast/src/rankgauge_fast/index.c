/*
 * Which gold texts of a sample have a run of words: tables by the hash of the run.
 */
#include <stdlib.h>
#include <string.h>
#include "cover.h"

/* Make a table empty, with room for so many runs; return whether there was memory. */
int clear_index(Aligner *of, Index *index, int64_t runs)
{
    int bits = 4;
    while (((int64_t)1 << bits) < 4 * runs)
        bits++;
    Head *heads = fit(of, &index->heads, (int64_t)1 << bits, sizeof *heads);
    index->shift = 64 - bits;
    index->count = 0;
    if (heads)
        memset(heads, 0, sizeof *heads << bits);
    return heads && fit(of, &index->entries, runs + 1, sizeof(Entry));
}

/* Add a run at a place of a gold text; *distinct* keeps one entry for each text, whose place is -1 if there are several. */
Head *add_run(Index *index, uint64_t run, int64_t gold, int64_t place, int distinct)
{
    Head *head = head_of(index, run);
    Entry *entries = index->entries.at;
    if (distinct && head->first && entries[head->last].gold == gold) {
        entries[head->last].place = -1;
        return head;
    }
    int64_t entry = ++index->count;
    entries[entry] = (Entry){gold, place, 0};
    if (head->first)
        entries[head->last].next = entry;
    else
        head->run = run, head->first = entry;
    head->last = entry;
    return head;
}
