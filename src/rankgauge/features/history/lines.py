"""
Lines: the means of one dataset and metric over time, where they break, and whether neighbours differ.

A line breaks where the ground truth, the samples or the definition changed; across a break nothing is compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from rankgauge.comparison.compare import compare_results
from rankgauge.comparison.estimate import Method
from rankgauge.errors import RankgaugeError, ResultError
from rankgauge.features.history.change_point import change_point
from rankgauge.features.history.entry import Entry, Mean
from rankgauge.features.history.index_file import History
from rankgauge.result.result import Result
from rankgauge.stats.effects import holm

__all__ = ["Change", "Line", "Point", "Since", "history_lines", "since_sentences"]

_CONFIDENCE = 0.95
_RESAMPLES = 10_000
_MOST_FACTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """
    The change from one entry to the next, sample by sample.

    Attributes:
        difference: The mean difference; None if it could not be tested.

        low: Lower end of its 95 % interval; None if there is none.

        high: Upper end.

        p: Two-sided p of the sign-flip test.

        p_adjusted: The same, corrected by Holm's method over all changes and metrics of the dataset that are shown.

        verdict: `better`, `worse`, `undecided` or `same`; empty if it was not tested.

        why_not: Why it was not tested; empty if it was.
    """

    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    verdict: str = ""
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One entry on a line: its mean, why the line breaks before it (empty if it does not), and the change to it."""

    entry: Entry
    mean: Mean
    breaks: str = ""
    change: Change | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """
    Since when a line is better or worse than before, within a piece that no break parts.

    Attributes:
        verdict: `better` or `worse`.

        entry: The first entry after the change.

        first: The earliest entry that it may be, with a confidence of 95 %.

        last: The latest.

        difference: The mean from there on minus the mean before.

        p: That some change is there at all.
    """

    verdict: str
    entry: Entry
    first: Entry
    last: Entry
    difference: float
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """
    One metric of one dataset over time.

    Attributes:
        dataset: The name of the dataset.

        metric: The column.

        points: The oldest first.

        since: The largest change of each piece between breaks that shows one, the oldest first.

        higher_is_better: Whether more is better.
    """

    dataset: str
    metric: str
    points: tuple[Point, ...]
    since: tuple[Since, ...]
    higher_is_better: bool


def history_lines(history: History, entries: Sequence[Entry], metrics: Sequence[str] | None = None) -> list[Line]:
    """
    Return the lines of some entries, by dataset and metric; *metrics* are columns, None for all of each dataset.

    Changes between neighbours are computed once and then kept in the history; what folders are gone for is not tested.
    """
    by_dataset: dict[str, list[Entry]] = {}
    for entry in entries:
        by_dataset.setdefault(entry.dataset, []).append(entry)
    loaded = _Loaded(history)
    lines = []
    for dataset, same in by_dataset.items():
        names = dict.fromkeys(name for entry in reversed(same) for name in entry.means)
        wanted = [name for name in names if metrics is None or name in metrics]
        series = {name: [entry for entry in same if name in entry.means] for name in wanted}
        changes = _changes(history, loaded, series)
        lines += [_line(history, loaded, dataset, name, series[name], changes) for name in wanted]
    return lines


class _Loaded:
    """Results of entries, each read once, and why one cannot be."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._results: dict[str, Result | str] = {}

    def __call__(self, entry: Entry) -> Result:
        """Return a result; raise `ResultError` if it cannot be read."""
        if entry.id not in self._results:
            try:
                self._results[entry.id] = self._history.load(entry)
            except RankgaugeError as error:
                self._results[entry.id] = str(error)
        result = self._results[entry.id]
        if isinstance(result, str):
            raise ResultError(result)
        return result


def _break(history: History, before: Entry, now: Entry, metric: str) -> str:
    """Return why a line breaks between two entries; empty if it does not."""
    why = []
    one, other = (entry.fingerprints[metric] for entry in (before, now))
    if one != other:
        facts = [history.definition(fingerprint) for fingerprint in (one, other)]
        names = [name for name in {**facts[0], **facts[1]} if facts[0].get(name) != facts[1].get(name)]
        changed = [f"{name} {facts[0].get(name)} to {facts[1].get(name)}" for name in names[:_MOST_FACTS]]
        more = f" and {len(names) - _MOST_FACTS} more" if len(names) > _MOST_FACTS else ""
        why.append(f"definition changed: {', '.join(changed)}{more}" if changed else "definition changed")
    if before.samples != now.samples:
        why.append(f"other samples: {before.n:,} before, {now.n:,} now")
    elif before.gold != now.gold:
        why.append("ground truth changed")
    return "; ".join(why)


def _changes(
    history: History, loaded: _Loaded, series: Mapping[str, Sequence[Entry]]
) -> dict[tuple[str, str, str], Change]:
    """Return the changes between neighbours that no break parts, corrected over all of them."""
    kept = history.changes()
    new: dict[tuple[str, str], dict[str, Any]] = {}
    facts: dict[tuple[str, str, str], dict[str, Any]] = {}
    for name, entries in series.items():
        for before, now in pairwise(entries):
            if _are_of_one_piece(before, now, name):
                pair = before.id, now.id
                known = {**kept.get(pair, {}), **new.get(pair, {})}
                if name not in known:
                    known[name] = _tested(loaded, before, now, name)
                    if "why_not" not in known[name]:
                        new[pair] = known
                facts[*pair, name] = known[name]
    if new:
        history.keep_changes(new)
    tested = {key: fact["p"] for key, fact in facts.items() if fact.get("p") is not None}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    better = {(entry.id, name): name in entry.higher_is_better for name, same in series.items() for entry in same}
    return {
        key: Change(
            **fact, p_adjusted=adjusted.get(key), verdict=_verdict(fact, adjusted.get(key), up=better[key[1], key[2]])
        )
        for key, fact in facts.items()
    }


def _are_of_one_piece(before: Entry, now: Entry, metric: str) -> bool:
    same = (before.fingerprints[metric], before.samples, before.gold)
    return same == (now.fingerprints[metric], now.samples, now.gold)


def _tested(loaded: _Loaded, before: Entry, now: Entry, metric: str) -> dict[str, Any]:
    """Return the difference of two entries in one metric, or why there is none."""
    try:
        results = {"before": loaded(before), "now": loaded(now)}
        compared = compare_results(results, metrics=[metric], method=Method(resamples=_RESAMPLES))
    except RankgaugeError as error:
        return {"why_not": str(error)}
    difference = compared["now"].metrics[metric]
    low, high = difference.interval or (None, None)
    p = difference.p if difference.wins + difference.losses else None
    return {"difference": difference.difference, "low": low, "high": high, "p": p}


def _verdict(facts: Mapping[str, Any], p: float | None, *, up: bool) -> str:
    if "why_not" in facts:
        return ""
    if p is None:
        return "same"
    if p > 1 - _CONFIDENCE + 1e-12 or not facts["difference"]:
        return "undecided"
    return "better" if (facts["difference"] > 0) == up else "worse"


def _line(
    history: History,
    loaded: _Loaded,
    dataset: str,
    metric: str,
    entries: Sequence[Entry],
    changes: Mapping[tuple[str, str, str], Change],
) -> Line:
    points = [Point(entry=entries[0], mean=entries[0].means[metric])]
    pieces = [[entries[0]]]
    for before, now in pairwise(entries):
        why = "" if _are_of_one_piece(before, now, metric) else _break(history, before, now, metric)
        if why:
            pieces.append([])
        pieces[-1].append(now)
        change = changes.get((before.id, now.id, metric))
        points.append(Point(entry=now, mean=now.means[metric], breaks=why, change=change))
    up = metric in entries[-1].higher_is_better
    since = filter(None, (_since(loaded, piece, metric, up=up) for piece in pieces))
    return Line(dataset=dataset, metric=metric, points=tuple(points), since=tuple(since), higher_is_better=up)


def _since(loaded: _Loaded, entries: Sequence[Entry], metric: str, *, up: bool) -> Since | None:
    """Return the largest change of a piece of a line, if there is one; entries whose folder is gone are left out."""
    columns = []
    there = []
    for entry, values in _scores(loaded, entries, metric):
        there.append(entry)
        columns.append(values)
    if len(there) < 2:
        return None
    scores = np.stack(columns, axis=1)
    change = change_point(scores[~np.isnan(scores).any(axis=1)], resamples=_RESAMPLES)
    if change is None or change.p > 1 - _CONFIDENCE + 1e-12:
        return None
    return Since(
        verdict="better" if (change.difference > 0) == up else "worse",
        entry=there[change.place],
        first=there[change.first],
        last=there[change.last],
        difference=change.difference,
        p=change.p,
    )


def _scores(loaded: _Loaded, entries: Sequence[Entry], metric: str) -> Iterator[tuple[Entry, Any]]:
    """Yield entries with their scores in order of the sample ids, which they have in common."""
    for entry in entries:
        try:
            result = loaded(entry)
        except ResultError:
            continue
        order = sorted(range(len(result)), key=result.sample_ids.__getitem__)
        yield entry, result.metrics[metric].values[order]


def since_sentences(line: Line) -> Iterator[str]:
    """Yield since when a line is better or worse, in words, the newest change first."""
    for since in reversed(line.since):
        span = "" if since.first.id == since.last.id else f", between {since.first.name} and {since.last.name}"
        yield (
            f"{line.metric} is {since.verdict} since {since.entry.name} ({since.entry.created_at[:10]}){span} with "
            f"95 % confidence: {since.difference:+.4f}, p {since.p:.4f}"
        )
