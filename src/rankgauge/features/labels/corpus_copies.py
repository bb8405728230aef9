"""
Near-copies between two corpora: which documents of one are in the other, word for word or nearly so.

Unnoticed copies decide evaluations: a model that was trained on the documents of a test, a corpus that was
joined from two crawls, an index in which old versions stayed. Each document keeps the smallest hashes of its runs of
three words, of which documents with most words in common share some; these pairs alone are compared word by word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.tables import Line, listing
from rankgauge.errors import ParameterError, counted
from rankgauge.features.labels.text_tracing import batches
from rankgauge.io.corpus import Corpus
from rankgauge.matchers.word_runs import Integers, WordStream, hashed_runs, read_words

__all__ = ["Copy", "CorpusCopies", "copies_between", "copy_lines"]

_N = 3
"""How many words a run has."""
_LEAST_WORDS = 5
"""How many words a document has at least that is no copy by chance."""
_KEPT = 16
"""How many of the smallest hashes each document keeps."""
_FIRST = 32
"""In how many documents of the first corpus a run is looked up at most, because boilerplate is in all of them."""
_TRIED = 3
"""With how many documents of the first corpus, those that share most, each one of the second is compared."""
_ENOUGH = 2
"""How many hashes a document with as many as are kept has in common with one that it is compared with."""
_MIXED = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_BITS = np.uint64(40)
"""How many bits of a hash a sketch has; the others of a key are the number of the text."""

Hashes = NDArray[np.uint64]


class Copy(NamedTuple):
    """
    A document of the second corpus that is a copy of one of the first, or nearly so.

    Attributes:
        document: Its id.

        of: The id of the document in the first corpus.

        share: The share of its words, from 0 to 1, that are in runs of three that the other one has, too.

        share_of_first: The same of the words of the other one.

        is_whole: Whether both have the same words in the same order.
    """

    document: str
    of: str
    share: float
    share_of_first: float
    is_whole: bool

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return self._asdict()


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusCopies:
    """
    The near-copies between two corpora.

    Attributes:
        first: How many documents the first corpus has.

        second: How many the second has.

        short: How many of the second have fewer than five words, which are not compared.

        least: Which share of the words of both is in common at least.

        copies: Those of the second corpus that are copies of documents of the first, each with the nearest one, in
            order of the second corpus.
    """

    first: int
    second: int
    short: int
    least: float
    copies: tuple[Copy, ...]

    @property
    def n_whole(self) -> int:
        """Return how many have all words in common, in the same order."""
        return sum(copy.is_whole for copy in self.copies)

    @property
    def n_same_id(self) -> int:
        """Return how many have the id of the document that they are a copy of."""
        return sum(copy.document == copy.of for copy in self.copies)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "schema_version": "rankgauge.copies.v1",
            "documents": {"first": self.first, "second": self.second, "short": self.short},
            "least": self.least,
            "counts": {
                "copies": self.n_whole,
                "near_copies": len(self.copies) - self.n_whole,
                "same_id": self.n_same_id,
            },
            "copies": [copy.to_dict() for copy in self.copies],
        }


def copies_between(
    first: Corpus, second: Corpus, *, least: float = 0.8, progress: Callable[[int, int], None] | None = None
) -> CorpusCopies:
    """
    Return the documents of a second corpus that are copies of documents of a first one, or nearly so.

    Words are the same but for case, markup, accents and punctuation, as in `rankgauge.labels.check_labels`. A document
    is a near-copy if at least a share of the words of *both* are in runs of three words that the other has; one word
    that was changed costs that word. A page that is a small part of another one is none.

    Args:
        first: The documents that may have been copied, such as `rankgauge.files.read_corpus` reads.

        second: The documents that are looked at.

        least: The share, above 0 and at most 1. Far below one half some pairs are missed.

        progress: Called with how many documents were looked at, and how many there are.

    Returns:
        The copies, each with the nearest document of the first corpus, and counts.

    Raises:
        ParameterError: *least* is not such a share.
    """
    if not 0 < least <= 1:
        raise ParameterError(f"the share of words in common is above 0 and at most 1, not {least!r}")
    index, seen = _Index.of(first.wholes), len(first.ids)
    copies: list[Copy] = []
    short = 0
    for start, batch in batches(second.wholes):
        stream = read_words(batch)
        short += int(np.count_nonzero(stream.counts() < _LEAST_WORDS))
        documents, others = index.candidates(stream)
        for shared in _compared(stream, documents, first.wholes, others, least):
            names = second.ids[start + shared.document], first.ids[shared.other]
            copies.append(Copy(*names, shared.share, shared.share_of_other, shared.is_whole))
        if progress is not None:
            progress(start + len(batch), len(second.ids))
    return CorpusCopies(first=seen, second=len(second.ids), short=short, least=least, copies=tuple(copies))


def _sketches(stream: WordStream) -> tuple[Integers, Hashes]:
    """Return the smallest hashes of the runs of each text, and which text has each; short texts have none."""
    runs = hashed_runs(stream.words, _N)
    text = stream.text[: len(runs)]
    kept = (text == stream.text[_N - 1 :]) & (stream.counts()[text] >= _LEAST_WORDS)
    keys = text[kept].astype(np.uint64) << _BITS | _mixed(runs[kept]) >> np.uint64(64 - int(_BITS))
    keys.sort()
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys
    keys = keys[_rank_of_each(keys >> _BITS) < _KEPT]
    return (keys >> _BITS).astype(np.int64), keys & ((np.uint64(1) << _BITS) - np.uint64(1))


def _mixed(hashes: Hashes) -> Hashes:
    """Return other hashes of the same, whose order says nothing of the words."""
    mixed = (hashes ^ (hashes >> _SHIFT)) * _MIXED
    return mixed ^ (mixed >> _SHIFT)


def _rank_of_each(groups: NDArray[Any]) -> Integers:
    """Return the rank of each entry within its group, in groups that are together."""
    starts = (
        np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]])) if len(groups) else np.empty(0, np.int64)
    )
    sizes = np.diff(np.append(starts, len(groups)))
    return np.arange(len(groups)) - np.repeat(starts, sizes)


class _Index(NamedTuple):
    """The smallest hashes of the documents of the first corpus, in order."""

    hashes: Hashes
    documents: NDArray[np.int32]

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Index:
        """Read documents, some at a time."""
        numbers, hashes = [np.empty(0, np.int32)], [np.empty(0, np.uint64)]
        for start, batch in batches(texts):
            text, own = _sketches(read_words(batch))
            numbers.append((text + start).astype(np.int32))
            hashes.append(own)
        documents, every = np.concatenate(numbers), np.concatenate(hashes)
        order = np.argsort(every, kind="stable")
        documents, every = documents[order], every[order]
        kept = _rank_of_each(every) < _FIRST
        return cls(every[kept], documents[kept])

    def candidates(self, stream: WordStream) -> tuple[Integers, Integers]:
        """Return pairs that share some hashes: texts of the stream, and documents; of each text the likeliest few."""
        text, hashes = _sketches(stream)
        low, high = (np.searchsorted(self.hashes, hashes, side) for side in ("left", "right"))
        times = high - low
        places = np.repeat(low, times) + np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
        keys, shared = np.unique(
            (np.repeat(text, times) << np.int64(32)) | self.documents[places].astype(np.int64), return_counts=True
        )
        texts, others = keys >> np.int64(32), keys & np.int64(0xFFFFFFFF)
        able = shared >= np.where(np.bincount(text, minlength=len(stream.first))[texts] < _KEPT, 1, _ENOUGH)
        texts, others, shared = texts[able], others[able], shared[able]
        order = np.lexsort((others, -shared, texts))
        texts, others = texts[order], others[order]
        likeliest = _rank_of_each(texts) < _TRIED
        return texts[likeliest], others[likeliest]


class _Shared(NamedTuple):
    """What a text and a document have in common."""

    document: int  # of the batch
    other: int
    share: float
    share_of_other: float
    is_whole: bool


def _compared(
    stream: WordStream, texts: Integers, documents: Sequence[str], others: Integers, least: float
) -> Iterator[_Shared]:
    """Yield for each text the document with most of it, among pairs, if both have enough in common."""
    if not len(texts):
        return
    distinct, places = np.unique(others, return_inverse=True)
    theirs = read_words([documents[number] for number in distinct.tolist()])
    ours, other = _Words.of(stream, texts), _Words.of(theirs, places)
    share, share_of_other = ours.covered_by(other), other.covered_by(ours)
    lengths = stream.counts()[texts], theirs.counts()[places]
    is_whole = (lengths[0] == lengths[1]) & (share == 1) & (share_of_other == 1)
    is_whole[is_whole] = [
        np.array_equal(_words_of(stream, text), _words_of(theirs, place))
        for text, place in zip(texts[is_whole].tolist(), places[is_whole].tolist(), strict=True)
    ]
    both = np.minimum(share, share_of_other)
    order = np.lexsort((others, ~is_whole, -both, texts))
    best = order[_rank_of_each(texts[order]) == 0]
    for pair in best[both[best] >= least].tolist():
        found = float(share[pair]), float(share_of_other[pair]), bool(is_whole[pair])
        yield _Shared(int(texts[pair]), int(others[pair]), *found)


def _words_of(stream: WordStream, text: int) -> Hashes:
    return stream.words[stream.first[text] : stream.first[text + 1]]


class _Words(NamedTuple):
    """The words of some texts, one text for each pair, and the runs that begin with each."""

    pair: Integers  # of each word
    runs: Hashes  # the pair is part of the hash
    has_run: NDArray[np.bool_]  # whether the text goes on for as many words as a run has
    n_pairs: int

    @classmethod
    def of(cls, stream: WordStream, texts: Integers) -> _Words:
        """Take the words of a text for each pair."""
        sizes = stream.counts()[texts]
        pair = np.repeat(np.arange(len(texts)), sizes)
        at = np.arange(len(pair)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        runs = np.zeros(len(stream.words), np.uint64)
        of_runs = hashed_runs(stream.words, _N)
        runs[: len(of_runs)] = of_runs
        own = runs[stream.first[texts][pair] + at]
        return cls(pair, _mixed(own) ^ _mixed(pair.astype(np.uint64) + _MIXED), at + _N <= sizes[pair], len(texts))

    def covered_by(self, other: _Words) -> NDArray[np.float64]:
        """Return for each pair the share of words that are in runs which the other text has, too."""
        known = np.zeros(len(self.runs), np.bool_)
        known[self.has_run] = np.isin(self.runs[self.has_run], other.runs[other.has_run])
        covered = known.copy()
        for back in range(1, _N):
            covered[back:] |= known[:-back]  # a run that begins near the end of a text does not go on in the next one
        counts = np.bincount(self.pair, weights=covered, minlength=self.n_pairs)
        share: NDArray[np.float64] = counts / np.maximum(np.bincount(self.pair, minlength=self.n_pairs), 1)
        return share


def copy_lines(found: CorpusCopies, *, most: int | None, width: int | None) -> Iterator[Line]:
    """Yield how many documents are copies, and the first of them; *most* is how many, None for all."""
    near = len(found.copies) - found.n_whole
    of = f"{found.n_whole:,} of {counted(found.second, 'document')} are copies of one of the other {found.first:,}"
    share = f"{100 * found.least:.10g} %"
    yield Line(f"{of}, and {near:,} nearly so: {share} or more of the words of both are in common")
    if found.n_same_id:
        yield Line(f"{found.n_same_id:,} of them have the same id in both")
    if found.short:
        yield Line(f"{counted(found.short, 'document')} of fewer than {_LEAST_WORDS} words not compared")
    if not found.copies:
        return
    yield Line("")
    shown = found.copies[:most]
    rows = [
        [
            copy.document,
            copy.of,
            "copy" if copy.is_whole else "near-copy",
            _percent(copy.share),
            _percent(copy.share_of_first),
        ]
        for copy in shown
    ]
    yield from listing(["document", "is like", "", "of its words", "of the other's"], rows, width=width)
    if more := len(found.copies) - len(shown):
        yield Line(f"\nand {more:,} more; --limit 0 shows all, --json has them")


def _percent(share: float) -> str:
    """Return a share as whole percent, rounded down, so that only what is whole is 100 %."""
    return f"{int(100 * share)} %"
