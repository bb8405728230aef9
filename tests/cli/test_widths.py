"""Tables of every command on terminals of every width: none is wider, and what decides is the last to go."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from draws import some
from rankgauge.base.tables import text_width
from rankgauge.cli import call

ROOT = Path(__file__).parents[2]
TREC = [str(ROOT / "configs/trec" / name) for name in ("qrels.txt", "bm25.run", "char-ngram.run")]
COMPARE = ["compare", "--qrels", TREC[0], "-m", "ndcg@10", "-m", "AP", "-m", "RR", *TREC[1:]]
COMMANDS = {
    "run": ["run", str(ROOT / "configs/quickstart/rankgauge.yaml"), "-o", "out", "--force"],
    "compare": COMPARE,
    "compare one metric": ["compare", "--qrels", TREC[0], "-m", "ndcg@10", *TREC[1:]],
    "compare condensed": [*COMPARE, "--condensed"],
    "trec": ["trec", *TREC[:2], "-m", "ndcg@10", "-m", "AP", "--bounds", "--condensed"],
    "trec per query": ["trec", *TREC[:2], "-q", "-m", "ndcg@10", "-m", "AP", "-m", "RR", "-m", "P@5"],
    "trec runs": ["trec", *TREC, "-m", "official"],
    "trec against": ["trec", *TREC[:2], "--against", TREC[2], "-q"],
    "metrics list": ["metrics", "list"],
    "metrics list whole": ["metrics", "list", "--all-columns"],
    "validate": ["validate", str(ROOT / "configs/quickstart/rankgauge.yaml")],
    "run whole": ["run", str(ROOT / "configs/quickstart/rankgauge.yaml"), "-o", "out", "--force", "--all-columns"],
    "compare whole": [*COMPARE, "--all-columns"],
    "matchers list": ["matchers", "list"],
    "plugins list": ["plugins", "list"],
}


class Shown(NamedTuple):
    code: int
    out: str


def _open_terminal(width):
    """Return both ends of a terminal without a window."""
    main, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    return main, end


def _read_to_end(main):
    """Return what is printed to a terminal until nobody holds its other end."""
    parts = []
    with contextlib.suppress(OSError):  # the end of it, on Linux
        while part := os.read(main, 65536):
            parts.append(part)
    os.close(main)
    return b"".join(parts).decode().replace("\r\n", "\n")


@pytest.fixture
def terminal(monkeypatch, tmp_path):
    """Return what a command prints to a terminal of some width, a real one without a window."""
    monkeypatch.chdir(tmp_path)

    def shown(command, width, settings=None):
        main, end = _open_terminal(width)
        kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
        script = [sys.executable, "-m", "rankgauge", *command]
        environment = kept | {"TERM": "xterm", "PYTHONIOENCODING": "utf-8", **(settings or {})}
        with subprocess.Popen(script, stdout=end, stderr=subprocess.DEVNULL, env=environment) as process:
            os.close(end)
            text = _read_to_end(main)
        return Shown(process.returncode, text)

    return shown


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_no_table_is_wider_than_the_terminal(command, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    for width in some([20, 27, 33, 40, 52, 66, 79, 80, 93, 120], of=7):
        monkeypatch.setenv("COLUMNS", str(width))
        assert call(command) == 0
        rows = [line for line in capsys.readouterr().out.splitlines() if re.search(r"\S {2,}\S", line)]
        assert [row for row in rows if len(row) > width] == [], width


@pytest.mark.parametrize("width", [20, 30, 45, 60, 72, 80, 90, 110, 160])
def test_what_decides_is_never_left_out_and_an_interval_has_both_ends(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    assert call(COMPARE) == 0
    text = " ".join(capsys.readouterr().out.split())
    table = text.partition("against")[2].partition("biggest")[0]
    left_out = text.partition("not shown (narrow terminal): ")[2].partition(";")[0].split(", ")
    assert all(heading in table for heading in ("verdict", "change", "95 % interval", "p*"))
    assert {"verdict", "change", "95 % interval", "p*"}.isdisjoint(left_out)
    assert " to +" in table


@pytest.mark.usefixtures("process")
def test_a_comparison_by_two_metrics_fits_a_small_terminal(terminal):
    """80 columns, 12 rows: what is printed, and the line of the next prompt."""
    printed = terminal(["compare", "--qrels", TREC[0], "-m", "ndcg@10", "-m", "AP", *TREC[1:]], 80).out
    lines = re.sub(r"\x1b\[\d+m", "", printed).splitlines()
    assert len(lines) <= 11
    assert max(map(len, lines)) <= 80
    assert lines[:2] == ["char-ngram.run: no clear difference in ndcg@10", "char-ngram.run is better: ap"]


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_nothing_is_wider_than_a_terminal(command, monkeypatch, tmp_path):
    """In this process, where stdout is a terminal: a hundred processes would take a minute."""
    monkeypatch.chdir(tmp_path)
    for name, value in (("TERM", "xterm"), ("NO_COLOR", None), ("FORCE_COLOR", None), ("COLUMNS", None)):
        monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)
    for width in some([20, 31, 48, 64, 80, 132], of=4):
        main, end = _open_terminal(width)
        with ThreadPoolExecutor(1) as reader:
            read = reader.submit(_read_to_end, main)
            with os.fdopen(end, "w", encoding="utf-8") as stdout, contextlib.redirect_stdout(stdout):
                assert call(command) == 0
            lines = re.sub(r"\x1b\[\d+m", "", read.result()).splitlines()
        assert len(lines) > 2
        assert [line for line in lines if text_width(line) > width] == [], width


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    ("settings", "is_coloured"),
    some(
        [
            ({}, True),
            ({"NO_COLOR": "1"}, False),
            ({"TERM": "dumb"}, False),
            ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
            ({"TERM": "dumb", "FORCE_COLOR": "1"}, True),
            ({"FORCE_COLOR": "0"}, False),
        ]
    ),
)
def test_verdicts_have_colours_on_a_terminal_unless_they_are_not_wanted(terminal, settings, is_coloured):
    gates = ["--gate", "ndcg@10 >= 0.9 level warn", "--gate", "AP >= 0.1"]
    text = terminal(["trec", *TREC[:2], "-m", "ndcg@10", "-m", "AP", *gates], 80, settings).out
    assert (("\x1b[33mwarn\x1b[0m   ndcg@10:" in text) and ("\x1b[32mok\x1b[0m     ap:" in text)) == is_coloured
    assert ("\x1b" in text) == is_coloured


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_pipe_gets_no_control_characters(command, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    assert call(command) == 0
    done = capsys.readouterr()
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", done.out + done.err)
