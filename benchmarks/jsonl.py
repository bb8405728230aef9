"""
Measure a whole `rankgauge run` over JSON lines against a process that only decodes them, in every documented form.

The forms are the lines of `docs/reference/file-formats.md`: each becomes a file of samples of that form, with twenty
retrieved items and other ids, texts and places in each sample; one form more has its outputs in a file of their own.
Both sides run in turns in one session, as whole processes. One side starts up, reads, scores and prints. The other
calls `orjson.loads` on every line, and on outputs that are JSON strings, and keeps the objects; ``--gc-off`` adds it
with the cycle collector off. Also measured: `Evaluation.score` on one sample, and `import rankgauge`.

Run it with ``make bench`` or ``python benchmarks/jsonl.py [--samples N] [--runs N] [--only FORM]``.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from processes import alternated, measured

from rankgauge import Engine

PAGE = Path(__file__).parent.parent / "docs/reference/file-formats.md"
METRICS = (
    "retrieval-hit-at-k",
    "retrieval-recall-at-k",
    "retrieval-mrr",
    "retrieval-map",
    "retrieval-ndcg-at-k",
)
OF_TEXTS = {
    "answer": ("answer-containment-at-k",),
    "passages": ("recall(gold=passages,matcher=chunk)@10",),
    "spans": ("span_recall@10",),
    "nuggets": ("vital_nuggets", "all_nuggets"),
}
"""Metrics of samples without relevant ids."""

ITEMS = 20
SEPARATE = "separate outputs"
DECODE = """
import orjson
kept = []
for path in {paths!r}:
    with open(path, "rb") as lines:
        kept += map(orjson.loads, lines)
for row in kept:
    output = row.get("actual_output")
    if type(output) is str:
        row["actual_output"] = orjson.loads(output)
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--samples", type=int, default=60_000)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--only", default="", help="forms whose name holds this")
    options.add_argument("--gc-off", action="store_true", help="decode without the cycle collector, too")
    given = options.parse_args()
    print(f"{given.samples:,} samples x {ITEMS} items, medians of {given.runs}; ratios to orjson.loads, objects kept")
    print(f"{'form':24}{'MB':>5}{'cpu s':>8}{'decoding':>10}{'ratio':>8}{'wall':>7}{'peak MB':>9}")
    forms = documented_forms()
    for name, form in [*forms.items(), (SEPARATE, forms["scored objects"])]:
        if given.only in name:
            compare(name, form, given.samples, given.runs, gc_off=given.gc_off)
    print(f"score(sample), five metrics, warm: {single() * 1e6:.0f} us (best of 20 rounds of 100)")
    imports = [measured([sys.executable, "-c", "import rankgauge"]).wall for _ in range(15)]
    bare = [measured([sys.executable, "-c", "pass"]).wall for _ in range(15)]
    print(f"import rankgauge: {(median(imports) - median(bare)) * 1e3:.1f} ms over a bare interpreter")


def documented_forms() -> dict[str, Any]:
    """Return the samples that the page on file formats shows, by their ids."""
    block = re.search(r"^```jsonl forms\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if block is None:
        sys.exit(f"{PAGE} shows no forms")
    return {form["id"]: form for form in map(orjson.loads, block[1].splitlines())}


def compare(name: str, form: Mapping[str, Any], samples: int, runs: int, *, gc_off: bool) -> None:
    """Measure both sides on one form, and print medians and ratios."""
    with tempfile.TemporaryDirectory() as folder:
        data, outputs = Path(folder) / "data.jsonl", Path(folder) / "outputs.jsonl"
        paths = [data, outputs] if name == SEPARATE else [data]
        write(paths, form, samples)
        decode = DECODE.format(paths=list(map(str, paths)))
        attached = ["--outputs", str(outputs)] if outputs in paths else []
        wanted = [word for metric in metrics_of(form) for word in ("-m", metric)]
        sides = {
            "run": [sys.executable, "-m", "rankgauge", "run", "--data", str(data), *attached, *wanted],
            "decode": [sys.executable, "-c", decode],
        }
        if gc_off:
            sides["gc off"] = [sys.executable, "-c", f"import gc\ngc.disable()\n{decode}"]
        costs = alternated(sides, runs)
        size = sum(path.stat().st_size for path in paths) / 1e6
    cpu = {side: median(cost.cpu for cost in each) for side, each in costs.items()}
    ratios = {side: [ratio(costs, side, part) for part in range(3)] for side in list(sides)[1:]}
    print(
        f"{name:24}{size:5.0f}{cpu['run']:8.2f}{cpu['decode']:10.2f}{ratios['decode'][1]:8.2f}{ratios['decode'][0]:7.2f}"
        f"{median(cost.peak for cost in costs['run']):9.0f}"
        + (f"   {ratios['gc off'][1]:.2f} with the collector off" if gc_off else ""),
        flush=True,
    )


def ratio(costs: Mapping[str, Sequence[Sequence[float]]], side: str, part: int) -> float:
    """Return the median of what a run takes, divided pair by pair by what the other side takes."""
    return median(a[part] / b[part] for a, b in zip(costs["run"], costs[side], strict=True))


def metrics_of(form: Mapping[str, Any]) -> Sequence[str]:
    """Return the metrics that a form is scored by."""
    gold = form["expected_output"]
    if isinstance(gold, str):
        return OF_TEXTS["answer"]
    return next((names for kind, names in OF_TEXTS.items() if kind in gold and "relevant" not in gold), METRICS)


def write(paths: Sequence[Path], form: Mapping[str, Any], samples: int) -> None:
    """Write samples of a form with a fixed seed, fewer with texts; outputs go into the second file, if there is one."""
    samples //= 5 if '"text"' in repr(form).replace("'", '"') else 1
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 11))) for _ in range(20_000)]
    files = [path.open("wb") for path in paths]
    for number in range(samples):
        sample = varied(form, chance, words) | {"id": f"q{number}"}
        parts = [sample]
        if len(files) > 1:
            parts.append({"id": sample["id"], "actual_output": sample.pop("actual_output")})
        for file, part in zip(files, parts, strict=True):
            file.write(orjson.dumps(part, option=orjson.OPT_APPEND_NEWLINE))
    for file in files:
        file.close()


def varied(form: Mapping[str, Any], chance: random.Random, words: Sequence[str]) -> dict[str, Any]:
    """Return a form with twenty items, ids and texts of its own; most relevant ids are retrieved."""
    drawn = [f"doc-{number}" for number in chance.sample(range(1_000_000), ITEMS)]
    relevant = chance.sample(drawn, 3)
    names = iter([*drawn, *relevant])

    def one(value: Any) -> Any:
        if isinstance(value, dict):
            own = {one(key): text() if key == "text" else one(item) for key, item in value.items()}
            moved = 200 * chance.randrange(1000)
            return own | {key: own[key] + moved for key in ("start", "end") if key in own}
        if isinstance(value, list):
            return list(map(one, value))
        if isinstance(value, float):
            return round(chance.random(), 4)
        if isinstance(value, str) and value.startswith("doc-"):
            name = next(names)
            stays = name not in relevant or chance.random() < 0.7
            return name if stays else f"doc-{chance.randrange(1_000_000, 2_000_000)}"
        return value

    def text() -> str:
        return " ".join(chance.choices(words, k=60))

    output = form["actual_output"]
    is_text = isinstance(output, str)
    output = orjson.loads(output) if is_text else output
    items = output if isinstance(output, list) else output.get("retrieved", [])
    items = [one(items[place % len(items)]) for place in range(ITEMS)] if items else []
    if items and isinstance(items[0], dict) and "score" in items[0]:
        for item, score in zip(items, sorted((item["score"] for item in items), reverse=True), strict=True):
            item["score"] = score
    output = items if isinstance(output, list) else {**output, **({"retrieved": items} if items else {})}
    gold = one(form["expected_output"])
    if isinstance(gold, dict) and "passages" in gold:
        gold["passages"] = [f"{text()} {chance.choice(items)['text'][40:300]} {text()}"]
    return {**form, "expected_output": gold, "actual_output": orjson.dumps(output).decode() if is_text else output}


def single() -> float:
    """Return the seconds that one warm call of `score` takes."""
    retrieved = [{"id": f"d{n}", "text": f"passage number {n}"} for n in range(20)]
    sample = {
        "id": "q",
        "expected_output": {"relevant": ["d3", "d9"], "answer": "number 9"},
        "actual_output": {"retrieved": retrieved},
    }
    metrics = [*METRICS[:3], METRICS[4], "answer-containment-at-k"]
    evaluation = Engine().dataset([sample]).with_metrics(metrics)
    evaluation.score(sample)
    best = float("inf")
    for _ in range(20):
        begun = time.perf_counter()
        for _ in range(100):
            evaluation.score(sample)
        best = min(best, (time.perf_counter() - begun) / 100)
    return best


median = statistics.median


if __name__ == "__main__":
    main()
