"""
Texts that share nothing with the gold texts of their sample are left out, and nothing else changes.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draws import draws
from rankgauge import kernel
from rankgauge.matchers import sharing as matchers_sharing
from rankgauge.matchers import word_runs
from rankgauge.matchers.cover import cover_batch, covered_parts, cut_from_batch
from rankgauge.matchers.plain_letters import plainly_folded
from rankgauge.matchers.sharing import maybe_sharing
from rankgauge.matchers.spelling import cleaned_texts, folded_texts, plain_words

WORDS = (
    *("the", "small", "pump", "in", "Hamburg", "costs", "a", "not", "don't", "n't", "cannot", "12,500", "12500"),
    *("12500.0", "2.50", "2.5", "2,5", "4.12.3", "1/2", "x_1", "B-7700", "ÉTÉ", "été", "ete", "½", "北", "京", "馆"),
    *("(see", "it)", "consequently", "consequential", "x" * 70, "1" * 70, "&amp;", "<b>", "](x)", "\\n", "😀", "..."),
)


@st.composite
def samples(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Retrieved texts and gold ones, in pieces of each other and of other texts."""
    chance = random.Random(draw(st.integers(0, 2**32)))  # noqa: S311  # no secret
    words = chance.sample(WORDS, chance.randint(2, len(WORDS)))

    def text(most: int) -> str:
        joints = chance.choices((" ", " ", " ", ", ", "\n", ". ", "\0"), k=most)
        return "".join(word + joint for word, joint in zip(chance.choices(words, k=most), joints, strict=True))

    gold = [text(chance.choice((0, 1, 2, 3, 5, 6, 9, 30))) for _ in range(chance.randint(0, 3))]
    wholes = [*gold, text(20), text(20), text(4), "..."]
    retrieved = []
    for _ in range(chance.randint(0, 6)):
        whole = chance.choice(wholes)
        begin, end = sorted((chance.randint(0, len(whole)), chance.randint(0, len(whole))))
        retrieved.append(text(chance.randint(0, 4)) + whole[begin:end] + text(chance.randint(0, 4)))
    return retrieved, gold


def found_in(some: list[tuple[list[str], list[str]]], n: int) -> object:
    """Return covers, verdicts, shares and parts, in values that compare."""
    retrieved, gold = [own for own, _ in some], [others for _, others in some]
    covers = [[column.tolist() for column in found[:5]] for found in cover_batch(retrieved, gold, n=n)]
    verdicts = [(found.scores() >= 0.5).tolist() for found in cover_batch(retrieved, gold, n=n, cutoff=0.5)]
    shares = [block.tolist() for block in cut_from_batch(retrieved, gold, n=n)]
    return covers, verdicts, shares, covered_parts(retrieved, gold, n=n)


@given(st.lists(samples(), max_size=3), st.integers(1, 6))
@settings(max_examples=draws(100))
def test_what_texts_cover_is_the_same_where_others_are_left_out(
    some: list[tuple[list[str], list[str]]], n: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "_loaded", lambda: None)
        patch.setattr(word_runs, "_MANY", 1 << 60)
        whole = found_in(some, n)
        patch.setattr(word_runs, "_MANY", 0)
        assert found_in(some, n) == whole


@given(samples(), st.integers(1, 5))
@settings(max_examples=draws(200))
def test_texts_that_share_a_run_of_words_are_kept(sample: tuple[list[str], list[str]], n: int) -> None:
    retrieved, gold = sample
    golds = [[word.text for word in plain_words(text)] for text in gold]
    runs = {tuple(words[at : at + n]) for words in golds for at in range(max(len(words) - n, 0) + 1)} - {()}
    for text, is_kept in zip(retrieved, sharing(gold, retrieved, n), strict=True):
        words = [word.text for word in plain_words(text)]
        own = {tuple(words[at:end]) for at in range(len(words)) for end in range(at, len(words) + 1)}
        assert is_kept or own.isdisjoint(runs)


LETTERS = [
    *(
        "a",
        "Ab",
        "\u00e9",
        "\u00c9a",
        "\u00f8",
        "\u0130",
        "\u00df",
        "\u1e9e",
        "\ufb01",
        "\u01c5",
        "\u017f",
        "\u212b",
        "\u0439",
        "\u03ac",
    ),
    *(
        "\u03a3",
        "\u03c2",
        "\uac00",
        "\u1100",
        "\u1161",
        "\u0301",
        "\u0323",
        "\u20d0",
        "\u5317",
        "\u304b",
        "\u0e44",
        "\u0663",
        "\u00bd",
        "\u00b2",
    ),
    *(
        "\u2163",
        "\u00aa",
        "\uff12",
        "\uff21",
        "\uff0c",
        "\uff3f",
        "\U0001d400",
        "\U0001f600",
        "\U00020000",
        "\ud800",
        "\uffff",
        "\ufffe",
    ),
    *(" ", "_", "-", ".", ",", "3", "12", "\u2019", "\u2026", "\u2014", "\u3002", "\u2028", "\u00a0"),
]


@given(st.lists(st.one_of(st.sampled_from(LETTERS), st.characters()), max_size=20).map("".join))
@settings(max_examples=draws(300))
def test_words_folded_a_character_at_a_time_are_the_same(text: str) -> None:
    cleaned = cleaned_texts([text])
    (plain,) = plainly_folded(cleaned)
    if plain is not None:
        exact, found = word_runs.words_of_prepared(folded_texts(cleaned)), word_runs.words_of_prepared([plain.decode()])
        assert [found.spelled(at) for at in range(len(found.words))] == [
            exact.spelled(at) for at in range(len(exact.words))
        ]


def test_which_texts_are_folded_a_character_at_a_time() -> None:
    texts = ["Caf\u00e9 \u00c0 la \u0152uvre", "\u0416\u0443\u0439", "Stra\u00dfe", "\u5317 a", "e\u0301"]
    assert plainly_folded(texts) == [
        "Cafe a la \u0153uvre".encode(),
        "\u0436\u0443\u0438".encode(),
        b"Strasse",
        None,
        None,
    ]


def sharing(gold: list[str], retrieved: list[str], n: int = 3) -> list[bool]:
    """Return which retrieved texts of a sample are looked at."""
    texts = cleaned_texts([*gold, *retrieved])
    is_gold = np.arange(len(texts)) < len(gold)
    kept = maybe_sharing(texts, np.zeros(len(texts), np.int64), is_gold, n).tolist()
    assert all(kept[: len(gold)])
    return kept[len(gold) :]


def test_texts_that_share_no_run_of_words_are_left_out() -> None:
    gold = ["The small pump in Hamburg costs 12,500 euros a day."]
    others = [
        "A large oven stands in Hamburg and costs less than the small one does.",  # two words in a row at most
        "We say that the SMALL PUMP IN the town is best.",
        "It stood there, and it costs 12500.0 euros as ever",
        "mall pump in Berlin is best of all",  # its first word is cut
        "all of the rest say so of Hamburg costs 12,5",
        "small pump in",
        "nothing of it",
        "nothing of it is there",
    ]
    assert sharing(gold, others) == [False, True, True, True, True, True, True, False]
    assert sharing(gold, others, n=5) == [False, True, True, False, True, True, True, True]  # 1 is all of 12,5
    assert sharing(["Hamburg"], others) == [True, False, False, False, True, True, True, False]
    assert sharing([], others) == [False] * 5 + [True, True, False]


def test_a_run_counts_in_the_sample_of_its_gold_text_only(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["one two three four", "so one two three it is", "five six seven eight", "so one two three it is"]
    columns = np.array([0, 0, 1, 1]), np.array([True, False, True, False])
    assert maybe_sharing(texts, *columns, 3).tolist() == [True, True, True, False]
    monkeypatch.setattr(matchers_sharing, "_MOST", sum(map(len, texts)) - 1)  # a sample after the other
    assert maybe_sharing(texts, *columns, 3).tolist() == [True, True, True, False]
    monkeypatch.setattr(matchers_sharing, "_MOST", 0)  # nothing is looked at
    assert maybe_sharing(texts, *columns, 3).all()
