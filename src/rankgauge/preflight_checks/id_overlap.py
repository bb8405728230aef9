"""
Overlap: whether the queries and documents of a run are judged, and what keeps ids from matching if not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from rankgauge.columns import Flags, Qrels, Slices
from rankgauge.errors import counted
from rankgauge.judging.ranking import shown
from rankgauge.preflight_checks.finding_kinds import finding, flagged
from rankgauge.preflight_checks.findings import Finding
from rankgauge.preflight_checks.run_scan import TOP, ScannedRun

__all__ = ["NearMiss", "check_overlap", "find_near_miss", "overlap_facts"]

_LEAST_SHARE = 0.1
"""The share of the ids of the smaller side that a difference has to explain."""

_Change = Callable[[str], str]

_without_zeros = partial(re.compile(r"(?<![0-9.])0+(?=[0-9])").sub, "")
_without_fraction = partial(re.compile(r"(?<=[0-9])\.0+$").sub, "")
_without_quotes = partial(re.compile(r"^b?(['\"])(.+)\1$", re.DOTALL).sub, r"\2")
_composed = partial(unicodedata.normalize, "NFC")
_whole = partial(re.compile(r"[#_:.\-](?:(?:chunk|passage|segment|part|p|c)[_\-]?)?[0-9]+$", re.IGNORECASE).sub, "")

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
    """
    A difference that keeps ids from matching.

    Attributes:
        what: The difference, as a clause: ``they differ in case``; empty where none explains enough.

        n_met: How many ids of the run would match without it.

        own: One of them, as the run has it; without a difference the first id.

        its: The same, as the judgments have it.
    """

    what: str
    n_met: int
    own: str
    its: str

    @property
    def because(self) -> str:
        """Return the difference as the end of a sentence."""
        return f": {self.what}" if self.what else ""

    @property
    def examples(self) -> Sequence[str]:
        """Return the two ids as the example of a finding."""
        return (f"{self.own!r} and {self.its!r}",) if self.what else ()


def find_near_miss(run: Sequence[bytes], judged: Sequence[bytes], *, by_spelling: bool = False) -> NearMiss:
    """
    Return the difference that keeps most ids of a run from being ids of the judgments, if one explains enough of them.

    *by_spelling* looks only at how an id is written, not at common prefixes and endings: for ids of which others match.
    """
    own, its = list(map(shown, run)), list(map(shown, judged))
    none = best = NearMiss("", 0, next(iter(own), ""), next(iter(its), ""))
    for what, change, its_change in _changes(own, its, by_spelling=by_spelling):
        places: dict[str, str] = {}
        for name in its:
            places.setdefault(its_change(name), name)
        places.pop("", None)
        met = [name for name in own if change(name) in places]
        if len(met) > best.n_met:
            best = NearMiss(what, len(met), met[0], places[change(met[0])])
    return none if best.n_met < _LEAST_SHARE * min(len(own), len(its)) else best


def _changes(own: Sequence[str], its: Sequence[str], *, by_spelling: bool) -> Iterator[tuple[str, _Change, _Change]]:
    """Yield differences, with a function for each side that removes them."""
    for what, change in _SPELLINGS:
        yield what, change, change
    if by_spelling:
        return
    begins, its_begins = _beginning(own), _beginning(its)
    if begins != its_begins:
        what = f"the run's ids begin with {begins!r}, the judgments' with {its_begins!r}"
        what = what.replace("with ''", "with no common prefix")
        yield what, lambda name: name.removeprefix(begins), lambda name: name.removeprefix(its_begins)
    ends, its_ends = _ending(own), _ending(its)
    if ends != its_ends:
        what = f"the run's ids end with {ends!r}, the judgments' with {its_ends!r}"
        what = what.replace("with ''", "with no common suffix")
        yield what, lambda name: name.removesuffix(ends), lambda name: name.removesuffix(its_ends)
    yield "the run's ids name parts of documents, such as `doc#3`, the judgments' ids whole documents", _whole, str
    yield "the judgments' ids name parts of documents, such as `doc#3`, the run's ids whole documents", str, _whole
    what = "they differ in several ways at once (case, white space, zeros, quotes, prefix or ending)"
    yield what, partial(_loosened, begins, ends), partial(_loosened, its_begins, its_ends)


def _beginning(names: Sequence[str]) -> str:
    return _common(names).rstrip("0123456789")


def _ending(names: Sequence[str]) -> str:
    return _common([name[::-1] for name in names])[::-1].lstrip("0123456789")


def _common(names: Sequence[str]) -> str:
    """Return the longest common prefix."""
    first, last = min(names, default=""), max(names, default="")
    return next((first[:at] for at, letter in enumerate(first) if not last.startswith(letter, at)), first)


def _loosened(begins: str, ends: str, name: str) -> str:
    name = name.removeprefix(begins).removesuffix(ends)
    return _without_zeros(_without_fraction(_without_quotes(_composed(name).strip()))).casefold()


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
