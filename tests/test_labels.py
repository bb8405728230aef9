"""`rankgauge.labels`, as a plugin uses it."""

import json
from pathlib import Path

import pytest

from rankgauge.errors import DataError, ParameterError, Problem
from rankgauge.files import json_lines, read_corpus, read_sample
from rankgauge.labels import check_labels, is_queue_file, read_queue_file, read_scale

HEADER = {"schema_version": "rankgauge.queue.v1", "judgments": None, "grades": [2, 0, 1], "guideline": "?"}


def queue(tmp_path, *lines):
    file = tmp_path / "queue.jsonl"
    file.write_bytes(b"".join(line if isinstance(line, bytes) else json_lines([line]) for line in lines))
    return file


def test_a_queue_is_read_with_its_line_numbers(tmp_path):
    row = {"query": "q1", "document": "caf\udce9", "grade": None, "judge": None}
    file = queue(tmp_path, HEADER, b"\n", row)
    problems: list[Problem] = []
    found = read_queue_file(file, problems=problems)
    assert (found.header, dict(found.rows), found.grades, problems) == (HEADER, {3: row}, (0.0, 1.0, 2.0), [])
    assert is_queue_file(file)


def test_lines_that_are_no_rows_are_listed(tmp_path):
    file = queue(tmp_path, HEADER, b"{broken\n", {"query": "q1", "document": "d1"}, {"query": "q1"})
    problems: list[Problem] = []
    found = read_queue_file(file, problems=problems)
    assert list(found.rows) == [3]
    assert [(problem.line, problem.file) for problem in problems] == [(2, str(file)), (4, str(file))]


def test_judgments_are_no_queue(tmp_path):
    file = tmp_path / "qrels.txt"
    file.write_text("q1 0 d1 1\n")
    assert not is_queue_file(file)
    with pytest.raises(DataError, match="the first line is not the header of a queue"):
        read_queue_file(file, problems=[])


def test_a_scale_is_a_list_or_a_range():
    assert read_scale("0-3") == (0.0, 1.0, 2.0, 3.0)
    assert read_scale("2, 0,1,1") == (0.0, 1.0, 2.0)
    with pytest.raises(ParameterError, match="--grades is a list of numbers"):
        read_scale("high-low")
    for wrong in ("1", "-1,0", "nan,1"):
        with pytest.raises(ParameterError):
            read_scale(wrong)


def test_labels_are_checked_against_a_corpus(tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(json.dumps({"id": "d1", "text": "The tide turns every six hours on this coast."}))
    records = [
        {"id": "q1", "input": "tide?", "expected_output": {"relevant": ["d1"]}},
        {"id": "q2", "input": "moon?", "expected_output": {"relevant": ["d7"]}},
    ]
    samples = [sample for record in records if (sample := read_sample(record, problems=[])) is not None]
    report = check_labels(samples, read_corpus(Path(corpus)))
    assert (report.samples, report.documents) == (2, 1)
    assert [(finding.sample, finding.label, finding.status) for finding in report.findings] == [("q2", "d7", "gone")]
