"""
Points of a sweep: which options are tried, what each is called, and the parts of the questions.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import ParameterError
from rankgauge_systems.kinds import KINDS
from rankgauge_systems.options import is_approximating

__all__ = ["Point", "exact_changes", "halves", "points_of"]

_MOST = 1_000


@dataclass(frozen=True, slots=True)
class Point:
    """Some options of a system."""

    changes: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Return it in words, such as ``ef=16 k=10``."""
        return " ".join(f"{name}={_shown(value)}" for name, value in self.changes.items())

    @property
    def folder(self) -> str:
        """Return the name of the folder of its result, which no other point has."""
        digest = hashlib.sha256(json.dumps(self.changes, sort_keys=True).encode()).hexdigest()[:8]
        readable = re.sub(r"[^\w.-]+", "-", self.name).strip(".-")[:60].rstrip(".-")
        return f"{readable or 'point'}-{digest}"


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def points_of(sweep: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]) -> list[Point]:
    """Return the points of a grid, whose last option changes fastest, or those of a list; each once."""
    if isinstance(sweep, Mapping):
        values = itertools.product(*sweep.values())
        points = [dict(zip(sweep, each, strict=True)) for each in itertools.islice(values, _MOST + 1)]
    else:
        points = [dict(point) for point in sweep]
    if not points or not points[0]:
        raise ParameterError("the config has no `sweep`: options with a list of values each, such as {ef: [16, 64]}")
    if len(points) > _MOST:
        raise ParameterError(f"the sweep has more than {_MOST:,} points; try fewer values")
    return list({point.folder: point for point in map(Point, points)}.values())


def halves(sample_ids: Sequence[str], share: float, seed: int) -> tuple[list[int], list[int]]:
    """Return the places of samples on which a point is chosen, and those of the rest; each part has one at least."""
    if len(sample_ids) < 2:
        raise ParameterError("--holdout needs two samples or more")
    order = sorted(range(len(sample_ids)), key=lambda place: _draw(seed, sample_ids[place]))
    cut = min(max(round(share * len(order)), 1), len(order) - 1)
    return sorted(order[:cut]), sorted(order[cut:])


def _draw(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{name}".encode("utf-8", "surrogatepass")).digest()


def exact_changes(kind: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return what makes every search of a system exact; nothing if none can be.

    Options that only approximations have are put back, so that points which differ in them alone have one exact result.
    """
    if kind == "pipeline":
        searches = options.get("search", {})
        return {
            f"search.{name}.{key}": value
            for name, given in searches.items()
            for key, value in exact_changes(given["kind"], given).items()
        }
    model = KINDS[kind].options if kind in KINDS else None
    if model is None or "exact" not in model.model_fields or kind == "chroma" or options.get("by") == "words":
        return {}
    if "by" in model.model_fields and options.get("by") != "vectors":
        return {}
    usual = {name: field.default for name, field in model.model_fields.items() if is_approximating(field)}
    return {**{name: value for name, value in usual.items() if name in options}, "exact": True}
