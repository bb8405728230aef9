"""
The ranking on its own: order, ranks, ties, duplicates and depth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from rankgauge.columns import Flags
from rankgauge.preflight_checks.findings import Finding, Severity, counted
from rankgauge.preflight_checks.judgments import examples_of
from rankgauge.preflight_checks.near_misses import readable
from rankgauge.preflight_checks.scan import ScannedRun

__all__ = ["check_ranking", "run_facts"]

_NEARLY_ALL = 0.9
_SHORT = 0.5
"""A query is short below this share of the usual depth."""

_DEEP = 10
"""Short queries are a warning from this usual depth on."""

_MOST_EXAMPLES = 100


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


def check_ranking(run: ScannedRun) -> Iterator[Finding]:
    """Yield findings about the rankings of a run, which has queries."""
    yield from _repeats(run)
    order = list(_order(run))
    yield from order
    yield from _rank_column(run)
    if not any(finding.severity == "error" for finding in order):
        yield from _ties(run)
    yield from _depth(run)


def _in_queries(
    run: ScannedRun, code: str, severity: Severity, flags: Flags, message: str, advice: str, **counts: float
) -> Iterator[Finding]:
    """Yield a finding about the flagged queries, if there are any."""
    n = int(np.count_nonzero(flags))
    if n:
        message = f"in {n:,} of {len(run.names):,} queries {message}"
        examples = examples_of(run.names, flags)
        yield Finding(code, severity, "run", message, advice, {"queries": n, **counts}, examples)


def _repeats(run: ScannedRun) -> Iterator[Finding]:
    surplus = run.queries.surplus
    n_queries = int(np.count_nonzero(surplus))
    if n_queries:
        yield Finding(
            "repeated-documents",
            "error",
            "run",
            f"{counted(n_queries, 'query retrieves', 'queries retrieve')} a document more than once; "
            f"{counted(int(surplus.sum()), 'result is', 'results are')} too many",
            "fix the run, or say which of them counts: policy duplicates=first, last or best",
            {"queries": n_queries, "results": int(surplus.sum())},
            tuple(
                f"query {readable(repeat.query)!r}, document {readable(repeat.document)!r}: {repeat.times} times"
                for repeat in run.repeats
            ),
        )


def _order(run: ScannedRun) -> Iterator[Finding]:
    """Check scores against ranks and lines; one cause gives one finding."""
    queries = run.queries
    several = queries.depth > 1
    varied = several & ~queries.is_constant
    n_several, n_varied = int(np.count_nonzero(several)), int(np.count_nonzero(varied))
    n_ascends = int(np.count_nonzero(queries.ascends))
    n_constant = int(np.count_nonzero(queries.is_constant))
    is_reversed = n_ascends >= max(2, _NEARLY_ALL * n_varied)
    by_rank = int(np.count_nonzero(queries.ascends & queries.is_numbered))
    if is_reversed:
        states = by_rank == n_ascends
        yield Finding(
            "score-direction",
            "error" if states else "warning",
            "run",
            f"in {n_ascends:,} of {n_varied:,} queries the scores rise with "
            + ("the stated rank, so that rank 1 has the lowest score" if states else "every line"),
            "are these distances? higher scores have to be better: negate scores where lower is better",
            {"queries": n_ascends, "queries_with_several_scores": n_varied},
            examples_of(run.names, queries.ascends),
        )
    if n_constant:
        every = n_constant >= _NEARLY_ALL * n_several
        stated = int(np.count_nonzero(queries.is_constant & queries.is_numbered))
        is_lost = every and stated == n_constant
        yield Finding(
            "constant-scores",
            "error" if is_lost else "warning",
            "run",
            f"in {n_constant:,} of {n_several:,} queries with several results all scores are equal",
            "documents are then ordered by id, which says nothing about the system; "
            + ("the ranks that the run states are never read: " if stated else "")
            + "write scores that fall with the rank",
            {"queries": n_constant, "queries_with_several_results": n_several},
            examples_of(run.names, queries.is_constant),
        )
    if is_reversed:
        return
    yield from _in_queries(
        run,
        "rank-contradicts-score",
        "warning",
        queries.contradicts,
        "the stated ranks give another order than the scores",
        "scores decide, as in trec_eval; if the ranks are right, write scores that fall with the rank",
    )
    yield from _in_queries(
        run,
        "unsorted-queries",
        "info",
        queries.is_unsorted & ~queries.contradicts,
        "the lines are not in order of score",
        "harmless: results are ranked by score; tools that read lines in order, such as cwl_eval, will differ",
    )


def _rank_column(run: ScannedRun) -> Iterator[Finding]:
    queries = run.queries
    if not run.states_ranks:
        return
    yield from _in_queries(
        run,
        "no-ranks",
        "info",
        ~queries.is_numbered,
        "the rank column holds no ranks: no numbers, or the same one everywhere",
        "harmless: ranks are never read; but nothing could be checked against them",
    )
    yield from _in_queries(
        run,
        "rank-gaps",
        "warning",
        queries.has_gaps,
        "the stated ranks are not consecutive: some are missing or repeated",
        "results may have been lost or added after ranking; results are ranked again by score, so those below a gap "
        "move up",
    )
    shifted = queries.is_numbered & (queries.first_rank != 1)
    if shifted.any():
        first = float(queries.first_rank[shifted][0])
        starts_at_0 = bool((queries.first_rank[shifted] == 0).all())
        yield from _in_queries(
            run,
            "first-rank",
            "info" if starts_at_0 else "warning",
            shifted,
            f"the first rank is not 1 (it is {first:g} in the first of them)",
            "harmless: ranks are never read"
            if starts_at_0
            else "the top of these rankings may have been lost; the rest is ranked again from 1",
            first_rank=first,
        )


def _ties(run: ScannedRun) -> Iterator[Finding]:
    queries, n = run.queries, len(run.names)
    n_results, n_tied = int(queries.depth.sum()), int(queries.tied.sum())
    n_matter = int(np.count_nonzero(queries.ties_matter))
    n_queries = int(np.count_nonzero(queries.tied))
    if n_matter:
        yield Finding(
            "ties-that-matter",
            "warning",
            "both",
            f"in {n_matter:,} of {n:,} queries documents of different grades have equal scores, so their order changes "
            f"metrics; {n_tied:,} of {n_results:,} results ({100 * n_tied / n_results:.1f} %) share "
            "their score",
            "ties are ordered by document id, descending, as in trec_eval; see how much they matter with the policy "
            "ties=average, or write scores with more digits",
            {"queries": n_matter, "queries_tied": n_queries, "results_tied": n_tied},
            examples_of(run.names, queries.ties_matter),
        )
    elif n_tied:
        yield Finding(
            "ties",
            "info",
            "run",
            f"{n_tied:,} of {n_results:,} results ({100 * n_tied / n_results:.1f} %), in {n_queries:,} queries, share "
            "their score",
            "harmless: no documents of different grades share one",
            {"queries_tied": n_queries, "results_tied": n_tied},
            examples_of(run.names, queries.tied > 0),
        )
    if queries.tied_as_float32.any():
        n_single = int(np.count_nonzero(queries.tied_as_float32))
        n_matter = int(np.count_nonzero(queries.ties_matter_as_float32))
        yield Finding(
            "float32-ties",
            "warning" if n_matter else "info",
            "run",
            f"in {n_single:,} of {n:,} queries scores differ only beyond the precision of 32-bit floats; in "
            f"{n_matter:,} of them that can change a metric",
            "trec_eval up to 9.0.8 and pytrec_eval take them for equal (the profile trec9, or score_dtype=float32, "
            "does too), trec_eval 10 does not",
            {
                "queries": n_single,
                "queries_that_matter": n_matter,
                "results": int(queries.tied_as_float32.sum()),
            },
            examples_of(run.names, queries.ties_matter_as_float32 if n_matter else queries.tied_as_float32 > 0),
        )


def _depth(run: ScannedRun) -> Iterator[Finding]:
    depth = run.queries.depth
    usual = float(np.median(depth))
    short = depth < _SHORT * usual
    if short.any():
        is_deep = usual >= _DEEP
        n = int(np.count_nonzero(short))
        shown = np.flatnonzero(short)[np.argsort(depth[short], kind="stable")][:_MOST_EXAMPLES].tolist()
        yield Finding(
            "short-queries",
            "warning" if is_deep else "info",
            "run",
            f"{n:,} of {len(run.names):,} queries {'has' if n == 1 else 'have'} fewer than half as many results as "
            f"is usual ({usual:g}); the fewest are {depth.min():,}",
            "were they cut off? deep metrics, such as recall@100 and AP, get lower; precision@k still divides by k",
            {"queries": n, "depth_min": int(depth.min()), "depth_median": usual, "depth_max": int(depth.max())},
            tuple(f"query {readable(run.names[place])!r}: {counted(int(depth[place]), 'result')}" for place in shown),
        )
