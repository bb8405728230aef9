"""Judgments given as a dataset, and a run as its outputs: each query is a sample."""

import gzip
import json

import polars as pl
import pytest

from rankgauge import Engine
from rankgauge.errors import RankgaugeError

OUTPUTS = {"q1": ["d9", "d1"], "q2": ["d2"]}
TREC = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d2 1\n"
BEIR = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td2\t1\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("qrels.txt", TREC), ("qrels", TREC), ("dl19.qrels", TREC), ("qrels.tsv", TREC.replace(" ", "\t")),
        ("test.tsv", BEIR), ("qrels.csv", BEIR.replace("\t", ",")), ("qrels.txt.gz", TREC),
    ],
)  # fmt: skip
def test_judgments_are_ground_truth(name, text, tmp_path):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    result = Engine().dataset(path).with_metrics(["RR", "ndcg@1", "num_rel"]).run(outputs=OUTPUTS)
    assert result.sample_ids == ("q1", "q2")
    assert [column.mean for column in result.metrics.values()] == [(1 / 2 + 1) / 2, 1 / 2, 2]
    again = Engine().dataset(path).with_metrics("RR").run(outputs=OUTPUTS)
    assert again.manifest["dataset"]["fingerprint"].startswith("sha256:")


@pytest.mark.parametrize(
    ("name", "text"),
    [("samples.csv", 'id,expected_output\nq1,"[""d1""]"\n'), ("s.tsv", "id\tquery_id\tdoc_id\tscore\nq1\tq1\td1\t1\n")],
)
def test_tables_of_samples_stay_samples(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    evaluation = Engine().dataset(tmp_path / name).with_metrics("RR")
    if name == "samples.csv":
        assert evaluation.run(outputs={"q1": ["d1"]})["RR"].mean == 1.0
    else:
        with pytest.raises(RankgaugeError, match="expected_output"):
            evaluation.run(outputs={"q1": ["d1"]})


def test_what_is_wrong_with_them_is_said(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 d1 2\nq1 0 d2\n")
    with pytest.raises(RankgaugeError, match=r"qrels\.txt:2: 3 fields where 4 are needed"):
        Engine().dataset(tmp_path / "qrels.txt").with_metrics("RR").run(outputs=OUTPUTS)
    (tmp_path / "notes.txt").write_text("hello\n")
    with pytest.raises(RankgaugeError, match=r"no reader for files ending in '\.txt'.* and judgments of TREC"):
        Engine().dataset(tmp_path / "notes.txt").with_metrics("RR").run(outputs=OUTPUTS)


RUN = "q1 Q0 d1 1 2.0 x\nq1 Q0 d2 2 2.0 x\nq1 Q0 d3 3 2.5 x\nq2 Q0 d2 1 1.0 x\n"
"""By score d3, then d2 before d1, as its id is higher; the ranks, which nothing reads, say otherwise."""
TABLE = "query_id\tdoc_id\tscore\nq1\td1\t2.0\nq1\td2\t2.0\nq1\td3\t2.5\nq2\td2\t1.0\n"
ROWS = [{"query_id": "q1", "doc_id": "d1", "score": 2}, {"query_id": "q1", "doc_id": "d2", "score": 2.0},
        {"query_id": "q1", "doc_id": "d3", "score": 2.5}, {"query_id": "q2", "doc_id": "d2", "score": 1}]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.run", RUN), ("run", RUN), ("run.tsv", RUN.replace(" ", "\t")), ("run.tsv", TABLE), ("r.txt.gz", RUN),
        ("run.csv", TABLE.replace("\t", ",")), ("run.json", json.dumps(ROWS)),
        ("run.jsonl", "\n".join(map(json.dumps, ROWS))),
    ],
)  # fmt: skip
def test_a_run_is_the_outputs_of_its_queries(name, text, tmp_path):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    (tmp_path / "qrels.txt").write_text(TREC)
    for data in (
        tmp_path / "qrels.txt",
        [{"id": "q1", "expected_output": ["d1"]}, {"id": "q2", "expected_output": ["d2"]}],
    ):
        result = Engine().dataset(data).with_metrics(["RR", "num_ret"]).run(outputs=path)
        assert [column.mean for column in result.metrics.values()] == [(1 / 3 + 1) / 2, 4]
    assert result.manifest["outputs"]["fingerprint"].startswith("sha256:")


def test_a_parquet_run_is_outputs_and_parquet_judgments_are_samples(tmp_path):
    pl.DataFrame(ROWS, strict=False).write_parquet(tmp_path / "run.parquet")
    judged = {"query_id": ["q1", "q2"], "doc_id": ["d1", "d2"], "relevance": [2, 1]}
    pl.DataFrame(judged).write_parquet(tmp_path / "qrels.parquet")
    evaluation = Engine().dataset(tmp_path / "qrels.parquet").with_metrics("RR")
    assert evaluation.run(outputs=tmp_path / "run.parquet")["RR"].mean == (1 / 3 + 1) / 2


@pytest.mark.parametrize(("ties", "rank"), [("docno", 3), ("given", 2), ("worst", 3), ("best", 2)])
def test_a_policy_settles_the_ties_of_a_run(ties, rank, tmp_path):
    (tmp_path / "r.run").write_text(RUN)
    evaluation = Engine().dataset([{"id": "q1", "expected_output": ["d1"]}]).with_metrics("RR")
    evaluation = evaluation.with_profile(order="score", ties=ties, queries="intersection")
    assert evaluation.run(outputs=tmp_path / "r.run")["RR"].mean == 1 / rank


def test_fields_and_presets_of_the_data_leave_a_run_a_run(tmp_path):
    (tmp_path / "r.run").write_text(RUN)
    (tmp_path / "s.jsonl").write_text('{"qid": "q1", "gold": ["d3"]}\n')
    evaluation = Engine().dataset(tmp_path / "s.jsonl").with_fields({"id": "qid", "expected_output": "gold"})
    evaluation = evaluation.with_metrics("RR").with_profile(queries="intersection")
    assert evaluation.run(outputs=tmp_path / "r.run")["RR"].mean == 1.0


def test_judgments_and_runs_without_a_header_say_what_to_write(tmp_path):
    (tmp_path / "q.tsv").write_text("q1\td1\t1\nq2\td2\t1\n")
    (tmp_path / "r.tsv").write_text("q1\td1\t0.5\nq2\td2\t1\n")
    said = r"has no header.* a first line, such as query_id, doc_id, relevance.* RUN --columns query,document,grade`"
    with pytest.raises(RankgaugeError, match=rf"q\.tsv:1: 'q1\\td1\\t1' {said}"):
        Engine().dataset(tmp_path / "q.tsv").with_metrics("RR").run(outputs=OUTPUTS)
    samples = Engine().dataset([{"id": "q1", "expected_output": ["d1"]}]).with_metrics("RR")
    with pytest.raises(RankgaugeError, match=r"r\.tsv:1: .*query_id, doc_id, rank \(or score\)"):
        samples.run(outputs=tmp_path / "r.tsv")


def test_ranks_without_a_header_are_outputs_where_they_are_certain(tmp_path, caplog):
    lines = [f"q{query}\td{rank}\t{rank}\n" for query in range(10) for rank in (1, 2, 3)]
    (tmp_path / "r.tsv").write_text("".join(lines))
    samples = [{"id": f"q{query}", "expected_output": ["d2"]} for query in range(10)]
    result = Engine().dataset(samples).with_metrics("RR").run(outputs=tmp_path / "r.tsv")
    assert result["RR"].mean == 0.5
    assert any("has no header, and 3 columns: the third is the rank" in note for note in result.notes)
    assert "has no header, and 3 columns: the third is the rank" in caplog.text


@pytest.mark.parametrize("sign", [-1, 1])
def test_four_columns_are_a_run_where_outputs_are_and_not_judgments(sign, tmp_path):
    lines = [f"q{query} d{rank} {rank} {sign * rank / 2}\n" for query in range(10) for rank in (1, 2, 3)]
    (tmp_path / "r.tsv").write_text("".join(lines))
    samples = [{"id": f"q{query}", "expected_output": ["d2"]} for query in range(10)]
    evaluation = Engine().dataset(samples).with_metrics("RR")
    if sign < 0:
        assert evaluation.run(outputs=tmp_path / "r.tsv")["RR"].mean == 0.5
    else:  # scores that rise with the ranks
        with pytest.raises(
            RankgaugeError, match=r"these are judgments.* if this is one, it .*query,document,rank,score`"
        ):
            evaluation.run(outputs=tmp_path / "r.tsv")


def test_swapped_files_are_said(tmp_path):
    (tmp_path / "r.run").write_text(RUN)
    (tmp_path / "qrels").write_text(TREC)
    with pytest.raises(RankgaugeError, match="this is a run, which goes with --outputs"):
        Engine().dataset(tmp_path / "r.run").with_metrics("RR").run(outputs=OUTPUTS)
    with pytest.raises(RankgaugeError, match="these are judgments, which go with --data"):
        Engine().dataset(tmp_path / "qrels").with_metrics("RR").run(outputs=tmp_path / "qrels")


def test_what_is_wrong_with_a_run_is_said(tmp_path):
    (tmp_path / "r.run").write_text(RUN + "q2 Q0 d3 x\n")
    with pytest.raises(RankgaugeError, match=r"r\.run:5: "):
        Engine().dataset([{"id": "q1", "expected_output": ["d1"]}]).with_metrics("RR").run(outputs=tmp_path / "r.run")


@pytest.mark.parametrize(
    ("name", "records"),
    [
        ("run.ikat.json", {"turns": [{"turn_id": "q1", "responses": [{"passage_provenance": [
            {"id": "d9", "score": 1.0}, {"id": "d1", "score": 2.0}]}]}]}),
        ("run.jsonl", {"topic_id": "q1", "references": ["d1", "d9"], "answer": []}),
        ("run.json", [{"query": {"qid": "q1"}, "candidates": [
            {"docid": "d1", "score": 3}, {"docid": "d9", "score": 1}]}]),
    ],
)  # fmt: skip
def test_json_of_a_track_is_the_outputs_of_its_turns(name, records, tmp_path):
    (tmp_path / name).write_text(json.dumps(records))
    evaluation = Engine().dataset([{"id": "q1", "expected_output": ["d9"]}]).with_metrics("RR")
    assert evaluation.run(outputs=tmp_path / name)["RR"].mean == 0.5


def test_outputs_with_references_of_their_own_stay_outputs(tmp_path):
    (tmp_path / "o.jsonl").write_text(json.dumps({"id": "q1", "retrieved": ["d1", "d9"], "references": ["d9"]}))
    evaluation = Engine().dataset([{"id": "q1", "expected_output": ["d9"]}]).with_metrics("RR")
    assert evaluation.run(outputs=tmp_path / "o.jsonl")["RR"].mean == 0.5
