"""The kernel and Python align the runs of two texts alike, to the last word."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge.kernel import installed_kernel
from rankgauge.matchers.alignment import aligned_pairs
from rankgauge.matchers.cover import cover_batch
from rankgauge.matchers.other_facts import hashed_facts
from rankgauge.matchers.word_runs import hashed_runs, read_words

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


def both(gold, other, *, ordered=(), needed=0, n=3):
    """What the kernel finds in one pair of texts: runs, as places of their own text, and pieces."""
    stream = read_words([gold, other])
    pair = [
        7,
        0,
        int(stream.first[1]),
        int(stream.first[1]),
        int(stream.first[2]),
        0,
        len(ordered),
        bool(ordered),
        needed,
    ]
    runs = np.array([(i, j + pair[2], size) for i, j, size in ordered], np.int64).reshape(-1, 3)
    reach = np.full(len(stream.words), n)
    found = aligned_pairs(stream, hashed_runs(stream.words, n), reach, np.array([pair]), runs)
    return [each.tolist() for each in found]


@pytest.mark.parametrize(
    ("gold", "other", "runs", "pieces"),
    [
        ("one two three four five six", "one two three four five six", [[7, 0, 6]], []),
        ("alpha beta gamma delta of it", "so it is. alpha beta gamma delta", [[7, 0, 4]], []),
        ("the pump is not in use here", "the pump is now in use here", [], []),  # a negation on one side
        ("the long way to the red hill", "way to the red hi", [[7, 2, 4]], [[7, 6, 2, 1]]),
        ("a b c x d e f", "d e f a b c", [[7, 0, 3]], []),  # of two that cross, the first
        ("a b c d e f " * 30, "a b c d e f " * 30, [[7, 0, 180]], []),  # more places than are tried
    ],
)
def test_runs_that_have_to_be_found(without, gold, other, runs, pieces):
    assert both(gold, other) == without(both, gold, other) == [runs, pieces]


def test_a_pair_counts_once_and_only_with_its_pieces(without):
    """Runs that lack a word count with the piece that has it; the number of a pair is taken by the first that does."""
    gold, other = "how the mouse fell off it", "e mouse fel"
    for needed, found in ((0, True), (2, True), (3, False)):
        expected = [[[7, 2, 1]], [[7, 1, 1, 0], [7, 3, 3, 1]]] if found else [[], []]
        for road in (both, lambda *given, **how: without(both, *given, **how)):
            assert road(gold, other, ordered=[(2, 1, 1)], needed=needed) == expected


def test_columns_that_do_not_fit_are_refused():
    kernel, stream = installed_kernel(), read_words(["a b c delta", "a b c del"])
    good = {
        **{name: getattr(stream, name) for name in ("data", "words", "flags", "starts", "stops", "ends")},
        "hashed": hashed_runs(stream.words, 3),
        "reach": np.full(8, 3),
        "negations": hashed_facts()[0],
        "numbers": hashed_facts()[1],
        "pairs": np.array([[0, 0, 4, 4, 8, 0, 1, 1, 0]]),
        "runs": np.array([[0, 4, 3]]),
    }
    runs, pieces = kernel.align_pairs(*good.values())
    assert [np.frombuffer(each, np.int64).tolist() for each in (runs, pieces)] == [[0, 0, 3], [0, 3, 3, 1]]

    def pair(*changed):
        row = good["pairs"].copy()
        for at, value in changed:
            row[0, at] = value
        return {"pairs": row}

    wrong = [
        *({name: good[name][:-1]} for name in ("words", "flags", "starts", "stops", "ends", "reach")),
        {"hashed": np.zeros(9, np.uint64)},
        {"reach": np.zeros(8, np.int64)},
        {"negations": np.arange(512, dtype=np.uint64)},
        {"data": b""},
        {"starts": np.zeros(8, np.int64)},
        pair((1, -1)),
        pair((2, 9)),
        pair((3, 8), (4, 4)),
        pair((6, 2)),
        *({"runs": np.array([run])} for run in ([-1, 4, 3], [0, 3, 3], [0, 4, 0], [2, 4, 3], [0, 6, 3], [0, 4, 2**62])),
    ]
    for each in wrong:
        with pytest.raises(ValueError, match="do not fit"):
            kernel.align_pairs(*(good | each).values())
