"""Tables of every command on terminals of every width: none is wider, and what decides is the last to go."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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
    "matchers list": ["matchers", "list"],
    "plugins list": ["plugins", "list"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_no_table_is_wider_than_the_terminal(command, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    for width in (20, 27, 33, 40, 52, 66, 79, 80, 93, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        assert call(command) == 0
        rows = [line for line in capsys.readouterr().out.splitlines() if re.search(r"\S {2,}\S", line)]
        assert [row for row in rows if len(row) > width] == [], width


@pytest.mark.parametrize("width", [20, 30, 45, 60, 72, 80, 90, 110, 160])
def test_the_corrected_p_stays_longer_than_any_other_and_an_interval_has_both_ends(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    assert call(COMPARE) == 0
    text = " ".join(capsys.readouterr().out.split())
    table = text.partition("against")[2].partition("left out")[0]
    left_out = text.partition("left out for want of room: ")[2].partition(" (")[0].split(", ")
    assert "corrected p" in table
    assert {"difference", "interval", "corrected p"}.isdisjoint(left_out)
    assert " to +" in table
