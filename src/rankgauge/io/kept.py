"""
Kept outputs as JSON lines: written as calls end, read back whole.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from rankgauge.policy import Contract
from rankgauge.samples import CallError, Fault, KeptOutput, Output, labelled, read_output

__all__ = ["OUTPUTS_FILE", "OutputsFile", "kept", "kept_line", "kept_row"]

OUTPUTS_FILE = "outputs.jsonl"
"""What kept outputs are called in a result folder."""

_BLOCK = 1 << 16

_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY


class OutputsFile:
    """A file of kept outputs, to which each is added as it arrives: after a crash all of them are there."""

    def __init__(self, path: Path) -> None:
        """Open a file, or go on with one, whose last line is removed if it is cut off, and ended if only that lacks."""
        self._file = path.open("ab+", buffering=0)
        self._end = _end_of_lines(self._file)
        self._file.seek(self._end)
        last = self._file.read()
        self._file.truncate(self._end)
        if _is_json(last):
            self._end += self._file.write(last + b"\n")

    def add(self, sample_id: str, output: KeptOutput) -> None:
        """Write one output; where the disk is full raise `OSError`, and leave the lines before it whole."""
        line = memoryview(kept_line(sample_id, output))
        written = 0
        try:
            while written < len(line):
                written += self._file.write(line[written:])
        except OSError:
            self._file.truncate(self._end)
            raise
        self._end += written

    def close(self) -> None:
        """Bring everything to the disk."""
        with self._file:
            os.fsync(self._file.fileno())


def _end_of_lines(file: io.FileIO) -> int:
    """Return where the last whole line of a file ends."""
    end = file.seek(0, io.SEEK_END)
    while end:
        start = max(0, end - _BLOCK)
        file.seek(start)
        if (at := file.read(end - start).rfind(b"\n")) >= 0:
            return start + at + 1
        end = start
    return 0


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except ValueError:
        return False
    return True


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
    support = {} if read.support is None else {"support": labelled(read.support)}
    value = _plain({"retrieved": _items(read), "answer": read.answer, **support})
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
