"""
`rankgauge validate QRELS RUN`: what can be seen of judgments and runs before a number is computed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rankgauge.cli.console import print_answer
from rankgauge.cli.conventions import table_columns
from rankgauge.errors import ParameterError
from rankgauge.features.preflight.check_runs import preflight

__all__ = ["validate_runs"]


def validate_runs(qrels: Path, runs: Sequence[Path], given: argparse.Namespace) -> int:
    """Print what was found in judgments and runs; 0 if they can be scored, 1 if not."""
    if [str(file) for file in (qrels, *runs)].count("-") > 1:
        raise ParameterError("standard input (-) can stand for one file only; name the others")
    rel, columns = 1.0 if given.rel is None else given.rel, table_columns(given.columns, given.reader, given.letters)
    numbered = {str(number): run for number, run in enumerate(runs)}
    checked = list(preflight(qrels, runs=numbered, rel=rel, columns=columns).values())
    ok = all(run.ok and not (given.strict and run.warnings) for run in checked)
    print_answer(given, {"ok": ok, "runs": [run.to_dict() for run in checked]}, "\n\n".join(map(str, checked)))
    return 0 if ok else 1
