"""
Measure `rankgauge gold check` over a corpus of generated documents.

Words are drawn by their rank as in English (Zipf), documents have about 150 of them; one in twenty is the twin of an
earlier one with some words changed. Samples have a question, a relevant id, and a passage cut out of that document: a
tenth of them each unchanged elsewhere, edited, split over two documents, or gone. What is measured is the
whole command in a process of its own: wall time, CPU time and the highest memory.

Run it with ``python benchmarks/gold.py [--documents N] [--samples N]``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--documents", type=int, default=100_000)
    options.add_argument("--samples", type=int, default=10_000)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpus, data = Path(folder) / "corpus.jsonl", Path(folder) / "data.jsonl"
        write(corpus, data, given.documents, given.samples)
        size = corpus.stat().st_size / 1e6
        start = time.perf_counter()
        command = [sys.executable, "-m", "rankgauge", "gold", "check", str(data), "--corpus", str(corpus), "--json"]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = f"{seconds:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of CPU, {used.ru_maxrss / 1024:,.0f} MB"
    report = json.loads(done.stdout)
    print(f"{given.documents:,} documents ({size:,.0f} MB), {given.samples:,} samples: {took}")
    print(f"  labels {report['labels']}, valid {report['valid']}, findings {report['counts']}")


def write(corpus: Path, data: Path, documents: int, samples: int) -> None:
    random = np.random.default_rng(0)
    names = np.array([spelled(number) for number in range(60_000)])
    weights = 1 / np.arange(10, len(names) + 10)
    weights /= weights.sum()
    texts: list[list[str]] = []
    for number, size in enumerate(random.integers(80, 220, documents).tolist()):
        if number and number % 20 == 0:
            words = list(texts[int(random.integers(number))])
            words[len(words) // 2] = "changed"
        else:
            words = names[random.choice(len(names), size, p=weights)].tolist() if number < 2000 else []
            words = words or shuffled(random, texts, names, size)
        texts.append(words)
    with corpus.open("w", encoding="utf-8") as file:
        for number, words in enumerate(texts):
            file.write(json.dumps({"id": f"d{number}", "text": " ".join(words)}) + "\n")
    with data.open("w", encoding="utf-8") as file:
        for number in range(samples):
            document = int(random.integers(documents))
            words = texts[document]
            begin = int(random.integers(0, len(words) - 40))
            passage = words[begin : begin + 40]
            kind = number % 10
            if kind == 1:
                passage = [*passage[:20], "edited", *passage[21:]]
            elif kind == 2:
                passage = [*passage[:20], *texts[(document + 1) % documents][:20]]
            elif kind == 3:
                passage = names[random.integers(0, len(names), 40)].tolist()
            relevant = [f"d{documents + number}" if kind == 4 else f"d{document}"]
            question = " ".join(names[random.integers(0, len(names), 9)].tolist())
            gold = {"relevant": relevant, "passages": [" ".join(passage)]}
            file.write(json.dumps({"id": f"q{number}", "input": question, "expected_output": gold}) + "\n")


def shuffled(random: np.random.Generator, texts: list[list[str]], names: np.ndarray, size: int) -> list[str]:
    """Return words as they stand in other documents, some at a time, since drawing each takes long."""
    words: list[str] = []
    while len(words) < size:
        source = texts[int(random.integers(2000))]
        begin = int(random.integers(0, len(source) - 8))
        words += [*source[begin : begin + int(random.integers(1, 4))], str(names[int(random.integers(len(names)))])]
    return words[:size]


def spelled(number: int) -> str:
    """Return a word of its own for each number."""
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    word = ""
    number += 26
    while number:
        number, letter = divmod(number, 26)
        word += letters[letter]
    return word


if __name__ == "__main__":
    main()
