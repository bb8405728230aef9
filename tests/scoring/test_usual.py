"""The usual metrics of one query in plain numbers are those of columns, to the last bit, and so are their details."""

import functools
import json
from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draws import draws, in_thorough_suite
from rankgauge import Engine
from rankgauge.columns.judged_rows import POSITIVE
from rankgauge.errors import RankgaugeError
from rankgauge.scoring import single
from rankgauge.scoring.usual import OneQuery, UsualMetric

USUAL = (
    "ndcg@3", "ndcg", "recall@2", "recall(rel=2)@3", "recall_all@3", "hit@1", "P@3", "P(rel=2)@2", "f1@3", "MRR",
    "RR@2", "AP", "AP@3", "retrieval-recall-at-k", "retrieval-ndcg-at-k",
)  # fmt: skip
OTHERS = ("ndcg(gain=exponential)@3", "AP(denominator=found)", "MRR(wanted=highest)", "judged@2", "ndcg_any@3")
NAMES = ("a", "b", "c", "d", "e", "f", "g")
TEXTS = tuple(f"the price of the {name} oven in Hamburg is twelve euros a day" for name in ("small", "old", "new"))


@st.composite
def samples(draw):
    """Draw a sample by id or by passages, some of them lacking something or repeating it."""
    grades = st.sampled_from([-1, 0, 1, 1, 2, 3, 0.5, 1e99, 1e300])
    gold = st.one_of(
        st.dictionaries(st.sampled_from(NAMES), grades, max_size=6),
        st.lists(st.sampled_from(NAMES), max_size=4),
    )
    retrieved = st.lists(st.sampled_from(NAMES), max_size=9, unique=draw(st.booleans()))
    expected = {"relevant": draw(gold)}
    if draw(st.integers(0, 3)) == 0:
        expected = {"passages": draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3))}
        some = st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3).map(" And so. ".join)
        item = st.one_of(some, some, st.just("nothing of the kind")).map(lambda text: {"text": text})
        odd = st.sampled_from([{"id": "x"}, {"id": "x", "text": ""}])
        retrieved = st.lists(st.one_of(item, item, item, odd) if draw(st.booleans()) else item, max_size=6)
    output = draw(st.one_of(retrieved, retrieved, retrieved, st.sampled_from([None, "no JSON", {"answer": "x"}])))
    metadata = draw(st.sampled_from([{}, {}, {"k": 1}, {"k": 4}, {"answerable": False}]))
    return {"id": "q", "expected_output": expected, "actual_output": output, "metadata": metadata}


PROFILES = ("default", "haystack", "trec10", "remem")
POLICIES = (
    {}, {}, {"duplicates": "keep"}, {"duplicates": "credit-once"}, {"order": "score"}, {"depth": 2}, {"no_gold": "one"},
    {"missing_output": "error"}, {"exclude_self": True},
)  # fmt: skip


@functools.cache
def evaluations(catalog, profile, policy, rel, matcher):
    """Return an evaluation of all metrics, the same in columns only, and one of those that are usual."""
    start = Engine(catalog=catalog).dataset([]).with_profile(profile, **POLICIES[policy])
    start = start.with_profile(start.profile.adapted({}, rel))
    start = start if matcher is None else start.with_matchers({"passages": matcher})
    everything, in_columns = (start.with_metrics([*USUAL, *OTHERS]) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(single.UsualMetric, "of", lambda _: None)
        assert in_columns._single.plan is in_columns.plan()  # made, and kept
    return everything, in_columns, start.with_metrics(USUAL)


def told(evaluation, sample, *, details):
    try:
        return repr(evaluation.score(sample, details=details))
    except RankgaugeError as error:
        return type(error), str(error)


@in_thorough_suite()
@given(
    sample=samples(),
    profile=st.sampled_from(PROFILES),
    policy=st.sampled_from(range(len(POLICIES))),
    rel=st.sampled_from([None, 2]),
    matcher=st.sampled_from([None, "passage", "chunk", "exact"]),
)
@settings(max_examples=draws(300))
def test_one_sample_has_the_scores_and_details_of_columns(catalog, sample, profile, policy, rel, matcher):
    everything, in_columns, usual = evaluations(catalog, profile, policy, rel, matcher)
    for details in (False, True):
        expected = told(in_columns, sample, details=details)
        assert told(everything, sample, details=details) == expected
        if isinstance(expected, str):  # where all are usual, nothing is judged in columns
            scores = in_columns.score(sample, details=details)
            assert {name: repr(score) for name, score in usual.score(sample, details=details).items()} == {
                name: repr(scores[name]) for name in (metric.name for metric in usual.plan().metrics)
            }


def test_scores_are_those_worked_out_by_hand():
    """Of a, b and c with 3, 1 and 2, b is found at rank 1 and c at rank 3."""
    query = OneQuery([3.0, 1.0, 2.0], [(1, 1.0), (3, 2.0)], POSITIVE)
    cutoffs = {"recall@2": 2, "p@3": 3, "f1@3": 3, "ap": None, "rr": None, "ndcg@3": 3, "hit@3": 3}
    plan = Engine().dataset([]).with_metrics([*cutoffs]).plan()
    dcg, ideal = 1 + 2 / log2(4), 3 + 2 / log2(3) + 1 / log2(4)
    said = [UsualMetric.of(metric).score(query, cutoffs[metric.name]) for metric in plan.metrics]
    values = [value for value, _ in said]
    assert values == pytest.approx([1 / 3, 2 / 3, 2 / 3, (1 + 2 / 3) / 3, 1, dcg / ideal, 1], abs=1e-15)
    assert json.loads(json.dumps(said[3][1])) == {"relevant_count": 3, "relevant_at": [1, 3]}


def test_what_is_not_usual_is_left_to_columns(catalog):
    plan = Engine(catalog=catalog).dataset([]).with_metrics([*OTHERS, "recall@100tok"]).plan()
    assert [UsualMetric.of(metric) for metric in plan.metrics] == [None] * 6
    deep = OneQuery([1.0], [(1 << 12, 1.0)], POSITIVE)
    (ndcg,) = Engine(catalog=catalog).dataset([]).with_metrics("ndcg").plan().metrics
    assert UsualMetric.of(ndcg).score(deep, None) is None


def test_two_results_of_one_rank_are_assigned_by_columns_unless_they_take_own_ranks():
    rows, both = [(1, 1.0), (1, 2.0)], [True, True]
    assert OneQuery([1.0, 2.0], rows, POSITIVE, is_first=both).earning is None
    assert OneQuery([1.0, 2.0], rows, POSITIVE, is_first=both, own_ranks=True).earning == [(1, 2.0), (2, 1.0)]
