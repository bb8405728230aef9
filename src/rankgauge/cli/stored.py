"""
Saved results on the command line: result folders and baseline files, by the names that reports call them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import visible
from rankgauge.cli.options import run_names
from rankgauge.errors import ParameterError, ResultError, did_you_mean

if TYPE_CHECKING:
    from rankgauge.result import ResultValues

__all__ = ["result_names", "stored_results"]


def result_names(paths: Sequence[str]) -> list[str]:
    """Return a name for each file or folder; one that is compared with itself gets a number the second time."""
    distinct = list(dict.fromkeys(paths))
    by_path = dict(zip(distinct, run_names(distinct), strict=True))
    counts: dict[str, int] = {}
    names = []
    for path in paths:
        counts[path] = counts.get(path, 0) + 1
        names.append(by_path[path] if counts[path] == 1 else f"{by_path[path]} ({counts[path]})")
    return names


def stored_results(paths: Sequence[str], dataset: str | None = None, *, of_runs: str) -> dict[str, ResultValues]:
    """
    Load result folders and baseline files by name; of those with several datasets, the one that is named.

    *of_runs* tells who gave something else what the command has for TREC runs.
    """
    return {name: _loaded(Path(path), dataset, of_runs) for name, path in zip(result_names(paths), paths, strict=True)}


def _loaded(path: Path, dataset: str | None, of_runs: str) -> ResultValues:
    from rankgauge.gates.baseline import load_baseline

    if not path.exists() or (path.is_file() and path.suffix.lower() != ".json"):
        what = "does not exist" if not path.exists() else "is neither a result folder nor a baseline file (.json)"
        msg = f"{visible(str(path))} {what}; {of_runs}"
        raise ResultError(msg)
    found = load_baseline(path)
    if dataset is not None and dataset in found:
        return found[dataset]
    if dataset is None and len(found) == 1:
        return next(iter(found.values()))
    known = ", ".join(map(visible, found))
    if dataset is None:
        msg = f"{visible(str(path))} has {len(found)} datasets; name one with --dataset: {known}"
    else:
        msg = f"{visible(str(path))} has no dataset {dataset!r}{did_you_mean(dataset, found)}; there are {known}"
    raise ParameterError(msg)
