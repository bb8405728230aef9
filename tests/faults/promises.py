"""Promises: what has to hold of every call of the command line, whatever stands in the files that it reads."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

from faults.ways import Way
from rankgauge.cli import call

__all__ = ["CODES", "Outcome", "broken_promises", "called"]

CODES = {0, 1, 2, 3, 4}
"""The documented exit codes but 5, an internal error, which is a bug."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_FOLDER = {"manifest.json", "summary.json", "per_sample.parquet", "per_sample.jsonl", "errors.jsonl", "report.md"}


class Outcome(NamedTuple):
    """What a call came to."""

    code: int
    out: str
    err: str


def called(way: Way) -> Outcome:
    """Call the command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = call(way.line)
    return Outcome(code, out.getvalue(), err.getvalue())


def broken_promises(way: Way, outcome: Outcome, folder: Path) -> Iterator[str]:
    """Yield the promises that a call in a folder broke."""
    code, out, err = outcome
    if code not in CODES:
        yield f"exit code {code}"
    if "Traceback (most recent call last)" in out + err:
        yield "a traceback"
    if code == 2 and not any(name.partition("/")[0] in err for name in way.files) and "cannot read " not in err:
        yield "the message names no file"
    if code == 2 and out and "cannot be judged" not in err:  # a gate that cannot be judged hides no result
        yield "a result on stdout beside an error"
    if len(err) > 100_000:
        yield "a message of more than 100,000 characters"
    if found := _CONTROL.search(err if way.form != "text" else out + err):
        yield f"the control character {found[0]!r}"
    if code in {0, 1, 3}:
        yield from _wrong_form(way.form, out)
    yield from _left_behind(way.output, code, folder)


def _wrong_form(form: str, out: str) -> Iterator[str]:
    try:
        for text in {"json": [out], "jsonl": out.splitlines()}.get(form, ()):
            json.loads(text, parse_constant=_refuse)
    except ValueError as error:
        yield f"stdout is not JSON: {error}"


def _refuse(constant: str) -> None:
    msg = f"{constant} is not JSON"
    raise ValueError(msg)


def _left_behind(output: str, code: int, folder: Path) -> Iterator[str]:
    hidden = sorted(path.name for path in folder.iterdir() if path.name.startswith("."))
    if hidden:
        yield f"left behind: {hidden}"
    if not output:
        return
    target = folder / output
    if code == 0 and not target.exists():
        yield "nothing was written, and the exit code is 0"
    if code not in {0, 1, 3} and target.exists():
        yield f"{output} was written, and the exit code is {code}"
    for result in (target, *target.iterdir()) if target.is_dir() else ():
        if (
            result.is_dir()
            and (names := {path.name for path in result.iterdir()})
            and "manifest.json" in names | _FOLDER
        ):
            missing = _FOLDER - names
            if missing and not any((result / name).is_dir() for name in names):
                yield f"{result.name} lacks {sorted(missing)}"
