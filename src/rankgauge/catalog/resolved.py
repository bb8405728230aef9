"""
Declarations resolved: parameters checked, matchers turned into functions, profiles applied to one another.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from rankgauge.base.frozen import FrozenMap
from rankgauge.base.guard import ForeignError, guarded
from rankgauge.catalog.claims import Claim, Provider
from rankgauge.errors import (
    CatalogError,
    ExpressionError,
    MatcherError,
    ParameterError,
    PolicyError,
    counted,
    did_you_mean,
)
from rankgauge.expression import Value
from rankgauge.plugin.matching import STAGES, Comparer, Matcher, Normalizer
from rankgauge.plugin.named_data import ProfileSpec
from rankgauge.plugin.signature import Parameter
from rankgauge.policy import PROFILES, Profile

__all__ = ["ResolvedMatcher", "build_matcher", "build_profile", "check_parameters", "signature_parameters"]


def check_parameters(owner: str, known: Iterable[Parameter], given: Mapping[str, Value]) -> dict[str, Value]:
    """Check values against declared parameters, strictly (only int becomes float); *owner* is named in messages."""
    by_name = {parameter.name: parameter for parameter in known}
    checked: dict[str, Value] = {}
    for name, value in given.items():
        parameter = by_name.get(name)
        if parameter is None:
            listed = f"known are {', '.join(by_name)}" if by_name else "it has no parameters"
            raise ParameterError(f"{owner} has no parameter {name!r}{did_you_mean(name, by_name)}; {listed}")
        checked[name] = _check(owner, parameter, value)
    return checked


def signature_parameters(function: Callable[..., Any]) -> list[Parameter]:
    """Return the keyword-only parameters of a function as declarations."""
    hints = typing.get_type_hints(function)
    return [
        Parameter(name, hints.get(name, Any), given.default)
        for name, given in inspect.signature(function).parameters.items()
        if given.kind is inspect.Parameter.KEYWORD_ONLY
    ]


def _check(owner: str, parameter: Parameter, value: Value) -> Value:
    if _is_plainly(parameter, value):
        return float(value) if parameter.annotation is float else value
    from pydantic import ConfigDict, TypeAdapter, ValidationError  # loads only if it is needed

    try:
        adapter: TypeAdapter[Value] = TypeAdapter(parameter.annotation, config=ConfigDict(strict=True))
        return adapter.validate_python(value)
    except ValidationError as error:
        if parameter.choices:
            wanted = f"choose from {', '.join(map(str, parameter.choices))}"
        else:
            wanted = error.errors(include_url=False)[0]["msg"]
        raise ParameterError(f"parameter {parameter.name!r} of {owner} cannot be {value!r}: {wanted}") from None


def _is_plainly(parameter: Parameter, value: Value) -> bool:
    """Return whether a value fits a simple annotation, so that pydantic need not be loaded."""
    if parameter.choices:
        return any(type(value) is type(choice) and value == choice for choice in parameter.choices)
    if parameter.annotation is float:
        return type(value) in {int, float}
    return parameter.annotation in {bool, int, str} and type(value) is parameter.annotation


@dataclass(frozen=True, slots=True)
class ResolvedMatcher:
    """A matcher with its functions."""

    name: str  # empty for an anonymous composition
    matcher: Matcher
    normalizers: tuple[Normalizer, ...]
    compare: Callable[..., Any]  # a plugin's (retrieved, gold) -> scores, which may be 0 below the threshold
    compare_all: Callable[..., Any]  # the same without a cutoff, for near misses
    providers: tuple[tuple[str, Provider], ...]  # of the matcher and each of its parts, by name
    settings: Mapping[str, Any] = field(default_factory=dict)  # every parameter of the comparer, defaults included
    versions: Mapping[str, str] = field(default_factory=dict)  # of the normalizers and the comparer, by name
    check: Callable[[], None] | None = None
    prepare: Callable[[Sequence[str]], None] | None = None
    compare_batch: Callable[..., Any] | None = None  # the texts of many samples -> scores of each
    cache: bool = True  # whether each distinct text is normalized once
    covers: bool = False  # whether the comparer returns covers

    @property
    def functions(self) -> tuple[tuple[str, tuple[Callable[..., Any] | None, ...]], ...]:
        """Return for each of `providers` its kind and the functions that make scores."""
        steps = [("normalizer", tuple(filter(None, (step.function, step.batch)))) for step in self.normalizers]
        comparer = ("comparer", (self.compare.func, getattr(self.compare_batch, "func", None)))  # type: ignore[attr-defined]  # partials
        named = len(self.providers) - len(steps) - 1
        return (*[("matcher", ())] * named, *steps, comparer)

    @property
    def blame(self) -> str:
        """Return how messages call it when its code fails."""
        return f"matcher {self} (by {'; '.join(f'{name}: {by}' for name, by in self.providers)})"

    def check_usable(self) -> None:
        """Raise `MatcherError` when the comparer says that it cannot work here."""
        if self.check is None:
            return
        try:
            with guarded():
                self.check()
        except ForeignError as error:
            by = dict(self.providers)[self.matcher.comparer]
            msg = f"matcher {self} cannot be used (comparer {self.matcher.comparer!r} by {by}): {error.reason}"
            raise MatcherError(msg) from error

    def normalize(self, text: str) -> str:
        """Return *text* after every normalizer."""
        return self.normalize_all([text])[0]

    def normalize_all(self, texts: Sequence[str]) -> Sequence[str]:
        """Return texts after every normalizer."""
        for step in self.normalizers:
            if step.batch is not None and len(texts) > 1:
                normalized = list(step.batch(texts))
                if len(normalized) != len(texts):
                    many, wanted = counted(len(normalized), "text"), len(texts)
                    raise ValueError(f"`batch` of the normalizer {step.name!r} returned {many} for {wanted}")
                texts = normalized
            else:  # by no `map`, which ends when a normalizer raises StopIteration
                function = step.function
                texts = [function(text) for text in texts]
        return texts

    def __str__(self) -> str:
        return f"{self.name} ({self.matcher})" if self.name else str(self.matcher)


def build_matcher(
    name: str, matcher: Matcher, find: Callable[[str, str], Claim[Any]], declared: tuple[str, Provider] | None
) -> ResolvedMatcher:
    """Turn names into functions that *find* looks up by kind; *declared* is the name and provider in a plugin."""
    steps: list[Claim[Normalizer]] = [find("normalizer", step) for step in matcher.normalizers]
    for before, after in pairwise(steps):
        if STAGES.index(after.declaration.stage) < STAGES.index(before.declaration.stage):
            raise MatcherError(
                f"matcher {name or str(matcher)!r}: {after.declaration.name!r} ({after.declaration.stage}) must come "
                f"before {before.declaration.name!r} ({before.declaration.stage}): the order is {' < '.join(STAGES)}, "
                "because folding removes what an earlier stage looks for"
            )
    claim: Claim[Comparer] = find("comparer", matcher.comparer)
    declaration = claim.declaration
    function = declaration.function
    known = signature_parameters(function)
    for parameter, instead in declaration.gone.items():
        if parameter in dict(matcher.params):
            raise MatcherError(f"matcher {name or str(matcher)!r}: {parameter} is gone: {instead}")
    try:
        params = check_parameters(f"comparer {matcher.comparer!r}", known, dict(matcher.params))
    except ParameterError as error:
        raise MatcherError(f"matcher {name or str(matcher)!r}: {error}") from error

    takes_cutoff = any(parameter.name == "cutoff" for parameter in known) and "cutoff" not in params
    given = {"cutoff": matcher.threshold, **params} if takes_cutoff else params
    everything = {**given, "cutoff": 0.0} if "cutoff" in given else given
    providers = [] if declared is None else [declared]
    providers += [(step.declaration.name, step.provider) for step in steps]
    providers.append((matcher.comparer, claim.provider))
    return ResolvedMatcher(
        name,
        matcher,
        tuple(step.declaration for step in steps),
        functools.partial(function, **given),
        functools.partial(function, **everything),
        tuple(providers),
        settings=FrozenMap({**{parameter.name: parameter.default for parameter in known}, **given}),
        versions=FrozenMap(
            {
                **{step.declaration.name: step.declaration.version for step in steps},
                matcher.comparer: declaration.version,
            }
        ),
        check=None if declaration.check is None else functools.partial(declaration.check, **params),
        prepare=None if declaration.prepare is None else functools.partial(declaration.prepare, **params),
        compare_batch=None if declaration.batch is None else functools.partial(declaration.batch, **given),
        cache=any(step.declaration.cache for step in steps),
        covers=declaration.covers,
    )


_Parameters = Mapping[str, Value]


def build_profile(
    name: str,
    find: Callable[[str], tuple[ProfileSpec, str]],
    conventions: Callable[[str, _Parameters], tuple[str, _Parameters]],
    trail: tuple[str, ...] = (),
) -> Profile:
    """
    Return a profile by name.

    *find* returns what it changes, and who says so; *conventions* checks the parameters of a metric and returns them
    with its alias. Both raise errors of the catalog. *trail* has the profiles that extend this one.
    """
    if name in PROFILES:
        return PROFILES[name]
    if name in trail:
        raise PolicyError(f"profiles extend each other: {' -> '.join([*trail[trail.index(name) :], name])}")
    try:
        spec, by = find(name)
    except LookupError as error:
        raise PolicyError(f"profile {trail[-1]!r} extends {name!r}: {error}" if trail else str(error)) from error
    base = build_profile(spec.extends, find, conventions, (*trail, name))
    try:
        return spec.applied(name, base, dict(conventions(*entry) for entry in spec.parameters.items()))
    except (PolicyError, ParameterError, CatalogError, ExpressionError) as error:
        raise PolicyError(f"profile {name!r}{by}: {error}") from error
