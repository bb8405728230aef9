"""Every metric, through the engine, against an independent restatement in plain Python, on random data."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracle import formulas
from oracle.strategies import IDS, cases, cutoffs
from rankgauge import Engine
from rankgauge.catalog import Catalog

ENGINE = Engine(catalog=Catalog.discover(own_only=True))
GAINS = ("linear", "exponential")
DISCOUNTS = ("log2", "log2-from-2")
IDEALS = ("gold-at-k", "gold", "retrieved", "retrieved-at-k")
RELS = st.none() | st.sampled_from([0, 0.5, 1, 2, 2.75, 5])

Case = tuple[list[str], dict[str, float]]


@functools.cache
def evaluation(spec: str | tuple[tuple[str, Any], ...]) -> Any:
    return ENGINE.dataset([]).with_metrics([spec if isinstance(spec, str) else dict(spec)])


def engine_score(metric: str | Mapping[str, Any], case: Case, k: int | None = None) -> float | None:
    """Return what the engine says; None for a score that is undefined. A failed score fails the test."""
    spec = metric if isinstance(metric, str) else tuple(sorted(metric.items()))
    ranking, gold = case
    sample = {"id": "s", "expected_output": gold, "actual_output": ranking, "metadata": {"k": k}}
    (found,) = evaluation(spec).score(sample).values()
    assert found.status in {"scored", "undefined"}, found.reason
    assert (found.value is None) == (found.status == "undefined")
    return found.value


def agrees(expected: float | None) -> Any:
    return None if expected is None else pytest.approx(expected, rel=1e-12, abs=0.0)


def spec(alias: str, rel: float | None, **params: Any) -> dict[str, Any]:
    return {"metric": alias, **params} if rel is None else {"metric": alias, "rel": rel, **params}


@pytest.mark.parametrize(
    ("alias", "formula"),
    [
        ("retrieval-hit-at-k", formulas.hit),
        ("retrieval-recall-at-k", formulas.recall),
        ("retrieval-recall-all-at-k", formulas.recall_all),
        ("retrieval-precision-at-k", formulas.precision),
        ("retrieval-f1-at-k", formulas.f1),
    ],
)
@given(case=cases(), k=cutoffs(), rel=RELS)
def test_metric_with_a_cutoff_agrees(alias, formula, case, k, rel):
    assert agrees(formula(*case, k, rel=rel)) == engine_score(spec(alias, rel), case, k)


@pytest.mark.parametrize(
    ("alias", "formula"), [("retrieval-mrr", formulas.mrr), ("retrieval-map", formulas.average_precision)]
)
@given(case=cases(), k=st.none() | cutoffs(), rel=RELS)
def test_metric_with_an_optional_cutoff_agrees(alias, formula, case, k, rel):
    cut = {} if k is None else {"k": k}

    assert agrees(formula(*case, k, rel=rel)) == engine_score(spec(alias, rel, **cut), case)


_HOW = st.sampled_from(["all", "any"])
_FLAT = st.tuples(_HOW, st.lists(st.sampled_from(IDS), min_size=1, max_size=3))
_SETS = st.lists(
    st.tuples(_HOW, st.lists(st.sampled_from(IDS) | _FLAT, min_size=1, max_size=3)), max_size=4, unique_by=repr
)


def _written(member: Any) -> Any:
    return member if isinstance(member, str) else {f"{member[0]}_of": list(map(_written, member[1]))}


@given(case=cases(), sets=_SETS, k=cutoffs())
def test_sets_agree(case, sets, k):
    sample = {"id": "s", "expected_output": {"sets": list(map(_written, sets))}, "actual_output": case[0]}
    sample["metadata"] = {"k": k}
    names = ["retrieval-complete-sets-at-k", "first_complete"]
    found = ENGINE.dataset([]).with_metrics(names).score(sample)
    values = [score.value for score in found.values()]
    assert values == [agrees(formulas.complete_sets(case[0], sets, k)), formulas.first_complete_rank(case[0], sets)]


@given(case=cases(), searches=st.lists(st.lists(st.sampled_from(IDS), max_size=4), max_size=4))
def test_searches_agree(case, searches):
    sample = {"id": "s", "expected_output": case[1], "actual_output": {"searches": searches}}
    names = ["first_search", "searches_per_found", "search_redundancy"]
    values = [score.value for score in ENGINE.dataset([]).with_metrics(names).score(sample).values()]
    assert values[:2] == [formulas.first_search(searches, case[1]), formulas.searches_per_found(searches, case[1])]
    assert values[2] == formulas.search_redundancy(searches)


_DAYS = st.integers(1, 9)
_VALID = st.dictionaries(st.sampled_from(IDS), st.tuples(_DAYS, _DAYS).filter(lambda days: days[0] < days[1]))


@given(case=cases(), valid=_VALID, asked=_DAYS, k=cutoffs())
def test_staleness_agrees(case, valid, asked, k):
    def known(item: str) -> dict[str, Any]:
        bounds = zip(("valid_from", "valid_to"), valid.get(item, ()), strict=False)
        return {"id": item, "metadata": {name: f"2024-05-0{day}" for name, day in bounds}}

    sample = {"id": "s", "expected_output": case[1], "actual_output": list(map(known, case[0]))}
    sample["metadata"] = {"k": k, "asked_at": f"2024-05-0{asked}"}
    (found,) = ENGINE.dataset([]).with_metrics(["stale-at-k"]).score(sample).values()
    assert found.value == agrees(formulas.stale(case[0], valid, asked, k))


@given(case=cases(), rel=RELS)
def test_r_precision_agrees(case, rel):
    assert agrees(formulas.r_precision(*case, rel=rel)) == engine_score(spec("retrieval-r-precision", rel), case)


@pytest.mark.parametrize("ideal", IDEALS)
@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("gain", GAINS)
@given(case=cases(), k=cutoffs(), clamp=st.booleans())
def test_ndcg_agrees_under_every_combination_of_options(gain, discount, ideal, case, k, clamp):
    options = {"gain": gain, "discount": discount, "ideal": ideal}
    metric = {"metric": "retrieval-ndcg-at-k", "clamp": clamp, **options}

    assert agrees(formulas.ndcg(*case, k, **options)) == engine_score(metric, case, k)


@pytest.mark.parametrize("ideal", IDEALS)
@given(case=cases())
def test_ndcg_without_a_cutoff_agrees(ideal, case):
    assert agrees(formulas.ndcg(*case, None, ideal=ideal)) == engine_score(f"ndcg(ideal={ideal})", case, 1)


@pytest.mark.parametrize("ideal", IDEALS)
@pytest.mark.parametrize("discount", DISCOUNTS)
@given(case=cases(), k=cutoffs())
def test_binary_ndcg_agrees_under_every_combination_of_options(discount, ideal, case, k):
    options = {"discount": discount, "ideal": ideal}

    assert agrees(formulas.ndcg_any(*case, k, **options)) == engine_score(
        {"metric": "retrieval-ndcg-any-at-k", **options}, case, k
    )


@pytest.mark.parametrize("ideal", IDEALS)
@given(case=cases(), k=cutoffs(), rel=st.sampled_from([0, 0.5, 1, 2, 2.75, 5]))
def test_binary_ndcg_agrees_under_every_threshold_of_relevance(ideal, case, k, rel):
    # The oracle's gain above 0 becomes the threshold by making the gold binary first.
    ranking, gold = case
    binary = {item: 1.0 if gain >= rel else 0.0 for item, gain in gold.items()}
    metric = {"metric": "retrieval-ndcg-any-at-k", "rel": rel, "ideal": ideal}

    assert agrees(formulas.ndcg(ranking, binary, k, ideal=ideal)) == engine_score(metric, case, k)


@given(case=cases())
def test_binary_ndcg_without_a_cutoff_agrees(case):
    assert agrees(formulas.ndcg_any(*case, None)) == engine_score("ndcg_any", case, 1)


@given(case=cases(), k=cutoffs(), max_grade=st.sampled_from([4, 4.5, 10]))
def test_err_agrees(case, k, max_grade):
    metric = {"metric": "retrieval-err-at-k", "max_grade": max_grade}

    assert agrees(formulas.err(*case, k, max_grade=max_grade)) == engine_score(metric, case, k)


@given(batch=st.lists(cases(), min_size=1, max_size=5), k=cutoffs(), size=st.integers(1, 5))
def test_err_with_the_grade_inferred_agrees(batch, k, size):
    assume(any(gold for _, gold in batch))
    samples = [
        {"id": str(place), "expected_output": {"relevant": gold}, "actual_output": ranking}
        for place, (ranking, gold) in enumerate(batch)
    ]
    top = max([0.0, *(gain for _, gold in batch for gain in gold.values())])

    (column,) = ENGINE.dataset(samples).with_metrics([f"err@{k}"]).run(batch_size=size).metrics.values()
    found = [None if math.isnan(value) else value for value in column.values.tolist()]

    assert [agrees(formulas.err(*case, k, max_grade=top)) for case in batch] == found


@given(case=cases(), k=cutoffs())
def test_judged_at_k_agrees_wherever_there_is_gold(case, k):
    # Convention: the oracle counts a ranking without any gold as judged by 0, the engine has nothing to say of it.
    expected = formulas.judged(*case, k) if case[1] else None

    assert agrees(expected) == engine_score("retrieval-judged-at-k", case, k)


@given(case=cases(graded=False), k=cutoffs())
def test_plain_list_scores_as_a_map_with_gains_of_one(case, k):
    ranking, gold = case

    for alias in ("retrieval-ndcg-at-k", "retrieval-precision-at-k", "retrieval-recall-all-at-k", "retrieval-map"):
        assert engine_score(alias, case, k) == engine_score(alias, (ranking, list(gold)), k)


@given(case=cases(), k=cutoffs())
def test_all_metrics_of_one_evaluation_agree_with_their_own(case, k):
    ranking, gold = case
    together = ("retrieval-hit-at-k", "retrieval-ndcg-at-k", "retrieval-mrr", "retrieval-f1-at-k")
    sample = {"id": "s", "expected_output": gold, "actual_output": ranking, "metadata": {"k": k}}
    found = ENGINE.dataset([]).with_metrics(together).score(sample)

    assert {alias: engine_score(alias, case, k) for alias in together} == {
        alias: score.value for alias, score in found.items()
    }


@pytest.mark.parametrize("metric", ["precision", "P", "recall", "hit", "f1", "err", "containment"])
def test_metric_that_needs_a_cutoff_cannot_be_asked_for_without(metric):
    # So the oracle's reading of "no cutoff" for these is not reachable.
    from rankgauge.errors import PlanError

    with pytest.raises(PlanError, match="needs a cutoff"):
        evaluation(metric).plan()


WORDS = st.sampled_from(["Bern", "BERN", "bern", "in", "straße", "STRASSE", "İ", "i̇", "Σς", "a", "ab", "ba", *IDS])
SPACES = st.sampled_from([" ", "  ", "\n", "\t ", "\u00a0", "\u2003", "\u3000", "\x1f", ""])
TEXTS = st.lists(st.tuples(SPACES, WORDS, SPACES), max_size=4).map(lambda parts: "".join(map("".join, parts)))
LETTERS = st.text(alphabet="aAbB ßs\n\u00a0", max_size=6)


@pytest.mark.parametrize("case_sensitive", [False, True])
@given(
    texts=st.lists(TEXTS | LETTERS, max_size=8),
    answers=st.lists((TEXTS | LETTERS).filter(str.strip), max_size=3),
    k=cutoffs(),
)
def test_containment_agrees(case_sensitive, texts, answers, k):
    # Ids differ, so that no text is dropped as a repeat; blank answers are refused by the contract.
    output = [{"id": str(place), "text": text} for place, text in enumerate(texts)]
    metric = {"metric": "answer-containment-at-k", "case_sensitive": case_sensitive}

    assert formulas.containment(texts, answers, k, case_sensitive=case_sensitive) == engine_score(
        metric, (output, {"answer": answers}), k
    )
