"""
The ranking on its own: order, ranks, equal scores, repeated documents and depth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from rankgauge.preflight_checks.findings import Finding, counted
from rankgauge.preflight_checks.judgments import examples_of
from rankgauge.preflight_checks.near_misses import readable
from rankgauge.preflight_checks.scan import ScannedRun

__all__ = ["check_ranking", "run_facts"]

_NEARLY_ALL = 0.9
_SHORT = 0.5
"""The share of the usual depth below which a query is short."""

_DEEP = 10
"""The usual depth from which on short queries are a warning."""

_MOST_EXAMPLES = 100


def run_facts(run: ScannedRun) -> Mapping[str, float]:
    """
    Return numbers about a run.

    Args:
        run: The run, which has queries.

    Returns:
        Numbers by name.
    """
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
    """
    Check the rankings of a run.

    Args:
        run: The run, which has queries.

    Yields:
        What was found.
    """
    yield from _repeats(run)
    order = list(_order(run))
    yield from order
    yield from _rank_column(run)
    if not any(finding.severity == "error" for finding in order):
        yield from _ties(run)
    yield from _depth(run)


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
            "mend the run, or say which result of each document counts: policy duplicates=first, last or best",
            {"queries": n_queries, "results": int(surplus.sum())},
            tuple(
                f"query {readable(repeat.query)!r}, document {readable(repeat.document)!r}: {repeat.times} times"
                for repeat in run.repeats
            ),
        )


def _order(run: ScannedRun) -> Iterator[Finding]:
    """Check scores against ranks and lines; one cause is told once."""
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
            "are these distances? a higher score has to be better: negate scores of which the lower is better",
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
            "the order is then that of document ids, and says nothing about the system; "
            + ("the ranks that the run states are never read: " if stated else "")
            + "write scores that fall with the rank",
            {"queries": n_constant, "queries_with_several_results": n_several},
            examples_of(run.names, queries.is_constant),
        )
    if is_reversed:
        return
    if queries.contradicts.any():
        n = int(np.count_nonzero(queries.contradicts))
        yield Finding(
            "rank-contradicts-score",
            "warning",
            "run",
            f"in {n:,} of {len(run.names):,} queries the stated ranks are another order than the scores",
            "scores decide, as in trec_eval; if the ranks are right, write scores that fall with the rank",
            {"queries": n},
            examples_of(run.names, queries.contradicts),
        )
    unsorted = queries.is_unsorted & ~queries.contradicts
    if unsorted.any():
        n = int(np.count_nonzero(unsorted))
        yield Finding(
            "unsorted-queries",
            "info",
            "run",
            f"in {n:,} of {len(run.names):,} queries the lines are not in order of score",
            "no harm, results are ranked by score; tools that read lines in order, such as cwl_eval, will differ",
            {"queries": n},
            examples_of(run.names, unsorted),
        )


def _rank_column(run: ScannedRun) -> Iterator[Finding]:
    queries = run.queries
    if not run.states_ranks:
        return
    if (without := ~queries.is_numbered).any():
        n = int(np.count_nonzero(without))
        yield Finding(
            "no-ranks",
            "info",
            "run",
            f"in {n:,} of {len(run.names):,} queries the rank column holds no ranks: no numbers, or one for all",
            "no harm, ranks are never read; but nothing could be checked against them",
            {"queries": n},
            examples_of(run.names, without),
        )
    if queries.has_gaps.any():
        n = int(np.count_nonzero(queries.has_gaps))
        yield Finding(
            "rank-gaps",
            "warning",
            "run",
            f"in {n:,} of {len(run.names):,} queries the stated ranks are not consecutive: some are missing or "
            "repeated",
            "results may have been lost or added after ranking; results are ranked anew by score, so that those behind "
            "a gap move up",
            {"queries": n},
            examples_of(run.names, queries.has_gaps),
        )
    shifted = queries.is_numbered & (queries.first_rank != 1)
    if shifted.any():
        n, first = int(np.count_nonzero(shifted)), float(queries.first_rank[shifted][0])
        starts_at_0 = bool((queries.first_rank[shifted] == 0).all())
        yield Finding(
            "first-rank",
            "info" if starts_at_0 else "warning",
            "run",
            f"in {n:,} of {len(run.names):,} queries the first rank is not 1 (it is {first:g} in the first of them)",
            "no harm, ranks are never read"
            if starts_at_0
            else "the beginning of these rankings may have been lost; what is there is ranked anew from 1",
            {"queries": n, "first_rank": first},
            examples_of(run.names, shifted),
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
            f"in {n_matter:,} of {n:,} queries documents of different grades have equal scores, so that their order "
            f"decides about metrics; {n_tied:,} of {n_results:,} results ({100 * n_tied / n_results:.1f} %) share "
            "their score",
            "they stand by document id, descending, as in trec_eval; see how much it matters with the policy "
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
            "no harm, no documents of different grades share one",
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
            "were they cut off? deep metrics, such as recall@100 and AP, suffer; precision@k divides by k all the same",
            {"queries": n, "depth_min": int(depth.min()), "depth_median": usual, "depth_max": int(depth.max())},
            tuple(f"query {readable(run.names[place])!r}: {counted(int(depth[place]), 'result')}" for place in shown),
        )
