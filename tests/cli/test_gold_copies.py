"""``rankgauge gold copies``: what two corpora have in common, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

TEXT = "Knead the dough for ten minutes, let it rest under a wet towel, and bake it in a very hot oven."


@pytest.fixture
def corpora(tmp_path: Path) -> tuple[Path, Path]:
    """Two corpora; the second has a near-copy of a document of the first, and one of its own."""
    texts = {
        "first": {"a": TEXT},
        "second": {"x": TEXT.replace("wet", "damp"), "y": "Swallows leave in early September."},
    }
    for name, documents in texts.items():
        rows = [json.dumps({"id": each, "text": text}) for each, text in documents.items()]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows))
    return tmp_path / "first.jsonl", tmp_path / "second.jsonl"


def test_near_copies_are_listed(corpora: tuple[Path, Path], rankgauge: Any) -> None:
    done = rankgauge("gold", "copies", *corpora)
    assert done.code == 0
    assert "0 of 2 documents are copies of one of the other 1, and 1 nearly so" in done.out
    assert "near-copy" in done.out


@pytest.mark.parametrize(("least", "code"), [("0.8", 1), ("0.99", 0)])
def test_strict_exits_with_1_for_a_copy(corpora: tuple[Path, Path], rankgauge: Any, least: str, code: int) -> None:
    assert rankgauge("gold", "copies", *corpora, "--strict", "--least", least).code == code


def test_json_has_the_shares(corpora: tuple[Path, Path], rankgauge: Any) -> None:
    """Of 21 words `wet` is another one."""
    (copy,) = json.loads(rankgauge("gold", "copies", *corpora, "--json").out)["copies"]
    assert copy == {"document": "x", "of": "a", "share": 20 / 21, "share_of_first": 20 / 21, "is_whole": False}


@pytest.mark.parametrize("least", ["0", "1.5", "many"])
def test_a_share_that_is_none_is_refused(corpora: tuple[Path, Path], rankgauge: Any, least: str) -> None:
    done = rankgauge("gold", "copies", *corpora, "--least", least)
    assert (done.code, done.out) == (2, "")
