"""A few queries in dictionaries come to the same result as in columns, at first and again from what is remembered."""

import dataclasses
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankgauge
from draws import in_thorough_suite
from rankgauge import kernel
from rankgauge.engine.run_result import FewEvaluator
from rankgauge.engine.runs import plan_run
from rankgauge.errors import NothingToEvaluateError
from rankgauge.policy import PROFILES
from roads.case import METRICS, cases
from roads.road import as_mappings, in_columns
from tables import rows

WANTED = (*METRICS, "recall_100", "judged@2", "num_ret", "infap", "iprec_at_recall_0.3", "ndcg(gain=exponential)@2")


@st.composite
def profiles(draw):
    """Draw conventions under which a few queries are judged one by one."""
    policy = dataclasses.replace(
        PROFILES["trec10"].policy,
        score_dtype=draw(st.sampled_from(["float64", "float32"])),
        queries=draw(st.sampled_from(["judged", "judged", "intersection"])),
        duplicates=draw(st.sampled_from(["first", "credit-once", "keep", "error"])),
        no_gold=draw(st.sampled_from(["undefined", "zero"])),
        missing_output=draw(st.sampled_from(["zero", "exclude"])),
        failed_output=draw(st.sampled_from(["zero", "exclude"])),
    )
    relevance = draw(st.sampled_from(["positive", "listed", 0.0, 1.0, 2.0]))
    negatives = draw(st.sampled_from(["judged", "unjudged"]))
    return dataclasses.replace(PROFILES["trec10"], policy=policy, relevance=relevance, negatives=negatives)


def everything(result):
    """Return all that a result says, with scores to the last bit, but for the time at which it was made."""
    columns = {
        name: (column.info, column.values.tobytes(), column.codes.tolist(), dict(column.reasons), column.mean)
        for name, column in result.metrics.items()
    }
    manifest = {name: value for name, value in result.manifest.items() if name != "created_at"}
    return (
        result.sample_ids, result.tags, columns, manifest, result.settings, result.notes, result.gold_keys.tolist(),
        result.is_incomplete, result.unscored,
    )  # fmt: skip


@given(case=cases(), profile=profiles())
def test_few_queries_come_to_the_result_of_columns(catalog, case, profile):
    left = case._replace(profile=profile, wanted=METRICS).without(
        {query.name for query in case.queries if query.has_repeats}
    )
    qrels, run = as_mappings(left)
    how = {"profile": profile, "catalog": catalog}
    expected = everything(in_columns(qrels, run, WANTED, **how))
    for _ in range(2):
        assert everything(rankgauge.evaluate(qrels, run, WANTED, **how)) == expected
    results = FewEvaluator.of(plan_run(WANTED, **how)).evaluate(qrels, {"run": run})
    lacks_some = any(judged and query not in run for query, judged in qrels.items())
    if profile.policy.queries == "intersection" and lacks_some:
        assert results is None  # columns leave out what the run lacks
    else:
        assert everything(results["run"]) == expected  # so these were few above, too


@in_thorough_suite()
def test_every_metric_scores_a_query_alone_as_among_others(catalog):
    """Two hundred queries with up to thirty results and ten judgments each, in columns and then one by one."""
    chance = random.Random(7)  # noqa: S311  # no secret
    documents = [f"d{number}" for number in range(40)]
    qrels = {
        f"q{number}": {
            document: chance.randrange(-1, 4) for document in chance.sample(documents, chance.randint(1, 10))
        }
        for number in range(200)
    }
    run = {
        query: {document: chance.random() for document in chance.sample(documents, chance.randint(1, 30))}
        for query in qrels
    }
    by_id = [
        claim.declaration for claim in catalog.metrics.values() if claim.declaration.judging.gold[:1] == ("relevant",)
    ]
    usual = [metric for metric in by_id if not (metric.judging.needs or metric.is_whole)]
    wanted = [{"metric": metric.alias, **({"max_grade": 3} if metric.needs_max_grade else {})} for metric in usual]
    assert len(wanted) > 50
    few = FewEvaluator.of(plan_run(wanted, catalog=catalog))
    columns = in_columns(qrels, run, wanted, catalog=catalog)
    for place, query in enumerate(columns.sample_ids):
        (alone,) = few.evaluate({query: qrels[query]}, {"run": {query: run[query]}}).values()
        for name, column in columns.metrics.items():
            same = alone.metrics[name].values.tobytes() == column.values[place : place + 1].tobytes()
            assert same, (query, name, alone.metrics[name].values, column.values[place])


QRELS = {"q2": {"a": 1, "b": 0}, "q1": {"a": 2}}
RUN = {"q1": {"a": 1.0, "c": 2.0}, "q2": {"b": 1.0}}
UNUSUAL = {
    "judgments of another kind": ([], RUN),
    "a query id that is no text": ({7: {"a": 1}, "q1": {"a": 1}}, RUN),
    "judgments of a query of another kind": ({"q1": [("a", 1)]}, RUN),
    "a judged document that is no text": ({"q1": {7: 1}}, RUN),
    "a grade that is no number": ({"q1": {"a": "1"}}, RUN),
    "a grade that is true": ({"q1": {"a": True}}, RUN),
    "a grade that is not finite": ({"q1": {"a": float("inf")}}, RUN),
    "a grade that no float holds": ({"q1": {"a": 10**400}}, RUN),
    "zeros with a sign": ({"q1": {"a": -0.0, "b": 0.0, "c": 1.0}}, RUN),
    "intents": ({"q1": {"a": {"1": 1}}}, RUN),
    "no judgments": ({}, RUN),
    "a run of another kind": (QRELS, []),
    "an id of a run that is no text": (QRELS, {**RUN, 7: {"a": 1.0}}),
    "a ranking of another kind": (QRELS, {"q1": ["a"]}),
    "a ranking of another kind that is not judged": (QRELS, {**RUN, "q3": None}),
    "a document that is no text": (QRELS, {"q1": {7: 1.0}}),
    "a tied document that is no text": (QRELS, {"q1": {"a": 1.0, 7: 1.0}}),
    "a tied document that is no text, and stands first": (QRELS, {"q1": {7: 1.0, "a": 1.0}}),
    "a score that is whole": (QRELS, {"q1": {"a": 2**53, "c": 2**53 + 1}}),
    "a score that is a numpy float": (QRELS, {"q1": {"a": np.float32(0.1), "c": 0.1}}),
    "a score that is not a number": (QRELS, {"q1": {"a": float("nan")}}),
    "a score that is not finite": (QRELS, {"q1": {"a": float("inf")}}),
    "no query in common": (QRELS, {"q3": {"a": 1.0}}),
    "no results": (QRELS, {"q1": {}}),
    "no queries": (QRELS, {}),
}


@rows(("qrels", "run"), UNUSUAL.values(), ids=UNUSUAL.keys())
def test_what_is_unusual_is_left_to_columns_with_the_same_outcome(catalog, qrels, run):
    def told(evaluate):
        try:
            return everything(evaluate(qrels, run, ["RR", "ndcg@3"], catalog=catalog))
        except rankgauge.RankgaugeError as error:
            return type(error), str(error)

    assert told(rankgauge.evaluate) == told(in_columns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "_loaded", lambda: None)  # which takes some of them
        few = FewEvaluator.of(plan_run(["RR", "ndcg@3"], catalog=catalog))
    assert few.evaluate(qrels, {"run": run}) is None


def test_a_document_that_is_no_text_is_told_where_it_is_tied(catalog):
    """Elsewhere behind the first result it is as good as any other that nobody judged."""
    with pytest.raises(rankgauge.RankgaugeError, match="the document id 7 is an int"):
        rankgauge.evaluate(QRELS, {"q1": {"a": 1.0, 7: 1.0}}, "RR", catalog=catalog)
    assert rankgauge.evaluate(QRELS, {"q1": {"a": 1.0, 7: 2.0}}, "RR", catalog=catalog)["RR"].mean == 0.25


def test_one_run_that_is_not_plain_leaves_all_runs_to_columns(catalog):
    with pytest.raises(NothingToEvaluateError, match="0 of 2 query ids overlap"):
        rankgauge.evaluate(QRELS, runs={"good": RUN, "other": {"q9": {"a": 1.0}}}, metrics="RR", catalog=catalog)


@pytest.mark.parametrize("count", [1, 300])
def test_ties_go_by_bytes_also_between_ids_that_are_not_text(count, tmp_path):
    """Byte 80, a lone surrogate in Python, is below c3, the first byte of é: by bytes, descending, it comes second."""
    names = [f"q{number}" for number in range(count)]
    (tmp_path / "qrels").write_bytes(b"".join(b"%s 0 \x80 1\n" % name.encode() for name in names))
    lines = (b"%s Q0 %s 1 0.5 t\n" % (name.encode(), document) for name in names for document in (b"\x80", b"\xc3\xa9"))
    (tmp_path / "run").write_bytes(b"".join(lines))
    files = rankgauge.evaluate(tmp_path / "qrels", tmp_path / "run", "RR")
    qrels = {name: {"\udc80": 1} for name in names}
    memory = rankgauge.evaluate(qrels, {name: {"\udc80": 0.5, "é": 0.5} for name in names}, "RR")
    assert files["RR"].values.tolist() == memory["RR"].values.tolist() == [0.5] * count
