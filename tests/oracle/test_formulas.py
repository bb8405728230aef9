"""Tests of the oracle itself, against values worked out by hand."""

import math
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.formulas import (
    Ideal,
    average_precision,
    complete_sets,
    containment,
    err,
    f1,
    first_complete_rank,
    first_search,
    hit,
    judged,
    mrr,
    ndcg,
    ndcg_any,
    precision,
    r_precision,
    recall,
    recall_all,
    search_redundancy,
    searches_per_found,
    stale,
)
from oracle.strategies import cases, cutoffs
from tables import rows

Metric = Callable[[Sequence[str], Mapping[str, float], int | None], float | None]


def err_of_four(ranking: Sequence[str], gold: Mapping[str, float], k: int | None) -> float | None:
    """Return err with 4 as the highest grade."""
    return err(ranking, gold, k, max_grade=4)


NEEDING_RELEVANT: tuple[Metric, ...] = (
    hit,
    recall,
    recall_all,
    precision,
    f1,
    mrr,
    average_precision,
    r_precision,
    ndcg,
    ndcg_any,
    err_of_four,
)
"""Every metric that is undefined where gold has no relevant id."""

IDEALS: tuple[Ideal, ...] = ("gold-at-k", "gold", "retrieved", "retrieved-at-k")

RETRIEVED = ["doc-7", "doc-3", "doc-1", "doc-9", "doc-2"]
TWO_RELEVANT = {"doc-3": 1.0, "doc-9": 1.0}
FIVE_RELEVANT = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 1.0}


def close(value: float) -> object:
    """Return an expectation that allows for rounding only."""
    return pytest.approx(value, rel=1e-12, abs=1e-15)


def test_two_hits_in_five_score_as_worked_by_hand() -> None:
    """The relevant ids at ranks 2 and 4 give the textbook values of every set and rank metric."""
    # Relevant at ranks 2 and 4; k = 5; R = 2.
    assert hit(RETRIEVED, TWO_RELEVANT, 5) == 1.0
    assert recall(RETRIEVED, TWO_RELEVANT, 5) == 1.0  # 2 / 2
    assert recall_all(RETRIEVED, TWO_RELEVANT, 5) == 1.0
    assert precision(RETRIEVED, TWO_RELEVANT, 5) == close(0.4)  # 2 / 5
    assert f1(RETRIEVED, TWO_RELEVANT, 5) == close(4 / 7)  # 2 * 2 / (5 + 2)
    assert mrr(RETRIEVED, TWO_RELEVANT, 5) == 0.5  # 1 / 2
    assert average_precision(RETRIEVED, TWO_RELEVANT, 5) == close(0.5)  # (1/2 + 2/4) / 2
    assert r_precision(RETRIEVED, TWO_RELEVANT, 5) == 0.5  # one relevant in the first two, / 2
    assert judged(RETRIEVED, TWO_RELEVANT, 5) == close(0.4)  # 2 named of 5
    # DCG = 1/log2(3) + 1/log2(5) = 0.6309297535714575 + 0.43067655807339306 = 1.0616063116448506
    # ideal = 1/log2(2) + 1/log2(3) = 1.6309297535714575; the ratio is 0.6509209298071326
    assert ndcg(RETRIEVED, TWO_RELEVANT, 5) == close(0.6509209298071326)
    assert ndcg_any(RETRIEVED, TWO_RELEVANT, 5) == close(0.6509209298071326)


def test_sets_are_complete_where_their_members_are() -> None:
    """Of b, a, c: {a and b} is complete at 2, {c or d} at 3, {(a or d) and c} at 3, {d} never."""
    sets = [("all", ["a", "b"]), ("any", ["c", "d"]), ("all", [("any", ["a", "d"]), "c"]), ("all", ["d"])]
    shares = [complete_sets(["b", "a", "b", "c"], sets, k) for k in (1, 2, 3, None)]
    assert shares == [0, 0.25, 0.75, 0.75]
    assert first_complete_rank(["b", "a", "c"], sets) == 2
    assert (complete_sets(["a"], [], 1), first_complete_rank(["d", "c"], sets[:2])) == (None, 1)


def test_searches_are_counted_until_something_is_found() -> None:
    """Of seven results the second search repeats x, the third x and a; a is found by the second, b by the third."""
    searches, gold = [["x", "y"], ["x", "a"], ["a", "b", "x"]], {"a": 1, "b": 2, "y": 0}
    assert (first_search(searches, gold), searches_per_found(searches, gold)) == (2, 1.5)
    assert search_redundancy(searches) == close(3 / 7)
    assert (first_search([["x"]], gold), searches_per_found([], gold), search_redundancy([[]])) == (None, None, None)


def test_what_is_not_valid_when_asked_is_stale() -> None:
    """Asked at 5: a (1 to 5) is over, b (5 to 9) has begun, c (6 to 7) has not, and nobody says when x is valid."""
    valid = {"a": (1, 5), "b": (5, 9), "c": (6, 7)}
    shares = [stale(["x", "a", "b", "b", "c"], valid, 5, k) for k in (1, 2, 3, 4, None)]
    assert shares == [None, 0.5, close(1 / 3), 0.5, 0.5]


def test_cut_hides_what_lies_below_it() -> None:
    """With k = 3 only the hit at rank 2 counts, while the number of relevant ids stays 2."""
    assert recall(RETRIEVED, TWO_RELEVANT, 3) == 0.5  # 1 / 2
    assert recall_all(RETRIEVED, TWO_RELEVANT, 3) == 0.0
    assert precision(RETRIEVED, TWO_RELEVANT, 3) == close(1 / 3)
    assert f1(RETRIEVED, TWO_RELEVANT, 3) == close(0.4)  # 2 * 1 / (3 + 2)
    assert average_precision(RETRIEVED, TWO_RELEVANT, 3) == 0.25  # (1/2) / 2
    assert mrr(RETRIEVED, TWO_RELEVANT, 1) == 0.0
    assert hit(RETRIEVED, TWO_RELEVANT, 1) == 0.0
    assert average_precision(RETRIEVED, TWO_RELEVANT, 1) == 0.0
    assert f1(RETRIEVED, TWO_RELEVANT, 1) == 0.0  # precision and recall are both 0


def test_short_list_is_still_divided_by_k() -> None:
    """A list of one hit earns a fifth of precision at 5, and misses the rest of the ideal list."""
    assert precision(["a"], FIVE_RELEVANT, 5) == close(0.2)  # 1 / 5
    assert r_precision(["a"], FIVE_RELEVANT) == close(0.2)  # 1 / 5, though only one was retrieved
    assert judged(["a"], FIVE_RELEVANT, 5) == 1.0  # 1 named of min(5, 1)
    # The ideal list has all five: 1 + 1/log2(3) + 1/log2(4) + 1/log2(5) + 1/log2(6)
    # = 1 + 0.6309297535714575 + 0.5 + 0.43067655807339306 + 0.3868528072345416 = 2.9484591188793923
    # DCG = 1, and 1 / 2.9484591188793923 = 0.3391602052736161
    assert ndcg(["a"], FIVE_RELEVANT, 5) == close(0.3391602052736161)


def test_no_cutoff_looks_at_every_rank_and_divides_precision_by_depth() -> None:
    """Without a cutoff the depth of the list stands in for k."""
    assert precision(["x", "a"], FIVE_RELEVANT, None) == 0.5  # 1 / 2
    assert f1(["x", "a"], FIVE_RELEVANT, None) == close(2 / 7)  # 2 * 1 / (2 + 5)
    assert judged(["x", "a"], FIVE_RELEVANT, None) == 0.5
    assert precision([], FIVE_RELEVANT, None) == 0.0


def test_later_duplicates_are_dropped_before_the_cut() -> None:
    """Dropping the second x lifts the hit from rank 3 to rank 2, and a repeated hit counts once."""
    ranking = ["x", "x", "a", "a", "y"]  # distinct: x a y
    gold = {"a": 1.0}
    assert hit(ranking, gold, 2) == 1.0
    assert mrr(ranking, gold, 2) == 0.5
    assert precision(ranking, gold, 3) == close(1 / 3)
    assert recall(ranking, gold, 3) == 1.0
    assert average_precision(ranking, gold, 3) == 0.5
    assert ndcg(ranking, gold, 2) == close(1 / math.log2(3))
    assert err(ranking, gold, 2, max_grade=1) == 0.25  # (1/2) * (2**1 - 1) / 2**1
    assert judged(ranking, gold, 10) == close(1 / 3)  # 1 named of 3 distinct


def test_discount_from_rank_two_with_retrieved_ideal_forgives_rank_two() -> None:
    """A lone hit at rank 2 of 2 keeps its whole gain, and so reaches the best order of what was retrieved."""
    # weight(1) = 1 and weight(2) = 1/log2(2) = 1, so DCG = 1; ideal order [1, 0] also gives 1.
    assert ndcg(["x", "a"], FIVE_RELEVANT, 2, discount="log2-from-2", ideal="retrieved") == 1.0
    # With 1/log2(rank + 1) the same list gives 1/log2(3) over 1.
    assert ndcg(["x", "a"], FIVE_RELEVANT, 2, ideal="retrieved") == close(0.6309297535714575)
    # At rank 4 the weight is 1/log2(4) = 0.5.
    assert ndcg(["x", "y", "z", "a"], {"a": 1.0}, 4, discount="log2-from-2") == 0.5


def test_each_ideal_list_gives_its_own_ndcg() -> None:
    """The four ideals differ on a list with a high gain below the cut and another never retrieved."""
    # gold a 3, b 2, c 1; ranking x c b with k = 2; w1 = 1, w2 = 0.6309297535714575, w3 = 0.5.
    gold = {"a": 3.0, "b": 2.0, "c": 1.0}
    ranking = ["x", "c", "b"]
    second = 0.6309297535714575
    # DCG at 2 = 0 * 1 + 1 * w2 = w2 in every case.
    # gold-at-k: gains 3, 2; gold: gains 3, 2, 1; retrieved: gains 2, 1, (0 cut off); retrieved-at-k: gains 1, 0.
    assert ndcg(ranking, gold, 2, ideal="gold-at-k") == close(second / (3 + 2 * second))
    assert ndcg(ranking, gold, 2, ideal="gold") == close(second / (3 + 2 * second + 0.5))
    assert ndcg(ranking, gold, 2, ideal="retrieved") == close(second / (2 + second))
    assert ndcg(ranking, gold, 2, ideal="retrieved-at-k") == close(second)


def test_exponential_gain_and_flat_gain_change_graded_ndcg() -> None:
    """Gains 1 then 3 in the wrong order score by 2**g - 1 as 1 then 7, and as a perfect list when flattened."""
    gold = {"a": 3.0, "b": 1.0, "bad": -1.0, "nil": 0.0}
    second = 0.6309297535714575
    # linear: (1 + 3 w2) / (3 + w2); exponential: (1 + 7 w2) / (7 + w2)
    assert ndcg(["b", "a"], gold, 2) == close((1 + 3 * second) / (3 + second))
    assert ndcg(["b", "a"], gold, 2, gain="exponential") == close((1 + 7 * second) / (7 + second))
    assert ndcg_any(["b", "a"], gold, 2) == 1.0
    # A gain of 0 or below earns nothing and costs nothing but its rank: 3 w2 / (3 + w2).
    assert ndcg(["bad", "a"], gold, 2) == close(3 * second / (3 + second))
    assert ndcg(["nil", "a"], gold, 2, gain="exponential") == close(7 * second / (7 + second))


def test_missing_everything_scores_zero_under_every_ideal() -> None:
    """Gold with relevant ids and a list without any is a score of 0, not an undefined one."""
    for ideal in IDEALS:
        assert ndcg(["x"], FIVE_RELEVANT, 3, ideal=ideal) == 0.0
        assert ndcg([], FIVE_RELEVANT, 3, ideal=ideal) == 0.0


def test_err_follows_the_cascade() -> None:
    """Grades 3, 2, 0, 1 of at most 4 give the sum worked out term by term."""
    gold = {"a": 3.0, "b": 2.0, "c": 0.0, "d": 1.0}
    # The chances S are 7/16, 3/16, 0 and 1/16.
    # rank 1: 7/16                              = 7168/16384
    # rank 2: 1/2 * 3/16 * 9/16                 =  864/16384
    # rank 3: 0
    # rank 4: 1/4 * 1/16 * 9/16 * 13/16 * 16/16 =  117/16384
    assert err(["a", "b", "c", "d"], gold, 4, max_grade=4) == close(8149 / 16384)
    assert err(["a", "b", "c", "d"], gold, 2, max_grade=4) == close(8032 / 16384)
    assert err(["x", "c"], gold, None, max_grade=4) == 0.0
    with pytest.raises(ValueError, match="max_grade"):
        err(["a"], gold, None, max_grade=2)


def test_judged_counts_any_named_id_even_without_relevant_ones() -> None:
    """Gains of 0 and below are judgements too, and only an empty list leaves the share undefined."""
    gold = {"a": 0.0, "b": -1.0}
    assert judged(["a", "x", "b", "y"], gold, 2) == 0.5  # a of a, x
    assert judged(["a", "x", "b", "y"], gold, None) == 0.5  # a, b of four
    assert judged(["x"], {}, 3) == 0.0
    assert judged([], gold, 3) is None


@rows("metric", NEEDING_RELEVANT)
def test_gold_without_relevant_ids_leaves_the_score_undefined(metric: Metric) -> None:
    """An empty gold, and one of zero and negative gains only, both give None whatever was retrieved."""
    for gold in ({}, {"a": 0.0, "b": -1.0}):
        assert metric(["a", "b"], gold, 2) is None
        assert metric([], gold, None) is None


def test_rel_raises_the_bar_for_relevance() -> None:
    """With rel = 2 only gains of at least 2 count, above and below the line."""
    gold = {"a": 1.0, "b": 2.0, "c": 3.0}
    ranking = ["a", "b", "x"]  # relevant from 2 on: b, c; found: b at rank 2
    assert hit(ranking, gold, 1, rel=2) == 0.0
    assert recall(ranking, gold, 3, rel=2) == 0.5
    assert recall_all(ranking, gold, 3, rel=2) == 0.0
    assert precision(ranking, gold, 3, rel=2) == close(1 / 3)
    assert f1(ranking, gold, 3, rel=2) == close(0.4)  # 2 * 1 / (3 + 2)
    assert mrr(ranking, gold, 3, rel=2) == 0.5
    assert average_precision(ranking, gold, 3, rel=2) == 0.25  # (1/2) / 2
    assert r_precision(ranking, gold, 3, rel=2) == 0.5  # b of a, b
    assert recall(ranking, gold, 3, rel=3.5) is None
    assert precision(["a"], {"a": 0.0}, 1, rel=0) == 1.0


def test_containment_ignores_case_and_spacing_unless_told() -> None:
    """An answer is found across line breaks, no-break spaces and case, but only within the first k texts."""
    texts = ["nothing here", "Die\u00a0 STRASSE\n\tin  Bern"]
    assert containment(texts, [" straße in "], 2) == 1.0  # casefolded: "strasse in" in "die strasse in bern"
    assert containment(texts, [" straße in "], 1) == 0.0
    assert containment(texts, ["straße in"], 2, case_sensitive=True) == 0.0
    assert containment(texts, ["STRASSE in"], None, case_sensitive=True) == 1.0
    assert containment(texts, ["absent", "bern"], 2) == 1.0
    assert containment([], ["bern"], 2) == 0.0


def test_containment_passes_over_blank_answers() -> None:
    """A blank answer matches nothing, and a list of none but blanks is undefined."""
    assert containment(["text"], ["", "absent"], 1) == 0.0
    assert containment(["text"], ["", " \u2003\n"], 1) is None
    assert containment(["text"], [], 1) is None


@pytest.mark.parametrize("k", [0, -1])
def test_cutoff_below_one_is_refused(k: int) -> None:
    """The oracle states nothing about a cutoff of 0 or less."""
    with pytest.raises(ValueError, match="at least 1"):
        hit(["a"], {"a": 1.0}, k)
    with pytest.raises(ValueError, match="at least 1"):
        containment(["a"], ["a"], k)


@given(case=cases(), k=st.none() | cutoffs())
def test_every_score_lies_between_zero_and_one(case: tuple[list[str], dict[str, float]], k: int | None) -> None:
    """A defined score is never outside 0 to 1, and is defined exactly where gold has a relevant id."""
    ranking, gold = case
    defined = any(value > 0 for value in gold.values())
    for metric in NEEDING_RELEVANT:
        score = metric(ranking, gold, k)
        assert (score is not None) == defined
        assert score is None or 0.0 <= score <= 1.0 + 1e-12
    for ideal in IDEALS:
        score = ndcg(ranking, gold, k, ideal=ideal, gain="exponential", discount="log2-from-2")
        assert (score is not None) == defined
        assert score is None or 0.0 <= score <= 1.0 + 1e-12


@given(case=cases(), k=cutoffs())
def test_f1_equals_twice_the_hits_over_cutoff_plus_relevant(case: tuple[list[str], dict[str, float]], k: int) -> None:
    """The harmonic mean agrees with its closed form."""
    ranking, gold = case
    relevant = {item for item, value in gold.items() if value > 0}
    found = relevant.intersection(list(dict.fromkeys(ranking))[:k])
    expected = close(2 * len(found) / (k + len(relevant))) if relevant else None
    assert f1(ranking, gold, k) == expected


@given(case=cases(), k=st.none() | cutoffs())
def test_duplicates_never_change_a_score(case: tuple[list[str], dict[str, float]], k: int | None) -> None:
    """A ranking scores the same with its later duplicates as without them."""
    ranking, gold = case
    for metric in (*NEEDING_RELEVANT, judged):
        assert metric(ranking, gold, k) == metric(list(dict.fromkeys(ranking)), gold, k)
