"""
New judgments: what a judge adds to qrels, how well both agree, and the file beside qrels that says who judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rankgauge.base.frozen import freeze_fields
from rankgauge.columns import Qrels, Relevance, Slices
from rankgauge.errors import Problem
from rankgauge.features.labels.queue_files import Graded, decoded
from rankgauge.io.judgment_sources import provenance_of, provenance_path
from rankgauge.io.problems import refuse
from rankgauge.io.whole_files import json_lines, write_whole
from rankgauge.stats import Agreement, agreement

__all__ = [
    "NewJudgments",
    "compare_judgments",
    "qrels_lines",
    "unjudged_queries",
    "write_judgments",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJudgments:
    """What a judge has added, and how well that agrees with what there was."""

    added: Sequence[Graded]  # documents that had no judgment
    again: Sequence[tuple[Graded, float]]  # documents that were judged before, with the earlier grade, which stays
    grades: Agreement  # on the grade of these
    relevance: Agreement  # on whether they are relevant
    by_judge: Mapping[str, Agreement]  # on the grade, by judge, if there are several
    is_first: bool = False  # whether there was no judgment before

    def __post_init__(self) -> None:
        freeze_fields(self)

    @property
    def judges(self) -> Mapping[str, int]:
        """Return how many judgments each judge has added, by name."""
        return dict(sorted(Counter(graded.judge for graded in self.added).items()))


def compare_judgments(graded: Sequence[Graded], qrels: Qrels, *, rel: float = 1.0) -> NewJudgments:
    """Part judgments into new ones and those that repeat earlier ones, and compare the latter; *rel* is relevant."""
    known = _grades(graded, qrels)
    earlier = [(new, known.get((new.query, new.document))) for new in graded]
    again = [(new, grade) for new, grade in earlier if grade is not None]
    is_relevant = Relevance.from_grade(rel).holds
    judges = sorted({new.judge for new, _ in again})
    by_judge = {
        judge: _agreement([pair for pair in again if pair[0].judge == judge]) for judge in judges if len(judges) > 1
    }
    return NewJudgments(
        added=[new for new, grade in earlier if grade is None],
        again=again,
        grades=_agreement(again),
        relevance=agreement([is_relevant(grade) for _, grade in again], [is_relevant(new.grade) for new, _ in again]),
        by_judge=by_judge,
        is_first=not qrels.n_judgments,
    )


def unjudged_queries(queries: Iterable[bytes]) -> Qrels:
    """Return judgments of some queries that have none yet."""
    names = sorted(set(queries))
    return Qrels(Slices.of(names), np.zeros(len(names), dtype=np.int64), np.empty(0), Slices.of([]))


def _agreement(again: Sequence[tuple[Graded, float]]) -> Agreement:
    return agreement([grade for _, grade in again], [new.grade for new, _ in again])


def _grades(graded: Sequence[Graded], qrels: Qrels) -> dict[tuple[bytes, bytes], float]:
    """Return the grades of the queries that were judged again; one below 0 marks an unjudged document."""
    names = {new.query for new in graded}
    queries = [number for number, name in enumerate(qrels.queries) if name in names]
    rows = np.flatnonzero(np.isin(qrels.owners, queries) & (qrels.grades >= 0))
    keys = zip(
        map(qrels.queries.__getitem__, qrels.owners[rows].tolist()), qrels.documents.at(rows).texts(), strict=True
    )
    return dict(zip(keys, qrels.grades[rows].tolist(), strict=True))


def write_judgments(path: Path, qrels: Qrels, added: Sequence[Graded]) -> None:
    """
    Write judgments with further ones as TREC qrels, and the side file; what that of *qrels* says is carried over.

    An id with a blank in it, which TREC qrels cannot hold, is a `DataError`.
    """
    data = qrels_lines(path, _lines(qrels, added))
    earlier = provenance_of(Path(qrels.source)) if qrels.source else []
    new = [
        {"query": decoded(each.query), "document": decoded(each.document), "grade": each.grade, "judge": each.judge}
        for each in added
    ]
    told = [{**row, **each.told} for row, each in zip(new, added, strict=True)]
    write_whole({provenance_path(path): json_lines([*earlier, *told]), path: data})


def qrels_lines(path: Path, judged: Iterable[tuple[bytes, bytes, float]]) -> bytes:
    """Return queries, documents and grades as TREC qrels for *path*; an id with a blank in it is a `DataError`."""
    lines = list(judged)
    unfit = [(query, document) for query, document, _ in lines if any(byte <= 32 for byte in query + document)]
    flaw = "TREC qrels hold no ids with blanks; judge runs and judgments with other ids"
    problems = [Problem(f"query {decoded(query)!r}, document {decoded(name)!r}: {flaw}") for query, name in unfit]
    refuse(f"{path} cannot be written:", problems)
    return b"".join(b"%s 0 %s %s\n" % (query, name, _grade(grade)) for query, name, grade in lines)


def _lines(qrels: Qrels, added: Sequence[Graded]) -> Iterator[tuple[bytes, bytes, float]]:
    """Yield query, document and grade, queries in order, new judgments last; they replace grades below 0."""
    new: dict[bytes, dict[bytes, float]] = {}
    for graded in added:
        new.setdefault(graded.query, {})[graded.document] = graded.grade
    ends = np.cumsum(qrels.lengths).tolist()
    documents, grades = qrels.documents.texts(), qrels.grades.tolist()
    for query, begin, end in zip(qrels.queries, [0, *ends], ends, strict=False):
        replacing = new.get(query, {})
        for document, grade in zip(documents[begin:end], grades[begin:end], strict=True):
            if document not in replacing:
                yield query, document, grade
        for document, grade in replacing.items():
            yield query, document, grade


def _grade(grade: float) -> bytes:
    return (str(int(grade)) if grade.is_integer() else repr(grade)).encode()
