"""Scores that other tools computed: read as what they are, compared as far as their names go, and refused in doubt."""

# ruff: noqa: PD011  # the values of a column, which is no pandas object

import json
import math
from collections import namedtuple
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from rankgauge import Catalog, compare, evaluate, judge_gates, load_baseline, load_scores, save_baseline
from rankgauge.errors import DataError, ParameterError, ResultError

TREC_EVAL = """\
num_ret               \tq1\t3
map                   \tq1\t0.5000
ndcg_cut_10           \tq1\t0.6309
num_ret               \tq2\t2
map                   \tq2\t0.2500
ndcg_cut_10           \tq2\t0.4307
runid                 \tall\tbm25
num_q                 \tall\t2
num_ret               \tall\t5
map                   \tall\t0.3750
ndcg_cut_10           \tall\t0.5308
"""
IR_MEASURES = "q1\tAP\t0.5000\nq1\tnDCG@10\t0.6309\nq2\tAP\t0.2500\nq2\tnDCG@10\t0.4307\nall\tAP\t0.3750\n"
LONG = [
    {"query_id": "q1", "measure": "AP", "value": 0.5},
    {"query_id": "q1", "measure": "nDCG@10", "value": 0.6309},
    {"query_id": "q2", "measure": "AP", "value": 0.25},
    {"query_id": "q2", "measure": "nDCG@10", "value": 0.4307},
]
WIDE = [{"qid": "q1", "map": 0.5, "ndcg_cut_10": 0.6309}, {"qid": "q2", "map": 0.25, "ndcg_cut_10": 0.4307}]
NESTED = {"q1": {"map": 0.5, "ndcg_cut_10": 0.6309}, "q2": {"map": 0.25, "ndcg_cut_10": 0.4307}}


def written(tmp_path: Path, name: str, content: str) -> Path:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return path


def csv_of(rows: list[dict], separator: str = ",") -> str:
    lines = [separator.join(rows[0]), *(separator.join(map(str, row.values())) for row in rows)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.trec_eval", TREC_EVAL),
        ("a.txt", IR_MEASURES),
        ("a.txt", IR_MEASURES.replace("\t", " ")),
        ("a.csv", csv_of(LONG)),
        ("a.tsv", csv_of(LONG, "\t")),
        ("a.csv", csv_of(WIDE)),
        ("a.csv", pd.DataFrame(WIDE).to_csv()),  # with the index
        ("a.json", json.dumps(LONG)),
        ("a.jsonl", "".join(f"{json.dumps(row)}\n" for row in LONG)),
        ("a.out", "".join(f"{json.dumps(row)}\n" for row in LONG)),
        ("a.json", json.dumps(WIDE)),
        ("a.json", json.dumps(NESTED)),
    ],
)
def test_a_file_is_read_as_what_it_is(tmp_path, name, content):
    (result,) = load_scores(written(tmp_path, name, content)).values()
    assert result.sample_ids == ("q1", "q2")
    assert result["AP"].values.tolist() == [0.5, 0.25]
    assert result["map"].mean == 0.375
    assert result["ndcg@10"].values.tolist() == [0.6309, 0.4307]
    assert result["ndcg_cut_10"].info.higher_is_better
    assert result.gold_keys is None


def test_parquet_and_values_in_python_are_the_same(tmp_path):
    Metric = namedtuple("Metric", ["query_id", "measure", "value"])  # noqa: PYI024  # as ir_measures has it

    class ArrowTable:
        __arrow_c_stream__ = pl.DataFrame(LONG).__arrow_c_stream__

    pl.DataFrame(LONG).write_parquet(tmp_path / "a.parquet")
    given = [
        tmp_path / "a.parquet",
        NESTED,
        WIDE,
        pd.DataFrame(LONG),
        pl.DataFrame(WIDE),
        ArrowTable(),
        [Metric(row["query_id"], row["measure"], row["value"]) for row in LONG],
    ]
    for source in given:
        (result,) = load_scores(source, name="bm25").values()
        assert result["AP"].values.tolist() == [0.5, 0.25]
    assert list(load_scores(NESTED)) == ["scores"]
    assert list(load_scores(tmp_path / "a.parquet")) == ["a.parquet"]


def test_a_frame_of_several_systems_gives_a_result_for_each(tmp_path):
    rows = [
        {"name": name, "qid": f"q{place}", "measure": "map", "value": value}
        for name, values in (("bm25", (0.25, 0.5)), ("dense", (0.5, 0.25)))
        for place, value in enumerate(values)
    ]
    for source in (pd.DataFrame(rows), written(tmp_path, "x.csv", csv_of(rows))):
        results = load_scores(source)
        assert list(results) == ["bm25", "dense"]
        assert results["dense"]["map"].values.tolist() == [0.5, 0.25]
    with pytest.raises(ParameterError, match="of 2 systems, which have names: bm25, dense; leave out name='x'"):
        load_scores(rows, name="x")


def test_the_comparison_is_that_of_the_same_scores_computed_here():
    """Seven of twelve queries are won and none is lost: p is 2 / 2**7."""
    queries = [f"q{place:02}" for place in range(12)]
    qrels = {query: {"a": 1} for query in queries}
    runs = [{query: {"a" if place < hits else "x": 1.0} for place, query in enumerate(queries)} for hits in (3, 10)]
    ours = compare({"base": evaluate(qrels, runs[0], "P@1"), "new": evaluate(qrels, runs[1], "P@1")})
    given = [{query: {"P_1": float(place < hits)} for place, query in enumerate(queries)} for hits in (3, 10)]
    base, new = (load_scores(each)["scores"] for each in given)
    theirs = compare({"base": base, "new": new})
    own, its = ours["new"]["p@1"], theirs["new"]["p@1"]
    assert its.p == 2 / 2**7
    assert (its.difference, its.interval, its.p, its.wins) == (own.difference, own.interval, own.p, own.wins)
    mixed = compare({"base": evaluate(qrels, runs[0], "P@1"), "new": new})["new"]
    assert mixed["p@1"].p == 2 / 2**7
    assert any("another tool computed the scores of new: their judgments" in note for note in mixed.notes)


def test_measures_of_two_tools_meet_by_what_they_mean(tmp_path):
    one = load_scores(written(tmp_path, "one.trec_eval", TREC_EVAL))
    two = load_scores(written(tmp_path, "two.txt", IR_MEASURES))
    found = compare(one | two)["two.txt"]
    assert list(found.metrics) == ["map", "ndcg@10"]
    assert found["ndcg@10"].difference == 0.0
    said = "\n".join(found.notes)
    assert "num_ret is a sum over samples, and only means are compared; left out" in said
    assert "scores have 4 decimals, so differences of 0.0001 may be rounding" in said


def test_queries_that_a_file_leaves_out_are_said_with_what_they_would_change():
    """Only q3 differs, where the other run returned nothing: as 0 it makes the change (0.2 + 0.1) / 3 - 1.2 / 3."""
    base = load_scores({"q1": {"map": 0.1}, "q2": {"map": 0.2}, "q3": {"map": 0.9}})["scores"]
    new = load_scores({"q1": {"map": 0.2}, "q2": {"map": 0.1}})["scores"]
    found = compare({"base": base, "new": new})["new"]
    assert found["map"].difference == pytest.approx(0.0, abs=1e-15)
    assert found["map"].dropped["only_in_baseline"] == 1
    (note,) = [note for note in found.notes if note.startswith("new has no score of")]
    assert "1 query, such as 'q3'" in note
    assert "the change is then map -0.3000" in note
    back = compare({"new": new, "base": base})["base"]
    assert any("the change is then map +0.3000" in note for note in back.notes)


def test_what_cannot_be_known_of_zeros_gaps_and_means_is_said(tmp_path):
    content = (
        "AP q1 0.0\nnDCG@10 q1 0.0\nAP q2 0.5\nnDCG@10 q2 nan\nAP q3 0.25\nnDCG@10 q3 0.5\n"
        "AP all 0.1875\nnum_q all 4\n"  # over a fourth query as 0, as trec_eval -c has it
    )
    (result,) = load_scores(written(tmp_path, "a.txt", content)).values()
    said = "\n".join(result.notes)
    assert "of 3 queries it has no score of ndcg@10 of 1; they are not compared" in said
    assert "1 query of 3 has the worst value of every measure; whether nothing was returned" in said
    assert "its means are over 4 queries (num_q), and it has lines for 3; 1 that the tool left out" in said
    assert "its mean is not that of its lines for AP (0.1875, of the lines 0.25)" in said
    assert (result["ndcg@10"].n, result["ndcg@10"].n_undefined) == (2, 1)


def test_a_direction_is_never_guessed():
    scores = {"q1": {"map": 0.5, "latency": 3.0, "unj_5": 0.2}, "q2": {"map": 0.25, "latency": 5.0, "unj_5": 0.4}}
    result = load_scores(scores)["scores"]
    assert list(result) == ["map", "unj@5"]
    assert not result["unj@5"].info.higher_is_better  # what is known is known
    assert any("latency is no measure that rankgauge knows" in note for note in result.notes)
    assert any("--better 'latency=lower'" in note for note in result.notes)
    known = load_scores(scores, better={"latency": "lower"})["scores"]
    other = load_scores({"q1": {"map": 0.5, "latency": 2.0}, "q2": {"map": 0.25, "latency": 1.0}})
    assert "latency" not in compare({"base": known, "new": other["scores"]}).comparisons[0].metrics
    faster = load_scores(
        {f"q{place}": {"map": 0.5, "latency": 1.0 + place / 10} for place in range(9)}, better={"latency": "lower"}
    )
    slower = load_scores(
        {f"q{place}": {"map": 0.5, "latency": 2.0 + place / 5} for place in range(9)}, better={"latency": "lower"}
    )
    found = compare({"base": slower["scores"], "new": faster["scores"]})["new"]["latency"]
    assert (found.verdict, found.p) == ("better", 2 / 2**9)
    with pytest.raises(ParameterError, match="latency is better higher or lower, not 'up'"):
        load_scores(scores, better={"latency": "up"})
    with pytest.raises(DataError, match="latency is no measure that rankgauge knows"):
        load_scores([{"qid": "q1", "measure": "latency", "value": 1.0}])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q1 d1 0.5\nq1 d2 0.25\n", "neither the first nor the second of its three columns has names of measures"),
        ("ndcg@10 AP 0.5\n", "both the first and the second of its three columns"),
        ("q1 Q0 d1 1 0.5 tag\n", "neither a header nor lines of three fields"),
        ("", "it is empty"),
        ("[]", "it has no rows"),
        ("map q1 0.5\nmap q1 0.5\n", "query 'q1' has a second score of map"),
        ("map q1 high\nmap q2 inf\n", r"a.txt:1: 'high' is no score of map for q1\n.*a.txt:2: 'inf' is no score"),
        ("map q1 0.5\nmap q2\n", "a.txt:2: 2 fields where a line of scores has three"),
        ("map all 0.5\nndcg all 0.25\n", "it has means only, and none for a query"),
        ("map q1 45.5\nmap q2 30\n", "map of query 'q1' is 45.5 and 1 other, and map lies from 0 to 1; divide perc"),
        ("qid,docno,score,rank\nq1,d1,0.5,1\n", "the column 'docno' makes it a ranking, and no scores of queries"),
        ("qid,length\nq1,3\n", "none of the columns 'qid', 'length' is a measure"),
        ("qid,measure,x\nq1,map,0.5\n", "no column has the values; there are 'qid', 'measure', 'x'; name it with"),
        ("qid,map,AP\nq1,0.5,0.5\n", "map and AP are both"),
        ('{"q1": {"d1": 0.5}}', "none of 'd1' is a measure"),
        ('{"map": {"0": 0.5}}', "none of '0' is a measure"),
        ('{"q1": {"map": 0.5}', "a.txt:1: it is no JSON"),
    ],
)
def test_what_is_wrong_or_could_be_two_things_is_refused(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        load_scores(written(tmp_path, "a.txt" if content[:1] != "{" or "}}" not in content else "a.json", content))


def test_columns_decide_what_content_does_not(tmp_path):
    lines = written(tmp_path, "a.txt", "ndcg@10 AP 0.5\n")
    (result,) = load_scores(lines, columns={"lines": "query,measure,value"}).values()
    assert (result.sample_ids, result["AP"].mean) == (("ndcg@10",), 0.5)
    (result,) = load_scores(lines, columns={"lines": "measure,query,value"}).values()
    assert (result.sample_ids, result["ndcg@10"].mean) == (("AP",), 0.5)
    table = [{"frage": 7, "mass": "map", "wert": 0.5}]
    (result,) = load_scores(table, columns={"query": "frage", "measure": "mass", "value": "wert"}).values()
    assert (result.sample_ids, result["map"].mean) == (("7",), 0.5)
    with pytest.raises(ParameterError, match=r"scores have no column 'quer' \(did you mean 'query'\?\)"):
        load_scores(table, columns={"quer": "frage"})
    with pytest.raises(ParameterError, match="lines of scores have query, measure, value in any order"):
        load_scores(lines, columns={"lines": "query,measure"})
    with pytest.raises(DataError, match="no column 'topic' for the query"):
        load_scores(table, columns={"query": "topic"})
    with pytest.raises(DataError, match="no column has the ids of queries"):
        load_scores(table)


def test_a_baseline_of_another_tool_gates_and_says_so(tmp_path):
    path = written(tmp_path, "last.trec_eval", TREC_EVAL)
    earlier = load_baseline(path)
    assert list(earlier) == ["last.trec_eval"]
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"x": 2.0, "a": 1.0}, "q2": {"a": 1.0}}
    report = judge_gates(evaluate(qrels, run, "AP"), "AP max_drop 0.5", baseline=earlier)
    assert (report.outcomes[0].verdict, report.outcomes[0].drop.baseline) == ("inconclusive", 0.375)  # of two queries
    kept = load_baseline(save_baseline(earlier, tmp_path / "kept.json"))["last.trec_eval"]
    assert kept["map"].info.is_given
    assert kept["map"].values.tolist() == [0.5, 0.25]
    assert kept.manifest["scores"]["path"] == str(path)


def test_nothing_of_it_is_read_again():
    result = load_scores(NESTED)["scores"]
    with pytest.raises(ResultError, match="it is of samples, or from a baseline file"):
        compare({"a": result, "b": result}, bounds=True)
    with pytest.raises(ResultError, match="the data behind them are not known"):
        compare({"a": result, "b": result}, cluster="source")


def test_every_standard_measure_of_trec_eval_is_known():
    """What trec_eval prints of measures that are means over queries, by the names that it prints."""
    names = ["map", "Rprec", "bpref", "recip_rank", "iprec_at_recall_0.00", "P_5", "recall_5", "infAP", "ndcg"]
    names += ["ndcg_cut_5", "map_cut_5", "success_1", "set_P", "set_recall", "set_map", "set_F", "11pt_avg"]
    scores = {query: dict.fromkeys(names, 0.5) for query in ("q1", "q2")}
    result = load_scores(scores, catalog=Catalog.discover())["scores"]
    assert len(result.metrics) == len(names)
    assert all(math.isclose(column.mean, 0.5) and column.info.higher_is_better for column in result.metrics.values())
