"""
Metadata: the ir_metadata header in the comment lines at the beginning of a run.

The lines between ``# ir_metadata.start`` and ``# ir_metadata.end`` are YAML after their number signs.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankgauge.errors import UnreadableError
from rankgauge.io.files import open_file

__all__ = ["read_header"]

_START, _END = "ir_metadata.start", "ir_metadata.end"
_MOST_BYTES = 1 << 20
_WHOLE = 1 << 63


def read_header(path: Path, name: str) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Return the header of a run as JSON values, and notes: a broken header is one, never an error."""
    with open_file(path, name=name) as opened:
        if opened.stream.peek(1)[:1] != b"#":  # type: ignore[attr-defined]  # open_file gives a buffered reader
            return {}, ()
        lines: list[str] | None = None
        left = _MOST_BYTES
        while (line := opened.stream.readline(left)).startswith(b"#"):
            left -= len(line)
            text = line[1:].decode("utf-8", "replace").rstrip("\r\n")
            if lines is None:
                lines = [] if text.strip() == _START else None
            elif text.strip() == _END:
                return _parsed(lines, name)
            else:
                lines.append(text)
    return {}, () if lines is None else _ignored(name, f"it has no line `# {_END}`")


def _parsed(lines: list[str], name: str) -> tuple[Mapping[str, Any], Sequence[str]]:
    from rankgauge.io.yaml_documents import read_yaml

    try:
        value = read_yaml(textwrap.dedent("\n".join(lines)), name).value
    except UnreadableError as error:
        return {}, _ignored(name, error.problems[0].message)
    if not isinstance(value, dict):
        return {}, _ignored(name, "it is not a mapping")
    return {str(key): _plain(item) for key, item in value.items()}, ()


def _ignored(name: str, why: str) -> Sequence[str]:
    return [f"the ir_metadata header of {name} was ignored: {why}"]


def _plain(value: object) -> object:
    """Return a value as JSON can hold it."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and not -_WHOLE <= value < _WHOLE:
        return str(value)
    return value
