"""
Overlap: whether the queries and documents of a run are judged, and what keeps ids from matching if not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rankgauge.columns import Flags, Qrels, Slices
from rankgauge.preflight_checks.findings import Finding, counted
from rankgauge.preflight_checks.judgments import examples_of
from rankgauge.preflight_checks.near_misses import NearMiss, find_near_miss, readable
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
    seen = _seen(run, qrels)
    facts: dict[str, float] = {
        "queries_both": n_both,
        "queries_missing": len(qrels.queries) - n_both,
        "queries_unjudged": len(run.names) - n_both,
    }
    if n_both:
        of_seen = seen[qrels.owners]
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
    missing = ~_seen(run, qrels)
    unjudged = run.queries.place < 0
    if not facts["queries_both"]:
        yield _no_queries(run, qrels)
    else:
        yield from _some_queries(run, qrels, missing, unjudged)
        if not facts["judged_retrieved"]:
            yield _no_documents(run, qrels, facts)
        else:
            yield from _near_documents(run, qrels)
            yield from _few_judged(facts)
    yield from _own_documents(run)


def _no_queries(run: ScannedRun, qrels: Qrels) -> Finding:
    near = find_near_miss(run.names[:_MOST_NAMES], _spread(qrels.queries))
    looks = f"the run's look like `{readable(run.names[0])}`, the judgments' like `{readable(qrels.queries[0])}`"
    if near is not None:
        looks = f"the run's look like `{near.own}`, the judgments' like `{near.its}`: {near.what}"
    advice = "make them the same in one of the files" + (
        f"; then {near.n_met:,} would overlap" if near is not None else "; they may belong to different collections"
    )
    n = len(qrels.queries)
    return Finding(
        "query-overlap",
        "error",
        "both",
        f"0 of {n:,} query ids overlap; {looks}",
        advice,
        {"queries_judged": n, "queries_run": len(run.names), "near_misses": 0 if near is None else near.n_met},
        () if near is None else (f"{near.own!r} and {near.its!r}",),
    )


def _some_queries(run: ScannedRun, qrels: Qrels, missing: Flags, unjudged: Flags) -> Iterator[Finding]:
    n_missing, n_unjudged = int(np.count_nonzero(missing)), int(np.count_nonzero(unjudged))
    near = None
    if n_missing and n_unjudged:
        near = find_near_miss(_named(run.names, unjudged), _named(qrels.queries, missing))
    hint = ""
    if near is not None:
        matching = counted(near.n_met, "id of the run nearly matches", "ids of the run nearly match")
        hint = f"; {matching}: {near.what}, such as `{near.own}`"
    if n_missing:
        yield Finding(
            "missing-queries",
            "warning",
            "both",
            f"{n_missing:,} of {len(qrels.queries):,} judged queries {'is' if n_missing == 1 else 'are'} missing from "
            f"the run{hint}",
            "they count as 0 in every mean; trec_eval leaves them out without -c",
            {"queries": n_missing, "near_misses": 0 if near is None else near.n_met},
            examples_of(qrels.queries, missing),
        )
    if n_unjudged:
        yield Finding(
            "unjudged-queries",
            "info",
            "both",
            f"{n_unjudged:,} of {len(run.names):,} queries of the run {'is' if n_unjudged == 1 else 'are'} not judged",
            "they are left out",
            {"queries": n_unjudged},
            examples_of(run.names, unjudged),
        )


def _no_documents(run: ScannedRun, qrels: Qrels, facts: Mapping[str, float]) -> Finding:
    expected = int(facts["judged_expected"])
    elsewhere = len(run.sample) - len(_never_judged(run, qrels))
    near: NearMiss | None = None
    counts = {"judged": expected, "judged_elsewhere": elsewhere, "near_misses": 0}
    if elsewhere:
        looks = f"but {elsewhere:,} of {len(run.sample):,} sampled documents are judged for other queries"
        advice = "the ids match, so look at the queries: are they numbered as in the judgments?"
    else:
        judged = _not_retrieved(run, qrels)
        near = find_near_miss(run.sample, judged)
        own, its = (readable(run.sample[0]), readable(judged[0])) if near is None else (near.own, near.its)
        looks = f"the run's ids look like `{own}`, the judgments' like `{its}`"
        advice = "do both belong to the same collection?"
        if near is not None:
            looks += f": {near.what}"
            advice = "make them the same in one of the files"
            counts["near_misses"] = near.n_met
    return Finding(
        "document-overlap",
        "error",
        "both",
        f"none of the {expected:,} judged documents of these queries is retrieved; {looks}",
        advice,
        counts,
        () if near is None else (f"{near.own!r} and {near.its!r}",),
    )


def _near_documents(run: ScannedRun, qrels: Qrels) -> Iterator[Finding]:
    """Look for documents that fail to match although others do, such as those that lost their leading zeros."""
    near = find_near_miss(_never_judged(run, qrels), _not_retrieved(run, qrels), by_spelling=True)
    if near is not None:
        yield Finding(
            "near-documents",
            "warning",
            "both",
            f"{near.n_met:,} of {len(run.sample):,} sampled documents nearly match judged ones that are not retrieved, "
            f"such as `{near.own}` and `{near.its}`: {near.what}",
            "write the ids in the same way in both files",
            {"near_misses": near.n_met, "looked_at": len(run.sample)},
            (f"{near.own!r} and {near.its!r}",),
        )


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
    if share >= 1:
        return
    per_query = facts["judged_expected"] / facts["queries_both"]
    is_low = share < _FEW_JUDGED and per_query >= _ENOUGH_JUDGMENTS
    yield Finding(
        "unjudged-top",
        "warning" if is_low else "info",
        "both",
        f"of the first {TOP} results, {100 * share:.1f} % are judged on average (judged@{TOP} {share:.3f}); a "
        f"query has {per_query:.1f} judgments on average",
        "unjudged results count as not relevant; also score judged@10"
        + (", and consider bpref, or the policy judged_only=true" if is_low else ""),
        {"judged_at_10": share, "judgments_a_query": per_query},
    )


def _own_documents(run: ScannedRun) -> Iterator[Finding]:
    own = run.queries.own_rank > 0
    n = int(np.count_nonzero(own))
    if not n:
        return
    n_first = int(np.count_nonzero(run.queries.own_rank == 1))
    n_judged = int(np.count_nonzero(run.queries.own_is_judged))
    is_suspicious = n_first >= _OWN_FIRST * len(run.names)
    kept = (
        f"; {n_judged:,} of these documents {'is' if n_judged == 1 else 'are'} judged, and would be left out too"
        if n_judged
        else ""
    )
    yield Finding(
        "own-document",
        "warning" if is_suspicious else "info",
        "run",
        f"{n:,} of {len(run.names):,} queries retrieve a document with the query's own id, {n_first:,} of them first",
        "if that document is the query itself, as in ArguAna and Quora, leave it out with the policy exclude_self=true"
        f"{kept}; if the ids are equal by chance, do nothing",
        {"queries": n, "first": n_first, "judged": n_judged},
        examples_of(run.names, own),
    )


def _seen(run: ScannedRun, qrels: Qrels) -> Flags:
    """Return which judged queries the run has."""
    seen = np.zeros(len(qrels.queries), dtype=np.bool_)
    seen[run.queries.place[run.queries.place >= 0]] = True
    return seen


def _named(names: Sequence[bytes], flags: Flags) -> list[bytes]:
    return [names[place] for place in np.flatnonzero(flags)[:_MOST_NAMES].tolist()]


def _spread(names: Sequence[bytes]) -> Sequence[bytes]:
    return names[:: max(1, len(names) // (10 * _MOST_NAMES))]
