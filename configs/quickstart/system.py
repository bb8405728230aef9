"""
A system under test to try `rankgauge run --sut` with: search by shared words over the quickstart's corpus.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

_MOST = 10


def search(given: dict[str, str]) -> dict[str, object]:
    """Return the passages that share most words with a sample's question, the best first."""
    asked = _words(given["question"])
    scored = [(len(asked & words) / len(words), passage) for passage, words in _passages()]
    best = sorted(scored, key=lambda pair: -pair[0])[:_MOST]
    return {"retrieved": [{"id": passage["id"], "text": passage["text"], "score": score} for score, passage in best]}


@cache
def _passages() -> list[tuple[dict[str, str], set[str]]]:
    lines = Path(__file__).with_name("corpus.jsonl").read_text(encoding="utf-8").splitlines()
    passages = [json.loads(line) for line in lines]
    return [(passage, _words(passage["title"] + " " + passage["text"])) for passage in passages]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
