"""The console of a command of a plugin: streams, widths, plain output and colours."""

import json
from pathlib import Path

import numpy as np
import pytest

from rankgauge import Catalog, Engine
from rankgauge.base.entry_points import EntryPoint
from rankgauge.cli.console import plain
from rankgauge.cli.plugin_console import PluginConsole
from rankgauge.plugin import Console

ROWS = [["bm25", "0.4000"], ["a much longer name of a system", "0.5"]]


@pytest.fixture
def console() -> Console:
    return PluginConsole("show", EntryPoint("acme-show", "1.0", "rankgauge.commands", "show", "acme:show"))


def test_the_result_goes_to_stdout_and_notes_to_stderr(console, capsys):
    console.echo("3 documents\n\x1b[2Jof one question")
    console.note("1 left out")
    assert capsys.readouterr() == ("3 documents\n\\x1b[2Jof one question\n", "1 left out\n")


def test_json_takes_numpy_and_has_no_nan(console, capsys):
    console.json({"scores": np.array([0.5, np.nan]), 3: "\x1b"})
    assert json.loads(capsys.readouterr().out) == {"scores": [0.5, None], "3": "\x1b"}


def test_a_table_without_a_title_is_a_list_of_texts(console, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    console.table(["system", "mean"], ROWS)
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == f"{'bm25':30}  0.4000"
    assert lines[3] == f"{'a much longer name of a system':30}  0.5"


def test_a_table_with_a_title_has_its_numbers_to_the_right(console, capsys):
    with plain(wanted=True):
        console.table(["system", "mean"], ROWS, title="two systems")
    title, _, head, rule, first, second, _ = capsys.readouterr().out.split("\n", 6)
    assert title == "two systems"
    assert set(rule.strip()) == {"-"}
    assert head.endswith("  mean")
    assert (first.split(), len(first)) == (ROWS[0], len(head))
    assert second.endswith("     0.5")


def test_roles_are_colours_only_where_there_are_colours(console, capsys, monkeypatch):
    console.echo("spoils ties", role="bad", word="spoils")
    assert capsys.readouterr().out == "spoils ties\n"
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    console.echo("spoils ties", role="bad", word="spoils")
    assert capsys.readouterr().out == "\x1b[31mspoils\x1b[0m ties\n"
    with plain(wanted=True):
        console.echo("one\ntwo", role="head")
    assert capsys.readouterr().out == "one\ntwo\n"


def test_progress_can_be_told_without_a_terminal(console, capsys):
    with console.progress("asking") as report:
        report(1, 2)
        report(2, None)
    assert capsys.readouterr() == ("", "")


def test_it_gives_what_is_installed_and_engines(console, tmp_path):
    assert isinstance(console.catalog(), Catalog)
    assert isinstance(console.engine(), Engine)
    (tmp_path / "data.jsonl").write_text('{"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}\n')
    config = Path(tmp_path / "c.yaml")
    config.write_text("version: 1\ndatasets:\n  docs:\n    path: data.jsonl\nmetrics:\n  use: [hit@1]\n")
    assert console.engine(config).dataset_names == ("docs",)
