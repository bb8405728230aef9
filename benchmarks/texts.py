"""
Measure `rankgauge run` by text, mostly with `passage`, against processes that only decode the same lines.

Shapes are pages of this project in chunks of 200 to 1,600 characters, its pages with accents, typographic signs or
Chinese between the words, its code, and random ASCII, which is the easiest. Each sample has twenty chunks drawn from
all of them, and two gold passages: one cut from a chunk of its own, one from elsewhere. With `chunk`, gold passages are
longer, and one holds a whole chunk; an answer is a few words, of a chunk of its own in two thirds of the samples. One
side starts up, reads, judges, doubts and prints; another calls `orjson.loads` on every line and keeps the objects; the
third drops each at once, which is the floor. All run in turns as whole processes. Growth: one sample with ten thousand
chunks and a thousand gold texts, and few samples with a hundred chunks of 2,000 characters each.

Run it with ``make bench`` or ``python benchmarks/texts.py [--samples N] [--runs N] [--only SHAPE]``.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import orjson
from processes import alternated

from rankgauge.kernel import installed_kernel

ROOT = Path(__file__).parent.parent
KEEP = "import orjson; kept = [orjson.loads(line) for line in open({path!r}, 'rb')]"
DROP = "import orjson\nfor line in open({path!r}, 'rb'): orjson.loads(line)"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
ACCENTS = str.maketrans({"a": "ä", "e": "é", "c": "ç", "u": "ü"})
SIGNS = str.maketrans({'"': "\u201c", "'": "\u2019", "-": "\u2013"})
SOME = 7
"""Every how many words has accents, or Chinese behind it."""
IN_CHUNKS = 2 / 3
"""How many answers are in a chunk of their sample."""
LONGEST_ANSWER = 40


PASSAGE = "recall@5"
CHUNK = "recall(gold=passages,matcher=chunk)@5"
ANSWER = "answer-containment-at-k"


class Shape(NamedTuple):
    """A file of samples, and what they are scored by."""

    text: Callable[[], str]  # what chunks are cut from
    size: int = 500  # characters in a chunk
    samples: float = 1.0  # times as many as asked for
    chunks: int = 20
    golds: int = 2
    metric: str = PASSAGE


def pages() -> str:
    """Return the project's documentation."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md")))


def code() -> str:
    """Return the project's sources."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.py")))


def accented() -> str:
    """Return pages in which some words have accents, about as many as in French and German, and signs are set."""
    words = re.split(r"(?<= )", pages())
    return "".join(
        word.translate(ACCENTS) if at % SOME == 0 else word.translate(SIGNS) for at, word in enumerate(words)
    )


def chinese() -> str:
    """Return the project's Chinese document, over and over, each time with other numbers in it."""
    document = (ROOT / "configs/chunking/documents/图书馆.md").read_text(encoding="utf-8")
    return "\n".join(re.sub("[0-9]+", lambda found, n=n: str(int(found[0]) + n), document) for n in range(300))


def ascii_words() -> str:
    """Return random words."""
    chance = random.Random(1)
    return " ".join("".join(chance.choices(LETTERS, k=chance.randint(1, 10))) for _ in range(200_000))


SHAPES = {
    **{f"pages, {size:,}": Shape(pages, size) for size in (200, 400, 800, 1600)},
    "accents and signs": Shape(accented),
    "Chinese": Shape(chinese),
    "code": Shape(code),
    "random ASCII": Shape(ascii_words),
    **{
        f"{name}, {of}": Shape(text, samples=6, metric=metric)
        for of, text in (("random ASCII", ascii_words), ("pages", pages))
        for name, metric in (("12,000, passage", PASSAGE), ("12,000, chunk", CHUNK), ("12,000, answers", ANSWER))
    },
    "100 chunks of 2,000": Shape(pages, 2000, 0.1, 100),
    "100 of 2,000, chunk": Shape(pages, 2000, 0.1, 100, metric=CHUNK),
    "10,000 x 1,000": Shape(pages, 500, 0, 10_000, 1000),
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--samples", type=int, default=2000)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--only", default="", help="shapes whose name holds this")
    given = options.parse_args()
    print(
        f"{given.samples:,} samples, medians of {given.runs}; kernel: {'no' if installed_kernel() is None else 'yes'}"
    )
    print(f"{'shape':30}{'MB':>6}{'cpu s':>8}{'ns/char':>9}{'kept':>7}{'dropped':>9}{'peak MB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for name, shape in SHAPES.items():
            if given.only in name:
                path = Path(folder) / "samples.jsonl"
                characters = write(path, shape, max(int(shape.samples * given.samples), 1))
                report(name, path, characters, shape.metric, given.runs)


def write(path: Path, shape: Shape, samples: int) -> int:
    """Write the samples of a shape; return how many characters they have."""
    characters = 0
    with path.open("wb") as file:
        for line in lines(shape, samples):
            characters += len(line.decode())
            file.write(line)
    return characters


def report(name: str, path: Path, characters: int, metric: str, runs: int) -> None:
    """Measure one file, and print a line; no file is kept here, since a process begins with the peak of its parent."""
    ours = [sys.executable, "-m", "rankgauge", "run", "--data", str(path), "-m", metric]
    sides = {"ours": ours} | {
        side: [sys.executable, "-c", decode.format(path=str(path))]
        for side, decode in (("kept", KEEP), ("dropped", DROP))
    }
    costs = alternated(sides, runs)
    size = path.stat().st_size
    cpu = statistics.median(cost.cpu for cost in costs["ours"])
    ratios = [
        statistics.median(own.cpu / other.cpu for own, other in zip(costs["ours"], costs[side], strict=True))
        for side in ("kept", "dropped")
    ]
    peak = max(cost.peak for cost in costs["ours"])
    print(
        f"{name:30}{size / 1e6:6.1f}{cpu:8.2f}{cpu / characters * 1e9:9.0f}{ratios[0]:7.1f}{ratios[1]:9.1f}{peak:9.0f}",
        flush=True,
    )


def lines(shape: Shape, samples: int) -> Iterator[bytes]:
    """Yield the samples of a shape."""
    chance, text = random.Random(3), shape.text()

    def cut(size: int) -> str:
        begin = chance.randrange(len(text) - size)
        return text[begin : begin + size]

    for number in range(samples):
        chunks = [cut(shape.size) for _ in range(shape.chunks)]
        retrieved = [{"id": f"{number}-{rank}", "text": chunk} for rank, chunk in enumerate(chunks)]
        sample = {
            "id": str(number),
            "input": "?",
            "expected_output": expected(shape, chunks, cut, chance),
            "actual_output": {"retrieved": retrieved},
        }
        yield orjson.dumps(sample) + b"\n"


def expected(
    shape: Shape, chunks: Sequence[str], cut: Callable[[int], str], chance: random.Random
) -> str | dict[str, list[str]]:
    """Return the ground truth of a sample: passages, or an answer."""
    if shape.metric == ANSWER:
        words = (chance.choice(chunks) if chance.random() < IN_CHUNKS else cut(shape.size)).split()
        begin = chance.randrange(len(words))
        return " ".join(words[begin : begin + chance.randint(1, 4)])[:LONGEST_ANSWER]
    golds = [cut(200 if shape.metric == PASSAGE else 2 * shape.size) for _ in range(shape.golds - 1)]
    own, begin = chance.choice(chunks), chance.randrange(shape.size // 2)
    golds.append(own[begin : begin + 200] if shape.metric == PASSAGE else f"{cut(shape.size)} {own} {cut(shape.size)}")
    return {"passages": golds}


if __name__ == "__main__":
    main()
