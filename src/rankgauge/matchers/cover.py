"""
Cover: which parts of a gold text are in a retrieved one, in runs of words that both have in the same order.

What is not evidence but a document, from which results were cut, is looked at the other way round (`cut_from`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankgauge.kernel import installed_kernel
from rankgauge.plugin import comparer
from rankgauge.plugin.matching import Covers

if TYPE_CHECKING:
    from rankgauge.matchers.common_runs import CommonRuns, Texts

__all__ = ["cover", "cover_batch", "covered_parts", "cut_from", "cut_from_batch"]

_LEAST = 12
"""How much of a result is in a document at least: six words, two for each."""


def _common_runs(retrieved: Texts, gold: Texts, n: int, cutoff: float) -> CommonRuns:
    """Return what all pairs have in common; what finds it loads when texts are compared, not with the catalog."""
    from rankgauge.matchers.common_runs import common_runs

    return common_runs(retrieved, gold, n, cutoff)


def _cover_few(retrieved: Sequence[str], gold: Sequence[str], n: int, cutoff: float) -> Covers | None:
    """Return what `cover` does, for one small sample; None if it is none, or there is the compiled kernel."""
    from rankgauge.matchers.few_texts import cover_few

    return cover_few(retrieved, gold, n, cutoff) if installed_kernel() is None else None


def cover_batch(retrieved: Texts, gold: Texts, *, n: int = 3, cutoff: float = 0.0) -> list[Covers]:
    """Return what `cover` does, for each sample's texts."""
    if len(gold) == 1 and (few := _cover_few(retrieved[0], gold[0], n, cutoff)) is not None:
        return [few]
    found = _common_runs(retrieved, gold, n, cutoff)
    sizes, blocks = np.maximum(found.sizes, 1), []
    stop = n_gold = 0
    for own, others, count in zip(retrieved, gold, found.counts.tolist(), strict=True):
        begin, stop = stop, stop + count
        first, n_gold = n_gold, n_gold + len(others)
        row, column, start, end = (each[begin:stop] for each in found[:4])
        blocks.append(Covers(row, column, start, end, sizes[first:n_gold], len(own)))
    return blocks


def _check(*, n: int = 3, **_: float) -> None:
    if n < 1:
        raise ValueError(f"n is the number of words that a run has at least, 1 or more, not {n}")


_GONE = {
    "of_retrieved": (
        "what several results hold of a gold text adds up, so leave it out; for gold texts that are whole documents, "
        "from which results were cut, write gold=documents in place of the matcher"
    )
}


@comparer("cover", version="2", check=_check, batch=cover_batch, covers=True, gone=_GONE)
def cover(retrieved: Sequence[str], gold: Sequence[str], *, n: int = 3, cutoff: float = 0.0) -> Covers:
    """
    Find which parts of a gold text are in each retrieved one; the score is their share of its letters.

    Parts are runs of at least *n* words that both texts have in the same order; letters, digits and marks inside words
    count, signs and white space do not. A gold text of fewer than twice as many words has to be there whole. In
    scripts without spaces two characters stand for a word. Words are the same but for case, compatibility form,
    accents, markup, JSON escapes, hyphens at line ends, thousands commas and zeros behind a decimal point; nothing else
    is nearly the same.

    Nothing is covered by a text that states another fact: if both texts have words of their own between two runs, or
    beside the first or the last one within its sentence, and a number, a negation or a name differs, or more than a
    tenth of the words were replaced. The ends of a text and of its lines, sentences and pieces between ellipses do not
    contradict. What a pair of texts covers depends on these two alone. The time is linear in the length of the texts
    but for a logarithm.

    Args:
        n: How many words a run has at least.
    """
    return cover_batch([retrieved], [gold], n=n, cutoff=cutoff)[0]


def covered_parts(retrieved: Texts, gold: Texts, *, n: int = 3) -> list[dict[tuple[int, int], list[tuple[int, int]]]]:
    """
    Return the parts that `cover` finds as characters of the gold texts, for each sample, by the numbers of two texts.

    Ends are exclusive. A word has the signs and spaces behind it, so that two texts which share a gold text between
    them cover all of it.
    """
    from rankgauge.matchers.spelling import plain_words

    found = _common_runs(retrieved, gold, n, 0.0)
    parts: list[dict[tuple[int, int], list[tuple[int, int]]]] = [{} for _ in gold]
    known: dict[str, list[tuple[int, int]]] = {}
    columns = (
        found.samples(),
        found.row,
        found.column,
        found.word,
        found.n_words,
        found.piece,
        found.end - found.start,
    )
    for sample, row, column, at, count, piece, size in zip(*(each.tolist() for each in columns), strict=True):
        if not count:
            continue
        text = gold[sample][column]
        if text not in known:
            known[text] = [(word.start, word.end) for word in plain_words(text)]
        words, end = known[text], at + count
        start, stop = words[at][0] if at else 0, words[end][0] if end < len(words) else len(text)
        if piece:
            first, last = words[at]
            start, stop = (first, min(first + size, last)) if piece == 1 else (max(last - size, first), stop)
        parts[sample].setdefault((row, column), []).append((start, stop))
    return [{place: sorted(of_pair) for place, of_pair in of_sample.items()} for of_sample in parts]


def cut_from_batch(retrieved: Texts, gold: Texts, *, n: int = 3, cutoff: float = 0.0) -> list[NDArray[np.float64]]:
    """Return what `cut_from` does, for each sample's texts."""
    found = _common_runs(gold, retrieved, n, cutoff)  # of retrieved texts, in gold ones
    sizes, blocks = np.maximum(found.sizes, 1), []
    stop = n_own = 0
    for own, others, count in zip(retrieved, gold, found.counts.tolist(), strict=True):
        begin, stop = stop, stop + count
        first, n_own = n_own, n_own + len(own)
        row, column, start, end, units = (each[begin:stop] for each in found[:5])
        pair, n_pairs = column * len(others) + row, len(own) * len(others)
        shares = np.bincount(pair, end - start, n_pairs).reshape(len(own), len(others)) / sizes[first:n_own, None]
        shares[np.bincount(pair, units, n_pairs).reshape(shares.shape) < _LEAST] = 0.0
        blocks.append(shares)
    # Only a document that is not longer than a result can be in it whole; markup may make it longer.
    longest = [2 * max(map(len, own), default=0) for own in retrieved]
    short = [[text if len(text) <= most else "" for text in others] for others, most in zip(gold, longest, strict=True)]
    if any(map(any, short)):
        whole = cover_batch(retrieved, short, n=n, cutoff=1.0)
        for block, covers, own, others in zip(blocks, whole, retrieved, short, strict=True):
            lengths = np.array([len(text) for text in own], dtype=np.int64)
            fits = np.array([len(text) for text in others], dtype=np.int64) <= 2 * lengths[:, None]
            block[(covers.scores() == 1.0) & fits] = 1.0  # whatever else was retrieved
    return blocks


@comparer("cut-from", batch=cut_from_batch)
def cut_from(retrieved: Sequence[str], gold: Sequence[str], *, n: int = 3, cutoff: float = 0.0) -> NDArray[np.float64]:
    """
    Score how much of a retrieved text is in a gold one, as of a chunk in its document.

    Formula: the letters of the retrieved text that `cover` finds in the gold one, over all its letters; 0 if their
    runs have fewer than six words altogether. 1 if all of the gold text is in the retrieved one.

    Args:
        n: How many words a run has at least.

    Returns:
        Shape (retrieved, gold).
    """
    return cut_from_batch([retrieved], [gold], n=n, cutoff=cutoff)[0]
