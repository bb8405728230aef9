"""Closed forms over tied results against the mean over every order of the ties, one by one."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import in_thorough_suite, some
from rankgauge import Engine, Policy
from rankgauge.catalog import Catalog
from rankgauge.errors import PlanError, PolicyError
from rankgauge.policy import PROFILES
from tables import rows

CATALOG = Catalog.discover(own_only=True)
ENGINE = Engine(catalog=CATALOG)
CLOSED = [
    alias
    for alias, claim in CATALOG.metrics.items()
    if claim.declaration.over_ties is not None
    and not claim.declaration.judging.needs  # those that read scores are the same in every order of a tie
    and not claim.declaration.needs_max_grade  # below, with one
]
OPEN = [
    alias
    for alias, claim in CATALOG.metrics.items()
    if claim.declaration.over_ties is None and "relevant" in claim.declaration.judging.gold
]
SPECS = [
    *(alias for alias in CLOSED if CATALOG.metrics[alias].declaration.cutoff.kind in {"none", "optional"}),
    *(
        f"{alias}@{k}"
        for alias in CLOSED
        for k in (1, 2, 3, 5, 9)
        if CATALOG.metrics[alias].declaration.cutoff.kind != "none"
    ),
    "ndcg",
    "ndcg_any",
    "ndcg(gain=exponential)@3",
    "ndcg(ideal=retrieved)@3",
    "ndcg(ideal=undiscounted)@3",
    "ndcg(discount=log2-from-2)@2",
    'ndcg(gains="1=3,2=9")',
    "set_F(beta=2)",
    "rbp(p=0.5)@3",
    "rbp_resid(p=0.5)",
    "recall_all(count=listed)@3",
    "AP(denominator=found)",
    *(
        f"AP(denominator={choice})@{k}"
        for choice in ("found", "at-most-k", "k", "at-most-retrieved")
        for k in (1, 2, 3, 4, 5)
    ),
    *(f"P(denominator=retrieved)@{k}" for k in (2, 9)),
    "dcg(discount=rank, gain=binary)@3",
    "rbp(normalize=true, p=0.5)@3",
    "RR(wanted=highest)@3",
    "Rprec@2",
    *(f"AUC(pairless=by-hits)@{k}" for k in (1, 2, 3)),
    *(f"err(max_grade=3)@{k}" for k in (1, 2, 3, 5, 9)),
    "err(max_grade=2)@3",
    "err(labels=probabilities, max_grade=1)@3",
    *(f"SDCG(max_grade=3)@{k}" for k in (1, 3, 9)),
    "SDCG(min_grade=1, max_grade=2)@3",
    "PFound(going_on=0.5)@3",
]

AVERAGE = dataclasses.replace(PROFILES["trec10"], policy=dataclasses.replace(PROFILES["trec10"].policy, ties="average"))
ONE_ORDER = dataclasses.replace(PROFILES["trec10"], policy=Policy(no_gold="zero"))


@functools.cache
def evaluation(profile: str) -> Any:
    return ENGINE.dataset([]).with_metrics(SPECS).with_profile({"average": AVERAGE, "one": ONE_ORDER}[profile])


def orders(groups: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    for chosen in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [name for group in chosen for name in group]


def check(groups: Sequence[Sequence[str]], gold: dict[str, float]) -> None:
    """Compare every closed form with the mean over every order of the groups."""
    expected = {"relevant": gold}
    ranked = [{"id": name, "score": float(len(groups) - place)} for place, group in enumerate(groups) for name in group]
    found = evaluation("average").score({"id": "q", "expected_output": expected, "actual_output": ranked})
    samples = [
        {"id": f"{place}", "expected_output": expected, "actual_output": order}
        for place, order in enumerate(orders(groups))
    ]
    every = dataclasses.replace(evaluation("one"), data=ENGINE.dataset(samples).data).run()
    for name, score in found.items():
        assert score.status in {"scored", "undefined"}, score.reason
        values = [value for value in every[name].values.tolist() if not math.isnan(value)]
        mean = math.fsum(values) / len(values) if values else 0.0  # over the orders that have a value
        assert score.value is None or score.value == pytest.approx(mean, rel=1e-12, abs=1e-12), name
        assert score.value is not None or mean == 0.0


@pytest.mark.parametrize(
    "groups",
    some(
        [
            ["abcx"],
            ["x", "abzy"],
            ["ax", "by", "cz"],
            ["xyz", "abc"],
            ["abcde"],
            ["x"],
            ["a", "b", "xc"],
            ["xyab", "cd"],
        ]
    ),
)
def test_expectation_is_the_mean_over_all_orders(groups):
    check(groups, {"a": 2, "b": 1, "c": 1, "d": 0, "e": -1, "never": 3})


ITEMS = st.permutations([*"abcdexyz"])


@in_thorough_suite()
@given(
    items=ITEMS,
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=3).filter(lambda sizes: sum(sizes) <= 7),
    grades=st.lists(st.integers(-1, 3), min_size=6, max_size=6),
)
def test_expectation_is_the_mean_over_all_orders_of_drawn_rankings(items, sizes, grades):
    ends = list(itertools.accumulate(sizes))
    groups = [items[end - size : end] for end, size in zip(ends, sizes, strict=True)]

    check(groups, dict(zip([*"abcde", "never"], grades, strict=True)))


def test_values_worked_out_by_hand():
    # Three results of one score, one of them relevant: it stands at 1, 2 or 3 with probability 1/3 each.
    sample = {"id": "q", "expected_output": {"a": 1}}
    sample["actual_output"] = [{"id": name, "score": 1.0} for name in "axy"]
    score = ENGINE.dataset([]).with_metrics(["RR", "AP", "P@1", "hit@2", "ndcg"]).with_profile(AVERAGE).score(sample)

    values = {name: found.value for name, found in score.items()}
    assert values["rr"] == pytest.approx(11 / 18)
    assert values["ap"] == pytest.approx(11 / 18)
    assert values["p@1"] == pytest.approx(1 / 3)
    assert values["hit@2"] == pytest.approx(2 / 3)
    assert values["ndcg"] == pytest.approx((1 + 1 / math.log2(3) + 1 / 2) / 3)


def test_a_reader_who_stops_and_measures_of_tied_scores_by_hand():
    # a satisfies with 3/4 and b with 1/4: first at 1 (half of the orders), then at 2 if the other one did not satisfy
    sample = {"id": "q", "expected_output": {"a": 2, "b": 1}}
    sample["actual_output"] = [{"id": name, "score": 1.0} for name in "ab"]
    names = ["err(max_grade=2)@2", "SDCG(max_grade=2)@2", "tied_ndcg@2", "LRAP", "PFound(going_on=0.5)"]
    score = ENGINE.dataset([]).with_metrics(names).with_profile(AVERAGE).score(sample)

    values = [found.value for found in score.values()]
    weights = 1 + 1 / math.log2(3)
    err = ((3 / 4 + 1 / 4 * 1 / 4 / 2) + (1 / 4 + 3 / 4 * 3 / 4 / 2)) / 2
    assert values == pytest.approx([err, 3 / 4, 1.5 * weights / (2 + 1 / math.log2(3)), 1.0, 1.0])


def test_a_long_tie_of_one_score_has_the_expectation_of_a_shuffle():
    """One of a thousand results satisfies with certainty: it stands at each rank with the same probability."""
    ranked = [{"id": f"d{place}", "score": 0.0} for place in range(1000)]
    sample = {"id": "q", "expected_output": {"d7": 1}, "actual_output": ranked}
    metrics = ["err(labels=probabilities, max_grade=1)@10", "SDCG(max_grade=1)@10"]
    err, sdcg = ENGINE.dataset([]).with_metrics(metrics).with_profile(AVERAGE).score(sample).values()

    assert err.value == pytest.approx(math.fsum(1 / rank for rank in range(1, 11)) / 1000)
    assert sdcg.value == pytest.approx(1 / 1000)


def test_rankings_without_ties_score_to_the_last_bit_as_ever():
    ranked = [{"id": name, "score": float(-place)} for place, name in enumerate("xaybzcd")]
    sample = {"id": "q", "expected_output": {"a": 3, "b": 1, "d": 2, "z": 0}, "actual_output": ranked}
    usual = ENGINE.dataset([]).with_metrics(SPECS).with_profile("trec10").score(sample)
    averaged = evaluation("average").score(sample)

    for name in ("retrieval-map", "retrieval-mrr", "ndcg", "ndcg@5", "p@3", "recall@5", "hit@3"):
        assert usual[name].value == averaged[name].value


def test_batch_does_not_change_an_expectation():
    samples = [
        {"id": f"{n}", "expected_output": {"a": 1, "b": 2}, "actual_output": [{"id": c, "score": n % 3} for c in names]}
        for n, names in enumerate(["abx", "xyab", "zzz"[:1] + "a", "b", "qwertyuab"])
    ]
    one = dataclasses.replace(evaluation("average"), data=ENGINE.dataset(samples).data)

    whole, single = one.run(), one.run(batch_size=1)
    for name, column in whole.metrics.items():
        assert column.values.tobytes() == single[name].values.tobytes()


@rows("alias", OPEN)
def test_plan_refuses_by_name_what_has_no_closed_form(alias):
    with pytest.raises(PlanError, match=f"metric '{alias}' declares none"):
        ENGINE.dataset([]).with_metrics([alias]).with_profile(AVERAGE).plan()


def test_plan_refuses_what_is_judged_by_text():
    with pytest.raises(PlanError, match="ties=average is for judging by id"):
        ENGINE.dataset([]).with_metrics(["recall(gold=passages)@5"]).with_profile(AVERAGE).plan()


@pytest.mark.parametrize("options", [{"depth": 3}, {"duplicates": "keep"}, {"duplicates": "credit-once"}])
def test_policy_refuses_what_has_no_closed_form(options):
    with pytest.raises(PolicyError, match="ties=average has no closed form"):
        Policy(order="score", ties="average", **options)


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("ndcg(ideal=retrieved-at-k)@3", "ideal=retrieved-at-k has no closed form over the orders of ties"),
        ("ndcg(clamp=true)@3", "clamp=true has no closed form"),
        ("ndcg_any(ideal=retrieved-at-k)@3", "ideal=retrieved-at-k has no closed form"),
    ],
)
def test_plan_refuses_parameters_without_a_closed_form(metric, reason):
    with pytest.raises(PlanError, match=reason):
        ENGINE.dataset([]).with_metrics([metric]).with_profile(AVERAGE).plan()


@pytest.mark.parametrize(("k", "expected"), [("", 3 / 4), ("@1", 1 / 2), ("@2", 3 / 4)])
def test_precision_over_what_was_found_varies_with_what_a_cutoff_parts(k, expected):
    # One of two tied results is relevant: it stands at 1 (precision 1) or at 2 (1/2); at 2 it is not within rank 1.
    sample = {"id": "q", "expected_output": {"a": 1, "never": 1}}
    sample["actual_output"] = [{"id": name, "score": 1.0} for name in "ax"]
    metric = f"AP(denominator=found){k}"
    (found,) = ENGINE.dataset([]).with_metrics([metric]).with_profile(AVERAGE).score(sample).values()

    assert (found.status, found.value) == ("scored", expected)


def test_error_fails_only_the_sample_whose_tie_matters():
    policy = Policy(order="score", ties="error")
    tied = {"id": "q", "expected_output": {"a": 1}, "actual_output": [{"id": name, "score": 1} for name in "ab"]}
    alike = {"id": "r", "expected_output": {"z": 1}, "actual_output": [{"id": name, "score": 1} for name in "ab"]}
    column = ENGINE.dataset([tied, alike]).with_metrics(["RR"]).with_profile(policy).run()["RR"]

    assert ["failed", "scored"] == [column.status(0), column.status(1)]
    assert "document 'a' has the same score as documents that earn differently (ranks 1 to 2)" in column.reasons[0]
