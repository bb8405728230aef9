"""
Preflight on the command line: checking TREC runs against their judgments, and printing what was found.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rankgauge.preflight_checks import Preflight

__all__ = ["check_runs"]


def check_runs(qrels: Path, runs: Sequence[Path], *, rel: float, as_json: bool, strict: bool) -> None:
    """
    Check runs, and print what was found.

    Args:
        qrels: The judgments; ``-`` for standard input.

        runs: The runs; ``-`` for standard input.

        rel: The grade from which on a document is relevant.

        as_json: Whether to print JSON.

        strict: Whether a warning fails the check, too.

    Raises:
        typer.Exit: With code 1, where a check failed.

        UnreadableError: A file cannot be opened or decompressed, or is no text.
    """
    from rankgauge.preflight_checks import preflight_runs

    names = [os.fspath(path) for path in (qrels, *runs)]
    if names.count("-") > 1:
        msg = "standard input can be read once; give one of the files by its name"
        raise typer.BadParameter(msg)
    checked = list(preflight_runs(qrels, {str(number): run for number, run in enumerate(runs)}, rel=rel).values())
    passed = [each.ok and not (strict and each.warnings) for each in checked]
    if as_json:
        _print_json(checked, ok=all(passed))
    else:
        typer.echo("\n\n".join(map(str, checked)))
    if not all(passed):
        raise typer.Exit(1)


def _print_json(checked: Sequence[Preflight], *, ok: bool) -> None:
    import orjson

    told = {"ok": ok, "runs": [each.to_dict() for each in checked]}
    typer.echo(orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY).decode())
