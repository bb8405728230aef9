"""
Who gave the judgments of a file: what its side file, written by `judge read`, says of people and models.
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
from rankgauge.errors import RankgaugeError, counted
from rankgauge.io.files import open_file

__all__ = ["JudgmentSources", "is_model", "provenance_path", "sources_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgmentSources:
    """
    Who gave the judgments of a file.

    Attributes:
        judgments: How many there are.

        judges: How many each judge gave, by name; those that nobody is named for are missing.

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
            told.append(f"{others:,} by nobody who is named")
        return f"{counted(self.judgments, 'judgment')}: {', '.join(told)}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return plain_fields(self)

    def _rubric(self, judge: str) -> str:
        hashes = self.rubrics.get(judge, ())
        return f" (rubric {', '.join(map(visible, hashes))})" if hashes else ""


def is_model(judge: str) -> bool:
    """Return whether a judge is a model."""
    return judge.casefold().startswith("model:")


def provenance_path(qrels: Path) -> Path:
    """Return the side file of judgments."""
    return Path(f"{qrels}.provenance.jsonl")


def sources_of(source: str, judgments: int) -> JudgmentSources | None:
    """Return who gave the judgments of a file; None where it has no side file, or one that cannot be read."""
    if not source or not (path := provenance_path(Path(source))).is_file():
        return None
    judges: dict[tuple[str, str], str] = {}
    rubrics: dict[str, set[str]] = {}
    try:
        with open_file(path) as opened:
            for line in opened.stream:
                if line.strip():
                    row = json.loads(line)
                    judge = str(row["judge"])
                    judges[row["query"], row["document"]] = judge
                    if isinstance(row.get("rubric"), str):
                        rubrics.setdefault(judge, set()).add(row["rubric"])
    except (RankgaugeError, ValueError, KeyError, TypeError, RecursionError):
        return None  # it decides nothing; `judge read` says what is wrong with it
    counts = Counter(judges.values())
    ordered = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return JudgmentSources(
        judgments=judgments,
        judges=ordered,
        rubrics={judge: tuple(sorted(rubrics[judge])) for judge in ordered if judge in rubrics},
    )
