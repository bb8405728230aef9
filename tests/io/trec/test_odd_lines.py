"""Lines with a blank in an id: the number is trec_eval's, and `evaluate`, `trec` and `validate` name the line."""

import gzip
import io
import sys

import numpy as np
import pytest

import rankgauge
from rankgauge import evaluate
from rankgauge.io.trec import RunFile
from rankgauge.io.trec.odd_lines import scores_rise

QRELS = {"q1": {"my": 1}, "q2": {"b": 1}}
PLAIN = "q1 Q0 a 1 0.9 t\nq1 Q0 b 2 0.8 t\n"
SHIFTED = "q2 Q0 my doc 1 0.9 t\n"
READ = "query 'q2', document 'my', rank 'doc', score 1"
SEVEN = f"run.txt:3: 7 fields where a run has 6; as in trec_eval it is read as {READ}"


@pytest.fixture
def run(tmp_path):
    def write(text):
        (tmp_path / "run.txt").write_text(text)
        return tmp_path / "run.txt"

    return write


def notes_of(path, **how):
    return " ".join(evaluate(QRELS, path, "P@1", **how).notes)


@pytest.mark.parametrize("profile", ["trec9", "trec10"])
def test_a_seventh_field_is_named_with_its_line(run, profile):
    assert SEVEN in notes_of(run(PLAIN + SHIFTED), profile=profile)


def test_the_number_stays_that_of_trec_eval(run):
    """Its fields are query, Q0, document, rank, score: `my` is retrieved with the score 1."""
    result = evaluate({"q2": {"my": 1, "doc": 0}}, run(PLAIN + SHIFTED), ["P@1", "num_ret"])
    assert (result["P@1"].mean, result["num_ret"].mean) == (1.0, 1.0)


@pytest.mark.parametrize("rank", ["x", "doc7", "#1", "é"])
def test_a_rank_that_is_no_number_is_named_with_its_line(run, rank):
    assert f"run.txt:3: the rank {rank!r} is no number" in notes_of(run(PLAIN + f"q2 Q0 b {rank} 0.9 t\n"))


@pytest.mark.parametrize("rank", ["0", "-1", "+3", "1.5", ".5", "12"])
def test_a_rank_that_is_a_number_is_not(run, rank):
    assert "blank" not in notes_of(run(PLAIN + f"q2 Q0 b {rank} 0.9 t\n"))


@pytest.mark.parametrize("separator", ["\t", "  ", " \t "])
def test_any_white_space_separates(run, separator):
    assert notes_of(run(PLAIN.replace(" ", separator))) == notes_of(run(PLAIN))
    assert SEVEN in notes_of(run((PLAIN + SHIFTED).replace(" ", separator)))


def test_more_lines_are_counted_and_comments_are_none(run):
    text = "# a comment of several words and more\n" + PLAIN + SHIFTED + "q3 Q0 a b 1 0.9 t\nq4 Q0 c x 3 t\n"
    assert "run.txt:4: 7 fields" in (found := notes_of(run(text)))
    assert "; 2 other lines like it" in found


def test_compressed_scattered_and_piped_runs_say_it_too(run, monkeypatch, tmp_path):
    text = PLAIN + SHIFTED
    (tmp_path / "run.txt.gz").write_bytes(gzip.compress(text.encode()))
    assert "run.txt.gz:3: 7 fields" in notes_of(tmp_path / "run.txt.gz")
    assert "run.txt:3: 7 fields" in notes_of(run(text + "q1 Q0 c 3 0.7 t\n"))
    piped = io.TextIOWrapper(io.BytesIO(text.encode()))
    monkeypatch.setattr(sys, "stdin", piped)
    assert "standard input:3: 7 fields" in notes_of("-")


def test_every_block_and_part_is_looked_at(tmp_path):
    lines = [f"q{number} Q0 d 1 0.5 t\n" for number in range(400)]
    lines[250] = "q250 Q0 my d 1 0.5 t\n"
    (tmp_path / "run.txt").write_text("".join(lines))
    source = RunFile(tmp_path / "run.txt", block=64)
    for _ in range(2):  # a second reading counts anew
        for part in source.parts(3):
            list(part)
        assert (source.odd_lines.n, [problem.line for problem in source.odd_lines.examples(9)]) == (1, [251])


def test_each_of_several_runs_says_its_own(run, tmp_path):
    (tmp_path / "plain.txt").write_text(PLAIN)
    runs = {"odd": run(PLAIN + SHIFTED), "plain": tmp_path / "plain.txt"}
    results = evaluate({"q1": {"a": 1}, **QRELS}, runs=runs, metrics="P@1")
    assert ["7 fields" in " ".join(result.notes) for result in results.values()] == [True, False]


def test_validate_says_it_with_every_line(run):
    text = PLAIN + SHIFTED + "q3 Q0 c 2nd 1 t\n"
    found = rankgauge.preflight(QRELS, run(text)).find("shifted-fields")
    assert (found.severity, found.counts["lines"]) == ("warning", 2)
    assert [example.partition("run.txt:")[2][:2] for example in found.examples] == ["3:", "4:"]
    assert rankgauge.preflight(QRELS, run(PLAIN)).find("shifted-fields") is None


class TestScoresThatRiseWithTheStatedRanks:
    DISTANCES = "q1 Q0 a 1 0.1 t\nq1 Q0 b 2 0.2 t\nq1 Q0 c 3 0.3 t\n"

    def test_are_said(self, run):
        assert "rise with its stated ranks" in notes_of(run(self.DISTANCES))
        assert "rise" in notes_of(run(self.DISTANCES + self.DISTANCES.replace("q1", "q2") + "q1 Q0 x 9 0.9 t\n"))

    def test_are_said_whatever_the_order_of_lines(self, run):
        assert "rise" in notes_of(run("".join(reversed(self.DISTANCES.splitlines(keepends=True)))))

    def test_are_not_said_of_most_runs(self, run):
        falling = "q1 Q0 a 1 0.3 t\nq1 Q0 b 2 0.2 t\nq1 Q0 c 3 0.1 t\n"
        assert "rise" not in notes_of(run(falling))
        assert "rise" not in notes_of(run(falling + self.DISTANCES.replace("q1", "q2")))
        assert "rise" not in notes_of(
            run(self.DISTANCES.replace(" 1 ", " 0 ").replace(" 2 ", " 0 ").replace(" 3 ", " 0 "))
        )
        assert "rise" not in notes_of(run("q1 Q0 a 1 0.5 t\nq1 Q0 b 2 0.5 t\n"))

    def test_of_nine_queries_in_ten_by_hand(self):
        first = np.arange(0, 40, 2)
        ranks, scores = np.tile([1.0, 2.0], 20), np.tile([1.0, 2.0], 20)
        scores[:4] = [2.0, 1.0, 2.0, 1.0]
        assert scores_rise(first, ranks, scores)
        scores[4:6] = [2.0, 1.0]
        assert not scores_rise(first, ranks, scores)
        assert not scores_rise(first, np.full(40, np.nan), scores)
        assert not scores_rise(first[:1], ranks[:1], scores[:1])
