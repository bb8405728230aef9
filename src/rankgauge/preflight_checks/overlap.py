"""
Overlap: whether the queries and documents of a run are judged, and what keeps ids from matching if not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rankgauge.columns import Flags, Qrels, Slices
from rankgauge.errors import counted
from rankgauge.preflight_checks.findings import Finding
from rankgauge.preflight_checks.kinds import finding, flagged
from rankgauge.preflight_checks.near_misses import find_near_miss
from rankgauge.preflight_checks.scan import TOP, ScannedRun

__all__ = ["check_overlap", "overlap_facts"]

_MOST_NAMES = 20_000
"""How many ids of each side are compared for near misses."""

_FEW_JUDGED, _ENOUGH_JUDGMENTS = 0.5, 10
_OWN_FIRST = 0.2
"""From this share of queries on, a query's own document at rank 1 is no coincidence."""


def overlap_facts(run: ScannedRun, qrels: Qrels, rel: float) -> Mapping[str, float]:
    """Return numbers about how a run and judgments fit; those of documents are over the judged queries of the run."""
    both = run.queries.place >= 0
    n_both = int(np.count_nonzero(both))
    facts: dict[str, float] = {
        "queries_both": n_both,
        "queries_missing": len(qrels.queries) - n_both,
        "queries_unjudged": len(run.names) - n_both,
    }
    if n_both:
        of_seen = _seen(run, qrels)[qrels.owners]
        share = run.queries.top[both] / np.maximum(np.minimum(run.queries.depth[both], TOP), 1)
        facts |= {
            "judged_retrieved": int(run.queries.found.sum()),
            "judged_expected": int(np.count_nonzero(of_seen)),
            "relevant_retrieved": int(run.queries.relevant.sum()),
            "relevant_expected": int(np.count_nonzero(of_seen & (qrels.grades >= rel))),
            "judged_at_10": float(share.mean()),
        }
    return facts


def check_overlap(run: ScannedRun, qrels: Qrels, facts: Mapping[str, float]) -> Iterator[Finding]:
    """Yield findings about a run and judgments, given what `overlap_facts` returned."""
    if facts["queries_both"]:
        yield from _some_queries(run, qrels)
        if facts["judged_retrieved"]:
            yield from _near_documents(run, qrels)
            yield from _few_judged(facts)
        else:
            yield _no_documents(run, qrels, int(facts["judged_expected"]))
    else:
        yield _no_queries(run, qrels)
    yield from _own_documents(run)


def _no_queries(run: ScannedRun, qrels: Qrels) -> Finding:
    spread = qrels.queries[:: max(1, len(qrels.queries) // (10 * _MOST_NAMES))]
    near = find_near_miss(run.names[:_MOST_NAMES], spread)
    then = f"then {near.n_met:,} would overlap" if near.n_met else "they may belong to different collections"
    counts = {"queries_judged": len(qrels.queries), "queries_run": len(run.names), "near_misses": near.n_met}
    return finding("query-overlap", counts, near.examples, near=near, then=then)


def _some_queries(run: ScannedRun, qrels: Qrels) -> Iterator[Finding]:
    missing, unjudged = ~_seen(run, qrels), run.queries.place < 0
    near = find_near_miss(_named(run.names, unjudged), _named(qrels.queries, missing))
    hint = ""
    if near.n_met:
        matching = counted(near.n_met, "id of the run nearly matches", "ids of the run nearly match")
        hint = f"; {matching}{near.because}, such as `{near.own}`"
    yield from flagged("missing-queries", qrels.queries, missing, {"near_misses": near.n_met}, hint=hint)
    yield from flagged("unjudged-queries", run.names, unjudged)


def _no_documents(run: ScannedRun, qrels: Qrels, expected: int) -> Finding:
    elsewhere = len(run.sample) - len(_never_judged(run, qrels))
    counts = {"judged": expected, "judged_elsewhere": elsewhere, "near_misses": 0}
    if elsewhere:
        looks = f"but {elsewhere:,} of {len(run.sample):,} sampled documents are judged for other queries"
        advice = "the ids match, so look at the queries: are they numbered as in the judgments?"
        return finding("document-overlap", counts, looks=looks, advice=advice)
    near = find_near_miss(run.sample, _not_retrieved(run, qrels))
    counts["near_misses"] = near.n_met
    looks = f"the run's ids look like `{near.own}`, the judgments' like `{near.its}`{near.because}"
    advice = "make them the same in one of the files" if near.n_met else "do both belong to the same collection?"
    return finding("document-overlap", counts, near.examples, looks=looks, advice=advice)


def _near_documents(run: ScannedRun, qrels: Qrels) -> Iterator[Finding]:
    """Look for documents that fail to match although others do, such as those that lost their leading zeros."""
    near = find_near_miss(_never_judged(run, qrels), _not_retrieved(run, qrels), by_spelling=True)
    if near.n_met:
        counts = {"near_misses": near.n_met, "looked_at": len(run.sample)}
        yield finding("near-documents", counts, near.examples, near=near)


def _never_judged(run: ScannedRun, qrels: Qrels) -> list[bytes]:
    """Return the documents of the sample that no query judges."""
    known = np.isin(Slices.of(run.sample).keys(), qrels.documents.keys())
    return [name for name, is_known in zip(run.sample, known.tolist(), strict=True) if not is_known]


def _not_retrieved(run: ScannedRun, qrels: Qrels) -> list[bytes]:
    """Return the judged documents of the sampled queries that the run does not retrieve."""
    sampled = np.zeros(len(qrels.queries), dtype=np.bool_)
    sampled[run.sampled] = True
    lacking = np.flatnonzero(sampled[qrels.owners] & ~run.found)[:_MOST_NAMES]
    return sorted(set(qrels.documents.at(lacking).texts()))


def _few_judged(facts: Mapping[str, float]) -> Iterator[Finding]:
    share = facts["judged_at_10"]
    per_query = facts["judged_expected"] / facts["queries_both"]
    if share < 1:
        is_low = share < _FEW_JUDGED and per_query >= _ENOUGH_JUDGMENTS
        counts = {"judged_at_10": share, "judgments_a_query": per_query}
        yield finding("unjudged-top", counts, (), "warning" if is_low else "info", top=TOP, percent=100 * share)


def _own_documents(run: ScannedRun) -> Iterator[Finding]:
    rank = run.queries.own_rank
    n_first, n_judged = int(np.count_nonzero(rank == 1)), int(np.count_nonzero(run.queries.own_is_judged))
    these = counted(n_judged, "of these documents is judged", "of these documents are judged")
    yield from flagged(
        "own-document",
        run.names,
        rank > 0,
        {"first": n_first, "judged": n_judged},
        severity="warning" if n_first >= _OWN_FIRST * len(run.names) else "info",
        kept=f"; {these}, and would be left out too" if n_judged else "",
    )


def _seen(run: ScannedRun, qrels: Qrels) -> Flags:
    """Return which judged queries the run has."""
    seen = np.zeros(len(qrels.queries), dtype=np.bool_)
    seen[run.queries.place[run.queries.place >= 0]] = True
    return seen


def _named(names: Sequence[bytes], flags: Flags) -> list[bytes]:
    return [names[place] for place in np.flatnonzero(flags)[:_MOST_NAMES].tolist()]
