"""The kernel and Python align the runs of two texts alike, to the last word."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge.matchers.common_runs import common_runs
from rankgauge.matchers.cover import cover_batch

pytest.importorskip("rankgauge_fast._kernel", reason="rankgauge-fast is not compiled here: `make test-fast` does it")

WORDS = (
    *(
        "the",
        "of",
        "a",
        "cat",
        "Dog",
        "ÉTÉ",
        "ñandu",
        "zwei",
        "not",
        "no",
        "don't",
        "12",
        "12,500",
        "2.50",
        "3",
        "4.12.3",
    ),
    *(
        "B-7700",
        "foo_bar",
        "iPhone",
        "John",
        "John's",
        "...",
        "…",
        "北",
        "京",
        "馆",
        "不",
        "三",
        "alpha",
        "alphabet",
        "alphab",
    ),
)
JOINTS = (*" " * 8, ", ", ". ", "\n", ": ", " - ", "...", "?", "| ")


@st.composite
def samples(draw):
    """Texts of few words, and others cut out of them and edited, so that runs repeat, cross and contradict."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    words = chance.sample(WORDS, chance.choice((1, 2, 3, 5, 8, len(WORDS))))

    def text(most):
        return "".join(chance.choice(words) + chance.choice(JOINTS) for _ in range(most))

    def edited(text):
        parts = text.split(" ")
        for _ in range(chance.choice((0, 1, 2, 4, 8))):
            at, from_ = chance.randrange(len(parts)), chance.randrange(len(parts))
            parts[at : at + chance.randint(0, 1)] = chance.choice(
                ([chance.choice(WORDS)], ["..."], [""], parts[from_ : from_ + chance.randint(1, 12)])
            )
        return " ".join(parts)

    gold = [text(chance.choice((5, 6, 9, 20, 40, 150))) for _ in range(chance.randint(1, 3))]
    retrieved = []
    for _ in range(chance.randint(1, 4)):
        whole = edited(chance.choice(gold))
        begin, end = sorted((chance.randint(0, len(whole)), chance.randint(0, len(whole))))
        retrieved.append(
            text(chance.randint(0, 4)) + whole[begin : chance.choice((end, None))] + text(chance.randint(0, 4))
        )
    return retrieved, gold


def found_by(some, n):
    """Covers, in values that compare."""
    blocks = cover_batch([own for own, _ in some], [others for _, others in some], n=n)
    return [[column.tolist() for column in found[:5]] for found in blocks]


@given(st.lists(samples(), max_size=4), st.integers(1, 5))
@settings(deadline=None, max_examples=400)
def test_what_edited_texts_cover_is_the_same(without, some, n):
    assert found_by(some, n) == without(found_by, some, n)


def both(gold, other, n=3):
    """What one pair of texts shares: runs, as first word and length, and pieces of words, with their characters."""
    found = common_runs([[other]], [[gold]], n, 0.0)
    parts = [each.tolist() for each in (found.word, found.n_words, found.piece, found.end - found.start)]
    rows = list(zip(*parts, strict=True))
    return [list(row[:2]) for row in rows if not row[2]], [[row[0], *row[2:]] for row in rows if row[2]]


@pytest.mark.parametrize(
    ("gold", "other", "runs", "pieces"),
    [
        ("one two three four five six", "one two three four five six", [[0, 6]], []),
        ("alpha beta gamma delta of it", "so it is. alpha beta gamma delta", [[0, 4]], []),
        ("the pump is not in use here", "the pump is now in use here", [], []),  # a negation on one side
        ("the long way to the red hill", "way to the red hi", [[2, 4]], [[6, 1, 2]]),
        ("a b c x d e f", "d e f a b c", [[0, 3]], []),  # of two that cross, the first
        ("a b c d e f " * 30, "a b c d e f " * 30, [[0, 180]], []),  # more places than are tried
        ("how the mouse fell off it", "e mouse fel", [[2, 1]], [[1, 2, 1], [3, 1, 3]]),  # a word between two pieces
        ("how the mouse fell off it", "e mouse bel", [], []),
        ("北京图书馆在北京", "北京图书馆在北京", [[0, 8]], []),
    ],
)
def test_runs_that_have_to_be_found(without, gold, other, runs, pieces):
    assert both(gold, other) == without(both, gold, other) == (runs, pieces)


def test_only_what_reaches_the_cutoff_together_is_looked_at(without):
    """Two results that have a third of the gold text each, and another one that has less of another one."""
    gold = ["alpha beta gamma delta epsilon zeta eta theta iota", "red green blue " + "grey and pink " * 9]
    retrieved = ["so alpha beta gamma", "epsilon zeta eta. As ever", "red green blue"]

    def covers():
        (found,) = cover_batch([retrieved], [gold], cutoff=0.5)
        return [column.tolist() for column in found[:5]]

    assert covers() == without(covers) == [[0, 1], [0, 0], [0, 19], [14, 33], [42, 111]]
