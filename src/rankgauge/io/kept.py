"""
Kept outputs as JSON lines: written as calls end, read back whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from rankgauge.errors import DataError, Problem, counted
from rankgauge.io.files import open_file
from rankgauge.policy import Contract
from rankgauge.samples import CallError, Fault, KeptOutput, Output, read_output

__all__ = ["OUTPUTS_FILE", "kept", "kept_line", "kept_row", "read_kept"]

OUTPUTS_FILE = "outputs.jsonl"
"""What kept outputs are called in a result folder."""

_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY


def kept(raw: object, contract: Contract) -> KeptOutput:
    """
    Return what a system under test returned in a form that JSON holds, and that is read as the original is.

    JSON has no NaN and no halves of surrogate pairs, and a system may return objects of its own. What JSON would change
    is kept as the ranking that was read from it, or as the reason that it cannot be read.
    """
    if raw is None:
        return KeptOutput(error=CallError("", "the system under test returned None"))
    read = read_output(raw, contract=contract)
    value = _plain(raw)
    if value is not None and read_output(value, contract=contract) == read:
        return KeptOutput(value)
    if isinstance(read, Fault):
        return KeptOutput(error=CallError("", read.reason))
    value = _plain({"retrieved": _items(read), "answer": read.answer})
    if value is None:
        return KeptOutput(error=CallError("", "the output holds half of a surrogate pair, which UTF-8 cannot encode"))
    return KeptOutput(value)


def kept_line(sample_id: str, output: KeptOutput) -> bytes:
    """Return a row of an outputs file, with its line end."""
    row: dict[str, Any] = {"id": sample_id}
    if output.error is None:
        row["actual_output"] = output.actual_output
    else:
        row["error"] = output.error._asdict()
    if output.seconds is not None:
        row["seconds"] = round(output.seconds, 6)
    row["attempt"] = output.attempt
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def kept_row(row: Mapping[str, Any]) -> KeptOutput:
    """Return what a row of an outputs file holds, besides its id; what is no number of attempts counts as one."""
    error, seconds, attempt = row.get("error"), row.get("seconds"), row.get("attempt")
    return KeptOutput(
        row.get("actual_output") if error is None else None,
        None if error is None else _error(error),
        seconds if isinstance(seconds, int | float) else None,
        attempt if isinstance(attempt, int) else 1,
    )


def read_kept(path: Path) -> dict[str, KeptOutput]:
    """
    Return the rows of kept outputs by sample id, the last of each id; a last line that is cut off is left out.

    A `DataError` has every other line that is no such row.
    """
    found: dict[str, KeptOutput] = {}
    problems: list[Problem] = []
    with open_file(path) as file:
        for number, line in enumerate(file.stream, 1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
                found[row["id"]] = kept_row(row)
            except (ValueError, KeyError, TypeError):
                if line.endswith(b"\n"):
                    problems.append(Problem("expected a row {id, actual_output} of kept outputs", str(path), number))
    if problems:
        msg = f"{path} cannot be used ({counted(len(problems), 'problem')}):"
        raise DataError(msg, problems)
    return found


def _error(value: object) -> CallError:
    """Return an error of a row: as we write it, or a text of somebody else's."""
    if isinstance(value, Mapping):
        return CallError(*(str(value.get(name) or "") for name in CallError._fields))
    return CallError("", f"the system under test failed: {value}")


def _items(read: Output) -> list[dict[str, Any]]:
    nothing: list[None] = [None] * len(read.ids)
    columns: dict[str, Sequence[object]] = {
        "id": read.ids,
        "text": read.texts or nothing,
        "score": read.scores or nothing,
    }
    rows = (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def _plain(value: object) -> Any:  # noqa: ANN401  # any JSON value
    """Return a value as JSON gives it back; None where it cannot be written."""
    try:
        return orjson.loads(orjson.dumps(value, default=_known, option=_OPTIONS))
    except (TypeError, ValueError, RecursionError):
        return None


def _known(value: object) -> object:
    """Return a value of a kind that we read and JSON does not know."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, bytes):
        return value.decode()
    raise TypeError
