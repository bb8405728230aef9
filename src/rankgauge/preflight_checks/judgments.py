"""
Judgments on their own: queries without a relevant document, and grades that measures read differently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rankgauge.columns import Flags, Qrels
from rankgauge.preflight_checks.findings import Finding, counted
from rankgauge.preflight_checks.near_misses import readable

__all__ = ["check_judgments", "examples_of", "judgment_facts"]

_MOST_EXAMPLES = 100
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
    yield from _without_relevant(qrels, rel)
    grades = qrels.grades
    yield from _some_judgments(
        qrels,
        "negative-grades",
        grades < 0,
        ("judgment is", "judgments are"),
        f"negative, the lowest {grades.min():g}",
        "they never count as relevant; trec_eval and the trec profiles treat such documents as unjudged in bpref, "
        "infAP, and the policy judged_only drops them",
        lowest=float(grades.min()),
    )
    yield from _some_judgments(
        qrels,
        "fractional-grades",
        grades != np.floor(grades),
        ("grade is", "grades are"),
        "not whole numbers",
        "they are used as they are; trec_eval itself cuts off the fraction (1.5 becomes 1), so numbers will differ",
    )
    yield from _some_judgments(
        qrels,
        "high-grades",
        grades > _ERR_GRADE,
        ("grade is", "grades are"),
        f"above {_ERR_GRADE}, the highest {grades.max():g}",
        "give ERR its max_grade; and nDCG with exponential gain grows by 2 to the grade",
        highest=float(grades.max()),
    )


def _some_judgments(
    qrels: Qrels, code: str, flags: Flags, subject: tuple[str, str], message: str, advice: str, **counts: float
) -> Iterator[Finding]:
    """Yield a finding about the flagged judgments, if there are any."""
    n = int(np.count_nonzero(flags))
    if n:
        message = f"{counted(n, *subject)} {message}"
        examples = _judged_examples(qrels, flags)
        yield Finding(code, "info", "judgments", message, advice, {"judgments": n, **counts}, examples)


def examples_of(names: Sequence[bytes], flags: Flags) -> tuple[str, ...]:
    """Return some of the flagged queries as examples."""
    return tuple(f"query {readable(names[place])!r}" for place in np.flatnonzero(flags)[:_MOST_EXAMPLES].tolist())


def _without_relevant(qrels: Qrels, rel: float) -> Iterator[Finding]:
    count = np.bincount(qrels.owners, weights=qrels.grades >= rel, minlength=len(qrels.queries))
    lacking = count == 0
    n, of = int(np.count_nonzero(lacking)), len(qrels.queries)
    if n:
        every = n == of
        yield Finding(
            "no-relevant",
            "error" if every else "warning",
            "judgments",
            f"{n:,} of {of:,} judged queries {'has' if n == 1 else 'have'} no document with a grade of {rel:g} or more",
            "no run can score above 0; lower the grade from which a document is relevant (rel), or fix the grades"
            if every
            else "they score 0 in every run and count in every mean; remove them if that is not intended",
            {"queries": n, "queries_judged": of, "rel": rel},
            examples_of(qrels.queries, lacking),
        )


def _judged_examples(qrels: Qrels, flags: Flags) -> tuple[str, ...]:
    places = np.flatnonzero(flags)[:_MOST_EXAMPLES]
    documents = qrels.documents.at(places).texts()
    return tuple(
        f"query {readable(qrels.queries[owner])!r}, document {readable(document)!r}: {grade:g}"
        for owner, document, grade in zip(
            qrels.owners[places].tolist(), documents, qrels.grades[places].tolist(), strict=True
        )
    )
