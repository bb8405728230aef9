"""Tables in plain text: nothing is cut, whatever the width, and what is left out is named."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Engine
from rankgauge.base.tables import aligned, folded, listing, ruled, text_width
from rankgauge.report.terminal import result_lines
from tables import rows

ROWS = [
    {"id": f"q{at}", "expected_output": ["a"], "actual_output": ["b", "a"], "metadata": {"tags": [f"cohort-{at}"]}}
    for at in range(7)
]


@pytest.fixture(scope="module")
def result():
    return Engine().dataset(ROWS).with_metrics(["MRR", "ndcg@10", "recall@5", "retrieval-f1-at-k"]).run()


def test_columns_stand_under_each_other_and_wide_characters_take_two():
    assert list(aligned([("run", "ndcg"), ("漢字", "1.0"), ("a", "12.25")])) == [
        "run    ndcg",
        "漢字    1.0",
        "a     12.25",
    ]


def test_a_table_that_is_too_wide_goes_on_below_under_the_same_names():
    lines = [line.text for line in ruled("t", ["m", "first", "second", "third"], [["x", "1", "2", "3"]], width=22)]
    assert lines == [
        *("t", ""),
        *("  m   first   second", " ────────────────────", "  x       1        2", ""),
        *("  m   third", " ───────────", "  x       3", ""),
    ]


def test_a_long_name_is_folded_and_not_cut():
    (name,) = {"retrieval-ndcg-at-k(gain=exponential)"}
    lines = [line.text for line in ruled("t", ["metric", "mean"], [[name, "0.5000"]], width=40)]
    assert all(text_width(line) <= 40 for line in lines)
    assert "".join(line.split()[0] for line in lines[4:-1]) == name
    assert folded("as it is", None) == ["as it is"]


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200, None])
def test_no_width_loses_a_mean_or_hides_a_column_without_a_word(result, width):
    lines = list(result_lines(result, width=width, is_whole=True))
    text = "\n".join(line.text for line in lines)
    tables = [line.text for line in lines if line.role in {"head", "row"}]
    assert width is None or max(map(text_width, tables)) <= width
    for row in ROWS:
        assert row["metadata"]["tags"][0] in text
    assert {"mean", "se", "low", "high", "n", "k", "std", "p50", "p95"} <= set(text.split())
    assert "not shown" not in text


@pytest.mark.parametrize("width", [20, 30, 40, 60, 80, 120])
def test_means_come_with_their_intervals_and_scores_where_there_is_room(result, width):
    lines = list(result_lines(result, width=width))
    text = "\n".join(line.text for line in lines)
    tables = [line.text for line in lines if line.role in {"head", "row"}]
    assert max(map(text_width, tables)) <= width
    assert "interval" in "\n".join(tables)
    assert squeezed(tables).count("1.0000") >= 1
    assert ("scores" in "\n".join(tables)) == ("not shown (narrow terminal): scores" not in text)
    if width >= 80:
        assert len(lines) < 20


@rows("width", range(20, 40))
def test_on_the_narrowest_terminals_every_mean_stands_in_a_list(result, width):
    lines = result_lines(result, width=width, is_whole=True)
    tables = [line.text for line in lines if line.role in {"head", "row"}]
    assert max(map(text_width, tables)) <= width
    assert squeezed(tables).count("1.0000") >= 1 + len(ROWS)  # recall@5, over all and in each cohort


WORDS = st.text("abcdefgh ijk-@.é語", max_size=30)


@st.composite
def tables(draw):
    columns = draw(st.integers(1, 6))
    row = st.lists(WORDS, min_size=columns, max_size=columns)
    return draw(row), draw(st.lists(row, min_size=1, max_size=4))


def squeezed(lines):
    return "".join("".join(lines).split())


@pytest.mark.parametrize(
    "lay_out",
    [
        lambda header, rows, width: aligned([header, *rows], width),
        lambda header, rows, width: (line.text for line in listing(header, rows, width=width)),
        lambda header, rows, width: (line.text for line in ruled("t", header, rows, width=width)),
    ],
    ids=["aligned", "listing", "ruled"],
)
@given(table=tables(), width=st.integers(20, 90))
def test_no_table_is_wider_than_the_terminal_or_loses_a_letter(lay_out, table, width):
    header, rows = table
    lines = list(lay_out(header, rows, width))
    assert [line for line in lines if text_width(line) > width] == []
    letters = Counter(squeezed(lines).replace("─", ""))
    assert not Counter(squeezed([cell for row in rows for cell in row])) - letters
