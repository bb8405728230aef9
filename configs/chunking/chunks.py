"""Cuts documents into chunks and retrieves by BM25: systems under test whose truth is known.

The documents are those of the folder `documents` (prose, tables, code, Chinese, pages that differ in facts only) and
the handbook of the quickstart. Each system returns the best 50 chunks with their texts and places:

    rankgauge run --data dataset.jsonl --sut chunks.py:of_200 -m recall@5

`python chunks.py` writes dataset.jsonl again, from questions.yaml and the questions about the handbook.
"""

import json
import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
DEPTH = 50
WORD = re.compile(r"[^\W_]+")
LETTER_IS_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


@cache
def documents() -> dict[str, str]:
    """Return the text of each document, by its name."""
    lines = (HERE.parent / "quickstart" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    entries = map(json.loads, lines)
    handbook = "\n\n".join(f"## {entry['title']}\n\n{entry['text']}" for entry in entries)
    pages = sorted((HERE / "documents").glob("*.md"))
    return {"handbook": handbook, **{page.stem: page.read_text(encoding="utf-8") for page in pages}}


@dataclass(frozen=True)
class Chunk:
    """A part of a document, by its place."""

    document: str
    start: int
    end: int
    text: str

    def as_result(self, score: float) -> dict[str, Any]:
        """Return it as a retrieved item."""
        place = {"document": self.document, "start": self.start, "end": self.end}
        return {"id": f"{self.document}:{self.start}", "score": score, "text": self.text, **place}


def cut(size: int, overlap: int = 0) -> list[Chunk]:
    """Cut every document into pieces of that many characters, whatever they cut through."""
    return [
        Chunk(name, start, min(start + size, len(text)), text[start : start + size])
        for name, text in documents().items()
        for start in range(0, max(len(text) - overlap, 1), size - overlap)
    ]


def words(text: str) -> list[str]:
    """Return the words of a text; each Chinese character is one."""
    return WORD.findall(LETTER_IS_WORD.sub(r" \g<0> ", text.lower()))


class Index:
    """BM25 over chunks."""

    def __init__(self, chunks: list[Chunk]) -> None:
        self._chunks = chunks
        bags = [Counter(words(chunk.text)) for chunk in chunks]
        mean = sum(bag.total() for bag in bags) / len(bags)
        self._weights: dict[str, list[tuple[int, float]]] = {}
        known = Counter(word for bag in bags for word in bag)
        for number, bag in enumerate(bags):
            longer = 1.2 * (0.25 + 0.75 * bag.total() / mean)
            for word, times in bag.items():
                idf = math.log(1 + (len(bags) - known[word] + 0.5) / (known[word] + 0.5))
                self._weights.setdefault(word, []).append((number, idf * times * 2.2 / (times + longer)))

    def search(self, question: str, depth: int = DEPTH) -> list[dict[str, Any]]:
        """Return the best chunks, best first; equal scores are in the order of the documents."""
        scores: defaultdict[int, float] = defaultdict(float)
        for word in sorted(set(words(question))):
            for number, weight in self._weights.get(word, ()):
                scores[number] += weight
        best = sorted(scores, key=lambda number: (-round(scores[number], 6), number))[:depth]
        return [self._chunks[number].as_result(round(scores[number], 6)) for number in best]


@cache
def index(size: int, overlap: int = 0) -> Index:
    """Return the index of one chunking."""
    return Index(cut(size, overlap))


def of_200(asked: dict[str, str]) -> dict[str, Any]:
    """Retrieve chunks of 200 characters."""
    return {"retrieved": index(200).search(asked["question"])}


def of_400(asked: dict[str, str]) -> dict[str, Any]:
    """Retrieve chunks of 400 characters of which every next one begins 200 later."""
    return {"retrieved": index(400, 200).search(asked["question"])}


def of_800(asked: dict[str, str]) -> dict[str, Any]:
    """Retrieve chunks of 800 characters."""
    return {"retrieved": index(800).search(asked["question"])}


def ten_of_200(asked: dict[str, str]) -> dict[str, Any]:
    """Retrieve only ten chunks of 200 characters."""
    return {"retrieved": index(200).search(asked["question"], 10)}


def main() -> None:
    """Write dataset.jsonl."""
    asked = yaml.safe_load((HERE / "questions.yaml").read_text(encoding="utf-8"))
    samples: list[dict[str, Any]] = [
        {
            "id": f"{document}-{number}",
            "input": {"question": entry["question"]},
            "expected_output": {"passages": entry["passages"]},
            "metadata": {"document": document},
        }
        for document, entries in asked.items()
        for number, entry in enumerate(entries, 1)
    ]
    of_handbook = (HERE.parent / "passages" / "dataset.jsonl").read_text(encoding="utf-8").splitlines()
    samples += [json.loads(line) | {"metadata": {"document": "handbook"}} for line in of_handbook]
    texts = documents()
    for sample in samples:
        text = texts[sample["metadata"]["document"]]
        missing = [passage for passage in sample["expected_output"]["passages"] if passage not in text]
        if missing:
            raise ValueError(f"{sample['id']}: not in its document: {missing}")
    lines = [json.dumps(sample, ensure_ascii=False, separators=(",", ":")) for sample in samples]
    (HERE / "dataset.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
