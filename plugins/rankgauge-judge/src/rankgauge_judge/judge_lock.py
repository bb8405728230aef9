"""
Locks of judges: a model, its rubric and how it is asked, pinned in a file, so that a judge stays the one it was.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

from rankgauge.errors import DataError, ParameterError, Problem
from rankgauge.files import json_lines, read_bytes, write_whole

__all__ = ["check_lock", "write_lock"]

_SCHEMA: Final = "rankgauge.judge_lock.v1"


def check_lock(lock: Path, pinned: Mapping[str, Any]) -> frozenset[str] | None:
    """
    Return which models an endpoint may serve under the name that is pinned; None if there is no lock yet.

    Raises:
        ParameterError: The lock pins something else; each difference is named.

        DataError: The file is no lock.
    """
    if not lock.exists():
        return None
    try:
        row = json.loads(read_bytes(lock))
        served = row["served"]
        is_lock = row["schema_version"] == _SCHEMA and all(isinstance(name, str) for name in served)
    except (ValueError, TypeError, KeyError, RecursionError):
        is_lock = False
    if not is_lock:
        why = f"it is no lock of a judge ({_SCHEMA}); name another file, or delete it"
        raise DataError("the lock cannot be read:", [Problem(why, str(lock))])
    if other := [
        f"{name} {row.get(name)!r}, not {value!r}" for name, value in pinned.items() if row.get(name) != value
    ]:
        hint = "take what it pins, or name a new lock: it is another judge, whose agreement is to be measured anew"
        raise ParameterError(f"{lock} pins another judge: {'; '.join(other)}; {hint}")
    return frozenset(served)


def write_lock(lock: Path, pinned: Mapping[str, Any], served: Collection[str]) -> None:
    """Write a lock: what was asked for, and what the endpoint called the models that answered."""
    row = {"schema_version": _SCHEMA, **pinned, "served": sorted(served)}
    write_whole({lock: json_lines([row])})
