"""Reading runs: blocks, parts, scattered queries, compression, and lines that cannot be read."""

import gzip

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.errors import DataError, UnreadableError
from rankgauge.io.trec import RunFile
from rankgauge.io.trec import run_text as runs

LINES = [
    *(f"q1 Q0 d{number} {number} {10 - number / 4} tag" for number in range(1, 9)),
    *(f"query-two Q0 document-{number} {number} {5 - number}e-1 tag" for number in range(1, 4)),
    "q3 Q0 d1 1 7 tag",
]


def content(batches):
    """Return rankings as plain values."""
    rankings = []
    for batch in batches:
        rows = list(zip(batch.documents.texts(), batch.scores.tolist(), strict=True))
        assert batch.keys.tolist() == batch.documents.keys().tolist()
        for query, start, length in zip(batch.queries, batch.starts.tolist(), batch.lengths.tolist(), strict=True):
            rankings.append((query.decode(), [(name.decode(), score) for name, score in rows[start : start + length]]))
    return rankings


def parsed(lines):
    """The same, read line by line."""
    rankings = []
    for line in lines:
        query, _, document, _, score, *_ = line.split()
        if not rankings or rankings[-1][0] != query:
            rankings.append((query, []))
        rankings[-1][1].append((document, float(score)))
    return rankings


def write(path, text):
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("block", [1, 7, 64, 100, 1 << 20])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blocks_of_any_size_give_whole_queries(tmp_path, block, end):
    path = write(tmp_path / "run.txt", end.join(LINES))
    (part,) = RunFile(path, block=block).parts(1)
    assert content(part) == parsed(LINES)


def test_a_byte_order_mark_is_no_part_of_the_first_query(tmp_path):
    path = write(tmp_path / "run.txt", b"\xef\xbb\xbf" + "\n".join(LINES).encode())
    assert content(RunFile(path).parts(1)[0]) == parsed(LINES)


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".zst", zstandard.compress)])
def test_compressed_runs_are_read_by_their_ending(tmp_path, suffix, pack):
    path = write(tmp_path / f"run.txt{suffix}", pack("\n".join(LINES).encode()))
    run = RunFile(path, block=50)
    (part,) = run.parts(2)
    assert content(part) == parsed(LINES)
    assert sorted(content(run.grouped())) == sorted(parsed(LINES))


@given(counts=st.lists(st.integers(1, 9), min_size=1, max_size=12), parts=st.integers(1, 5), data=st.data())
def test_parts_together_are_the_run_whatever_their_number(tmp_path_factory, counts, parts, data):
    lines = [f"q{q} Q0 d{d} 1 {-d} t" for q, count in enumerate(counts) for d in range(count)]
    noise = data.draw(st.lists(st.sampled_from(["", "# q9 x x x x x", "  "]), min_size=len(lines), max_size=len(lines)))
    text = "".join(f"{line}\n{more}\n" if more else f"{line}\n" for line, more in zip(lines, noise, strict=True))
    path = write(tmp_path_factory.mktemp("run") / "run.txt", text)
    small = runs._SMALL
    runs._SMALL = 0
    try:
        found = [ranking for part in reversed(RunFile(path, block=64).parts(parts)) for ranking in content(part)]
    finally:
        runs._SMALL = small
    assert found == parsed(lines)


def test_the_tag_is_that_of_the_last_line(tmp_path):
    path = write(tmp_path / "run.txt", "q1 Q0 d1 1 2 first\nq2 Q0 d1 1 2 last more words\n\n")
    run = RunFile(path)
    assert run.tag == ""
    content(run.parts(1)[0])
    assert run.tag == "last"


def test_scattered_queries_are_brought_together_in_order(tmp_path):
    lines = ["a Q0 d1 1 3 t", "b Q0 d1 1 3 t", "a Q0 d2 2 2 t", "# a comment", "c Q0 d1 1 1 t", "a Q0 d3 3 9 t"]
    path = write(tmp_path / "run.txt", "\n".join(lines))
    assert sorted(content(RunFile(path, block=16).grouped())) == [
        ("a", [("d1", 3.0), ("d2", 2.0), ("d3", 9.0)]),
        ("b", [("d1", 3.0)]),
        ("c", [("d1", 1.0)]),
    ]


def test_malformed_lines_are_reported_together_with_their_numbers(tmp_path):
    text = "# header\nq1 Q0 d1 1 2 t\nq1 Q0 d2 2 t\n\nq1 Q0 d3 3 nan t\nq1 Q0 d4 4 1,5 t\nq1 Q0 d5 5 1e999 t\n"
    path = write(tmp_path / "run.txt", text)
    with pytest.raises(DataError) as error:
        content(RunFile(path, block=20).parts(1)[0])
    assert [(problem.line, problem.message) for problem in error.value.problems] == [
        (3, "5 fields where 6 are needed: 'q1 Q0 d2 2 t'"),
        (5, "the score 'nan' is not a finite number"),
        (6, "the score '1,5' is not a finite number"),
        (7, "the score '1e999' is not a finite number"),
    ]
    assert {problem.file for problem in error.value.problems} == {str(path)}


@pytest.mark.parametrize("text", ["", "\n", "# only\n# comments\n", "   \n\t\n"])
def test_an_empty_run_has_no_query(tmp_path, text):
    assert content(RunFile(write(tmp_path / "run.txt", text)).parts(2)[0]) == []


def test_a_run_that_is_not_there_is_unreadable(tmp_path):
    with pytest.raises(UnreadableError, match="no such file"):
        RunFile(tmp_path / "run.txt").parts(2)


def test_a_damaged_file_is_unreadable(tmp_path):
    packed = gzip.compress(("\n".join(LINES) * 50).encode())
    path = write(tmp_path / "run.gz", packed[: len(packed) // 2])
    with pytest.raises(UnreadableError, match="damaged"):
        content(RunFile(path).parts(1)[0])
