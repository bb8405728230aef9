"""
Edits: where in a document an edited text is now, which words differ, and whether it states other facts.

The place is the stretch of the document with the fewest changes: words that were replaced, added or left out. So words
of the text that also occur earlier in the document do not widen it. A number, a name or a negation that was replaced
is another fact; the text of a sibling document, which says the same about something else, has other facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.features.labels.text_tracing import Near
from rankgauge.matchers.other_facts import Facts
from rankgauge.matchers.spelling import Word, plain_words
from rankgauge.matchers.word_runs import BREAK, Integers, WordStream, read_words

__all__ = ["SAME", "Edit", "edit_of", "surroundings"]

SAME = 0.8
"""Which share of the words that are no changed facts a text has in common with one that is otherwise the same."""

_AROUND = 20
"""How many words beyond its parts an edited text may reach."""

_LONGEST = 3000
"""How many words of a text are aligned; the parts of longer ones say where they are."""

_FEW = 2
"""How many words were replaced at most where a negation beside them turns what they say."""

_CONTEXT = 3
_REPLACED, _ADDED, _LEFT_OUT = 10, 10, 11

Opcode = tuple[str, int, int, int, int]


class _Changed(NamedTuple):
    """Which facts a text lost or states otherwise: numbers, names and negations."""

    lost: int  # how many numbers and names it lost
    is_contradicted: bool  # whether any was replaced, by whatever
    has_other_facts: bool  # whether one was replaced by another one
    has_other_names: bool  # whether a name was


class Edit(NamedTuple):
    """How a text became another one."""

    start: int  # in words of the document
    stop: int
    agreement: float  # share of the text's words that are there
    others: float  # the same share without the numbers and names that changed
    changed: _Changed
    difference: str  # ``[before -> now]`` between words that are the same


def edit_of(text: str, document: str, words: Sequence[Word], near: Near) -> Edit:
    """Return how a text changed that a document has in part; *words* are those of the document."""
    was = [word.text for word in plain_words(text)]
    start, stop = _window(len(was), len(words), near)
    if len(was) <= _LONGEST:
        low, high = _fitted(was, [word.text for word in words[start:stop]])
        start, stop = start + low, start + high
    else:
        (first, at, _), (last, place, length) = near.runs[0], near.runs[-1]
        start, stop = max(at - first, 0), min(place + length + len(was) - last - length, len(words))
    now = document[words[start].start : words[stop - 1].end] if stop > start else ""
    stream = read_words([text, now])
    codes = [_codes(stream, number) for number in (0, 1)]
    for edge, is_part in ((0, str.endswith), (-1, str.startswith)):  # words that the text has in part
        if stop > start and is_part(words[start:stop][edge].text, was[edge]) and was[edge].isalpha():
            codes[0][edge] = codes[1][edge]
    matcher = SequenceMatcher(None, codes[0][:_LONGEST], codes[1][:_LONGEST], autojunk=False)
    changes, head, tail = _trimmed(matcher.get_opcodes(), stream)
    own = [words[start + at].text for at in range(head, stop - start - tail)]
    changes = [(tag, a0, a1, max(b0 - head, 0), b1 - head) for tag, a0, a1, b0, b1 in changes]
    changed = _facts(changes, stream, head)
    kept = sum(a1 - a0 for tag, a0, a1, _, _ in changes if tag == "equal")
    total = max(min(len(was), _LONGEST), 1)
    shown = _worded(was[:_LONGEST], own[:_LONGEST], changes)
    return Edit(start + head, stop - tail, kept / total, kept / max(total - changed.lost, 1), changed, shown)


def surroundings(words: Sequence[Word], start: int, stop: int) -> tuple[list[str], list[str]]:
    """Return the words before a place, the nearest first, and those behind it."""
    before = [word.text for word in reversed(words[max(start - _AROUND, 0) : start])]
    return before, [word.text for word in words[stop : stop + _AROUND]]


def _window(size: int, most: int, near: Near) -> tuple[int, int]:
    """Return which words of a document are looked at."""
    (first, at, _), (last, place, length) = near.runs[0], near.runs[-1]
    return max(at - first - _AROUND, 0), min(place + length + size - last - length + _AROUND, most)


def _codes(stream: WordStream, number: int) -> list[int]:
    codes: list[int] = stream.words[stream.first[number] : stream.first[number + 1]].tolist()
    return codes


def _fitted(was: Sequence[str], words: Sequence[str]) -> tuple[int, int]:
    """
    Return the stretch of some words that takes the fewest changes to be what a text was.

    This is the distance of Levenshtein with free ends in the second text, one row for each word of the first. A row's
    additions come from its own cells to the left: with their cost taken off each, that is a running minimum.
    """
    known = {word: number for number, word in enumerate(dict.fromkeys([*was, *words]))}
    theirs = np.array([known[word] for word in words], dtype=np.int64)
    steps = np.arange(len(words) + 1) * _ADDED
    cost: Integers = np.zeros(len(words) + 1, np.int64)
    begin: Integers = np.arange(len(words) + 1)
    for word in was:
        aligned = cost[:-1] + np.where(theirs == known[word], 0, _REPLACED)
        best, source = cost + _LEFT_OUT, begin.copy()
        is_better: NDArray[np.bool_] = aligned < best[1:]
        best[1:] = np.where(is_better, aligned, best[1:])
        source[1:] = np.where(is_better, begin[:-1], source[1:])
        level = best - steps
        lowest = np.minimum.accumulate(level)
        holder = np.maximum.accumulate(np.where(level == lowest, np.arange(len(level)), 0))
        cost, begin = lowest + steps, source[holder]
    stop = int(np.argmin(cost))
    return int(begin[stop]), stop


def _trimmed(changes: Sequence[Opcode], stream: WordStream) -> tuple[list[Opcode], int, int]:
    """Return changes without words of another line or sentence at either end, and how many words these are."""
    rows: list[Opcode] = list(changes)
    head = tail = 0
    breaks = np.append((stream.flags & BREAK) > 0, True)
    base = int(stream.first[1])
    if rows and rows[0][0] == "replace":
        _, a0, a1, b0, b1 = rows[0]
        inside = np.flatnonzero(breaks[base + b0 + 1 : base + b1 + (not breaks[a1])])
        if len(inside):
            head = b0 + 1 + int(inside[-1])
            rows[0] = ("replace" if head < b1 else "delete", a0, a1, head, b1)
    if len(rows) > 1 and rows[-1][0] == "replace":
        _, a0, a1, b0, b1 = rows[-1]
        skipped = int(breaks[a0])
        inside = np.flatnonzero(breaks[base + b0 + skipped : base + b1])
        if len(inside):
            cut = b0 + skipped + int(inside[0])
            tail = b1 - cut
            rows[-1] = ("replace" if cut > b0 else "delete", a0, a1, b0, cut)
    return rows, head, tail


def _facts(changes: Sequence[Opcode], stream: WordStream, head: int) -> _Changed:
    """Return which facts changed from the first text to the second."""
    facts = Facts(stream)
    base = int(stream.first[1]) + head
    count, is_contradicted, has_facts, has_names = 0, False, False, False
    for tag, a0, a1, b0, b1 in changes:
        sides = range(a0, a1), range(base + b0, base + b1)
        negates = facts.negates(sides[0]) != facts.negates(sides[1])
        if tag == "equal" or not (negates or (tag == "replace" and facts.contradict(*sides))):
            continue
        is_contradicted = True
        same = set.intersection(*({stream.words[at] for at in side} for side in sides))
        own, theirs = ([at for at in side if stream.words[at] not in same] for side in sides)
        count += sum(map(facts.is_fact, own))
        is_negated = negates and min(map(len, sides)) <= _FEW
        has_facts = has_facts or is_negated or all(any(map(facts.is_fact, side)) for side in (own, theirs))
        has_names = has_names or any(facts.is_fact(at) and not facts.is_number(at) for at in (*own, *theirs))
    return _Changed(count, is_contradicted, has_facts, has_names)


def _worded(was: Sequence[str], now: Sequence[str], changes: Sequence[Opcode]) -> str:
    """Return how one list of words became the other, with some words around each change."""
    parts: list[str] = []
    for tag, a0, a1, b0, b1 in changes:
        same = was[a0:a1]
        if tag != "equal":
            parts.append(f"[{' '.join(was[a0:a1]) or '∅'} -> {' '.join(now[b0:b1]) or '∅'}]")
        elif len(same) <= 2 * _CONTEXT:
            parts += same
        else:
            parts += [*same[:_CONTEXT], "...", *same[-_CONTEXT:]]
    return " ".join(parts)
