"""
Overlap: whether the queries and documents of a run are judged, and what keeps ids from matching if not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from os.path import commonprefix
from typing import NamedTuple

import numpy as np

from rankgauge.columns import Flags, Qrels, Slices
from rankgauge.errors import counted
from rankgauge.features.preflight.finding_kinds import finding, flagged
from rankgauge.features.preflight.findings import Finding, Severity
from rankgauge.features.preflight.run_scan import TOP, ScannedRun
from rankgauge.judging.ranking import shown
from rankgauge.judging.units import PARTS, Part

__all__ = ["NearMiss", "check_overlap", "find_near_miss", "overlap_facts"]

_LEAST_SHARE = 0.1
"""The share of the ids of the smaller side that a difference has to explain."""

_Change = Callable[[str], str]

_without_zeros = partial(re.compile(r"(?<![0-9.])0+(?=[0-9])").sub, "")
_without_fraction = partial(re.compile(r"(?<=[0-9])\.0+$").sub, "")
_without_quotes = partial(re.compile(r"^b?(['\"])(.+)\1$", re.DOTALL).sub, r"\2")
_composed = partial(unicodedata.normalize, "NFC")

_SPELLINGS: Sequence[tuple[str, _Change]] = (
    ("they differ in upper and lower case", str.casefold),
    ("they differ in white space at the ends", str.strip),
    ("they differ in leading zeros", _without_zeros),
    ("one side writes whole numbers with a fraction, as `1.0`", _without_fraction),
    ("one side has quotes around its ids", _without_quotes),
    ("they differ in how Unicode composes letters (NFC, NFD)", _composed),
)
"""Differences in how an id is written, with what removes each, the simplest first."""


class NearMiss(NamedTuple):
    """A difference that keeps ids from matching."""

    what: str  # a clause: ``they differ in case``; empty if no difference explains enough
    n_met: int  # ids of the run that would match without it
    of_run: str  # one of them; without a difference the first id
    of_qrels: str  # the same, as the judgments have it
    part: Part | None = None  # which parts of documents ids name, if that is the difference

    @property
    def because(self) -> str:
        """Return the difference as the end of a sentence."""
        return f": {self.what}" if self.what else ""

    @property
    def examples(self) -> Sequence[str]:
        """Return the two ids as the example of a finding."""
        return (f"{self.of_run!r} and {self.of_qrels!r}",) if self.what else ()


def find_near_miss(run: Sequence[bytes], judged: Sequence[bytes], *, by_spelling: bool = False) -> NearMiss:
    """
    Return the difference that keeps most ids of a run from being ids of the judgments, if one explains enough of them.

    *by_spelling* looks only at how an id is written, not at common prefixes and endings: for ids of which others match.
    """
    run_ids, qrels_ids = list(map(shown, run)), list(map(shown, judged))
    none = best = NearMiss("", 0, next(iter(run_ids), ""), next(iter(qrels_ids), ""))
    for what, of_run, of_qrels, part in _changes(run_ids, qrels_ids, by_spelling=by_spelling):
        changed = {of_qrels(name): name for name in reversed(qrels_ids)}
        changed.pop("", None)
        met = [name for name in run_ids if of_run(name) in changed]
        if len(met) > best.n_met:
            best = NearMiss(what, len(met), met[0], changed[of_run(met[0])], part)
    return none if best.n_met < _LEAST_SHARE * min(len(run_ids), len(qrels_ids)) else best


_PARTS = "name parts of documents, such as `doc#3`"


def _changes(
    run: Sequence[str], qrels: Sequence[str], *, by_spelling: bool
) -> Iterator[tuple[str, _Change, _Change, Part | None]]:
    """Yield differences, with a function for each side that removes them, and the parts that ids name."""
    for what, change in _SPELLINGS:
        yield what, change, change, None
    if by_spelling:
        return
    (begin, end), (qrels_begin, qrels_end) = _ends(run), _ends(qrels)
    if begin != qrels_begin:
        what = f"the run's ids begin with {begin!r}, the judgments' with {qrels_begin!r}"
        what = what.replace("with ''", "with no common prefix")
        yield what, lambda name: name.removeprefix(begin), lambda name: name.removeprefix(qrels_begin), None
    if end != qrels_end:
        what = f"the run's ids end with {end!r}, the judgments' with {qrels_end!r}"
        what = what.replace("with ''", "with no common suffix")
        yield what, lambda name: name.removesuffix(end), lambda name: name.removesuffix(qrels_end), None
    for part in PARTS:
        yield f"the run's ids {_PARTS}, the judgments' ids whole documents", part.whole, str, part
        yield f"the judgments' ids {_PARTS}, the run's ids whole documents", str, part.whole, part
    what = "they differ in several ways at once (case, white space, zeros, quotes, prefix or ending)"
    yield what, partial(_loosened, begin, end), partial(_loosened, qrels_begin, qrels_end), None


def _ends(names: Sequence[str]) -> tuple[str, str]:
    """Return the longest common prefix and suffix, without the digits that they meet in."""
    prefix = commonprefix(names)  # noqa: RUF071  # ids are no paths, so letter by letter is right
    suffix = commonprefix([name[::-1] for name in names])[::-1]  # noqa: RUF071  # as above
    return prefix.rstrip("0123456789"), suffix.lstrip("0123456789")


def _loosened(begins: str, ends: str, name: str) -> str:
    name = name.removeprefix(begins).removesuffix(ends)
    return _without_zeros(_without_fraction(_without_quotes(_composed(name).strip()))).casefold()


_MOST_NAMES = 20_000  # ids of each side that are compared for near misses
_FEW_JUDGED, _ENOUGH_JUDGMENTS = 0.5, 10
_OWN_FIRST = 0.2  # from this share of queries on, a query's own document at rank 1 is no coincidence


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
        hint = f"; {matching}{near.because}, such as `{near.of_run}`"
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
    looks = f"the run's ids look like `{near.of_run}`, the judgments' like `{near.of_qrels}`{near.because}"
    advice = "make them the same in one of the files" if near.n_met else "do both belong to the same collection?"
    advice = advice if near.part is None else near.part.advice
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
    judged = counted(n_judged, "of these documents is judged", "of these documents are judged")
    kept = f"; {judged}, and would be left out too" if n_judged else ""
    counts = {"first": n_first, "judged": n_judged}
    severity: Severity = "warning" if n_first >= _OWN_FIRST * len(run.names) else "info"
    yield from flagged("own-document", run.names, rank > 0, counts, severity=severity, kept=kept)


def _seen(run: ScannedRun, qrels: Qrels) -> Flags:
    """Return which judged queries the run has."""
    seen = np.zeros(len(qrels.queries), dtype=np.bool_)
    seen[run.queries.place[run.queries.place >= 0]] = True
    return seen


def _named(names: Sequence[bytes], flags: Flags) -> list[bytes]:
    return [names[place] for place in np.flatnonzero(flags)[:_MOST_NAMES].tolist()]
