"""Diversity measures: the figures of pyndeval, by hand, and on every road."""

from __future__ import annotations

import json
import math

import pandas as pd
import polars as pl
import pytest

import rankgauge
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.errors import DataError, PlanError, RepeatedJudgmentsError

CATALOG = Catalog.discover(own_only=True)
GRADES = {"a": {"1": 1, "2": 1}, "b": {"1": 1}, "c": {"3": 1}, "d": {"4": 0}}
MEASURES = (
    *("alpha_nDCG@5", "alpha_DCG@5", "ERR_IA@5", "nERR_IA@5", "NRBP", "nNRBP", "AP_IA", "P_IA@5", "StRecall@5"),
)

PYNDEVAL = {
    ("a",): (0.694220328531309, 0.43903617816267976, 0.4841149773071105, 0.75, 1 / 2, 16 / 21, 1 / 2, 2 / 15, 2 / 3),
    ("x", "a"): (
        *(0.43800426080455496, 0.277000987697134, 0.24205748865355525, 0.375, 1 / 4, 8 / 21),
        *(1 / 4, 2 / 15, 2 / 3),
    ),
    ("b", "a"): (
        *(0.6756133598690708, 0.4272688298541904, 0.42360060514372166, 0.65625, 0.4375, 2 / 3),
        *(1 / 2, 3 / 15, 2 / 3),
    ),
    ("a", "b", "c"): (
        *(0.9772764758652751, 0.6180454696276333, 0.6253151790216844, 0.96875, 0.625, 20 / 21),
        *(7 / 9, 4 / 15, 1.0),
    ),
    ("c", "b", "a", "x"): (
        *(0.8264449178671729, 0.5226571497409118, 0.4841149773071105, 0.75, 0.46875, 5 / 7),
        *(23 / 36, 4 / 15, 1.0),
    ),
}
"""What pyndeval 0.0.8 gives for `GRADES`, in the order of `MEASURES`; no item serves the fourth intent."""


def relevant(grades=GRADES):
    return [
        {"id": name, "gain": gain, "intent": intent} for name, own in grades.items() for intent, gain in own.items()
    ]


def values(ranking, *metrics, expected=None):
    sample = {"id": "q", "expected_output": {"relevant": expected or relevant()}, "actual_output": list(ranking)}
    found = Engine(catalog=CATALOG).dataset([]).with_metrics(list(metrics)).score(sample)
    return [score.value for score in found.values()]


@pytest.mark.parametrize(("ranking", "expected"), PYNDEVAL.items())
def test_figures_of_pyndeval(ranking, expected):
    assert values(ranking, *MEASURES) == pytest.approx(list(expected), rel=1e-12)


def test_novelty_worked_out_by_hand():
    # b serves intent 1; a serves 1 again, at 1 - 0.3, and 2. The best order is a, then c.
    gain = 1 + 1.7 / math.log2(3)

    assert values(["b", "a"], "alpha_nDCG(alpha=0.3)@2") == pytest.approx([gain / (2 + 1 / math.log2(3))])
    assert values(["b", "a"], "alpha_nDCG(alpha=1)@2") == pytest.approx(
        [(1 + 1 / math.log2(3)) / (2 + 1 / math.log2(3))]
    )
    assert values(["b", "a"], "alpha_DCG@1") == pytest.approx([1 / 3])


def test_ground_truth_without_intents_has_one():
    assert values(["b", "a"], "StRecall@1", "P_IA@2", "AP_IA", expected=["a", "b"]) == [1.0, 1.0, 1.0]


def test_a_threshold_of_relevance_holds_for_each_intent():
    graded = relevant({"a": {"1": 1, "2": 2}, "b": {"1": 2}})

    assert values(["a", "b"], "StRecall(rel=2)@1", "StRecall@1", expected=graded) == [0.5, 1.0]


@pytest.mark.parametrize(("metric", "message"), [("NRBP(beta=1)", "beta"), ("alpha_nDCG(alpha=2)@5", "alpha")])
def test_parameters_out_of_bounds_are_refused(metric, message):
    with pytest.raises(PlanError, match=message):
        values(["a"], metric)


RUN = "q Q0 c 1 4 t\nq Q0 b 2 3 t\nq Q0 a 3 2 t\nq Q0 x 4 1 t\n"
QRELS = "".join(f"q {intent} {name} {grade}\n" for name, own in GRADES.items() for intent, grade in own.items())


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path / "qrels", tmp_path / "run"


def test_every_road_gives_the_same_numbers(files):
    qrels, run = files
    scores = {"q": {"c": 4.0, "b": 3.0, "a": 2.0, "x": 1.0}}
    roads = [rankgauge.evaluate(qrels, run, MEASURES), rankgauge.evaluate({"q": GRADES}, scores, MEASURES)]
    sample = {"id": "q", "expected_output": {"relevant": relevant()}, "actual_output": ["c", "b", "a", "x"]}
    roads.append(Engine(catalog=CATALOG).dataset([sample]).with_metrics(list(MEASURES)).run())

    for result in roads:
        assert [result[name].mean for name in MEASURES] == pytest.approx(list(PYNDEVAL["c", "b", "a", "x"]), rel=1e-12)


def test_other_measures_see_a_document_once_at_its_highest_grade(files):
    qrels, run = files
    qrels.write_text(QRELS + "q 3 b 2\n")
    result = rankgauge.evaluate(qrels, run, ["num_rel", "dcg@2", "StRecall@1"])

    assert result["num_rel"].mean == 3
    assert result["dcg@2"].mean == pytest.approx(1 + 2 / math.log2(3))
    assert rankgauge.evaluate(qrels, run, ["num_rel"])["num_rel"].mean == 3


def test_a_document_that_is_judged_twice_for_one_intent_is_refused(files):
    qrels, run = files
    qrels.write_text(QRELS + "q 1 a 0\n")

    for metric in ("StRecall@5", "P@5"):
        with pytest.raises(RepeatedJudgmentsError, match="judges document 'a' more than once"):
            rankgauge.evaluate(qrels, run, [metric])


@pytest.mark.parametrize("grades", [{"a": {"1": "x"}}, {"a": {}}, {"a": {"1": float("nan")}}, {"a": {1: 1}}])
def test_mappings_that_are_no_judgments_are_refused(grades):
    with pytest.raises(DataError, match="the judgments cannot be used"):
        rankgauge.evaluate({"q": grades}, {"q": {"a": 1.0}}, ["StRecall@5"])


def test_judgments_for_other_intents_have_another_fingerprint(files):
    qrels, run = files
    first = rankgauge.evaluate(qrels, run, ["StRecall@5"]).manifest["dataset"]["fingerprint"]
    qrels.write_text(QRELS.replace("q 2 a 1", "q 3 a 1"))

    assert rankgauge.evaluate(qrels, run, ["StRecall@5"]).manifest["dataset"]["fingerprint"] != first


def test_a_batch_is_taken_apart_with_its_intents():
    from rankgauge.judging import Target, judge
    from rankgauge.metrics.diversity import subtopic_recall
    from rankgauge.policy import PROFILES
    from rankgauge.samples import Sample, read_expected, read_output

    samples = [
        Sample("p", expected=read_expected(["z"]), output=read_output(["z"])),
        Sample("q", expected=read_expected({"relevant": relevant()}), output=read_output(["b"])),
    ]
    batch = judge(samples, Target("relevant"), PROFILES["default"]).judged

    assert subtopic_recall(batch.take([1, 0]), k=5).tolist() == [1 / 3, 1.0]


def test_the_greek_letter_is_understood():
    assert values(["a"], "\N{GREEK SMALL LETTER ALPHA}_nDCG@5") == values(["a"], "alpha_nDCG@5")


TABLE = [("q", name, intent, grade) for name, own in GRADES.items() for intent, grade in own.items()]


@pytest.mark.parametrize("intent", ["subtopic_id", "intent", "aspect"])
@pytest.mark.parametrize("form", ["parquet", "csv", "json", "polars", "arrow", "pandas"])
def test_tables_and_json_have_intents(files, tmp_path, form, intent):
    frame = pl.DataFrame(TABLE, schema=["query_id", "doc_id", intent, "relevance"], orient="row")
    if form == "parquet":
        frame = frame.with_columns(pl.col(intent).cast(pl.Int64))  # as numbers, which are their decimal texts
        frame.write_parquet(tmp_path / "qrels.parquet")
    elif form == "json":
        (tmp_path / "qrels.json").write_text(json.dumps({"q": GRADES}), encoding="utf-8")
    elif form == "csv":
        frame.write_csv(tmp_path / "qrels.csv")
    qrels = {
        "arrow": lambda: ArrowTable(frame),
        "pandas": lambda: pd.DataFrame(frame.to_dict(as_series=False)),
        "polars": lambda: frame,
    }.get(form, lambda: tmp_path / f"qrels.{form}")()
    columns = {"intent": intent} if intent == "aspect" else None
    found = rankgauge.evaluate(qrels, files[1], MEASURES, columns=columns)

    assert [found[name].mean for name in MEASURES] == pytest.approx(list(PYNDEVAL["c", "b", "a", "x"]), rel=1e-12)
    expected = rankgauge.evaluate(*files, MEASURES).manifest["dataset"]["fingerprint"]
    assert found.manifest["dataset"]["fingerprint"] == expected
    assert rankgauge.evaluate(qrels, files[1], ["num_rel"], columns=columns)["num_rel"].mean == 3


class ArrowTable:
    """A table of some library, which offers nothing but Arrow's stream."""

    def __init__(self, frame):
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        return self.frame.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("q", "a", "1", 1), ("q", "b", None, 1)], "row 1: the intent is missing"),
        ([("q", "a", "1", 1), ("q", "b", "", 1)], "row 1: the intent is empty"),
    ],
)
def test_an_intent_that_is_not_there_is_told_with_its_row(files, rows, message):
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "subtopic", "relevance"], orient="row")

    with pytest.raises(DataError, match=message):
        rankgauge.evaluate(frame, files[1], ["StRecall@5"])
    assert rankgauge.evaluate(frame, files[1], ["num_rel"])["num_rel"].mean == len(rows)  # nobody asked for intents


def test_a_row_of_a_table_judged_twice_for_one_intent_is_refused(files):
    frame = pl.DataFrame([*TABLE, TABLE[0]], schema=["query_id", "doc_id", "intent", "relevance"], orient="row")

    with pytest.raises(RepeatedJudgmentsError, match="judges document 'a' more than once"):
        rankgauge.evaluate(frame, files[1], ["StRecall@5"])


def test_a_column_of_intents_that_is_named_and_not_there_is_an_error(files):
    frame = pl.DataFrame(TABLE, schema=["query_id", "doc_id", "intent", "relevance"], orient="row")

    with pytest.raises(DataError, match="there is no column 'topics' for the intent"):
        rankgauge.evaluate(frame, files[1], ["StRecall@5"], columns={"intent": "topics"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"q": {"a": {"1": 1}, "b": 1}}', "q.b: .*expected an object of intents, as other documents have"),
        ('{"q": {"a": {"1": 1}, "b": {}}}', "q.b: .*found an empty one"),
        ('{"q": {"a": {"1": "x"}}, "r": 1}', "q.a.1: .*the grade must be a number, found the string 'x'"),
        ('{"q": {"a": {"1": 1, "1": 0}}}', "'1' is listed more than once"),
        ('{"": {"a": {"1": 1}}}', "an id is empty"),
    ],
)
def test_json_that_is_no_judgments_for_intents_is_refused(files, tmp_path, text, message):
    (tmp_path / "qrels.json").write_text(text, encoding="utf-8")

    with pytest.raises(DataError, match=message):
        rankgauge.evaluate(tmp_path / "qrels.json", files[1], ["StRecall@5"])
