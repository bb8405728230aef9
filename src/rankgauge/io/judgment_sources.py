"""
Who judged: the file of provenance beside judgments, and how many of them each judge gave.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankgauge.base.frozen import freeze_fields, plain_fields
from rankgauge.base.plain_text import visible
from rankgauge.errors import DataError, Problem, counted
from rankgauge.io.files import open_file, read_bytes

__all__ = ["JudgmentSources", "is_model", "provenance_of", "provenance_path", "sources_of"]


def is_model(judge: str) -> bool:
    """Return whether a judge is a model."""
    return judge.casefold().startswith("model:")


def provenance_of(qrels: Path) -> list[dict[str, object]]:
    """Return the rows of the file of provenance beside judgments; none if there is no file."""
    path = provenance_path(qrels)
    if not path.is_file():
        return []
    with open_file(path) as opened:
        try:
            return [json.loads(line) for line in opened.stream if line.strip()]
        except ValueError as error:
            msg = f"{path} cannot be read:"
            raise DataError(msg, [Problem(f"not valid JSON lines: {error}; mend it, or move it away")]) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgmentSources:
    """
    Who gave the judgments of a file.

    Attributes:
        judgments: How many there are.

        judges: How many each judge gave, by name; those without a name are missing.

        rubrics: By which rubrics models judged, by name of the judge; their hashes.
    """

    judgments: int
    judges: Mapping[str, int]
    rubrics: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        freeze_fields(self)

    @property
    def by_models(self) -> int:
        """Return how many judgments models gave."""
        return sum(count for judge, count in self.judges.items() if is_model(judge))

    @property
    def sentence(self) -> str:
        """Return it in words."""
        told = [f"{count:,} by {visible(judge)}{self._rubric(judge)}" for judge, count in self.judges.items()]
        if others := self.judgments - sum(self.judges.values()):
            told.append(f"{others:,} without a name")
        return f"{counted(self.judgments, 'judgment')}: {', '.join(told)}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return plain_fields(self)

    def _rubric(self, judge: str) -> str:
        hashes = self.rubrics.get(judge, ())
        return f" (rubric {', '.join(map(visible, hashes))})" if hashes else ""


def provenance_path(qrels: Path) -> Path:
    """Return the side file of judgments."""
    return Path(f"{qrels}.provenance.jsonl")


def sources_of(source: str, judgments: int) -> JudgmentSources | None:
    """
    Return who gave the judgments of a file; None if it has no side file.

    One that cannot be read is a `DataError`: a gate would not know that a model judged.
    """
    if not source or not (path := provenance_path(Path(source))).is_file():
        return None
    judges: dict[tuple[str, str], str] = {}
    rubrics: dict[str, set[str]] = {}
    for number, line in enumerate(read_bytes(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            judge = str(row["judge"])
            judges[row["query"], row["document"]] = judge
        except (ValueError, KeyError, TypeError, RecursionError):
            why = "it is no line of who judged what, as `judge read` writes them; mend the file, or move it away"
            raise DataError(f"who judged {source} cannot be read:", [Problem(why, str(path), number)]) from None
        if isinstance(row.get("rubric"), str):
            rubrics.setdefault(judge, set()).add(row["rubric"])
    counts = Counter(judges.values())
    ordered = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return JudgmentSources(
        judgments=judgments,
        judges=ordered,
        rubrics={judge: tuple(sorted(rubrics[judge])) for judge in ordered if judge in rubrics},
    )
