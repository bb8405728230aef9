"""
Checks of judgments by themselves, and of rankings by themselves: order, ranks, ties, duplicates and depth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from rankgauge.columns import Flags, Qrels
from rankgauge.errors import counted
from rankgauge.features.preflight.finding_kinds import MOST_EXAMPLES, finding, flagged, named_queries, query_named
from rankgauge.features.preflight.findings import Finding, Severity
from rankgauge.features.preflight.run_scan import ScannedRun
from rankgauge.judging.ranking import shown

__all__ = ["check_judgments", "check_ranking", "judgment_facts", "run_facts"]

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
    if qrels.n_merged:
        yield finding("merged-judgments", {"judgments": qrels.n_merged})
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
    lines = zip(owners, map(shown, qrels.documents.at(places).texts()), grades, strict=True)
    examples = [f"{query_named(qrels.queries[owner])}, document {name!r}: {grade:g}" for owner, name, grade in lines]
    yield finding(code, {"judgments": int(np.count_nonzero(flags)), **counts}, examples, limit=_ERR_GRADE)


_NEARLY_ALL = 0.9
_SHORT = 0.5  # a query is short below this share of the usual depth
_DEEP = 10  # short queries are a warning from this usual depth on


def run_facts(run: ScannedRun) -> Mapping[str, float]:
    """Return numbers about a run, which has queries."""
    queries = run.queries
    return {
        "queries_run": len(run.names),
        "results": int(queries.depth.sum()),
        "depth_min": int(queries.depth.min()),
        "depth_median": float(np.median(queries.depth)),
        "depth_max": int(queries.depth.max()),
        "results_tied": int(queries.tied.sum()),
        "queries_tied": int(np.count_nonzero(queries.tied)),
        "queries_ties_matter": int(np.count_nonzero(queries.ties_matter)),
    }


def check_ranking(run: ScannedRun, facts: Mapping[str, float], *, has_odd_ranks: bool = False) -> Iterator[Finding]:
    """
    Yield findings about the rankings of a run, which has queries, given what `run_facts` returned.

    Ranks that are missing are not said where it is known already that the run *has odd ranks*: one cause, one finding.
    """
    surplus = run.queries.surplus
    repeats = (f"{query_named(query)}, document {shown(name)!r}: {times} times" for query, name, times in run.repeats)
    counts = {"results": int(surplus.sum())}
    yield from flagged("repeated-documents", run.names, surplus > 0, counts, examples=repeats)
    order = list(_order(run))
    yield from order
    yield from _rank_column(run, has_odd_ranks=has_odd_ranks)
    if not any(finding.severity == "error" for finding in order):
        yield from _ties(run, facts)
    yield from _depth(run, facts)


def _order(run: ScannedRun) -> Iterator[Finding]:
    """Check scores against ranks and lines; one cause gives one finding."""
    queries, names = run.queries, run.names
    several, constant = queries.depth > 1, queries.is_constant
    n_several, n_varied = int(np.count_nonzero(several)), int(np.count_nonzero(several & ~constant))
    is_reversed = int(np.count_nonzero(queries.ascends)) >= max(2, _NEARLY_ALL * n_varied)
    if is_reversed:
        counts = {"queries_with_several_scores": n_varied}
        states = bool(queries.is_numbered[queries.ascends].all())
        severity: Severity = "error" if states else "warning"
        by = "the stated rank, so that rank 1 has the lowest score" if states else "every line"
        yield from flagged("score-direction", names, queries.ascends, counts, severity=severity, by=by)
    is_lost = np.count_nonzero(constant) >= _NEARLY_ALL * n_several and queries.is_numbered[constant].all()
    counts = {"queries_with_several_results": n_several}
    yield from flagged("constant-scores", names, constant, counts, severity="error" if is_lost else "warning")
    if not is_reversed:
        yield from flagged("rank-contradicts-score", names, queries.contradicts)
        yield from flagged("unsorted-queries", names, queries.is_unsorted & ~queries.contradicts)


def _rank_column(run: ScannedRun, *, has_odd_ranks: bool) -> Iterator[Finding]:
    queries, names = run.queries, run.names
    if not run.states_ranks:
        return
    if not has_odd_ranks:
        yield from flagged("no-ranks", names, ~queries.is_numbered)
    yield from flagged("rank-gaps", names, queries.has_gaps)
    shifted = queries.is_numbered & (queries.first_rank != 1)
    if shifted.any():
        firsts = queries.first_rank[shifted]
        severity: Severity = "warning" if firsts.any() else "info"
        yield from flagged("first-rank", names, shifted, {"first_rank": float(firsts[0])}, severity=severity)


def _ties(run: ScannedRun, facts: Mapping[str, float]) -> Iterator[Finding]:
    queries, names = run.queries, run.names
    counts = {name: facts[name] for name in ("queries_tied", "results_tied")}
    of = facts["results"]
    share = 100 * facts["results_tied"] / max(of, 1)
    if queries.ties_matter.any():
        yield from flagged("ties-that-matter", names, queries.ties_matter, counts, of_results=of, share=share)
    elif facts["results_tied"]:
        yield finding("ties", counts, named_queries(names, queries.tied > 0), of_results=of, share=share)
    single, matter = queries.tied_as_float32 > 0, queries.ties_matter_as_float32
    n_matter = int(np.count_nonzero(matter))
    counts = {"queries_that_matter": n_matter, "results": int(queries.tied_as_float32.sum())}
    severity: Severity = "warning" if n_matter else "info"
    examples = named_queries(names, matter if n_matter else single)
    yield from flagged("float32-ties", names, single, counts, examples=examples, severity=severity)


def _depth(run: ScannedRun, facts: Mapping[str, float]) -> Iterator[Finding]:
    depth, usual = run.queries.depth, facts["depth_median"]
    short = depth < _SHORT * usual
    shortest = np.flatnonzero(short)[np.argsort(depth[short], kind="stable")][:MOST_EXAMPLES].tolist()
    counts = {name: facts[name] for name in ("depth_min", "depth_median", "depth_max")}
    examples = [f"{query_named(run.names[query])}: {counted(int(depth[query]), 'result')}" for query in shortest]
    severity: Severity = "warning" if usual >= _DEEP else "info"
    yield from flagged("short-queries", run.names, short, counts, examples=examples, severity=severity)
