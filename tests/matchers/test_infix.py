"""Infix edit distance: against a plain dynamic program, and a filter that never holds back a match."""

from __future__ import annotations

from fractions import Fraction

import edlib
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from draws import draws
from rankgauge.matchers import infix
from rankgauge.matchers.comparers import infix_edit
from rankgauge.matchers.infix import allowed_edits, infix_distance, infix_distance_any, passes_filter
from tables import rows

ALPHABETS = [
    "ab",
    "abc ",
    "etaoin shrdlu",
    "漢字仮名交じり文",
    "\U0001f600\U0001f601\u200d",
    "a\u00e9漢\U0001f600\ud800\0",
]
LETTERS = st.sampled_from(ALPHABETS).flatmap(lambda letters: st.text(letters, min_size=1, max_size=90))
MANY_SYMBOLS = "".join(map(chr, range(0x4E00, 0x4E00 + 300)))


def distance(chunk, gold):
    """Compute the infix distance plainly (Sellers, 1980)."""
    row = [0] * (len(gold) + 1)
    for place, letter in enumerate(chunk, 1):
        before, row = row, [place]
        for at, other in enumerate(gold, 1):
            row.append(min(before[at] + 1, row[-1] + 1, before[at - 1] + (letter != other)))
    return min(row)


@st.composite
def planted(draw, texts=LETTERS):
    """Return a chunk that was cut from a gold text and edited, and the gold text."""
    gold = draw(texts)
    start = draw(st.integers(0, len(gold) - 1))
    chunk = list(gold[start : draw(st.integers(start + 1, len(gold)))])
    for _ in range(draw(st.integers(0, 1 + len(chunk) // 8))):
        place = draw(st.integers(0, len(chunk)))
        match draw(st.sampled_from(["insert", "delete", "replace"])):
            case "insert":
                chunk.insert(place, draw(st.sampled_from([*gold, "x", "漢"])))
            case "delete":
                del chunk[place : place + 1]
            case "replace":
                chunk[place : place + 1] = draw(st.sampled_from([*gold, "\u00ff", "\U0001f601"]))
    return "".join(chunk) or gold, gold


@given(pair=planted() | st.tuples(LETTERS, LETTERS), spare=st.integers(-2, 3))
def test_distance_equals_a_plain_dynamic_program(pair, spare):
    chunk, gold = pair
    least = distance(chunk, gold)
    most = max(0, least + spare)
    expected = least if least <= most else None

    assert expected == infix_distance(chunk, gold, most)
    assert expected == infix_distance_any(chunk, gold, most)


@given(pair=planted(st.text("abcd", min_size=1, max_size=300)))
def test_distance_without_limit_of_symbols_equals_edlib(pair):
    chunk, gold = pair
    expected = edlib.align(chunk, gold, mode="HW", task="distance")["editDistance"]

    assert expected == infix_distance_any(chunk, gold, len(chunk))


@given(pair=planted(st.text(MANY_SYMBOLS[:200], min_size=1, max_size=200)))
def test_distance_of_many_symbols_equals_edlib(pair):
    chunk, gold = pair

    assert infix_distance_any(chunk, gold, len(chunk)) == infix_distance(chunk, gold, len(chunk))


@pytest.mark.parametrize("count", [254, 255, 256, 257, 300])
def test_distance_is_exact_around_the_most_symbols_that_edlib_knows(count):
    chunk = MANY_SYMBOLS[:count]
    gold = "\U0001f600" + chunk[:100] + "x" + chunk[101:] + MANY_SYMBOLS[-30:] + "y\u00e9z"

    assert infix_distance(chunk, gold, 5) == 1
    assert infix_distance(chunk, gold, 0) is None


def test_distance_is_exact_for_all_bytes():
    chunk = "".join(map(chr, range(256)))

    assert infix_distance(chunk, f"xx{chunk}yy", 3) == 0
    assert infix_distance(chunk, f"xx{chunk[:9]}{chunk[10:]}yy", 3) == 1


@settings(max_examples=draws(300))
@given(pair=planted() | st.tuples(LETTERS, LETTERS), most=st.integers(0, 12))
@example(pair=("abcdefgh", "xabcdefghx"), most=0)
@example(pair=("abcdefghi", "abcdefgxi"), most=1)
@example(pair=("a" * 8, "a" * 9), most=0)
@example(pair=("漢字" * 8, "漢字" * 7 + "漢"), most=1)
@example(pair=("\u00ff" * 16, "\u00ff" * 16 + "漢"), most=0)
def test_filter_never_holds_back_a_match(pair, most):
    chunk, gold = pair
    if distance(chunk, gold) <= most:
        assert passes_filter([chunk], [gold], [most]).tolist() == [[True]]


@given(
    pairs=st.lists(planted(), min_size=1, max_size=4),
    others=st.lists(LETTERS | st.just(""), max_size=8),
    share=st.sampled_from([0.0, 0.05, 0.1, 0.2]),
)
def test_filter_never_holds_back_a_match_of_a_block(pairs, others, share):
    """More than eight gold texts need more than one table; empty and short ones stand among them."""
    chunks = [chunk for chunk, _ in pairs] + [text for text in others if text]
    golds = [gold for _, gold in pairs] + others
    most = [int(share * len(chunk)) for chunk in chunks]
    passes = passes_filter(chunks, golds, most)

    assert passes.shape == (len(chunks), len(golds))
    for row, chunk in enumerate(chunks):
        for column, gold in enumerate(golds):
            if distance(chunk, gold) <= most[row]:
                assert passes[row, column]


@rows("alphabet", [range(0x21, 0x21 + 90), range(0x4E00, 0x4E00 + 90)], ids=["latin", "cjk"])
@rows("edits", range(1, 9))
def test_filter_lets_edits_pass_that_break_as_many_grams_as_they_can(alphabet, edits):
    """Letters that occur once, each edit amid its own 8-grams: exactly 8 of them go with each edit."""
    chunk = "".join(map(chr, alphabet))
    gold = list(chunk)
    for place in range(edits):
        gold[9 + 9 * place] = "\u00ff"

    assert distance(chunk, "".join(gold)) == edits
    assert passes_filter([chunk], ["".join(gold)], [edits]).tolist() == [[True]]
    if edits > 1:
        assert passes_filter([chunk], ["".join(gold)], [edits - 2]).tolist() == [[False]]


def test_filter_holds_back_what_has_too_little_in_common():
    chunks = ["the quick brown fox jumps over the lazy dog", "pack my box with five dozen liquor jugs now"]
    golds = [f"once {chunks[0]} again", "nothing of the kind " * 4, ""]

    assert passes_filter(chunks, golds, [4, 4]).tolist() == [[True, False, False], [False, False, False]]
    asked = np.array([[False, True, True], [True, True, True]])
    assert passes_filter(chunks, golds, [4, 4], asked).tolist() == [[False] * 3, [False] * 3]
    assert asked.tolist() == [[False, True, True], [True, True, True]]


def test_one_piece_more_than_edits_of_a_short_chunk_stands_in_the_gold_text():
    # 15 characters have one whole 8-gram, of which one edit may leave nothing: then one half of 7 is left
    golds = ["zzzzzzzzzzzz", "zz abcdefg zz", "hijklmn", "abcdef", ""]
    assert passes_filter(["abcdefghijklmno"], golds, [1]).tolist() == [[False, True, True, False, False]]
    assert passes_filter(["ab"], ["zzz"], [2]).tolist() == [[True]]  # all of it may be edited
    assert passes_filter(["short"], ["zzz", "a short one"], [0]).tolist() == [[False, True]]


def test_filter_of_long_chunks_and_of_none():
    assert passes_filter(["abcdefghijklmnop"], ["zzzzzzzzzzzz"], [1]).tolist() == [[False]]
    assert passes_filter([], ["zzz"], []).shape == (0, 1)
    assert passes_filter(["a" * 20], [], [0]).shape == (1, 0)


def test_filter_counts_all_8_grams_and_not_only_disjoint_ones(monkeypatch):
    """Pieces of the chunk in any order have all disjoint grams in common, and few of the others."""
    pieces = ["abcdefgh", "ijklmnop", "qrstuvwx", "01234567"]
    chunk, gold = "".join(pieces), "..".join(reversed(pieces))

    # 25 grams, of which 4 occur; one edit leaves at least 25 - 8 of them
    assert passes_filter([chunk], [gold], [1]).tolist() == [[False]]


def test_filter_is_safe_when_every_hash_collides(monkeypatch):
    monkeypatch.setattr(infix, "_SPREAD", np.uint64(0))

    assert passes_filter(["the quick brown fox jumps"], ["nothing of the kind"], [1]).tolist() == [[True]]


@given(length=st.integers(1, 3000), threshold=st.floats(0.0, 1.0, exclude_min=True))
@example(length=10, threshold=0.9)
@example(length=1, threshold=1.0)
@example(length=30, threshold=0.7)
def test_allowed_edits_are_the_most_that_reach_the_threshold(length, threshold):
    edits = allowed_edits(length, threshold)

    assert (length - edits) / length >= threshold
    assert edits == length or (length - edits - 1) / length < threshold


def test_allowed_edits_are_the_floor_for_round_thresholds():
    for percent in range(1, 101):
        for length in (*range(1, 200), 499, 500, 1000, 1999):
            exact = (1 - Fraction(percent, 100)) * length

            assert allowed_edits(length, percent / 100) == exact.numerator // exact.denominator


@given(
    pairs=st.lists(planted(), min_size=1, max_size=3),
    cutoff=st.sampled_from([0.0, 0.5, 0.8, 0.9, 0.95, 1.0]),
    escaped=st.booleans(),
)
def test_infix_edit_equals_the_plain_distance_of_every_pair(pairs, cutoff, escaped):
    chunks, golds = [chunk for chunk, _ in pairs], [gold for _, gold in pairs]
    scores = infix_edit(chunks, golds, cutoff=cutoff, escaped=escaped)

    for row, chunk in enumerate(chunks):
        for column, gold in enumerate(golds):
            score = (len(chunk) - distance(chunk, gold)) / len(chunk)
            assert scores[row, column] == (score if score >= cutoff else 0.0)
