"""
`rankgauge init`: write a commented config and a tiny dataset that runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankgauge.cli.console import echo
from rankgauge.errors import ResultError

__all__ = ["HELP", "init"]

HELP = "Write a config, its schema for editors, and a tiny dataset to start from. Nothing is ever overwritten."

_SCHEMA = "rankgauge.schema.json"

_CONFIG = f"""\
# yaml-language-server: $schema={_SCHEMA}
# A rankgauge config. Run it:    rankgauge run rankgauge.yaml
# Check it without scoring:      rankgauge validate rankgauge.yaml
version: 1

datasets:
  my.retrieval:
    path: samples.jsonl          # relative to this file; or .yaml, .json, .parquet
    # outputs: outputs.jsonl     # your system's outputs, if not in the samples: {{id, actual_output}} a line
    # fields: {{id: qid}}          # your field name for each of ours

metrics:
  retrieval:
    default_k: 5                 # default cutoff, used when a metric has none
  use:
    - retrieval-hit-at-k
    - recall@1,5,10              # one column for each cutoff
    - ndcg@10
    - retrieval-mrr
    - answer-containment-at-k
    # - {{metric: "ndcg(gain=exponential)@10", as: ndcg-exp}}
    # - {{set: strict}}
  sets:
    strict: [P@1, recall_all@10]

profile: default                 # or eval-harness, remem, haystack, classic, keyword, trec9, trec10
policy:
  missing_output: zero           # a sample without output counts as 0, and is reported
  max_failed: 0.0                # exit with 3 if more than this share of samples is missing or failed

# plugins:
#   locked: rankgauge.lock.yaml  # written by `rankgauge plugins lock`; a run refuses anything else
# output:
#   directory: runs              # save each run in a new folder here
"""

_SAMPLES = """\
{"id": "q1", "input": {"question": "How tall is the lighthouse?"}, "expected_output": {"relevant": ["d3"], "answer": "41 metres"}, "actual_output": {"retrieved": [{"id": "d1", "text": "The harbour was built in 1870."}, {"id": "d3", "text": "The lighthouse is 41 metres tall."}]}}
{"id": "q2", "input": {"question": "Who keeps the boats?"}, "expected_output": {"relevant": {"d2": 2, "d5": 1}, "answer": "the harbour office"}, "actual_output": {"retrieved": [{"id": "d2", "text": "Boats are kept by the harbour office."}, {"id": "d4", "text": "Nets dry on the pier."}]}}
{"id": "q3", "input": {"question": "When does the ferry leave?"}, "expected_output": {"relevant": ["d6"], "answer": "at noon"}, "actual_output": {"retrieved": [{"id": "d1", "text": "The harbour was built in 1870."}]}, "metadata": {"tags": ["timetable"]}}
"""  # noqa: E501  # one sample a line is the format


def init(
    directory: Annotated[Path, typer.Argument(help="The folder; created if needed.")] = Path(),
) -> None:
    """Write the files; see `HELP`."""
    schema = Path(__file__).parents[1] / "config" / "schema.json"
    files = {
        directory / "rankgauge.yaml": _CONFIG,
        directory / "samples.jsonl": _SAMPLES,
        directory / _SCHEMA: schema.read_text(encoding="utf-8"),
    }
    if taken := [str(path) for path in files if path.exists()]:
        msg = f"{' and '.join(taken)} would be overwritten; nothing was written. Choose another folder"
        raise ResultError(msg)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        msg = f"cannot write to {directory}: {error.strerror or error}"
        raise ResultError(msg) from error
    for path in files:
        echo(f"wrote {path}")
    echo(f"now run: rankgauge run {directory / 'rankgauge.yaml'}")
