"""The option that says how much of a file is held at once, on every command."""

import os

import pytest

LONG = '{"id": "q1", "expected_output": ["a"], "actual_output": ["a"], "input": "' + "x" * 3000 + '"}\n'


@pytest.mark.parametrize("place", [0, 1, 6])
@pytest.mark.parametrize("written", [["--max-line", "2KB"], ["--max-line=2KB"]])
def test_the_limit_may_stand_anywhere_and_ends_with_the_call(place, written, rankgauge, write, monkeypatch):
    monkeypatch.delenv("RANKGAUGE_MAX_LINE", raising=False)
    arguments = ["run", "--data", write("data.jsonl", LONG), "-m", "P@1", "--json"]
    done = rankgauge(*arguments[:place], *written, *arguments[place:])
    assert done.code == 2
    assert "data.jsonl:1: the line has more than 2 KB" in done.err
    assert "RANKGAUGE_MAX_LINE" not in os.environ
    assert rankgauge(*arguments).mean("p@1") == 1.0


def test_the_limit_holds_for_runs_too(rankgauge, write):
    qrels, run = write("qrels", "q1 0 d1 1\n"), write("run", f"q1 Q0 {'d' * 2000} 1 1 t\n")
    done = rankgauge("trec", qrels, run, "--max-line", "1KB")
    assert (done.code, done.out) == (2, "")
    assert "run:1: the line has more than 1 KB" in done.err


@pytest.mark.parametrize("written", [["--max-line", "big"], ["--max-line=0"], ["--max-line"]])
def test_a_limit_that_is_no_size_is_refused(written, rankgauge):
    done = rankgauge("metrics", "list", *written)
    assert (done.code, done.out) == (2, "")
    assert "--max-line is a size above 0, such as 512MB or 2GB" in done.err
