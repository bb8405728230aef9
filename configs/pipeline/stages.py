"""
A pipeline to try `rankgauge funnel` with: two searches, fused, filtered and reranked, that tells its stages.

One of the stages has a fault, which the funnel finds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

_CORPUS = Path(__file__).parent.parent / "quickstart" / "corpus.jsonl"
_MOST = 10
_LONGEST = 500  # characters: what a prompt had room for when the filter was written

Passages = dict[str, str]  # texts by id, the best first
Features = Callable[[str], set[str]]


def answer(given: dict[str, str]) -> dict[str, object]:
    """Return what each stage retrieves for a sample's question."""
    question = given["question"]
    stages: list[dict[str, object]] = []

    def told(name: str, found: Passages, sources: list[str]) -> Passages:
        retrieved = [{"id": passage, "text": text} for passage, text in found.items()]
        stages.append({"name": name, "from": sources, "retrieved": retrieved})
        return found

    by_word = told("words", _search(question, words), [])
    by_letter = told("letters", _search(question, letters), [])
    fused = told("fused", _fused(by_word, by_letter), ["words", "letters"])
    short = told("short", {name: text for name, text in fused.items() if len(text) <= _LONGEST}, ["fused"])
    told("rerank", _reranked(question, short), ["short"])
    return {"stages": stages}


def words(text: str) -> set[str]:
    """Return the words of a text."""
    return set(re.findall(r"\w+", text.casefold()))


def letters(text: str) -> set[str]:
    """Return the runs of four letters of a text."""
    plain = " ".join(re.findall(r"\w+", text.casefold()))
    return {plain[start : start + 4] for start in range(len(plain) - 3)}


def _search(question: str, features: Features) -> Passages:
    """Return the passages that share most with the question, for how long they are."""
    asked = features(question)
    scores = {name: len(asked & has) / len(has) ** 0.5 for name, has in _index(features).items()}
    return _best(scores, scores)


@cache
def _index(features: Features) -> dict[str, set[str]]:
    return {name: features(text) for name, text in _corpus().items()}


@cache
def _corpus() -> Passages:
    passages = map(json.loads, _CORPUS.read_text(encoding="utf-8").splitlines())
    return {passage["id"]: passage["text"] for passage in passages}


def _best(names: Iterable[str], scores: dict[str, float]) -> Passages:
    ranked = sorted(names, key=lambda name: (-scores[name], name))
    return {name: _corpus()[name] for name in ranked[:_MOST]}


def _fused(*rankings: Passages) -> Passages:
    """Fuse rankings by reciprocal rank."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, name in enumerate(ranking, 1):
            scores[name] = scores.get(name, 0.0) + 1 / (60 + rank)
    ranked = sorted(scores, key=lambda name: (-scores[name], name))
    return {name: _corpus()[name] for name in ranked}


def _reranked(question: str, passages: Passages) -> Passages:
    """Put first what shares most long words with the question."""
    asked = {word for word in words(question) if len(word) > 3}
    scores = {name: float(len(asked & words(text))) for name, text in passages.items()}
    order = list(passages)
    ranked = sorted(passages, key=lambda name: (-scores[name], order.index(name)))
    return {name: passages[name] for name in ranked[:_MOST]}


def short_enough(_given: object, items: list[dict[str, object]]) -> list[dict[str, object]]:
    """Keep what a prompt has room for, titles left aside; the filter of `engines.yaml`, which has the same fault."""
    return [item for item in items if len(_corpus()[str(item["id"])]) <= _LONGEST]


def by_long_words(given: dict[str, str], items: list[dict[str, object]]) -> list[dict[str, object]]:
    """Put first what shares most long words with the question; the reranker of `engines.yaml`."""
    asked = {word for word in words(given["question"]) if len(word) > 3}
    return sorted(items, key=lambda item: -len(asked & words(str(item["text"]))))
