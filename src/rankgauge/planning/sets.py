"""
Sets of metrics: what ``{set: NAME}`` stands for, with another cutoff or other parameters where it says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from rankgauge.catalog import Catalog
from rankgauge.catalog.catalog import Reading
from rankgauge.errors import ParameterError, Problem, RankgaugeError, UnknownNameError, did_you_mean, suggest
from rankgauge.expression import MetricExpression
from rankgauge.planning.cutoffs import check_k
from rankgauge.planning.requests import Located, MetricSpec, Request, read_requests

__all__ = ["MetricSets", "shortened_chain"]

_CUTOFFS = {"k", "budget"}
_MOST, _DEEPEST = 1000, 50


class _TooManySetsError(ParameterError):
    """Sets that include each other too often."""


def shortened_chain(names: Sequence[str]) -> str:
    """Return names that led to each other, of many the first and the last."""
    shown = names if len(names) <= 8 else [*names[:4], "...", *names[-3:]]
    return " -> ".join(shown)


@dataclass(frozen=True)
class MetricSets:
    """The sets of a config, which come first, and those of plugins."""

    catalog: Catalog  # what plugins offer
    own: Mapping[str, Sequence[Located]] = field(default_factory=dict)  # of a config; entries know their places
    problems: dict[Problem, None] = field(default_factory=dict)  # what was found to be wrong, in order, each once
    expansions: Iterator[int] = field(default_factory=count)  # one for each set and changed metric

    def named(self, name: str) -> list[MetricSpec]:
        """Return the metrics of a set; what is wrong is added to `problems`."""
        return list(self._of_set(Located({"set": name}), ()))

    def expanded(self, entries: Iterable[MetricSpec], trail: tuple[str, ...] = ()) -> list[MetricSpec]:
        """Return metrics, with those of each set in its place; *trail* has the sets that these are in."""
        metrics: list[MetricSpec] = []
        for entry in entries:
            placed = entry if isinstance(entry, Located) else Located(entry)  # type: ignore[arg-type]  # or a function
            is_set = isinstance(placed.spec, Mapping) and "set" in placed.spec
            metrics += self._of_set(placed, trail) if is_set else [entry]
        return metrics

    def _of_set(self, entry: Located, trail: tuple[str, ...]) -> list[MetricSpec]:
        changes = dict(entry.spec) if isinstance(entry.spec, Mapping) else {}
        name = changes.pop("set")
        try:
            if name in trail:
                raise ParameterError(f"the set includes itself: {' -> '.join([*trail[trail.index(name) :], name])}")
            if not self._counted((*trail, name)):
                return []
            within = self.expanded(self.own.get(name) or self._of_plugin(name), (*trail, name))
            if not changes:
                return within
            if not all(self._counted((*trail, name)) for _ in within):
                return []
            return list(_changed(name, within, changes, self.catalog))
        except RankgaugeError as error:
            if trail and isinstance(error, _TooManySetsError):
                raise  # said once, for the outermost set
            self.problems[Problem(str(error), *entry[1:])] = None
            return []

    def _counted(self, trail: tuple[str, ...]) -> bool:
        """Count a set or a metric that is changed; raise the first time that there are too many, then return False."""
        number = next(self.expansions)
        if number == _MOST or len(trail) > _DEEPEST:
            raise _TooManySetsError(
                f"too many sets within each other, by {shortened_chain(trail)}; at most {_MOST:,} sets and changed "
                f"metrics can be expanded, with {_DEEPEST} sets in a chain"
            )
        return number < _MOST

    def _of_plugin(self, name: str) -> Sequence[MetricSpec]:
        try:
            return self.catalog.metric_set(name).declaration.metrics
        except UnknownNameError as error:
            known = list(dict.fromkeys((*self.own, *self.catalog.all("metric set"))))
            _, _, more = error.hint.partition("; ")  # which plugins may have it
            hint = "; ".join(filter(None, [f"known are {', '.join(known) or 'none'}", more]))
            raise UnknownNameError(error.kind, name, suggestions=suggest(name, known), hint=hint) from error


def _changed(
    name: str, entries: Sequence[MetricSpec], changes: Mapping[str, Any], catalog: Catalog
) -> Iterator[MetricSpec]:
    """Yield metrics with another cutoff or other parameters, each if it has one; what none has is an error."""
    cutoffs = changes.get("k")
    for k in cutoffs if isinstance(cutoffs, list | tuple) else [cutoffs] if "k" in changes else []:
        check_k(k, f"the k of set {name!r}")
    unused = set(changes)
    known: set[str] = set()
    for entry in entries:
        place = entry[1:] if isinstance(entry, Located) else ()
        try:
            readings = [(request, catalog.read(request.expression)) for request in read_requests(entry)]
        except RankgaugeError:  # the plan tells what is wrong with it, with its own place
            yield entry
            continue
        for request, reading in readings:
            taken = _taken(request, reading)
            known |= taken
            unused -= taken
            wanted = {key: value for key, value in changes.items() if key in taken}
            yield Located(_rewritten(request, reading, wanted), *place)
    if unused:
        key = min(unused)
        listed = f"they have {', '.join(sorted(known))}" if known else "they have none"
        msg = f"no metric of the set {name!r} has a parameter {key!r}{did_you_mean(key, known)}; {listed}"
        raise ParameterError(msg)


def _taken(request: Request, reading: Reading) -> set[str]:
    """Return which parameters a set can change of a metric: all of its own, and the cutoff if it has one."""
    metric = reading.claim.declaration
    names = {parameter.name for parameter in metric.all_parameters}
    names |= set(metric.engine_parameters) - {"as"}
    is_given = reading.k is not None or request.k is not None
    is_cut = metric.cutoff.kind == "required" or (metric.cutoff.kind == "droppable" and not reading.is_short)
    has_cutoff = metric.cutoff.pins is None and metric.cutoff.kind != "none" and (is_given or is_cut)
    return names | _CUTOFFS if has_cutoff else names - _CUTOFFS


def _rewritten(request: Request, reading: Reading, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request as a mapping, with changes; a pinned cutoff stays pinned."""
    expression, k = request.expression, changes.get("k", request.k)
    params = {**dict(expression.params), **request.engine}
    params |= {key: value for key, value in changes.items() if key not in _CUTOFFS}
    name, pin, unit = expression.name, expression.k, expression.unit
    if reading.k is not None and _CUTOFFS & set(changes):
        name = name if pin is not None else reading.claim.declaration.alias  # `P_5` has it in its name
        is_one = "k" in changes and not isinstance(k, list | tuple)
        pin, unit, k = (k, None, None) if is_one else (None, None, k)
    written: dict[str, Any] = {"metric": str(MetricExpression(name, params, k=pin, unit=unit))}
    more = {"k": None if "budget" in changes and "k" not in changes else k, "as": request.name}
    more["budget"] = changes.get("budget")
    return {**written, **{key: value for key, value in more.items() if value is not None}}
