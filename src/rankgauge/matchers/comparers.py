"""
Comparers: scores in [0, 1] for a block of retrieved texts against a block of gold texts.

The texts come normalized, and scores have the shape (retrieved, gold). Two texts that are equal and not empty score 1
with every comparer; an empty text scores 0 with every comparer here except `remem`. A parameter `cutoff` is the score
below which 0 may be returned; a matcher passes its threshold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import repeat
from json.encoder import encode_basestring_ascii
from operator import contains
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import MatcherError
from rankgauge.matchers.escapes import json_escaped_batch
from rankgauge.plugin import comparer

__all__ = [
    "check_effort",
    "contained",
    "edit_ratio",
    "equal",
    "infix_edit",
    "infix_edit_batch",
    "is_chunk_of_original",
    "partial_ratio",
    "remem",
    "token_overlap",
]

_MOST = 1 << 36
"""How many pairs of characters are compared for two texts at the most: some 5 seconds on a machine of 2025."""

_PAIRS = 1 << 22
"""How many pairs of texts are searched for their best parts at the most: some 40 seconds where texts are short."""


def check_effort(comparer: str, found: str, wanted: str, steps: int, *, instead: str = "") -> None:
    """Raise a `MatcherError` for two texts that take too long, since so many pairs of characters are compared."""
    if steps > _MOST:
        shorter = f", or use {instead}" if instead else ""
        raise MatcherError(
            f"{comparer} would take too long for texts of {len(found):,} and {len(wanted):,} characters; "
            f"shorten them{shorter}"
        )


def _check_pairs(comparer: str, count: int) -> None:
    """Raise a `MatcherError` for one sample's texts if there are too many pairs to search each."""
    if count > _PAIRS:
        why = "retrieve or list fewer texts, or use a matcher without edits"
        raise MatcherError(f"{comparer} would take too long for {count:,} pairs of texts in one sample; {why}")


Block = NDArray[np.float64]
Direction = Literal["gold-in-retrieved", "retrieved-in-gold", "either"]


@comparer("equal")
def equal(retrieved: Sequence[str], gold: Sequence[str]) -> Block:
    """Score 1 if two texts are equal and not empty, else 0."""
    return _verdicts(retrieved, gold, lambda found, wanted: found == wanted)


def contained_batch(
    retrieved: Sequence[Sequence[str]], gold: Sequence[Sequence[str]], *, direction: Direction = "gold-in-retrieved"
) -> list[Block]:
    """Return what `contained` does, for each sample's texts."""
    verdicts: list[bool] = []  # by sample, gold text and retrieved text
    for own, others in zip(retrieved, gold, strict=True):
        for wanted in others:
            if not wanted:
                verdicts += [False] * len(own)
            elif direction == "gold-in-retrieved":
                verdicts += map(contains, own, repeat(wanted))
            else:
                either = direction == "either"
                verdicts += [bool(found) and (found in wanted or (either and wanted in found)) for found in own]
    flat, end = np.array(verdicts, dtype=np.float64), 0
    blocks = []
    for own, others in zip(retrieved, gold, strict=True):
        begin, end = end, end + len(own) * len(others)
        blocks.append(flat[begin:end].reshape(len(others), len(own)).T)
    return blocks


@comparer("contained", batch=contained_batch)
def contained(retrieved: Sequence[str], gold: Sequence[str], *, direction: Direction = "gold-in-retrieved") -> Block:
    """
    Score 1 if one text, not empty, is a part of the other, else 0.

    Args:
        direction: Which of the two has to be the part.
    """
    return contained_batch([retrieved], [gold], direction=direction)[0]


@comparer("remem", laws=("reflexive",))  # an empty chunk comes from every original
def remem(retrieved: Sequence[str], gold: Sequence[str]) -> Block:
    """
    Score 1 if REMem's `is_chunk_from_original` says that a chunk comes from an original, else 0.

    Exactly as REMem does it: an empty chunk comes from every original.
    """
    rows = [[float(is_chunk_of_original(chunk, original)) for original in gold] for chunk in retrieved]
    return np.array(rows, dtype=np.float64).reshape(len(retrieved), len(gold))


@comparer("token-overlap")
def token_overlap(
    retrieved: Sequence[str], gold: Sequence[str], *, over: Literal["retrieved", "gold", "both"] = "retrieved"
) -> Block:
    """
    Score the share of tokens, split at white space and counted as often as they occur, that two texts have in common.

    Args:
        over: Whose tokens are the denominator; `both` takes the harmonic mean of the two shares (token F1).
    """
    bags = [Counter(text.split()) for text in gold]
    sizes = [bag.total() for bag in bags]
    block = np.zeros((len(retrieved), len(gold)))
    for row, found in enumerate(retrieved):
        bag = Counter(found.split())
        size = bag.total()
        for column, (wanted, other) in enumerate(zip(bags, sizes, strict=True)):
            whole = {"retrieved": size, "gold": other, "both": (size + other) / 2}[over]
            if whole and size and other:
                common = bag.keys() & wanted.keys()  # faster than `&` of the bags, which looks at every token of one
                block[row, column] = sum(min(bag[token], wanted[token]) for token in common) / whole
            elif found and found == gold[column]:
                block[row, column] = 1.0  # white space alone has no token
    return block


def infix_edit_batch(
    retrieved: Sequence[Sequence[str]], gold: Sequence[Sequence[str]], *, cutoff: float = 0.0, escaped: bool = False
) -> list[Block]:
    """Return what `infix_edit` does, for each sample's texts."""
    if escaped:
        blocks = json_escaped_batch(retrieved, gold)
    else:
        blocks = contained_batch(retrieved, gold, direction="retrieved-in-gold")
    for own, wanted, block in zip(retrieved, gold, blocks, strict=True):
        _add_near(own, wanted, block, cutoff)
    return blocks


@comparer("infix-edit", batch=infix_edit_batch)
def infix_edit(retrieved: Sequence[str], gold: Sequence[str], *, cutoff: float = 0.0, escaped: bool = False) -> Block:
    """
    Score how much of a retrieved text stays when it is edited into some part of the gold text.

    Formula: ``(length - edits) / length`` of the retrieved text, with the fewest insertions, deletions and
    substitutions; 1 for a text that occurs as it is. Computed only if 8-grams in common allow the cutoff to be
    reached (`rankgauge.matchers.infix` proves that nothing is lost). Texts whose lengths have a product above 68
    billion are refused.

    Args:
        escaped: Whether containment with one of the texts JSON-escaped also scores 1.
    """
    return infix_edit_batch([retrieved], [gold], cutoff=cutoff, escaped=escaped)[0]


@comparer("edit-ratio")
def edit_ratio(retrieved: Sequence[str], gold: Sequence[str], *, cutoff: float = 0.0) -> Block:
    """
    Score how alike two whole texts are.

    Formula: ``2 * common / (length + length)`` over the longest common subsequence (rapidfuzz's `ratio`). Texts whose
    lengths have a product above 68 billion are refused.
    """
    from rapidfuzz import fuzz

    def ratio(found: str, wanted: str, *, score_cutoff: float) -> float:
        check_effort("edit-ratio", found, wanted, len(found) * len(wanted))
        return fuzz.ratio(found, wanted, score_cutoff=score_cutoff)

    return _ratios(retrieved, gold, ratio, cutoff)


@comparer("partial-ratio")
def partial_ratio(retrieved: Sequence[str], gold: Sequence[str], *, cutoff: float = 0.0) -> Block:
    """
    Score how alike the shorter text and the best part of the longer one are.

    Formula: the best `edit-ratio` of the shorter text with a part of the longer one of the same length (rapidfuzz's
    `partial_ratio`). That costs the square of the shorter length times both lengths together, so texts for which this
    is above 68 billion are refused, such as 8,000 against 16,000 characters.
    """
    from rapidfuzz import fuzz

    def ratio(found: str, wanted: str, *, score_cutoff: float) -> float:
        if found not in wanted and wanted not in found:  # which scores 1 without a search
            short = min(len(found), len(wanted))  # is compared at every place of the longer text, and over its ends
            steps = short * short * (len(found) + len(wanted))
            check_effort("partial-ratio", found, wanted, steps, instead="infix-edit")
        return fuzz.partial_ratio(found, wanted, score_cutoff=score_cutoff)

    _check_pairs("partial-ratio", len(retrieved) * len(gold))
    return _ratios(retrieved, gold, ratio, cutoff)


def is_chunk_of_original(chunk: str, original: str) -> bool:
    """
    Return whether a chunk comes from an original, as REMem decides.

    The chunk, without a first line that starts with ``Date: ``, has to occur in the original, raw or as JSON with its
    quotes. Of a chunk that starts with ``user: `` or ``assistant: ``, only the part between the first and the second
    ``": "`` is looked for, raw or taken from the chunk's JSON.
    """
    if chunk.startswith("Date: "):
        chunk = chunk.partition("\n")[2]
    encoded = encode_basestring_ascii(chunk)
    if chunk.startswith(("user: ", "assistant: ")):
        return chunk.split(": ")[1] in original or encoded.split(": ")[1] in original
    return chunk in original or encoded in original


def _add_near(retrieved: Sequence[str], gold: Sequence[str], block: Block, cutoff: float) -> None:
    """Add the scores of pairs that have none so far: by their distance, where enough 8-grams are the same."""
    from rankgauge.matchers.infix import allowed_edits, infix_distance, passes_filter  # edlib on use

    asked = block == 0
    open_rows = [row for row, is_open in enumerate(asked.any(axis=1).tolist()) if is_open and retrieved[row]]
    if not open_rows or not any(gold):
        return
    chunks = [retrieved[row] for row in open_rows]
    most = [allowed_edits(len(chunk), cutoff) for chunk in chunks]
    pairs = passes_filter(chunks, gold, most, asked[open_rows])
    _check_pairs("infix-edit", int(pairs.sum()))
    for place, column in np.argwhere(pairs).tolist():
        if gold[column]:
            chunk, wanted = chunks[place], gold[column]
            check_effort("infix-edit", chunk, wanted, len(chunk) * len(wanted))
            edits = infix_distance(chunk, wanted, most[place])
            if edits is not None:
                block[open_rows[place], column] = (len(chunk) - edits) / len(chunk)


def _verdicts(retrieved: Sequence[str], gold: Sequence[str], matches: Callable[[str, str], bool]) -> Block:
    rows = [[bool(found and wanted) and matches(found, wanted) for wanted in gold] for found in retrieved]
    return np.array(rows, dtype=np.float64).reshape(len(retrieved), len(gold))


def _ratios(retrieved: Sequence[str], gold: Sequence[str], ratio: Callable[..., float], cutoff: float) -> Block:
    rows = [
        [ratio(found, wanted, score_cutoff=100 * cutoff) / 100 if found and wanted else 0.0 for wanted in gold]
        for found in retrieved
    ]
    return np.array(rows, dtype=np.float64).reshape(len(retrieved), len(gold))
