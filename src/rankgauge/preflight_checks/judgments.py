"""
Judgments on their own: queries without a relevant document, and grades that measures read differently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from rankgauge.columns import Flags, Qrels
from rankgauge.judging.ranking import shown
from rankgauge.preflight_checks.findings import Finding
from rankgauge.preflight_checks.kinds import MOST_EXAMPLES, finding, flagged, query_named

__all__ = ["check_judgments", "judgment_facts"]

_ERR_GRADE = 4
"""The highest grade that gdeval's ERR was made for."""


def judgment_facts(qrels: Qrels, rel: float) -> Mapping[str, float]:
    """Return numbers about judgments; documents are relevant from the grade *rel* on."""
    return {
        "queries_judged": len(qrels.queries),
        "judgments": qrels.n_judgments,
        "relevant": int(np.count_nonzero(qrels.grades >= rel)),
        "grade_min": float(qrels.grades.min()),
        "grade_max": float(qrels.grades.max()),
    }


def check_judgments(qrels: Qrels, rel: float) -> Iterator[Finding]:
    """Yield findings about judgments on their own."""
    n = len(qrels.queries)
    lacking = np.bincount(qrels.owners, weights=qrels.grades >= rel, minlength=n) == 0
    counts = {"queries_judged": n, "rel": rel}
    yield from flagged("no-relevant", qrels.queries, lacking, counts, severity="error" if lacking.all() else "warning")
    grades = qrels.grades
    yield from _some_judgments("negative-grades", qrels, grades < 0, {"lowest": float(grades.min())})
    yield from _some_judgments("fractional-grades", qrels, grades != np.floor(grades), {})
    yield from _some_judgments("high-grades", qrels, grades > _ERR_GRADE, {"highest": float(grades.max())})


def _some_judgments(code: str, qrels: Qrels, flags: Flags, counts: Mapping[str, float]) -> Iterator[Finding]:
    """Yield a finding about the flagged judgments, if there are any."""
    if not flags.any():
        return
    places = np.flatnonzero(flags)[:MOST_EXAMPLES]
    owners, grades = qrels.owners[places].tolist(), qrels.grades[places].tolist()
    examples = [
        f"{query_named(qrels.queries[owner])}, document {shown(document)!r}: {grade:g}"
        for owner, document, grade in zip(owners, qrels.documents.at(places).texts(), grades, strict=True)
    ]
    yield finding(code, {"judgments": int(np.count_nonzero(flags)), **counts}, examples, limit=_ERR_GRADE)
