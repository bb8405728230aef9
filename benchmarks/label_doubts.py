"""
Measure how well doubts about labels find planted faults, and what they cost.

The data are those of `configs/chunking` (80 questions with gold passages, cut into chunks here) and of the quickstart.
Two systems, BM25 by words and by four characters, retrieve 50 results. One tenth of the gold is swapped among its
questions; one twentieth each is renamed (ids), or has offsets that are stale (spans); copies of documents lose their
label. Printed is how many of the doubts are planted, how many of the planted faults are doubts, or doubts or counted,
and how many labels of the clean data are doubted, over several draws.

Run it with ``python benchmarks/label_doubts.py``.
"""

from __future__ import annotations

import argparse
import copy
import importlib.util
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from rankgauge import Engine
from rankgauge.engine.doubting import label_doubts

CONFIGS = Path(__file__).resolve().parent.parent / "configs"
Rows = list[dict[str, Any]]
Faults = set[tuple[str, str, int]]
METRICS = {"relevant": "recall@5", "passages": "recall@5", "spans": "recall@5"}


def chunks_module() -> Any:
    """Return the systems of the example."""
    spec = importlib.util.spec_from_file_location("chunks", CONFIGS / "chunking" / "chunks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["chunks"] = module
    spec.loader.exec_module(module)
    return module


CHUNKS = chunks_module()


class Grams(CHUNKS.Index):  # type: ignore[name-defined,misc]
    """BM25 over the four characters from each place on."""

    def __init__(self, chunks: list[Any]) -> None:
        words = CHUNKS.words
        CHUNKS.words = _grams
        super().__init__(chunks)
        CHUNKS.words = words

    def search(self, question: str, depth: int = 50) -> list[dict[str, Any]]:
        """Return the best chunks, best first."""
        words = CHUNKS.words
        CHUNKS.words = _grams
        try:
            found: list[dict[str, Any]] = super().search(question, depth)
            return found
        finally:
            CHUNKS.words = words


def _grams(text: str) -> list[str]:
    plain = f" {' '.join(text.lower().split())} "
    return [plain[at : at + 4] for at in range(len(plain) - 3)]


def chunked(kind: str, size: int) -> tuple[Rows, list[dict[str, Any]]]:
    """Return the questions about the documents, and two systems' outputs over chunks of so many characters."""
    chunks = CHUNKS.cut(size)
    texts = CHUNKS.documents()
    systems = [CHUNKS.Index(chunks), Grams(chunks)]
    rows = []
    for line in (CONFIGS / "chunking" / "dataset.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        document, passages = row["metadata"]["document"], row["expected_output"]["passages"]
        places = [(texts[document].index(passage), passage) for passage in passages]
        spans = [{"document": document, "start": at, "end": at + len(p), "text": p} for at, p in places]
        ids = [f"{document}:{at}" for start, p in places for at in range(start // size * size, start + len(p), size)]
        row["expected_output"] = {"passages": passages, "spans": spans, "relevant": list(dict.fromkeys(ids))}
        row["expected_output"] = {kind: row["expected_output"][kind]}
        rows.append(row)
    outputs = [
        {row["id"]: {"retrieved": system.search(row["input"]["question"])} for row in rows} for system in systems
    ]
    return rows, outputs


def quickstart() -> tuple[Rows, list[dict[str, Any]]]:
    """Return the questions about the handbook, judged by id."""
    asked = yaml.safe_load((CONFIGS / "quickstart" / "dataset.yaml").read_text(encoding="utf-8"))["samples"]
    outputs = []
    for name in ("bm25", "char-ngram"):
        lines = (CONFIGS / "quickstart" / f"outputs.{name}.jsonl").read_text(encoding="utf-8").splitlines()
        outputs.append({row["id"]: row["actual_output"] for row in map(json.loads, lines)})
    return asked, outputs


def swap(rows: Rows, draw: random.Random, share: float, kind: str) -> Faults:
    """Give some questions the gold of others of them."""
    having = [row for row in rows if row["expected_output"].get(kind)]
    chosen = draw.sample(having, max(2, round(share * len(having))))
    golds = [row["expected_output"][kind] for row in chosen]
    for row, gold in zip(chosen, golds[1:] + golds[:1], strict=True):
        row["expected_output"][kind] = gold
    return {(row["id"], kind, at) for row in chosen for at in range(len(row["expected_output"][kind]))}


def rename(rows: Rows, draw: random.Random, share: float, kind: str) -> Faults:
    """Give some labelled ids another name, wherever they are labelled, half of them in another spelling only."""
    names = sorted({name for row in rows for name in row["expected_output"].get(kind, ())})
    chosen = draw.sample(names, max(1, round(share * len(names))))
    new = {name: f"Docs/{name}.md" if at % 2 else f"page-{draw.randrange(10**6)}" for at, name in enumerate(chosen)}
    faults: Faults = set()
    for row in rows:
        gold = row["expected_output"].get(kind, ())
        faults |= {(row["id"], kind, at) for at, name in enumerate(gold) if name in new}
        if isinstance(gold, Mapping):
            row["expected_output"][kind] = {new.get(name, name): gain for name, gain in gold.items()}
        elif gold:
            row["expected_output"][kind] = [new.get(name, name) for name in gold]
    return faults


def shift(rows: Rows, draw: random.Random, share: float, kind: str) -> Faults:
    """Move the offsets of some spans, as a text that was put before them does."""
    places = [(row, at) for row in rows for at in range(len(row["expected_output"][kind]))]
    chosen = draw.sample(places, max(1, round(share * len(places))))
    for row, at in chosen:
        span = row["expected_output"][kind][at]
        by = draw.choice([700, 1500, -900])
        by = max(by, -span["start"])
        row["expected_output"][kind][at] = {**span, "start": span["start"] + by, "end": span["end"] + by}
    return {(row["id"], kind, at) for row, at in chosen}


def add_copies(outputs: list[dict[str, Any]], rows: Rows, draw: random.Random, kind: str) -> Faults:
    """Put an unlabelled copy of some relevant documents into the rankings, beside them, as both would be retrieved."""
    names = sorted({name for row in rows for name in row["expected_output"].get(kind, ())})
    chosen = set(draw.sample(names, max(1, round(0.05 * len(names)))))
    for of_system in outputs:
        for output in of_system.values():
            items = []
            for item in output["retrieved"]:
                copies = [{**item, "id": f"copy-of-{item['id']}"}] if item["id"] in chosen else []
                items += [*copies, item] if draw.random() < 0.5 else [item, *copies]
            output["retrieved"] = items[:50]
    return {
        (row["id"], kind, at)
        for row in rows
        for at, name in enumerate(row["expected_output"].get(kind, ()))
        if name in chosen
        and any(f"copy-of-{name}" in {item["id"] for item in of[row["id"]]["retrieved"][:10]} for of in outputs)
    }


def evaluated(rows: Rows, outputs: list[dict[str, Any]], kind: str) -> tuple[Any, float]:
    """Return the doubts, and the seconds of the processor that they took."""
    results = [Engine().dataset(rows).with_metrics(METRICS[kind]).run(outputs=own) for own in outputs]
    start = time.process_time()
    return label_doubts(results), time.process_time() - start


def cases() -> Iterator[tuple[str, str, Rows, list[dict[str, Any]], list[Callable[..., Faults]]]]:
    for size in (200, 400):
        yield f"passages, chunks of {size}", "passages", *chunked("passages", size), [swap]
        yield f"spans, chunks of {size}", "spans", *chunked("spans", size), [swap, shift]
        yield f"ids, chunks of {size}", "relevant", *chunked("relevant", size), [swap, rename]
    yield "quickstart", "relevant", *quickstart(), [swap, rename]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--draws", type=int, default=5)
    options.add_argument("--show", action="store_true", help="print doubts that were not planted, and faults not found")
    given = options.parse_args()
    shares = {swap: 0.10, rename: 0.05, shift: 0.05}
    for name, kind, rows, outputs, faults in cases():
        clean, seconds = evaluated(rows, outputs, kind)
        print(
            f"{name}: clean {len(clean.doubts)} of {clean.labels} doubted, counts {dict(clean.counts)}; {seconds:.2f} s"
        )
        if given.show:
            print("   ", *map(str, clean.doubts), sep="\n    ")
        total: Counter[str] = Counter()
        for number in range(given.draws):
            draw = random.Random(number)
            own, theirs = copy.deepcopy(rows), copy.deepcopy(outputs)
            planted: Faults = set()
            for fault in faults:
                planted |= fault(own, draw, shares[fault], kind)
            if kind == "relevant":
                planted |= add_copies(theirs, own, draw, kind)
            doubts, _ = evaluated(own, theirs, kind)
            doubted = {(doubt.sample, doubt.kind, doubt.number) for doubt in doubts.doubts}
            counted = {(label[0], label[1], label[2]) for label in doubts.counted}
            total += Counter(
                doubts=len(doubted),
                right=len(doubted & planted),
                planted=len(planted),
                counted=len(planted & (counted | doubted)),
                all_counted=len(counted | doubted),
            )
            if given.show and number == 0:
                print(
                    "    wrong:",
                    *(str(d) for d in doubts.doubts if (d.sample, d.kind, d.number) not in planted),
                    sep="\n    ",
                )
                print("    missed:", sorted(planted - doubted - counted))
        rate = {
            key: f"{total[key] / max(total[of], 1):.2f}" for key, of in (("right", "doubts"), ("counted", "planted"))
        }
        print(
            f"    planted: {rate['right']} of {total['doubts']} doubts are planted; of {total['planted']} planted "
            f"{total['right'] / max(total['planted'], 1):.2f} are doubts, {rate['counted']} doubts or counted "
            f"(of {total['all_counted']} labels with a sign)"
        )


if __name__ == "__main__":
    main()
