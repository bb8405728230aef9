"""
What a column is: its names, and fingerprints that tell whether two scores of one name mean the same.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.catalog import Catalog, ResolvedMatcher
from rankgauge.expression import MetricExpression, Value
from rankgauge.judging import Target
from rankgauge.planning.cutoffs import Cut
from rankgauge.planning.requests import USUAL_BUDGET, Bound
from rankgauge.planning.word_choice import USUAL_WORDS
from rankgauge.plugin.declarations import Aggregate
from rankgauge.plugin.metric import Metric
from rankgauge.policy import Profile

__all__ = [
    "NO_VALUE",
    "Names",
    "definition_by_id",
    "fingerprint_of",
    "hash_of_source",
    "matcher_definition",
    "metric_definition",
    "names_of",
    "unusual_engine",
]


class Names(NamedTuple):
    """What a column is called."""

    expression: MetricExpression  # expanded
    standard: str  # whatever name it was asked for by
    asked: str  # by the name it was asked for, if that is a short one


def names_of(bound: Bound, cut: Cut, catalog: Catalog) -> Names:
    """Return the names of a column."""
    request, metric = bound.request, bound.metric
    short = catalog.short_name(metric) if request.given is None else next(iter(metric.plain_short), None)
    number, unit = cut.behind_at
    is_uncut = cut.rule == "none" and metric.cutoff.kind == "droppable"
    engine = unusual_engine(bound)
    expression = MetricExpression(
        (short or metric.alias).lower() if is_uncut else metric.alias,
        {**{key: value for key, value in bound.params.items() if value != bound.defaults[key]}, **engine},
        k=number,
        unit=unit,
    )
    if request.name is not None:
        return Names(expression, request.name, request.name)
    pinned = None if metric.cutoff.pins is None else bound.explicit.get(metric.cutoff.pins)
    usual = {**bound.defaults, **bound.usual}
    unusual = {key: value for key, value in bound.explicit.items() if value != usual[key] and key != metric.cutoff.pins}
    behind_at = pinned if isinstance(pinned, int | float) else number

    def written(name: str) -> str:
        return str(MetricExpression(name, {**unusual, **engine}, k=behind_at, unit=unit))

    is_short = is_uncut or number is not None or pinned is not None
    standard = written(short.lower() if is_short and short is not None else metric.alias)
    asked = request.expression.name.lower()
    leaves_nothing_out = is_short or (cut.rule == "none" and metric.cutoff.pins is None)
    if leaves_nothing_out and asked in {plain.lower() for plain in metric.plain_short}:
        return Names(expression, standard, written(asked))
    return Names(expression, standard, standard)


def unusual_engine(bound: Bound) -> dict[str, Value]:
    """Return what a request asks of the engine, without what is usual for budgets, spans and the metric."""
    usual: dict[str, Value] = {**USUAL_BUDGET, "words": USUAL_WORDS, "aggregate": bound.metric.aggregate}
    if "gold" in bound.request.engine:  # otherwise saying so also leaves out other kinds of gold
        usual["joint"] = bound.usual_joint
    return {name: value for name, value in bound.request.engine.items() if (name, value) not in usual.items()}


NO_VALUE = frozenset({"max_failed", "queries", "interval", "unverified_judges"})
"""Policy options that do not change the score of any sample."""

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


_LATER: Mapping[str, Mapping[str, object]] = {
    "retrieval-precision-at-k": {"denominator": "k"},
    "retrieval-r-precision": {"misses": "zero"},
    "retrieval-mrr": {"wanted": "relevant"},
    "retrieval-err-at-k": {"labels": "grades"},
    "retrieval-rbp": {"normalize": False},
    "retrieval-auc": {"pairless": "undefined"},
    "retrieval-tied-ndcg-at-k": {"gain": "linear"},
}
"""Parameters that metrics got after results of them were saved, whose defaults mean what those results mean."""


def metric_definition(
    metric: Metric,
    params: Mapping[str, object],
    cutoff: str | dict[str, object],
    targets: Iterable[Target],
    matchers: Mapping[Target, ResolvedMatcher],
    profile: Profile,
    aggregate: Aggregate | None = None,
) -> dict[str, Any]:
    """Return what a metric's fingerprint covers, as plain data; who provides the metric is not part of it."""
    policy = {name: value for name, value in profile.policy.plain().items() if name not in NO_VALUE}
    if profile.policy.excluded is not None:
        policy["excluded"] = profile.policy.excluded.fingerprint
    if profile.policy.filters:
        policy["filters"] = [
            str(each) if each.step is None else each.step.definition for each in profile.policy.filters
        ]
    targets = tuple(targets)
    if profile.policy.abstains and all(target.gold != "answerable" for target in targets):
        del policy["abstains"]  # which has no effect on other metrics
    later = _LATER.get(metric.alias, {})
    settings = {name: value for name, value in params.items() if (name, value) not in later.items()}
    # not if ids come first: what is judged by them means what it meant before there were own ranks
    has_own_ranks = metric.judging.own_ranks and profile.own_ranks and targets[0].by_text
    return {
        **({"own_ranks": True} if has_own_ranks else {}),
        "alias": metric.alias,
        "version": metric.version,
        "aggregate": metric.aggregate if aggregate is None else f"{aggregate.name} {aggregate.version}",
        "range": [None if end is None else float(end) for end in metric.range],
        "better": "higher" if metric.higher_is_better else "lower",
        "parameters": {name: _plain(value) for name, value in sorted(settings.items())},
        "cutoff": cutoff,
        **_judging(targets, [(matcher, matcher_definition(matcher)) for matcher in matchers.values()]),
        **_declared(targets),
        "policy": policy,
        "conventions": {
            "relevance": profile.relevance,
            "negatives": profile.negatives,
            "duplicate_texts": profile.duplicate_texts,
            "missing_texts": profile.missing_texts,
            **({"places": profile.places} if next(iter(targets)).identity == "place" else {}),
            **profile.contract._asdict(),
        },
    }


def definition_by_id(
    definition: Mapping[str, Any], targets: Sequence[Target], matchers: Mapping[Target, ResolvedMatcher]
) -> dict[str, Any]:
    """
    Return what a fingerprint of scores by id covers, where texts would have been judged if there were no ids.

    How these are judged does not change what ids mean, so that it says what it said before texts were judged together.
    """
    by_id = [target for target in targets if not target.members]  # ids were all that sets could have
    apart = [target._replace(joint=False) if target.gold == "passages" else target for target in by_id]
    used = (matchers[target] for target in by_id if target in matchers)
    return {**definition, **_judging(apart, [(matcher, _before_covers(matcher)) for matcher in used])}


def _before_covers(matcher: ResolvedMatcher) -> dict[str, Any]:
    """Return what a matcher's fingerprint covered when `cover` scored pairs of texts."""
    definition = matcher_definition(matcher)
    if definition["versions"].get("cover") == "2":
        definition["versions"]["cover"] = "1"
        definition["parameters"]["of_retrieved"] = 0.5
    return definition


def _judging(
    targets: Sequence[Target], matchers: Sequence[tuple[ResolvedMatcher, Mapping[str, Any]]]
) -> dict[str, object]:
    """Return what is judged, and by which matchers, with what the fingerprint of each covers."""
    return {
        "judged": "; ".join(_judged(target) for place, target in enumerate(targets) if not place or _counts(target)),
        "matchers": [f"{_composition(matcher)} ({fingerprint_of(covered)})" for matcher, covered in matchers],
    }


def _declared(targets: Sequence[Target]) -> dict[str, object]:
    """Return what the kinds of ground truth of plugins mean, if there are any."""
    declared = [target.declared for target in targets if target.declared is not None]
    kinds = {kind.name: {"version": kind.version, "threshold": kind.threshold} for kind in declared}
    return {"kinds": kinds} if kinds else {}


def _counts(target: Target) -> bool:
    """Return whether a fallback counts: spans came last, and what they are behind means what it meant before."""
    return target.gold != "spans"


def _judged(target: Target) -> str:
    unit = "" if target.unit is None else f" by unit {target.unit}"
    stage = "" if target.stage is None else f" at stage {target.stage}"
    return f"{target.wanted} {target.judges}{' jointly' if target.joint else ''}{unit}{stage}"


def matcher_definition(matcher: ResolvedMatcher) -> dict[str, Any]:
    """Return what a matcher's fingerprint covers; its name and who provides its parts are not part of it."""
    return {
        "composition": _composition(matcher),
        "parameters": {name: _plain(value) for name, value in sorted(matcher.settings.items())},
        "versions": dict(matcher.versions),
    }


def fingerprint_of(definition: Mapping[str, Any]) -> str:
    """Return the fingerprint of a definition: 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(definition, sort_keys=True).encode()).hexdigest()[:16]


def _composition(matcher: ResolvedMatcher) -> str:
    """Return how a matcher prints without parameters, which may or may not spell out the defaults."""
    return str(dataclasses.replace(matcher.matcher, params=()))


def _plain(value: object) -> bool | float | str | None:
    """Return a value that JSON and YAML can hold; anything else (a default that is an object) as its repr."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return _ADDRESS.sub("", repr(value))


def hash_of_source(functions: Iterable[Callable[..., Any] | None]) -> str:
    """
    Return a hash of the source of functions and of their helpers; empty if no source can be read.

    Helpers are functions and classes of the same package, by whatever name and however indirectly they are used.
    """
    sources: set[str] = set()
    waiting: list[object] = list(functions)
    seen: set[int] = set()
    while waiting:
        part = waiting.pop()
        with contextlib.suppress(ForeignError), guarded():
            part = inspect.unwrap(part)  # type: ignore[arg-type]  # anything else has no `__wrapped__`
            if id(part) not in seen and isinstance(part, FunctionType | type):
                seen.add(id(part))
                sources.add(textwrap.dedent(inspect.getsource(part)))
                waiting += _helpers(part)
    return hashlib.sha256("\0".join(sorted(sources)).encode()).hexdigest()[:16] if sources else ""


def _helpers(part: FunctionType | type) -> Iterator[object]:
    """Yield what a function, or the methods of a class, use of their own package."""
    if isinstance(part, type):
        for member in vars(part).values():
            yield from (member, getattr(member, "fget", None), getattr(member, "__func__", None))
        return
    package = part.__module__.partition(".")[0]
    names = list(_names(part.__code__))
    used = [part.__globals__[name] for name in names if name in part.__globals__]
    used += [cell.cell_contents for cell in part.__closure__ or ()]
    modules = [each for each in used if isinstance(each, ModuleType)]
    used += [vars(module)[name] for module in modules for name in names if name in vars(module)]
    yield from (each for each in used if str(getattr(each, "__module__", "")).partition(".")[0] == package)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code reads, also inside nested functions."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
