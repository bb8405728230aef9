"""
Judgments on their own: queries without a relevant document, and grades that some measures read in their own way.
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
    """
    Return numbers about judgments.

    Args:
        qrels: The judgments.

        rel: From which grade on a document is relevant.

    Returns:
        Numbers by name.
    """
    return {
        "queries_judged": len(qrels.queries),
        "judgments": qrels.n_judgments,
        "relevant": int(np.count_nonzero(qrels.grades >= rel)),
        "grade_min": float(qrels.grades.min()),
        "grade_max": float(qrels.grades.max()),
    }


def check_judgments(qrels: Qrels, rel: float) -> Iterator[Finding]:
    """
    Check judgments without any run.

    Args:
        qrels: The judgments.

        rel: From which grade on a document is relevant.

    Yields:
        What was found.
    """
    yield from _without_relevant(qrels, rel)
    grades = qrels.grades
    if (negative := grades < 0).any():
        n = int(np.count_nonzero(negative))
        yield Finding(
            "negative-grades",
            "info",
            "judgments",
            f"{counted(n, 'judgment is', 'judgments are')} negative, the lowest {grades.min():g}",
            "they never count as relevant; trec_eval and the trec profiles treat such documents as unjudged in bpref, "
            "infAP, and the policy judged_only drops them",
            {"judgments": n, "lowest": float(grades.min())},
            _judged_examples(qrels, negative),
        )
    if (fractional := grades != np.floor(grades)).any():
        n = int(np.count_nonzero(fractional))
        yield Finding(
            "fractional-grades",
            "info",
            "judgments",
            f"{counted(n, 'grade is no whole number', 'grades are no whole numbers')}",
            "they are used as they are; trec_eval itself cuts off the fraction (1.5 becomes 1), so numbers will differ",
            {"judgments": n},
            _judged_examples(qrels, fractional),
        )
    if (high := grades > _ERR_GRADE).any():
        n = int(np.count_nonzero(high))
        yield Finding(
            "high-grades",
            "info",
            "judgments",
            f"{counted(n, 'grade is', 'grades are')} above {_ERR_GRADE}, the highest {grades.max():g}",
            "give ERR its max_grade, and mind that nDCG with exponential gain grows by 2 to the grade",
            {"judgments": n, "highest": float(grades.max())},
            _judged_examples(qrels, high),
        )


def examples_of(names: Sequence[bytes], flags: Flags) -> tuple[str, ...]:
    """Return some of the flagged queries, as examples show them."""
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
            "no run can score above 0; choose the grade from which on a document is relevant (rel), or mend the grades"
            if every
            else "they score 0 whatever a run does, and count in every mean; take them out if that is not meant",
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
