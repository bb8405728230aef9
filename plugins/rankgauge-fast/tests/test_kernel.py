"""The kernel and numpy's road come to the same columns, numbers, judged rows and refusals, to the last bit."""

from __future__ import annotations

import logging
import random
import struct
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankgauge
from rankgauge import kernel as loading
from rankgauge.catalog import compiled_kernel
from rankgauge.catalog.compiled_kernel import join_judged, query_finder
from rankgauge.columns import PADDING, Qrels, RankingBatch, Slices
from rankgauge.io.problems import MalformedError
from rankgauge.io.trec import line_columns
from rankgauge.io.trec.line_columns import QRELS, RUN, read_lines
from rankgauge.judging.ranking import joined
from rankgauge.judging.ranks import RepeatFinder, ranks_of
from rankgauge.kernel import installed_kernel
from rankgauge.policy import Policy

pytest.importorskip("rankgauge_fast._kernel", reason="rankgauge-fast is not compiled here: `make test-fast` does it")

IDS = ("a", "q1", "d-with-a-longer-name", "é", "12345678", "123456789", "x" * 40, "#a", "q10")
PLAIN_NUMBERS = ("0", "-0", "7", "-3.25", "12.345678", "0.1", "12345678.12345678", "1.2345678901234567", "99999999")
ODD_NUMBERS = (
    "1e-5",
    ".5",
    "5.",
    "+2",
    "1E300",
    "123456789012345678901",
    "0.000000000000000000001",
    "1e400",
    "nan",
    "x",
    "-",
)
SEPARATORS = (" ", " ", " ", " ", " ", " ", "\t", "  ", "\x0b", "\r", "\x00", "\x1f")


@st.composite
def blocks(draw, fields, number):
    """Lines, nearly all of them plain."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    odd = draw(st.sampled_from((0.0, 0.0, 0.02, 0.2)))
    are_alike = draw(st.booleans())  # but for document, rank and number, as lines of one query are in most files
    lines = []
    query = "q"
    for _ in range(draw(st.integers(0, 60))):
        query = chance.choice(IDS) if chance.random() < 0.3 else query
        line = [query, *(chance.choice(IDS) for _ in range(fields - 1))]
        line[number] = chance.choice(PLAIN_NUMBERS)
        if are_alike:
            line = [query, "Q0", *line[2 : number + 1], *["run-tag"] * (fields - number - 1)]
        if chance.random() < odd:
            line[number] = chance.choice(ODD_NUMBERS)
        if chance.random() < odd:
            line = line[: chance.randint(0, fields)]
        if chance.random() < odd:
            line.append("more")
        text = "".join(part + (chance.choice(SEPARATORS) if chance.random() < odd else " ") for part in line[:-1])
        comment = "# " if chance.random() < odd / 4 else ""
        lines.append(comment + text + "".join(line[-1:]) + ("\r" if chance.random() < odd / 4 else "") + "\n")
    return "".join(lines).encode()


def window(text):
    """A buffer with a text, where nothing else is blank."""
    buffer = np.full(len(text) + 2 * PADDING, 255, dtype=np.uint8)
    buffer[PADDING : PADDING + len(text)] = np.frombuffer(text, dtype=np.uint8)
    return buffer


def columns_of(text, form, *, is_whole):
    """What a block comes to, in values that compare."""
    try:
        lines = read_lines(window(text), len(text) + PADDING, form, is_whole=is_whole)
    except MalformedError:
        return "malformed"
    if lines is None or not len(lines.numbers):
        return "nothing"
    begin = int(lines.left[0]) if len(lines.left) else None
    bits = lines.numbers.view(np.uint64).tolist()
    return lines.queries.texts(), lines.first.tolist(), lines.documents.texts(), bits, lines.keys.tolist(), begin


@pytest.mark.parametrize("form", [RUN, QRELS], ids=["run", "qrels"])
@pytest.mark.parametrize("is_whole", [True, False])
@given(data=st.data())
@settings(deadline=None)
def test_lines_become_the_same_columns(without, form, is_whole, data):
    text = data.draw(blocks(form.fields, form.number))
    expected = without(columns_of, text, form, is_whole=is_whole)
    assert columns_of(text, form, is_whole=is_whole) == expected


@pytest.mark.parametrize("length", [*range(1, 140), 16_383, 16_384, 16_385, 70_000])
def test_ids_of_every_length_stand_across_every_border(without, length):
    text = b"".join(b"q%d Q0 %s %d 1.5 t\n" % (at // 3, bytes([97 + at % 26]) * length, at) for at in range(7))
    assert columns_of(text, RUN, is_whole=False) == without(columns_of, text, RUN, is_whole=False)


def test_plain_blocks_are_the_kernels():
    text = b"".join(b"q%d Q0 d%d 1 %d.5 t\n" % (at // 10, at, -at) for at in range(5000))
    lines = compiled_kernel.read_lines(window(text), len(text) + PADDING, is_run=True)
    assert lines is not None
    assert (len(lines.first), lines.n_unread) == (500, 0)


@pytest.mark.parametrize(
    "line",
    [
        b"q Q0 d 1 2\n",
        b"q  Q0 d 1 2 t\n",
        b"# a b c d e\n",
        b" q Q0 d 1 2 t\n",
        b"\n",
        b"q Q0 d 1 2 t\r\n",
        b"q\x01 Q0 d 1 2 t\n",
        b"q Q0 d\n",
        b"q Q0 d 1\n",
        b"q Q0 d 1 2 \n",
        b"q Q0 d 1 2 t t\n",
        b"q Q0  1 2 t\n",
        b"q Q0 d  2 t\n",
        b"q Q0 d 1  t\n",
        b"q Q0 d\x01 1 2 t\n",
        b"q Q0 d 1 2\x01t\n",
    ],
)
def test_what_is_not_plain_is_handed_back(line):
    text = b"q Q0 a 1 3 t\n" + line
    assert compiled_kernel.read_lines(window(text), len(text) + PADDING, is_run=True) is None


@pytest.mark.parametrize("behind", [b" 1 2 t\n", b"\n\n\n\n", b"\0\0\0\0", b"q Q0 b 2 1 t\n"])
def test_what_stands_behind_a_block_is_not_read(behind):
    def read(text):
        return compiled_kernel.read_lines(window(text + behind), len(text) + PADDING, is_run=True)

    assert read(b"q Q0 a 1 3 t\nq Q0 b\n") is None
    assert read(b"q Q0 a 1 3 t\nq Q0 b 2 1 t\n").documents.texts() == [b"a", b"b"]


decimals = st.one_of(
    st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**7), max_value=10**7).map(
        "{:f}".format
    ),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(float).map(repr),
    st.floats(0, 1).map(repr),
    st.from_regex(r"\A-?[0-9]{1,9}\.[0-9]{1,17}\Z"),
    st.from_regex(r"\A-?[0-9]{1,20}\Z"),
)


@given(st.lists(decimals, min_size=1, max_size=40))
@settings(deadline=None, max_examples=300)
def test_numbers_have_the_bits_of_float(texts):
    text = "".join(f"q Q0 d{at} 1 {number} t\n" for at, number in enumerate(texts)).encode()
    lines = compiled_kernel.read_lines(window(text), len(text) + PADDING, is_run=True)
    for value, number in zip(lines.numbers.tolist(), texts, strict=True):
        assert np.isnan(value) or struct.pack("d", value) == struct.pack("d", float(number)), number


def test_most_scores_of_runs_are_read_by_the_kernel():
    chance = random.Random(5)
    scores = [repr(float(np.float32(chance.gammavariate(2, 4)))) for _ in range(3000)]
    text = "".join(f"q Q0 d{at} 1 {score} t\n" for at, score in enumerate(scores)).encode()
    lines = compiled_kernel.read_lines(window(text), len(text) + PADDING, is_run=True)
    assert lines.n_unread < 100
    assert all(
        np.isnan(value) or value == float(score) for value, score in zip(lines.numbers.tolist(), scores, strict=True)
    )


def rankings(chance, judged_queries):
    """A batch and its judgments, with ties, and seldom a repeat or a score that rises."""
    names = [f"q{at}".encode() for at in range(judged_queries)]
    documents, owners, grades = [], [], []
    for query in range(judged_queries):
        chosen = chance.sample(range(60), chance.randint(1, 30))
        documents += [f"{'long-name-of-' * (document % 3)}d{document}".encode() for document in chosen]
        owners += [query] * len(chosen)
        grades += [float(chance.randint(0, 2)) for _ in chosen]
    qrels = Qrels.of(names, np.array(owners), Slices.of(documents), np.array(grades))
    rows, lengths, scores = [], [], []
    asked = chance.sample(range(judged_queries), chance.randint(1, judged_queries))
    for _ in asked:
        chosen = chance.sample(range(60), chance.randint(1, 40))
        if chance.random() < 0.05:
            chosen.append(chosen[0])
        rows += [f"{'long-name-of-' * (document % 3)}d{document}".encode() for document in chosen]
        lengths.append(len(chosen))
        several = [chance.choice((0.0, -0.0, 1.0, 1.00000001, 2.5, 1e300, 3.5)) for _ in chosen]
        scores += several if chance.random() < 0.05 else sorted(several, reverse=True)
    texts = Slices.of(rows)
    batch = RankingBatch(
        Slices.of([names[at] for at in asked]), np.array(lengths), texts, texts.keys(), np.array(scores)
    )
    return batch, qrels, np.array(asked)


@pytest.mark.parametrize("ties", ["docno", "given"])
@pytest.mark.parametrize("score_dtype", ["float64", "float32"])
def test_the_join_finds_what_numpy_does(ties, score_dtype):
    chance = random.Random(7)
    policy = Policy(order="score", ties=ties, score_dtype=score_dtype, duplicates="best")
    n_joined = 0
    for _ in range(400):
        batch, qrels, places = rankings(chance, chance.randint(1, 6))
        plain = join_judged(batch, qrels, places, by_id=ties == "docno", narrow=score_dtype == "float32")
        settled, rows, judgments = joined(batch, qrels, places, policy, RepeatFinder())
        if plain is None:
            continue
        assert settled.n_dropped == 0
        n_joined += 1
        ranks = ranks_of(settled.batch, rows, by_id=ties == "docno")
        expected = sorted(
            zip(batch.owners()[rows].tolist(), judgments.tolist(), *(part.tolist() for part in ranks), strict=True)
        )
        assert sorted(zip(*(column.tolist() for column in plain), strict=True)) == expected
    assert n_joined > 200


@pytest.mark.parametrize("scores", [[1.0, 2.0, 3.0], [3.0, float("nan"), 1.0]])
def test_scores_that_do_not_fall_are_handed_back(scores):
    texts = Slices.of([b"a", b"b", b"c"])
    qrels = Qrels.of([b"q"], np.zeros(1, dtype=np.int64), Slices.of([b"b"]), np.ones(1))
    batch = RankingBatch(Slices.of([b"q"]), np.array([3]), texts, texts.keys(), np.array(scores))
    assert join_judged(batch, qrels, np.zeros(1, dtype=np.int64), by_id=True, narrow=False) is None


def test_a_collision_of_hashes_is_handed_back():
    texts = Slices.of([b"a", b"b"])
    qrels = Qrels.of([b"q"], np.zeros(1, dtype=np.int64), Slices.of([b"b"]), np.ones(1))
    batch = RankingBatch(Slices.of([b"q"]), np.array([2]), texts, np.full(2, 5, dtype=np.uint64), np.array([2.0, 1.0]))
    assert join_judged(batch, qrels, np.zeros(1, dtype=np.int64), by_id=True, narrow=False) is None


def of_queries(names):
    """Judgments of some queries, one each."""
    documents = Slices.of([b"d"] * len(names))
    return Qrels.of(names, np.arange(len(names)), documents, np.ones(len(names)))


def random_name(chance):
    return bytes(chance.choices(b"abq0123456789", k=chance.choice((1, 2, 7, 8, 9, 16, 40))))


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 3000])
def test_queries_are_found_where_numpy_finds_them(count):
    chance = random.Random(count)
    names = sorted({random_name(chance) for _ in range(count)})
    qrels = of_queries(names)
    asked = Slices.of(
        [chance.choice(names) if chance.random() < 0.8 else random_name(chance) for _ in range(2 * count)]
    )
    assert query_finder(qrels)(asked).tolist() == qrels.places_of(asked).tolist()


def test_queries_that_meet_in_one_place_are_numpys():
    every = Slices.of([b"q%d" % number for number in range(60_000)])
    meeting = every.at(np.flatnonzero(every.keys() >> np.uint64(56) == 7)[:100]).texts()
    assert len(meeting) == 100
    assert query_finder(of_queries(meeting)) is None


def test_a_kernel_with_other_functions_is_not_used(monkeypatch, caplog):
    kernel = SimpleNamespace(INTERFACE=0)
    monkeypatch.setattr("rankgauge_fast.rankgauge_kernel", lambda: kernel)
    with caplog.at_level(logging.WARNING, logger="rankgauge"):
        assert loading._loaded.__wrapped__() is None
    assert "compiled for another version of rankgauge" in caplog.text


def test_an_uncompiled_plugin_offers_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, "rankgauge_fast._kernel", None)
    monkeypatch.delattr("rankgauge_fast._kernel")
    assert loading._loaded.__wrapped__() is None


def test_columns_that_do_not_fit_are_refused():
    kernel = installed_kernel()
    text = b"q Q0 d 1 2 t\n"
    columns = [np.empty(2, dtype=np.int64) for _ in range(7)]
    with pytest.raises(ValueError, match="do not fit"):
        kernel.read_lines(window(text), PADDING, len(text) + PADDING + 1, True, *columns)
    for short in range(7):
        fewer = [column[1 if number == short else 0 :] for number, column in enumerate(columns)]
        with pytest.raises(ValueError, match="do not fit"):
            kernel.read_lines(window(text), PADDING, len(text) + PADDING, True, *fewer)
    texts = Slices.of([b"a", b"b"])
    for slots in (0, 1, 2, 3, 5):
        with pytest.raises(ValueError, match="do not fit"):
            kernel.index_texts(*texts, np.zeros(slots, dtype=np.uint64))
    with pytest.raises(ValueError, match="do not fit"):
        kernel.find_texts(*texts, np.zeros(4, dtype=np.uint64), *texts, np.empty(1, dtype=np.int64))


@pytest.fixture
def files(tmp_path):
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n")
    run.write_text("q1 Q0 b 1 2.5 t\nq1 Q0 a 2 1e-3 t\nq2 Q0 a 1 1 t\n")
    return qrels, run


def test_the_manifest_names_the_kernel_that_was_used(files, monkeypatch):
    with_kernel = rankgauge.evaluate(*files, ["ndcg@10", "ap"])
    assert with_kernel.manifest["kernel"] == "rankgauge-fast"
    monkeypatch.setenv("RANKGAUGE_DISABLE_PLUGINS", "rankgauge_fast")
    assert installed_kernel() is None
    plain = rankgauge.evaluate(*files, ["ndcg@10", "ap"])
    assert "kernel" not in plain.manifest
    assert plain["ndcg@10"].values.tolist() == with_kernel["ndcg@10"].values.tolist()


@pytest.mark.parametrize(
    ("command", "words"), [(["plugins", "list"], "a kernel"), (["doctor"], "rankgauge-fast reads TREC lines")]
)
def test_commands_name_the_kernel(command, words):
    done = subprocess.run([sys.executable, "-m", "rankgauge", *command], capture_output=True, text=True, check=False)
    assert words in done.stdout


def test_the_two_roads_are_two(without):
    assert installed_kernel() is not None
    assert without(installed_kernel) is None
    assert line_columns.read_lines(window(b""), PADDING, RUN) is None
