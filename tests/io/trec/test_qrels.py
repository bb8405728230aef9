"""Judgments of TREC text, read some lines at a time."""

import pytest

from rankgauge.errors import DataError
from rankgauge.io.trec import qrels_text as module
from rankgauge.io.trec import read_qrels

LINES = (
    "# judged by hand\n"
    "q2 0 d1 1\n"
    "q2 0 a-document-with-a-long-name 0\n"
    "\n"
    "q2\t0  d3 2\n"
    "q10 0 d1 -1\n"
    "q10 0 d2 1.5\n"
    "q1 0 d9 3\n"
    "q2 0 d4 1"
)


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "qrels.txt"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("block", [1, 5, 12, 40, 1 << 20])
def test_blocks_never_change_what_is_read(written, monkeypatch, block):
    """A stretch may go on in the next block, and `q2` comes again at the end."""
    monkeypatch.setattr(module, "_BLOCK", block)
    qrels = read_qrels(written(LINES))
    assert qrels.queries == (b"q1", b"q10", b"q2")
    assert qrels.lengths.tolist() == [1, 2, 4]
    assert qrels.names == ("d9", "d1", "d2", "d1", "a-document-with-a-long-name", "d3", "d4")
    assert qrels.grades.tolist() == [3.0, -1.0, 1.5, 1.0, 0.0, 2.0, 1.0]


@pytest.mark.parametrize("block", [1, 1 << 20])
def test_intents_are_read_whatever_the_blocks(written, monkeypatch, block):
    monkeypatch.setattr(module, "_BLOCK", block)
    qrels = read_qrels(written("q 1 a 1\nq 2 a 2\nq 1 b 0\n"), intents=True)
    assert (qrels.names, qrels.grades.tolist()) == (("a", "b"), [2.0, 0.0])
    assert qrels.intents is not None
    assert qrels.intents.grade.tolist() == [1.0, 2.0, 0.0]


@pytest.mark.parametrize("block", [1, 1 << 20])
def test_wrong_lines_of_any_block_are_all_told(written, monkeypatch, block):
    monkeypatch.setattr(module, "_BLOCK", block)
    with pytest.raises(DataError) as raised:
        read_qrels(written("q 0 a 1\nq 0 b\nq 0 c high\n"), name="q.txt")
    assert [problem.line for problem in raised.value.problems] == [2, 3]


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing but a remark\n"])
def test_a_file_without_judgments_is_refused(written, text):
    with pytest.raises(DataError, match="there are no judgments"):
        read_qrels(written(text))
