"""Cuts the corpus of the quickstart into chunks of 200 and of 800 characters, and records what BM25 finds in each.

The gold passages are single sentences: those of the best documents that hold the answer. Chunks know nothing of
documents and sentences, so that only their text tells what they hold, and most are longer than a gold passage. It
writes dataset.jsonl, outputs.200.jsonl and outputs.800.jsonl, the same bytes with any version of Python:

    python record.py
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
QUICKSTART = HERE.parent / "quickstart"
DEPTH = 5
SENTENCE = re.compile(r"\S.*?(?:[.?!](?=\s|$)|$)", re.DOTALL)


def gold_passages(answers: list[str], documents: list[str]) -> list[str]:
    """Return the first sentence that holds each answer."""
    sentences = [match[0] for document in documents for match in SENTENCE.finditer(document)]
    held = [next((text for text in sentences if answer.lower() in text.lower()), None) for answer in answers]
    return [text for text in dict.fromkeys(held) if text is not None]


def cut(text: str, size: int) -> list[str]:
    """Cut a text into pieces of that many characters, whatever they cut through."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return re.findall(r"[a-z0-9]+", text.lower())


def rankings(chunks: list[str], questions: list[str]) -> Iterator[list[tuple[int, float]]]:
    """Yield the best chunks for each question, by BM25."""
    bags = [Counter(words(chunk)) for chunk in chunks]
    mean = sum(bag.total() for bag in bags) / len(bags)
    known = Counter(word for bag in bags for word in bag)
    for question in questions:
        asked = sorted(set(words(question)))
        idf = {word: math.log(1 + (len(bags) - known[word] + 0.5) / (known[word] + 0.5)) for word in asked}
        scores = [
            math.fsum(
                idf[word] * bag[word] * 2.2 / (bag[word] + 1.2 * (0.25 + 0.75 * bag.total() / mean)) for word in asked
            )
            for bag in bags
        ]
        best = sorted(range(len(bags)), key=lambda place: (-round(scores[place], 4), place))
        yield [(place, round(scores[place], 4)) for place in best[:DEPTH]]


def write(name: str, records: list[dict[str, Any]]) -> None:
    """Write one line a record."""
    lines = [json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in records]
    (HERE / name).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def main() -> None:
    """Write the three files."""
    lines = (QUICKSTART / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    corpus = {document["id"]: document["text"] for document in map(json.loads, lines)}
    asked = yaml.safe_load((QUICKSTART / "dataset.yaml").read_text(encoding="utf-8"))["samples"]
    samples = []
    for sample in asked:
        expected = sample["expected_output"]
        answers = expected.get("answer", [])
        relevant = expected.get("relevant", {})
        gains = relevant if isinstance(relevant, dict) else dict.fromkeys(relevant, 3)
        best = [corpus[name] for name, gain in gains.items() if gain == max(gains.values())]
        gold = gold_passages([answers] if isinstance(answers, str) else answers, best)
        if gold:
            samples.append({"id": sample["id"], "input": sample["input"], "expected_output": {"passages": gold}})
    write("dataset.jsonl", samples)
    handbook = "\n\n".join(corpus.values())
    for size in (200, 800):
        chunks = cut(handbook, size)
        ranked = rankings(chunks, [sample["input"]["question"] for sample in samples])
        outputs = [
            {
                "id": sample["id"],
                "actual_output": {
                    "retrieved": [
                        {"id": f"c{place}", "score": score, "text": chunks[place]} for place, score in ranking
                    ]
                },
            }
            for sample, ranking in zip(samples, ranked, strict=True)
        ]
        write(f"outputs.{size}.jsonl", outputs)


if __name__ == "__main__":
    main()
