"""``--keep-hashes``: a result keeps hashes of gold documents, and a comparison says which were edited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

N = 40
TEXTS = {f"d{at}": f"Document {at} tells of cats." for at in range(N)}
EDITED = TEXTS | {f"d{at}": f"Rewritten: {at}." for at in range(4)}


def lines(path: Path, rows: Any) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_edits_between_two_runs_are_said(tmp_path: Path, rankgauge: Any) -> None:
    for name, texts in (("old", TEXTS), ("new", EDITED)):
        lines(tmp_path / f"{name}.jsonl", [{"id": each, "text": text} for each, text in texts.items()])
    for name, missed in (("a", 0), ("b", 10)):
        rows = [
            {"id": f"q{at}", "expected_output": [f"d{at}"], "actual_output": ["x" if at < missed else f"d{at}"]}
            for at in range(N)
        ]
        data, corpus_file = (
            lines(tmp_path / f"{name}.jsonl", rows),
            tmp_path / f"{'old' if name == 'a' else 'new'}.jsonl",
        )
        done = rankgauge(
            "run", "--data", data, "-m", "hit@1", "-o", tmp_path / name.upper(), "--keep-hashes", corpus_file
        )
        assert done.code == 0
    compared = rankgauge("compare", tmp_path / "A", tmp_path / "B")
    assert "B against A is inconclusive: 4 gold documents of 4 samples changed" in compared.out
    lacking = rankgauge("run", "--data", tmp_path / "a.jsonl", "-m", "hit@1", "--keep-hashes", tmp_path / "none.jsonl")
    assert lacking.code == 2
    assert "none.jsonl" in lacking.err
