"""
New judgments: what a judge has added to those there were, and how well both agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankgauge.columns import Qrels, Relevance
from rankgauge.io.queues import Graded
from rankgauge.stats import Agreement, agreement

__all__ = ["NewJudgments", "compare_judgments"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJudgments:
    """
    What a judge has added, and how well that agrees with what there was.

    Attributes:
        added: Documents that nobody had judged.

        again: Documents that were judged before, each with its earlier grade, which stays.

        grades: Agreement on the grade of these.

        relevance: Agreement on whether they are relevant.

        by_judge: Agreement on the grade by judge, where there are several.
    """

    added: Sequence[Graded]
    again: Sequence[tuple[Graded, float]]
    grades: Agreement
    relevance: Agreement
    by_judge: Mapping[str, Agreement]

    @property
    def judges(self) -> Mapping[str, int]:
        """Return how many judgments each judge has added, by name."""
        return dict(sorted(Counter(each.judge for each in self.added).items()))


def compare_judgments(graded: Sequence[Graded], qrels: Qrels, *, rel: float = 1.0) -> NewJudgments:
    """Part judgments into new ones and those that repeat earlier ones, and compare the latter; *rel* is relevant."""
    known = _grades(graded, qrels)
    again = [(each, known[each.query, each.document]) for each in graded if (each.query, each.document) in known]
    judges = sorted({each.judge for each, _ in again})
    relevant = Relevance.from_grade(rel)
    return NewJudgments(
        added=[each for each in graded if (each.query, each.document) not in known],
        again=again,
        grades=_agreement(again),
        relevance=agreement(
            [relevant.holds(grade) for _, grade in again], [relevant.holds(each.grade) for each, _ in again]
        ),
        by_judge={
            judge: _agreement([pair for pair in again if pair[0].judge == judge]) for judge in judges if len(judges) > 1
        },
    )


def _agreement(again: Sequence[tuple[Graded, float]]) -> Agreement:
    return agreement([grade for _, grade in again], [each.grade for each, _ in again])


def _grades(graded: Sequence[Graded], qrels: Qrels) -> dict[tuple[bytes, bytes], float]:
    """Return the grades of the queries that were judged again; one below 0 says that nobody judged the document."""
    names = {each.query for each in graded}
    places = [place for place, name in enumerate(qrels.queries) if name in names]
    rows = np.flatnonzero(np.isin(qrels.owners, places) & (qrels.grades >= 0))
    owners = [qrels.queries[place] for place in qrels.owners[rows].tolist()]
    keys = zip(owners, qrels.documents.at(rows).texts(), strict=True)
    return dict(zip(keys, qrels.grades[rows].tolist(), strict=True))
