"""Tables for people, as `metrics list` and others print them."""

import pytest

from rankgauge.cli import console


@pytest.fixture
def printed(capsys, monkeypatch):
    def call(rows, header=("name", "text"), width=30):
        monkeypatch.setattr(console, "_PIPE_WIDTH", width)
        console.plain_table(header, rows)
        return capsys.readouterr().out.splitlines()

    return call


def test_columns_are_as_wide_as_what_stands_in_them(printed):
    assert printed([("a", "one"), ("long-name", "")]) == [
        "name       text",
        "─────────  ────",
        "a          one",
        "long-name",
    ]


def test_what_is_too_wide_is_broken_between_words(printed):
    assert printed([("alpha", "one two three four five six"), ("b", "x")], width=24)[2:] == [
        "alpha  one two three",
        "       four five six",
        "b      x",
    ]


def test_a_word_that_is_too_long_is_cut_and_the_first_column_never_is(printed):
    assert printed([("a-very-long-name-indeed", "0123456789abcdef")], width=33)[2:] == [
        "a-very-long-name-indeed  01234567",
        "                         89abcdef",
    ]


def test_where_the_first_column_leaves_no_room_each_row_is_a_list(printed):
    rows = [("a-very-long-name", "0123456789"), ("b", "")]
    assert printed(rows, width=20) == ["a-very-long-name", "  text 0123456789", "b", "  text"]


def test_the_widest_column_gives_way_first(printed):
    lines = printed([("a", "short text", "a text that is quite long")], header=("n", "s", "t"), width=33)
    assert lines[2:] == ["a  short text  a text that is", "               quite long"]


def test_line_breaks_and_wide_letters_keep_their_columns(printed):
    assert printed([("鯨", "one\ntwo"), ("ab", "x")])[2:] == ["鯨    one", "      two", "ab    x"]


def test_a_table_without_rows_is_its_header(printed):
    assert printed([]) == ["name  text", "────  ────"]


@pytest.mark.parametrize("arguments", [["--plain", "run", "rankgauge.yaml"], ["run", "rankgauge.yaml", "--plain"]])
def test_plain_output_has_ascii_rules_and_every_column_whatever_the_width(rankgauge, project, monkeypatch, arguments):
    monkeypatch.setenv("COLUMNS", "30")
    narrow, plain = rankgauge("run", project), rankgauge(*arguments)
    assert narrow.code == plain.code == 0
    assert "\u2588" in narrow.out or "not shown" in narrow.out
    assert plain.out.isascii()
    assert "not shown" not in plain.out
    heading = plain.out.splitlines()[2].split()
    assert {"mean", "se", "low", "high", "n", "k", "std", "p50", "p95"} <= {*heading}
