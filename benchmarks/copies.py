"""
Measure how long it takes to find the copies between two corpora, what memory it takes, and how many are found.

Both corpora have documents of 200 words, drawn from 30,000 as often as words of a language are. A share of the second
corpus are copies of documents of the first, of whose 200 words none, two or eight were changed.

Run it with ``python benchmarks/copies.py``.
"""

from __future__ import annotations

import argparse
import itertools
import random
import resource
import time

from rankgauge.io.corpus import Corpus
from rankgauge.labels import copies_between

WORDS = 200
VOCABULARY = 30_000


def corpus(name: str, documents: list[list[str]]) -> Corpus:
    """Return documents as a corpus."""
    ids = tuple(f"{name}{at}" for at in range(len(documents)))
    read = Corpus(ids, ("",) * len(ids), tuple(map(" ".join, documents)))
    assert read.wholes
    return read


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--documents", type=int, default=100_000)
    options.add_argument("--share", type=float, default=0.1)
    given = options.parse_args()
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(3, 9))) for _ in range(VOCABULARY)]
    often = list(itertools.accumulate(1 / (rank + 5) for rank in range(VOCABULARY)))
    first, second = (
        [draw.choices(words, cum_weights=often, k=WORDS) for _ in range(given.documents)] for _ in range(2)
    )
    planted = {}
    for at in draw.sample(range(given.documents), int(given.share * given.documents)):
        of = draw.randrange(given.documents)
        second[at], planted[f"b{at}"] = list(first[of]), f"a{of}"
        for place in draw.sample(range(WORDS), draw.choice([0, 2, 8])):
            second[at][place] = "changed"
    sides = corpus("a", first), corpus("b", second)
    del first, second
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    found = copies_between(*sides)
    seconds = time.process_time() - start
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    known = {copy.document: copy.of for copy in found.copies}
    print(f"two corpora of {given.documents:,} documents of {WORDS} words: {seconds:.1f} s of the processor")
    print(f"memory: {before / 1e3:,.0f} MB with both corpora, {most / 1e3:,.0f} MB at most")
    right = sum(known.get(name) == of for name, of in planted.items())
    print(f"{len(planted):,} planted, {right:,} found, {len(set(known) - set(planted)):,} others called copies")


if __name__ == "__main__":
    main()
