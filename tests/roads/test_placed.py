"""Samples whose results are places come to the same as columns and one by one: scores to the last bit, and messages."""

from __future__ import annotations

import dataclasses
import json
from unittest import mock

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from draws import draws
from rankgauge import Engine, Policy
from rankgauge.engine.job import Job
from rankgauge.errors import PlanError, PolicyError, RankgaugeError
from rankgauge.io import datasets
from rankgauge.judging import by_span
from rankgauge.judging.by_span import SpanJudge
from rankgauge.judging.by_text import TextJudge
from rankgauge.judging.judge import IdJudge
from rankgauge.policy import PROFILES
from rankgauge.samples import SampleRules, read_placed, read_samples

METRICS = (
    *("span_recall@2", "span_recall(per=span)@3", "span_precision@2", "span_iou@4", "span_f1@1"),
    *("recall@2", "hit@1", "ndcg@3", "mrr"),
    *("recall(gold=spans)@3", "ap(gold=spans)", "hit(gold=spans)@1"),
)
DOCUMENTS = ("a", "b", "é")
SPANS = (
    *({"document": "a", "start": 2, "end": 9}, {"document": "a", "start": 5, "end": 12}),
    *({"document": "b", "start": 0, "end": 3, "grade": 2}, {"document": "a", "start": 2, "end": 9, "grade": 0}),
    *({"document": "é", "start": 4, "end": 5, "grade": -1}, {"document": "c", "start": 0, "end": 50, "text": "one"}),
)
ODD_GOLD = (
    *({"spans": []}, {"spans": [{"document": "a", "start": 3, "end": 3}]}, {"spans": None}, None, ["a"]),
    *({"spans": [{"document": "a", "start": 2, "end": 9, "mine": 1}]}, {"spans": [SPANS[0]], "answer": "one"}, {}),
    {"spans": [{"document": "a", "start": 2.0, "end": 9}]},
)
ODD_ITEMS = (
    *({"document": "a", "start": 4, "end": 1}, {"document": "a", "start": 1, "end": 4, "text": "one"}, {"id": "x"}),
    *({"document": "a", "start": 2.0, "end": 9}, {"document": "a", "start": 2}, {"document": "", "start": 0, "end": 2}),
    *({"document": "b", "start": 1, "end": 4, "text": "abc", "metadata": {"source": "a"}}, {}, "x", None),
    {"document": "a", "start": 0, "end": 2**60},
)
ODD_RECORDS = (
    *({"metadata": {"k": 1, "tags": ["t"]}}, {"metadata": {"answerable": False}}, {"metadata": {"k": 0}}),
    *({"metadata": {"asked_at": "2024-05-01"}}, {"actual_output": None}, {"actual_output": "["}, {"mine": 1}),
    *({"id": "q0"}, {"id": 5}, {"actual_output": []}),
)
PLACED = {
    "n": lambda number: {},
    "ids": lambda number: {"id": f"c{number % 3}"},
    "scores": lambda number: {"score": [2.0, 1.0, 1.0, 3.0][number % 4]},
    "keys": lambda number: {"mine": number, "rank": number},
}


@st.composite
def lines(draw):
    """Draw the lines of a file whose samples mostly have one form."""
    has_odd = draw(st.sampled_from([False, False, True]))
    seldom = st.integers(0, 12).map(lambda number: has_odd and not number)
    more = draw(st.lists(st.sampled_from(sorted(PLACED)), max_size=3))

    def item():
        start = draw(st.integers(0, 6))
        own = {"document": draw(st.sampled_from(DOCUMENTS)), "start": start, "end": start + draw(st.integers(0, 4))}
        for name in more:
            own |= PLACED[name](draw(st.integers(0, 3)))
        return draw(st.sampled_from(ODD_ITEMS)) if draw(seldom) else own

    found = []
    for number in range(draw(st.integers(1, 12))):
        items = [item() for _ in range(draw(st.integers(0, 5)))]
        record = {"id": f"q{number}", "input": "?"}
        record["expected_output"] = {"spans": draw(st.lists(st.sampled_from(SPANS), min_size=1, max_size=4))}
        record["actual_output"] = draw(st.sampled_from([items, {"retrieved": items}]))
        if draw(seldom):
            record["expected_output"] = draw(st.sampled_from(ODD_GOLD))
        if draw(seldom):
            record |= draw(st.sampled_from(ODD_RECORDS))
        found.append(json.dumps(record))
    return found


@st.composite
def profiles(draw):
    """Draw a profile: any policy, and all that decides about places."""
    options = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "duplicates": st.sampled_from(["first", "keep", "last", "best", "credit-once", "error"]),
                "order": st.sampled_from(["given", "score"]),
                "ties": st.sampled_from(["docno", "given", "average", "worst", "best", "error"]),
                "depth": st.sampled_from([1, 2, 3]),
                "judged_only": st.booleans(),
                "exclude_self": st.booleans(),
                "no_gold": st.sampled_from(["undefined", "zero", "one"]),
                "missing_output": st.sampled_from(["zero", "exclude", "error"]),
                "queries": st.sampled_from(["judged", "intersection"]),
                "excluded": st.just({"q1": {"c1"}}),
            },
        )
    )
    try:
        policy = Policy(**options)
    except PolicyError:
        assume(False)
        raise
    profile = draw(st.sampled_from(["default", "default", "default", *sorted(PROFILES)]))
    more = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "places": st.sampled_from(["checked", "given"]),
                "relevance": st.sampled_from(["positive", "listed", 2.0]),
                "missing_texts": st.sampled_from(["fail", "empty"]),
                "own_ranks": st.booleans(),
            },
        )
    )
    return dataclasses.replace(PROFILES[profile], policy=policy, **more)


def evaluated(path, wanted, profile):
    """Return an evaluation that can be planned."""
    evaluation = Engine().dataset(path).with_metrics(wanted).with_profile(profile)
    evaluation.plan()
    return evaluation


def outcome(path, wanted, profile, **how):
    """Return everything that a run finds out, or what is wrong."""
    evaluation = evaluated(path, wanted, profile)
    try:
        result = evaluation.run(**how)
    except RankgaugeError as error:
        return type(error), str(error), list(map(str, error.problems))
    columns = {
        name: (column.values.tobytes(), column.codes.tobytes(), column.reasons, column.details)
        for name, column in result.metrics.items()
    }
    manifest = {name: result.manifest.get(name) for name in ("places", "retrieved_ids", "outputs")}
    facts = result.sample_ids, result.tags, result.gold_keys.tolist(), result.notes
    return *facts, columns, manifest


@settings(max_examples=draws(200))
@given(
    drawn=lines(),
    wanted=st.lists(st.sampled_from(METRICS), min_size=1, max_size=3, unique=True),
    profile=profiles(),
    sizes=st.sampled_from([{"_BLOCK": 64}, {"_BLOCK": 64}, {"_BLOCK": 3, "_SMALLEST": 1}]),
    how=st.sampled_from([*[{}] * 4, {"details": True}, {"sketch_ids": True}, {"batch_size": 3}]),
)
def test_places_as_columns_find_what_single_samples_do(tmp_path_factory, drawn, wanted, profile, sizes, how):
    """A limit turns columns off, and nothing else."""
    path = tmp_path_factory.getbasetemp() / "samples.jsonl"
    path.write_text("\n".join(drawn), encoding="utf-8")
    try:
        evaluated(path, wanted, profile)
    except PlanError:  # ties that no metric over spans settles
        assume(profile.policy.ties not in {"average", "worst", "best"})
        raise
    with mock.patch.multiple(datasets, **sizes):
        assert outcome(path, wanted, profile, **how) == outcome(path, wanted, profile, **how, limit=10**6)


@given(drawn=lines(), contract=st.sampled_from([each.contract for each in PROFILES.values()]))
def test_a_block_has_the_samples_that_are_read_together(drawn, contract):
    records = list(map(json.loads, drawn))
    block = read_placed(records, SampleRules(contract))
    if block is not None:
        assert block.samples == read_samples(records, SampleRules(contract))
        assert repr(block.samples) == repr(read_samples(records, SampleRules(contract)))


def sample(number, *items, **more):
    """Return a sample with one gold span and results at some places."""
    retrieved = [{"document": name, "start": start, "end": end} for name, start, end in items]
    gold = {"spans": [{"document": "a", "start": 10, "end": 20}]}
    return {"id": f"q{number}", "expected_output": gold, "actual_output": {"retrieved": retrieved}, **more}


@pytest.fixture
def _without_label_doubts(monkeypatch):
    """They judge the first samples once more."""
    monkeypatch.setattr(Job, "_label_doubts", lambda *_: ())


@pytest.mark.usefixtures("_without_label_doubts")
def test_results_are_judged_as_columns(tmp_path, monkeypatch):
    """
    Of 10 characters 5 are covered at rank 2, and the rest by rank 3, which is at rank 2 once the repeat is dropped.

    With ``duplicates=keep`` the repeat keeps its rank. No sample is judged by itself.
    """
    data = [sample(n, ("b", 10, 20), ("b", 10, 20), ("a", 5, 15), ("a", 15, 30)) for n in range(70)]
    path = tmp_path / "samples.jsonl"
    path.write_text("\n".join(map(json.dumps, data)), encoding="utf-8")
    for judge in (SpanJudge, IdJudge, TextJudge):
        monkeypatch.setattr(judge, "add", mock.Mock(side_effect=AssertionError))
    evaluation = Engine().dataset(path).with_metrics(["span_recall@2", "span_recall@3", "recall@2"])
    assert [column.mean for column in evaluation.run().metrics.values()] == [0.5, 1, 1]
    kept = evaluation.with_profile(duplicates="keep").run()
    assert [column.mean for column in kept.metrics.values()] == [0, 0.5, 0]


@pytest.mark.usefixtures("_without_label_doubts")
@pytest.mark.parametrize("duplicates", ["last", "best", "credit-once", "error"])
def test_repeats_under_other_rules_are_judged_sample_by_sample(tmp_path, duplicates):
    """The same place twice, of which the rule keeps one: the columns do not know which."""
    scored = [
        {"document": "a", "start": 10, "end": 20, "score": 0.5},
        {"document": "b", "start": 1, "end": 2, "score": 0.4},
    ]
    data = [{**sample(n), "actual_output": [*scored, scored[n % 2]]} for n in range(3)]
    path = tmp_path / "samples.jsonl"
    path.write_text("\n".join(map(json.dumps, data)), encoding="utf-8")
    profile = dataclasses.replace(PROFILES["default"], policy=Policy(duplicates=duplicates))
    with mock.patch.object(SpanJudge, "add", autospec=True, side_effect=SpanJudge.add) as one_by_one:
        found = outcome(path, ["span_recall@2", "recall(gold=spans)@1"], profile)
    assert one_by_one.call_count == 1
    assert found == outcome(path, ["span_recall@2", "recall(gold=spans)@1"], profile, limit=10**6)


def test_more_pairs_than_fit_into_memory_are_met_one_by_one(tmp_path, monkeypatch):
    """Of 3 results in a document with 1 gold span that makes 3 pairs a sample."""
    path = tmp_path / "samples.jsonl"
    data = [sample(n, ("a", 0, 12), ("a", 12, 15), ("a", 40, 50)) for n in range(2)]
    path.write_text("\n".join(map(json.dumps, data)), encoding="utf-8")
    whole = outcome(path, METRICS, PROFILES["default"])
    monkeypatch.setattr(by_span, "_MOST_PAIRS", 5)
    with mock.patch.object(SpanJudge, "add", autospec=True, side_effect=SpanJudge.add) as one_by_one:
        assert outcome(path, METRICS, PROFILES["default"]) == whole
    assert one_by_one.called


def test_repeats_of_samples_without_gold_count_whatever_is_read_together(tmp_path):
    """Each of 9 samples has one place twice; 8 have no gold, and the one that has some is read with 0 to 8 of them."""
    repeated = [("a", 5, 15), ("b", 1, 2), ("a", 5, 15)]
    path = tmp_path / "samples.jsonl"
    for labelled in (0, 4, 8):
        data = [sample(n, *repeated) for n in range(9)]
        for each in data[:labelled] + data[labelled + 1 :]:
            each["expected_output"] = {"spans": []}
        path.write_text("\n".join(map(json.dumps, data)), encoding="utf-8")
        for size in (1, 2, 64):
            with mock.patch.object(datasets, "_BLOCK", size):
                result = Engine().dataset(path).with_metrics("hit@1").with_profile(depth=1, max_failed=1.0).run()
            assert any(note.startswith("9 retrieved items were dropped") for note in result.notes)
