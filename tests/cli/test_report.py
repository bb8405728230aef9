"""`rankgauge report` and `--html`: a report is written beside everything else, or not at all."""

from __future__ import annotations

import pytest

from packed_reports import payload
from rankgauge.errors import ResultError

QRELS = "".join(f"q{n} 0 a 1\n" for n in range(6))
RUNS = {
    "old": "".join(f"q{n} Q0 x 1 2 t\nq{n} Q0 a 2 1 t\n" for n in range(6)),
    "new": "".join(f"q{n} Q0 a 1 2 t\n" for n in range(6)),
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    for name, run in RUNS.items():
        (tmp_path / name).write_text(run)
    return tmp_path


def saved(rankgauge, name):
    assert rankgauge("trec", "qrels", name, "-m", "RR", "-o", f"{name}.scores").code == 0
    return f"{name}.scores"


def test_folders_become_one_file(rankgauge, files):
    folders = [saved(rankgauge, name) for name in RUNS]
    done = rankgauge("report", *folders, "-o", "report.html")

    assert done.code == 0
    assert done.out == ""
    assert "wrote report.html" in done.err
    assert "rr rises from 0.500 to 1.000" in (files / "report.html").read_text()


def test_texts_of_documents_and_queries_are_shown_where_runs_have_ids_only(rankgauge, files):
    folder = saved(rankgauge, "new")
    (files / "docs.jsonl").write_text('{"id": "a", "text": "about lighthouses"}\n')
    (files / "queries.tsv").write_text("q0\thow tall is it?\n")
    done = rankgauge("report", folder, "--texts", "docs.jsonl", "--queries", "queries.tsv")

    assert done.code == 0, done.err
    assert (files / "report.html").exists()


def test_a_comparison_of_trec_runs_shows_texts_of_a_collection(rankgauge, files):
    (files / "docs.jsonl").write_text('{"id": "a", "text": "about lighthouses"}\n')
    (files / "queries.jsonl").write_text('{"id": "q0", "text": "how tall is it?"}\n')
    texts = ["--texts", "docs.jsonl", "--queries", "queries.jsonl"]
    done = rankgauge("compare", "--qrels", "qrels", "-m", "RR", "old", "new", "--html", "out.html", *texts)

    assert done.code == 0, done.err
    assert {"about lighthouses", "how tall is it?"} <= set(payload((files / "out.html").read_text())["texts"])


def test_a_report_of_a_trec_run_leads_to_the_command_that_takes_runs(rankgauge, files):
    done = rankgauge("report", "old")

    assert done.code == 2
    assert "old is neither a result folder nor a baseline file (.json), and as scores of queries" in done.err
    assert "of TREC runs, rankgauge compare --qrels QRELS --html FILE writes a report" in done.err


def test_a_comparison_writes_it_beside_what_it_prints(rankgauge, files):
    done = rankgauge("compare", "--qrels", "qrels", "-m", "RR", "old", "new", "--html", "out.html", "--json")

    assert done.code == 0
    assert done.out.startswith("{")
    assert "new is better than old" in (files / "out.html").read_text().replace("</b>", "").replace(
        '<b class="b">', ""
    ).replace('<b class="a">', "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report", "nowhere"], "nowhere does not exist"),
        (["report", "qrels", "-o", "."], "it is a folder"),
        (["compare", "--qrels", "qrels", "-m", "RR", "old", "new", "--texts", "qrels"], "for the HTML report"),
        (["compare", "--qrels", "qrels", "-m", "RR", "old", "new", "--all-pairs", "--html", "x.html"], "--all-pairs"),
        (["compare", "--qrels", "qrels", "-m", "RR", "old", "new", "--html", "qrels/x.html"], "is not a folder"),
    ],
)
def test_what_cannot_be_written_is_said_before_anything_is_read(rankgauge, files, arguments, message):
    done = rankgauge(*arguments)

    assert done.code == 2
    assert message in done.err


def test_a_run_of_several_datasets_writes_one_each(rankgauge, files):
    for name in ("a", "b"):
        (files / f"{name}.jsonl").write_text('{"id": "1", "expected_output": ["x"], "actual_output": ["x"]}\n')
    (files / "config.yaml").write_text(
        "version: 1\ndatasets: {a: {path: a.jsonl}, b: {path: b.jsonl}}\nmetrics: {use: [RR]}\n"
    )
    done = rankgauge("run", "config.yaml", "--html", "report.html")

    assert done.code == 0, done.err
    assert {path.name for path in files.glob("*.html")} == {"report-a.html", "report-b.html"}


def test_a_report_goes_into_a_new_folder(rankgauge, files):
    done = rankgauge("compare", "--qrels", "qrels", "-m", "RR", "old", "new", "--html", "new-folder/pages/out.html")

    assert done.code == 0, done.err
    assert (files / "new-folder/pages/out.html").exists()


def test_gates_are_told_where_no_report_can_be_written(rankgauge, files, monkeypatch):
    """Data that have gone, a full disk: the verdict and the baseline do not depend on the report."""

    def fails(*_, **__):
        raise ResultError("the disk is full")

    monkeypatch.setattr("rankgauge.features.html.html_report.gather", fails)
    (files / "a.jsonl").write_text('{"id": "1", "expected_output": ["x"], "actual_output": ["x"]}\n')
    done = rankgauge(
        "run", "--data", "a.jsonl", "-m", "RR", "--gate", "RR >= 0.5", "--save-baseline", "base", "--html", "out.html"
    )

    assert done.code == 2
    assert "the disk is full" in done.err
    assert "rr: 1.0000 meets the minimum 0.5" in done.out
    assert (files / "base").exists()


def test_what_a_report_leaves_out_is_told_where_it_is_written(rankgauge, files):
    folder = saved(rankgauge, "new")
    (files / "qrels").unlink()
    done = rankgauge("report", folder, "-o", "report.html")

    assert done.code == 0
    assert "ranked lists are not shown, because the data cannot be read again" in done.err


def test_a_report_of_a_run_has_its_gates(rankgauge, files):
    (files / "b.jsonl").write_text('{"id": "q", "expected_output": ["a"], "actual_output": ["x", "a"]}\n')
    done = rankgauge("run", "--data", "b.jsonl", "-m", "RR", "--gate", "RR >= 0.7", "--html", "gated.html")

    text = (files / "gated.html").read_text()
    assert done.code == 1
    assert "The gate failed." in text
    assert '<th scope="row">rr &gt;= 0.7</th>' in text
