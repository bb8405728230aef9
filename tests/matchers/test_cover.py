"""
`cover` and `passage`: against an exhaustive search, and by hand on the forms that texts take.
"""

from __future__ import annotations

import json
import random
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import in_thorough_suite
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.matchers.cover import cover, cover_batch, covered_parts
from rankgauge.matchers.words import plain_words, spaced_words

WORDS = ("ab", "cde", "fghi", "j")  # none begins or ends with another
FEW = st.lists(st.sampled_from(WORDS), max_size=14)


def score(gold: str, retrieved: str, **options: float) -> float:
    """Return the cover of a gold text."""
    return float(cover([retrieved], [gold], **options).scores[0, 0])


def matches(gold: str, retrieved: str, matcher: str = "passage") -> bool:
    """Return the verdict of a run."""
    sample = {"id": "q", "expected_output": {"passages": [gold]}, "actual_output": {"retrieved": [{"text": retrieved}]}}
    result = Engine().dataset([sample]).with_metrics(f"hit(matcher={matcher})@1").run()
    return next(iter(result.metrics.values())).mean == 1.0


def longest(first: list[str], second: list[str], n: int) -> int:
    """Return the most characters in common runs of n words or more in the same order, by trying every one."""

    @cache
    def best(i: int, j: int) -> int:
        if i < n or j < n:
            return 0
        most = max(best(i - 1, j), best(i, j - 1))
        length = 0
        while length < min(i, j) and first[i - length - 1] == second[j - length - 1]:
            length += 1
            if length >= n:
                most = max(most, best(i - length, j - length) + sum(map(len, first[i - length : i])))
        return most

    return best(len(first), len(second))


def expected(first: list[str], second: list[str], n: int) -> float:
    """Return the cover of the first text by the second, by definition."""
    least = min(n, len(first))
    if least == 0:
        return 0.0
    return longest(first, second, least) / sum(map(len, first)) if len(second) >= least else 0.0


@given(st.lists(st.tuples(FEW, FEW), min_size=1, max_size=4), st.integers(1, 4))
def test_exhaustive_search_finds_the_same_cover(pairs: list[tuple[list[str], list[str]]], n: int) -> None:
    retrieved, gold = ([[" ".join(pair[side])] for pair in pairs] for side in (1, 0))
    for (own, other), decided in zip(pairs, cover_batch(retrieved, gold, n=n), strict=True):
        if own and other:
            assert decided.scores[0, 0] == pytest.approx(expected(own, other, n), abs=1e-12)
            assert bool(decided.accepted[0, 0]) == (expected(other, own, n) >= 0.5)


@given(st.lists(FEW, max_size=3), st.lists(FEW, max_size=3), st.sampled_from([0.25, 0.5, 0.9]))
def test_cutoff_and_company_change_no_verdict(retrieved: list[list[str]], gold: list[list[str]], cutoff: float) -> None:
    chunks, golds = ([" ".join(text) for text in texts] for texts in (retrieved, gold))
    whole, cut = cover(chunks, golds), cover(chunks, golds, cutoff=cutoff)
    for row, chunk in enumerate(chunks):
        for column, text in enumerate(golds):
            alone = cover([chunk], [text])
            assert alone.scores[0, 0] == whole.scores[row, column]
            assert alone.accepted[0, 0] == whole.accepted[row, column] == cut.accepted[row, column]
    reached = whole.scores >= cutoff
    assert np.array_equal(cut.scores[reached], whole.scores[reached])
    assert (cut.scores[~reached] < cutoff).all()


def test_a_gold_text_stands_in_a_longer_chunk_and_a_chunk_in_a_longer_gold_text() -> None:
    gold = "The warranty covers parts and labour for two years"
    chunk = f"Introduction. Some words before. {gold}, and more words after it, which go on for quite a while."
    assert score(gold, chunk) == 1.0
    assert matches(gold, chunk)
    assert matches(chunk, gold)
    assert score(chunk, gold) < 0.5  # the score is the cover of the gold text whichever way it matches
    assert not matches(gold, chunk, "fuzzy-chunk")


def test_score_is_the_share_of_characters_of_words() -> None:
    # aaaa bbb cc | d eeeee: 9 of 15 letters stand in the chunk in a run of three words, and two words are no run
    assert score("aaaa bbb cc d eeeee", "x aaaa, bbb; cc y d eeeee") == pytest.approx(9 / 15)
    assert score("aaaa bbb cc d eeeee", "x aaaa, bbb; cc y d eeeee", n=2) == 1.0
    assert score("a b c d e f", "d e f a b c") == pytest.approx(3 / 6)  # not in the same order


@pytest.mark.parametrize(
    ("gold", "chunk", "whole"),
    [
        ("41", "born in 1941", False),
        ("41", "there are 41.", True),
        ("New York", "in new york city", True),
        ("New York", "new jersey and york", False),
        ("in New York city", "New York", False),
        ("!!", "well!!", False),
        ("!!", "!!", True),
    ],
)
def test_a_text_of_few_words_stands_there_whole(gold: str, chunk: str, whole: bool) -> None:
    assert score(gold, chunk) == float(whole)


TEXT = "The quick brown fox jumps over the lazy dog; it doesn't stop before the café closes at 10 p.m."


@pytest.mark.parametrize(
    "changed",
    [
        TEXT.upper(),
        TEXT.replace(" ", "\n\t "),
        TEXT.replace("jumps", "jum-\nps").replace("before", "be- \r\n  fore"),
        TEXT.replace("lazy", "la\u00adzy"),
        TEXT.replace("'", "\u2019").replace(";", " \u2014"),
        f"\u201c{TEXT}\u201d",
        json.dumps(TEXT),
        json.dumps(TEXT, ensure_ascii=False)[1:-1].replace(" ", "\\n"),
        TEXT.replace("quick", "**quick**").replace("lazy", "_lazy_").replace("dog", "[dog](https://dogs.example/a_b)"),
        f"<p class='a'>{TEXT.replace('brown', '<b>brown</b>').replace(';', '<br/>')}</p>",
        TEXT.replace("'", "&#39;").replace("\u00e9", "&eacute;"),
        TEXT.replace("\u00e9", "e\u0301"),
        TEXT.replace("10", "\uff11\uff10").replace("fox", "\uff46\uff4f\uff58"),
        f"Date: 2023-05-20\nuser: {TEXT}",
    ],
)
def test_the_form_of_a_text_does_not_matter(changed: str) -> None:
    before, behind = "Some other words stand here. ", " And others follow behind."
    assert score(TEXT, before + changed + behind) == 1.0
    assert score(changed.removeprefix("Date: 2023-05-20\nuser: "), before + TEXT + behind) == 1.0
    assert matches(TEXT, changed)


def test_typos_cost_the_words_around_them() -> None:
    words = [f"{chr(97 + at % 26)}{'xyz'[at % 3]}word" for at in range(40)]
    typos = [word + "q" if at % 9 == 4 else word for at, word in enumerate(words)]
    lost = sum(len(word) for at, word in enumerate(words) if at % 9 == 4)
    assert score(" ".join(words), " ".join(typos)) == pytest.approx(1 - lost / sum(map(len, words)))


@pytest.mark.parametrize(
    ("gold", "chunk"),
    [
        ("東京は日本の首都です", "ご存じの通り、東京は日本の首都です。人口は多い。"),
        ("กรุงเทพเป็นเมืองหลวง", "เมืองกรุงเทพเป็นเมืองหลวงของไทย"),
        (
            "def area(radius):\n    return pi * radius ** 2",
            "import math\ndef area(radius):\n  return pi*radius**2\n\nprint(area(3))",
        ),
        ("| 2014 | 31.5 | 17 |", "| year | rate | n |\n|---|---|---|\n| 2013 | 30.1 | 12 |\n| 2014 | 31.5 | 17 |\n"),
        ("- milk\n- fresh eggs\n- rye bread", "To buy:\n1. milk\n2. fresh eggs\n3. rye bread\n"),
    ],
)
def test_scripts_without_spaces_code_tables_and_lists(gold: str, chunk: str) -> None:
    assert matches(gold, chunk)
    assert not matches(gold, chunk[::-1])


def parts_of(gold: str, retrieved: str) -> list[str]:
    (parts,) = covered_parts([[retrieved]], [[gold]])
    return [gold[start:end] for start, end in parts.get((0, 0), [])]


def test_other_numbers_in_the_same_words_are_another_fact() -> None:
    gold = "Total expense for repairs was $2.4 billion for 2014, including materials."
    same = gold.replace(", including", " ,\nincluding")
    other = gold.replace("2.4", "1.9").replace("2014", "2013")
    assert score(gold, f"Notes. {same} More.") == 1.0
    assert score(gold, f"Notes. {other} More.") == 0.0
    assert not matches(gold, f"Notes. {other} More.")
    assert not parts_of(gold, f"Notes. {other} More.")
    long = " ".join(f"item{chr(97 + at)} cost {at} dollars" for at in range(20))  # one number of twenty is a typo
    assert matches(long, long.replace("cost 7 dollars", "cost 71 dollars"))


def test_words_that_a_chunk_cuts_count_in_part() -> None:
    # abcdefgh ijkl mnop qrst|uvwx yz: the chunk has 20 of 26 letters, the last word in part
    gold = "abcdefgh ijkl mnop qrstuvwx yz"
    assert score(gold, "... abcdefgh ijkl mnop qrst") == pytest.approx(20 / 26)
    assert score(gold, "efgh ijkl mnop qrstuvwx, and") == pytest.approx(20 / 26)
    assert score("it grew to $ 30,000 in 1", "it grew to $ 3") == pytest.approx(9 / 16)  # 3 is no other number than 30


@given(st.text(max_size=40))
def test_words_are_the_same_one_by_one_and_together(text: str) -> None:
    apart = [word.text for word in plain_words(text)]
    together = "".join(
        symbol.lower() if symbol.isalnum() or not symbol.isascii() else " " for symbol in spaced_words([text])[0]
    )
    assert together.split(" ") == [*together.split(" ")]
    assert [word for word in together.split(" ") if word] == apart


@given(st.text(max_size=60))
def test_a_text_covers_itself(text: str) -> None:
    if text:
        assert score(text, text) == 1.0


def test_covered_parts_are_places_of_the_gold_text() -> None:
    gold = 'He said: "One two exam-\nple four" & left <b>early</b> that day'
    parts = parts_of(gold, "... one two example four. Then: left early that day!")
    assert parts == ['One two exam-\nple four" & ', "left <b>early</b> that day"]


def test_a_gold_text_that_two_chunks_share_is_covered_whole() -> None:
    gold = "(Alpha beta, gamma - delta; epsilon zeta.)"
    assert parts_of(gold, "Before. Alpha beta, gamma") + parts_of(gold, "delta; epsilon zeta. After.") == [
        "(Alpha beta, gamma - ",
        "delta; epsilon zeta.)",
    ]


def test_parts_of_words_that_a_chunk_cuts_are_covered() -> None:
    gold = "abcdefgh ijkl mnop qrstuvwx yz"
    assert "".join(parts_of(gold, "... abcdefgh ijkl mnop qrst")) == "abcdefgh ijkl mnop qrst"
    assert "".join(parts_of(gold, "efgh ijkl mnop qrstuvwx, and")) == "efgh ijkl mnop qrstuvwx "


def test_common_words_in_the_middle_of_both_texts_are_chance() -> None:
    gold = "Rents rose by a fifth in the united states last year, which nobody had foreseen."
    other = "Most of the oil that is used in the united states comes from Canada and from Mexico."
    assert score(gold, other) > 0
    assert not parts_of(gold, other)
    assert parts_of(gold, "in the united states last year, which. And more.") == [
        "in the united states last year, which "
    ]


def test_covered_parts_of_many_samples_are_those_of_each() -> None:
    one, two = "alpha beta gamma delta epsilon", "zeta eta theta iota kappa"
    blocks = covered_parts([["x", one], [], [two, f"{one} {two}"]], [[two, one], [one], [one, two]])
    whole_one, whole_two = [(0, len(one))], [(0, len(two))]
    assert blocks == [{(1, 1): whole_one}, {}, {(0, 1): whole_two, (1, 0): whole_one, (1, 1): whole_two}]


def test_gold_texts_are_found_among_thousands_as_alone() -> None:
    """Words so few that most runs stand in several of the gold texts."""
    chance = random.Random(3)  # noqa: S311  # no secret
    words = [f"word{number}" for number in range(10)]
    gold = [" ".join(chance.choices(words, k=8)) for _ in range(3000)]
    chunk = " ".join(gold[5:8])
    together = cover_batch([[chunk]], [gold])[0].scores[0]
    assert together[5:8].tolist() == [1.0, 1.0, 1.0]
    assert np.count_nonzero(together) > 100
    assert together[:300].tolist() == [score(text, chunk) for text in gold[:300]]


@in_thorough_suite()
def test_repetitions_stay_linear() -> None:
    text = "a " * 60_000
    assert score(text, text) == 1.0
    assert score("a b " * 30_000, "b a " * 30_000) > 0.5


def test_a_parameter_that_cannot_be_is_refused() -> None:
    with pytest.raises(Exception, match="n is the number of words"):
        Catalog.discover().matcher("cover(n=0) >= 0.5").check_usable()


def test_the_true_half_counts_beside_a_template_with_other_numbers() -> None:
    gold = "As of May 31, 2008, the firm had $404 million of cost related to leased rooms, expected over 3.4 years."
    half = "million of cost related to leased rooms, expected over 3.4 years."
    template = "As of May 31, 2008, the firm had $583 million of cost related to owned houses."
    # Behind the half stands the template of another fact, whose runs have more letters in common with the gold text.
    letters = sum(len(word) for word in half.replace(",", "").replace(".", " ").split())
    whole = sum(len(word) for word in gold.replace(",", "").replace("$", "").replace(".", " ").split())
    assert score(gold, f"{half} {template}") == pytest.approx(letters / whole)
