import io
import sys

import pytest

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n"
RUN = "q1 Q0 a 1 3.0 t\nq1 Q0 b 2 2.0 t\nq2 Q0 c 1 2.0 t\n"


@pytest.fixture
def files(write):
    write("qrels.txt", QRELS)
    return ("qrels.txt", write("run.txt", RUN))


def test_a_run_that_fits_passes(rankgauge, files):
    done = rankgauge("validate", *files)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "judgments  qrels.txt",
        "           2 queries, 3 judgments, 2 relevant; grades 0 to 2",
        "run        run.txt",
        "           2 queries, 3 results; 1 to 2 a query, median 1.5",
        "ties       0.0 % of the results share their score",
        "overlap    2 of 2 judged queries",
        (
            "           3 of their 3 judged documents are retrieved (100.0 %), 2 of 2 relevant ones (100.0 %); "
            "judged@10 1.000"
        ),
        "",
        "run.txt can be evaluated: 0 errors, 0 warnings, 0 info",
    ]


def test_an_error_is_exit_code_1_and_says_what_to_do(rankgauge, files, write):
    done = rankgauge("validate", "qrels.txt", write("upper.txt", RUN.replace("q", "Q")))
    assert done.code == 1
    assert "ERROR    query-overlap: 0 of 2 query ids overlap" in done.out
    assert "-> make them the same in one of the files; then 2 would overlap" in done.out
    assert "upper.txt should not be evaluated as it is: 1 error, 0 warnings, 0 info" in done.out


def test_a_warning_passes_unless_strict(rankgauge, files, write):
    write("more.txt", QRELS + "q3 0 x 1\n")
    assert rankgauge("validate", "more.txt", "run.txt").code == 0
    assert rankgauge("validate", "more.txt", "run.txt", "--strict").code == 1
    assert rankgauge("validate", *files, "--strict").code == 0


def test_json_stands_alone_on_stdout(rankgauge, files, write):
    write("upper.txt", RUN.replace("q", "Q"))
    done = rankgauge("validate", *files, "upper.txt", "--json")
    assert (done.code, done.err) == (1, "")
    assert done.json["ok"] is False
    first, second = done.json["runs"]
    assert (first["run"], first["ok"], first["findings"]) == ("run.txt", True, [])
    assert first["facts"]["results"] == 3
    assert [finding["code"] for finding in second["findings"]] == ["query-overlap"]
    assert second["findings"][0]["counts"]["near_misses"] == 2


def test_json_says_whether_the_check_passed_under_strict(rankgauge, files, write):
    write("more.txt", QRELS + "q3 0 x 1\n")
    done = rankgauge("validate", "more.txt", "run.txt", "--json", "--strict")
    assert (done.code, done.json["ok"], done.json["runs"][0]["ok"]) == (1, False, True)


def test_all_malformed_lines_are_in_the_json(rankgauge, files, write):
    write("bad.txt", RUN + "q2 Q0\n" * 70)
    done = rankgauge("validate", "qrels.txt", "bad.txt", "--json")
    assert len(done.json["runs"][0]["findings"][0]["examples"]) == 70
    done = rankgauge("validate", "qrels.txt", "bad.txt")
    assert "bad.txt:53: 2 fields" in done.out
    assert "bad.txt:54: 2 fields" not in done.out
    assert "... and 20 more" in done.out


def test_a_grade_can_be_given_from_which_on_documents_are_relevant(rankgauge, files):
    assert "no-relevant: 1 of 2" in rankgauge("validate", *files, "--rel", "2").out


def test_what_cannot_be_read_is_exit_code_2(rankgauge, files):
    done = rankgauge("validate", "qrels.txt", "nowhere.txt")
    assert (done.code, done.out) == (2, "")
    assert "nowhere.txt: no such file" in done.err


def test_a_run_is_read_from_standard_input(rankgauge, files, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RUN.encode())))
    done = rankgauge("validate", "qrels.txt", "-")
    assert done.code == 0
    assert "standard input can be evaluated" in done.out


def test_standard_input_is_not_read_twice(rankgauge):
    done = rankgauge("validate", "-", "-")
    assert done.code == 2
    assert "standard input (-) can stand for one file only" in done.err


@pytest.mark.parametrize("option", [["--json"], ["--strict"], ["--rel", "1"]])
def test_options_of_runs_are_refused_for_a_config(rankgauge, project, option):
    done = rankgauge("validate", project, *option)
    assert done.code == 2
    assert f"{option[0]} is for judgments and runs" in done.err
