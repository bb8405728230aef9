"""
Every way into rankgauge for a file: the one list that the mutations go through.

Whoever adds a reader adds its suffix to `SUFFIXES`; whoever adds a command that reads files adds a line to `WAYS`. A
test fails for what is registered and missing here.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import yaml
import zstandard

from rankgauge.cli import call

__all__ = ["PLAIN", "SUFFIXES", "WAYS", "WITHOUT_FILES", "Way", "make_inputs"]

_TEXT = "the lighthouse stands on a rock and is forty-one metres tall since it was built"
_WORDS = _TEXT.split(" ")


class Way(NamedTuple):
    """
    A command line that reads files.

    Attributes:
        command: The command's words.

        arguments: What stands behind them; the files are in the working directory.

        files: The files that are read, any of which may be mutated.

        form: What stdout is: ``json`` or ``jsonl``, ``data`` in another form, or ``text`` for a terminal.

        output: The file or folder that is written, complete or not at all.
    """

    command: str
    arguments: str
    files: tuple[str, ...]
    form: str = "text"
    output: str = ""

    @property
    def line(self) -> list[str]:
        """Return the whole command line."""
        return [*self.command.split(), *self.arguments.split()]

    def __str__(self) -> str:
        return " ".join(self.line)


def _records(rows: list[Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(rows).write_parquet(buffer)
    return buffer.getvalue()


def _delimited(rows: list[dict[str, Any]], separator: str) -> bytes:
    texts = [{name: cell if isinstance(cell, str) else json.dumps(cell) for name, cell in row.items()} for row in rows]
    buffer = io.BytesIO()
    pl.DataFrame(texts).write_csv(buffer, separator=separator)
    return buffer.getvalue()


SUFFIXES: Mapping[str, Callable[[list[dict[str, Any]]], bytes]] = {
    ".jsonl": _records,
    ".ndjson": _records,
    ".json": lambda rows: json.dumps(rows).encode(),
    ".yaml": lambda rows: yaml.safe_dump(rows, sort_keys=False).encode(),
    ".yml": lambda rows: yaml.safe_dump({"samples": rows}, sort_keys=False).encode(),
    ".parquet": _parquet,
    ".pq": _parquet,
    ".csv": lambda rows: _delimited(rows, ","),
    ".tsv": lambda rows: _delimited(rows, "\t"),
}
"""How samples are written for each suffix that a reader is registered for, but Excel's, which the library reads."""

_PACKED = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}
_TEXT_METRICS = (
    "-m ndcg@3 -m answer-containment-at-k -m keyword-coverage-at-k -m recall(gold=passages,matcher=fuzzy-chunk)@2 "
    "-m V_strict"
)
_TABLES = ("", ".tsv", ".csv", ".json", ".parquet")

PLAIN = "data.jsonl"
"""The samples that most ways read."""

_NAMES = ("manifest.json", "per_sample.parquet", "per_sample.jsonl", "errors.jsonl")
_BASE = tuple(f"base/{name}" for name in _NAMES)
_NEW = tuple(name.replace("base", "new") for name in _BASE)

WAYS: tuple[Way, ...] = (
    *(
        Way("run", f"--data data{suffix}{packed} -m answer-containment-at-k --json", (f"data{suffix}{packed}",), "json")
        for suffix in SUFFIXES
        for packed in _PACKED
    ),
    Way("run", f"--data {PLAIN} {_TEXT_METRICS} -o out", (PLAIN,), output="out"),
    Way("run", f"--data {PLAIN} {_TEXT_METRICS} --details --near-misses --format jsonl", (PLAIN,), "jsonl"),
    Way("run", f"--data {PLAIN} -m ndcg@3 --format markdown", (PLAIN,)),
    *(
        Way("run", f"--data {PLAIN} --outputs outputs{suffix} -m ndcg@3 --json", (f"outputs{suffix}", PLAIN), "json")
        for suffix in (".jsonl", ".json", ".yaml")
    ),
    Way("run", "config.yaml --json", ("config.yaml", PLAIN, "outputs.jsonl", "config.lock.yaml"), "json"),
    Way("eval", "config.yaml", ("config.yaml", "config.lock.yaml")),
    Way("validate", "config.yaml", ("config.yaml", PLAIN, "outputs.jsonl")),
    Way("validate", "qrels run --json", ("qrels", "run"), "json"),
    Way("validate", "qrels.tsv run.csv", ("qrels.tsv", "run.csv")),
    *(
        Way("trec", f"qrels{suffix} run{suffix} -m all_trec -q --json", (f"qrels{suffix}", f"run{suffix}"), "json")
        for suffix in _TABLES
    ),
    *(Way("trec", f"qrels{packed} run{packed} -q", (f"qrels{packed}", f"run{packed}")) for packed in _PACKED if packed),
    Way("trec", "qrels run --format trec -q -m official", ("qrels", "run"), "data"),
    Way(
        "trec",
        "qrels run other.csv -m ndcg@3 -m P@2 --policy ties=average -o out",
        ("qrels", "run", "other.csv"),
        output="out",
    ),
    Way("trec", "qrels run -o out.parquet", ("qrels", "run"), output="out.parquet"),
    Way("explain", "base s0 --json", (*_BASE, PLAIN), "json"),
    Way("explain", "base s0 -m ndcg@3", (*_BASE, PLAIN)),
    Way("threshold", "answers --json", tuple(f"answers/{name}" for name in _NAMES[:2]), "json"),
    Way("funnel", "--qrels qrels --stage a=run --stage b=run -m ndcg@3 --json", ("qrels", "run"), "json"),
    Way("explain", "--qrels qrels --run run q1 -m ndcg@3", ("qrels", "run")),
    Way("rescore", "base -m P@2 --json", ("base/manifest.json", PLAIN), "json"),
    Way("rescore", "new -o out", ("new/manifest.json", PLAIN, "outputs.jsonl"), output="out"),
    Way("report", "base new -o page.html", (*_BASE, *_NEW), output="page.html"),
    Way("compare", "base new --resamples 100 --json", (*_BASE, *_NEW), "json"),
    Way("compare", "base new --resamples 100", (*_BASE, *_NEW)),
    Way("power", "base new --json", (*_BASE, *_NEW), "json"),
    Way("power", "base", _BASE),
    Way("compare", "baseline.json base --resamples 100 --json", ("baseline.json",), "json"),
    Way("compare", "base baseline.json --resamples 100 -f latex", ("baseline.json", *_BASE)),
    Way("run", "gates.yaml --json", ("baseline.json", "gates.yaml", PLAIN), "json"),
    Way("validate", f"{PLAIN} --baseline baseline.json", ("baseline.json", PLAIN)),
    Way("compare", "--qrels qrels run other.csv -m ndcg@3 --resamples 100", ("qrels", "run", "other.csv")),
    Way(
        "compare",
        "--config config.yaml outputs.jsonl outputs.json --resamples 100 --json",
        ("config.yaml", "outputs.jsonl", "outputs.json"),
        "json",
    ),
    Way("report", "base new -o out.html", (*_BASE, *_NEW), output="out.html"),
    Way("report", "baseline.json base -o out.html", ("baseline.json",), output="out.html"),
    Way("metrics diff", f"{PLAIN} --profile remem --profile default --json", (PLAIN,), "json"),
    Way("matchers list", "--config config.yaml --json", ("config.yaml",), "json"),
    Way("matchers show", "chunk --config config.yaml --json", ("config.yaml",), "json"),
    Way("matchers try", "fuzzy-chunk --retrieved @text --gold @text --json", ("text",), "json"),
    Way("plugins lock", "config.yaml -o out", ("config.yaml",), output="out"),
    Way(
        "judge queue",
        "run other.csv --qrels qrels -o out --texts texts.jsonl",
        ("qrels", "run", "other.csv", "texts.jsonl"),
    ),
    Way("gold check", f"{PLAIN} --corpus texts.jsonl --json", (PLAIN, "texts.jsonl"), "json"),
    Way("gold check", "--qrels qrels --corpus texts.jsonl", ("qrels", "texts.jsonl")),
    Way("gold repair", "--qrels qrels --corpus texts.jsonl -o out", ("qrels", "texts.jsonl"), output="out"),
    Way("gold repair", f"{PLAIN} --corpus texts.jsonl -o out", (PLAIN, "texts.jsonl"), output="out"),
    Way("gold copies", "texts.jsonl texts.jsonl --json", ("texts.jsonl",), "json"),
    Way("history add", "base --history out.history", _BASE[:2]),
    Way("history list", "--history history --json", ("history",), "json"),
    Way("history show", "--history history --json", ("history", *_BASE[:2]), "json"),
    Way("history html", "--history history -o out.html", ("history",), output="out.html"),
    Way("history export", "--history history out.csv", ("history",), output="out.csv"),
    Way("judge read", "queue.jsonl --qrels qrels -o out --judge somebody", ("queue.jsonl", "qrels"), output="out"),
)

WITHOUT_FILES: Mapping[str, str] = {
    "init": "writes files and reads none",
    "help": "shows what can be typed",
    "doctor": "looks at what is installed",
    "metrics list": "lists what is installed",
    "metrics show": "takes a name",
    "metrics number": "takes a name and a number",
    "metrics check": "takes a name or a function, which is code and so trusted",
    "plugins list": "lists what is installed",
    "plugins check": "takes a name",
}
"""Commands that read no file, and why."""


def make_inputs(folder: Path) -> None:
    """Write every file that a way reads into the working directory, none of which has anything wrong with it."""
    samples = [_sample(number) for number in range(6)]
    outputs = [{"id": sample["id"], "actual_output": sample["actual_output"]} for sample in samples]
    for suffix, written in SUFFIXES.items():
        _write(folder, f"data{suffix}", written(samples))
    for suffix in (".jsonl", ".json", ".yaml"):
        _write(folder, f"outputs{suffix}", SUFFIXES[suffix](outputs))
    qrels = [(f"q{query}", f"d{query + place}", place % 3) for query in range(5) for place in range(4)]
    run = [(f"q{query}", f"d{query + 2 * place}", 9.5 - place) for query in range(5) for place in range(5)]
    trec = {
        "qrels": "".join(f"{query} 0 {document} {grade}\n" for query, document, grade in qrels),
        "run": "".join(f"{query} Q0 {document} 1 {score} tag\n" for query, document, score in run),
    }
    for name, rows, value in (("qrels", qrels, "relevance"), ("run", run, "score")):
        frame = pl.DataFrame(rows, schema=["query_id", "doc_id", value], orient="row")
        _write(folder, name, trec[name].encode())
        _write(folder, f"{name}.tsv", frame.write_csv(separator="\t").encode())
        _write(folder, f"{name}.csv", frame.write_csv().encode())
        nested: dict[str, dict[str, float]] = {}
        for query, document, number in rows:
            nested.setdefault(query, {})[document] = number
        _write(folder, f"{name}.json", json.dumps(nested).encode())
        frame.write_parquet(folder / f"{name}.parquet")
    other = "".join(f"q{query},d{query + 3 * place},{5 - place}\n" for query in range(5) for place in range(5))
    (folder / "other.csv").write_text(f"query_id,doc_id,score\n{other}", encoding="utf-8")
    (folder / "text").write_text("The lighthouse\nis tall.", encoding="utf-8")
    (folder / "texts.jsonl").write_bytes(_records([{"id": f"d{place}", "text": _WORDS[place]} for place in range(12)]))
    metrics = "-m ndcg@3 -m answer-containment-at-k"
    _made(folder, f"run --data {PLAIN} {metrics} --details -o base")
    _write(
        folder,
        "outputs.jsonl",
        _records([{**row, "actual_output": row["actual_output"]["retrieved"][1:]} for row in outputs]),
    )
    _made(folder, f"run --data {PLAIN} --outputs outputs.jsonl -m ndcg@3 -o new")
    _made(folder, f"run --data {PLAIN} {metrics} --save-baseline baseline.json")
    answers = [_answer(number, is_answerable=number % 2 > 0) for number in range(24)]
    (folder / "answers.jsonl").write_bytes(_records(answers))
    _made(folder, "run --data answers.jsonl -m false_answers -m false_abstentions -m top_score -o answers")
    _made(folder, "history add base new --history history")
    (folder / "gates.yaml").write_text(_GATES, encoding="utf-8")
    (folder / "config.yaml").write_text(_CONFIG, encoding="utf-8")
    _made(folder, "plugins lock config.yaml -o config.lock.yaml")
    with (folder / "config.yaml").open("a", encoding="utf-8") as config:
        config.write("plugins: {locked: config.lock.yaml}\n")
    _made(folder, "judge queue run other.csv --qrels qrels -o queue.jsonl")
    rows = [json.loads(line) for line in (folder / "queue.jsonl").read_bytes().splitlines()]
    (folder / "queue.jsonl").write_bytes(_records([{**row, "grade": place % 2} for place, row in enumerate(rows)]))


def _made(folder: Path, line: str) -> None:
    """Run a command that has to work."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = call(line.split())
    assert code == 0, f"{line} in {folder}: {err.getvalue()}"


def _write(folder: Path, name: str, data: bytes) -> None:
    for ending, packed in _PACKED.items():
        (folder / f"{name}{ending}").write_bytes(packed(data))


def _sample(number: int) -> dict[str, Any]:
    words = [*_WORDS[number:], *_WORDS[:number]]
    texts = [" ".join(words[place : place + 6]) for place in range(4)]
    return {
        "id": f"s{number}",
        "input": f"question {number}?",
        "expected_output": {
            "relevant": {"d0": 1, "d2": 2},
            "answer": ["forty-one metres"],
            "passages": [" ".join(words)],
            "keywords": ["rock", "tall"],
            "nuggets": [{"id": "n1", "text": "41 metres tall", "importance": "okay"}, {"text": "on a rock"}],
        },
        "actual_output": {
            "retrieved": [{"id": f"d{place}", "text": text, "score": 4 - place} for place, text in enumerate(texts)],
            "answer": "It is forty-one metres tall.",
            "support": {"n1": "support"},
        },
        "metadata": {"k": 3, "tags": ["easy"]},
    }


def _answer(number: int, *, is_answerable: bool) -> dict[str, Any]:
    return {
        "id": f"a{number}",
        "expected_output": {"relevant": ["d0"]} if is_answerable else {"relevant": []},
        "actual_output": {"retrieved": [{"id": "d0", "score": number / 24}]},
        "metadata": {"answerable": is_answerable},
    }


_CONFIG = f"""\
version: 1
datasets:
  mine: {{path: {PLAIN}, outputs: outputs.jsonl}}
matchers:
  loose: {{normalize: [casefold], compare: token-overlap, threshold: 0.5}}
metrics:
  use: [MRR, "ndcg(gain=exponential)@3", {{metric: retrieval-recall-at-k, k: [1, 2]}}, {{set: texts}}]
  sets:
    texts: [answer-containment-at-k, "recall(gold=passages, matcher=loose)@2"]
policy: {{order: score, ties: docno, max_failed: 0.5}}
"""

_GATES = f"""\
version: 1
datasets: {{data: {{path: {PLAIN}}}}}
metrics: {{use: [ndcg@3, answer-containment-at-k]}}
baseline: baseline.json
gates:
  - ndcg@3 >= 0.1
  - {{metric: ndcg@3, max_drop: 0.9}}
"""
