"""Judgments given as a dataset: each judged query is a sample."""

import gzip

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
