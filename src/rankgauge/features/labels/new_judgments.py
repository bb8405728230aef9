"""
New judgments: what a judge adds to qrels, how well both agree, and the file beside qrels that says who judged.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.base.frozen import freeze_fields, plain_fields
from rankgauge.base.plain_text import visible
from rankgauge.columns import Qrels, Relevance, Slices
from rankgauge.errors import DataError, Problem, counted
from rankgauge.features.labels.queue_files import Graded, decoded, is_model
from rankgauge.io.files import open_file, read_bytes
from rankgauge.io.problems import refuse
from rankgauge.io.whole_files import json_lines, write_whole
from rankgauge.stats import Agreement, agreement

__all__ = [
    "JudgmentSources",
    "NewJudgments",
    "compare_judgments",
    "provenance_path",
    "qrels_lines",
    "sources_of",
    "unjudged_queries",
    "write_judgments",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJudgments:
    """What a judge has added, and how well that agrees with what there was."""

    added: Sequence[Graded]  # documents that nobody had judged
    again: Sequence[tuple[Graded, float]]  # documents that were judged before, with the earlier grade, which stays
    grades: Agreement  # on the grade of these
    relevance: Agreement  # on whether they are relevant
    by_judge: Mapping[str, Agreement]  # on the grade, by judge, where there are several
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
    """Return the grades of the queries that were judged again; one below 0 says that nobody judged the document."""
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
    earlier = _provenance(Path(qrels.source)) if qrels.source else []
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


def provenance_path(qrels: Path) -> Path:
    """Return the side file of judgments."""
    return Path(f"{qrels}.provenance.jsonl")


def sources_of(source: str, judgments: int) -> JudgmentSources | None:
    """
    Return who gave the judgments of a file; None where it has no side file.

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
