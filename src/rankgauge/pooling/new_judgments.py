"""
New judgments: reading what a judge returned, what it adds to the qrels, and how well both agree.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rankgauge.columns import Qrels, Relevance
from rankgauge.errors import DataError, Problem
from rankgauge.frozen import freeze_fields
from rankgauge.io.files import open_file
from rankgauge.pooling.queue_files import Graded, decoded, write_bytes, write_lines
from rankgauge.stats import Agreement, agreement

__all__ = ["NewJudgments", "compare_judgments", "provenance_path", "write_judgments"]


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

    def __post_init__(self) -> None:
        freeze_fields(self)

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


def provenance_path(qrels: Path) -> Path:
    """Return the side file of judgments."""
    return Path(f"{qrels}.provenance.jsonl")


def write_judgments(path: Path, qrels: Qrels, added: Sequence[Graded]) -> None:
    """
    Write judgments with further ones as TREC qrels, and the side file; what that of *qrels* says is carried over.

    An id with a blank in it, which TREC qrels cannot hold, is a `DataError`.
    """
    lines = list(_lines(qrels, added))
    unfit = [(query, document) for query, document, _ in lines if any(byte <= 32 for byte in query + document)]
    if unfit:
        message = "TREC qrels hold no ids with blanks; judge runs and judgments with other ids"
        title = f"{path} cannot be written:"
        problems = [
            Problem(f"query {decoded(query)!r}, document {decoded(name)!r}: {message}") for query, name in unfit
        ]
        raise DataError(title, problems)
    earlier = _provenance(Path(qrels.source)) if qrels.source else []
    new = [
        {"query": decoded(each.query), "document": decoded(each.document), "grade": each.grade, "judge": each.judge}
        for each in added
    ]
    write_lines(provenance_path(path), [*earlier, *new])
    write_bytes(path, b"".join(b"%s 0 %s %s\n" % (query, name, _grade(grade)) for query, name, grade in lines))


def _lines(qrels: Qrels, added: Sequence[Graded]) -> Iterator[tuple[bytes, bytes, float]]:
    """Yield query, document and grade, queries in order, new judgments last; they replace grades below 0."""
    new: dict[bytes, list[Graded]] = {}
    for each in added:
        new.setdefault(each.query, []).append(each)
    ends = np.cumsum(qrels.lengths).tolist()
    documents, grades = qrels.documents.texts(), qrels.grades.tolist()
    for query, begin, end in zip(qrels.queries, [0, *ends], ends, strict=False):
        own = new.get(query, [])
        replaced = {each.document for each in own}
        for document, grade in zip(documents[begin:end], grades[begin:end], strict=True):
            if document not in replaced:
                yield query, document, grade
        for each in own:
            yield query, each.document, each.grade


def _grade(grade: float) -> bytes:
    return (str(int(grade)) if grade.is_integer() else repr(grade)).encode()


def _provenance(qrels: Path) -> list[dict[str, object]]:
    path = provenance_path(qrels)
    if not path.is_file():
        return []
    with open_file(path) as opened:
        try:
            return [json.loads(line) for line in opened.stream if line.strip()]
        except ValueError as error:
            msg = f"{path} cannot be read:"
            raise DataError(msg, [Problem(f"not valid JSON lines: {error}; mend it, or move it away")]) from None
