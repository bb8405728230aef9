"""
Matchers, resolved: names turned into functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from rankgauge.catalog.claims import Claim, Provider
from rankgauge.catalog.parameters import check_parameters, signature_parameters
from rankgauge.errors import MatcherError, ParameterError
from rankgauge.guard import ForeignError, guarded
from rankgauge.plugin.matching import STAGES, Comparer, Matcher, Normalizer

__all__ = ["ResolvedMatcher", "build_matcher"]


@dataclass(frozen=True, slots=True)
class ResolvedMatcher:
    """A matcher with its functions."""

    name: str  # empty for an anonymous composition
    matcher: Matcher
    normalizers: tuple[Callable[[str], str], ...]
    compare: Callable[..., Any]  # a plugin's (retrieved, gold) -> scores, which may be 0 below the threshold
    compare_all: Callable[..., Any]  # the same without a cutoff, for near misses
    providers: tuple[tuple[str, Provider], ...]  # of the matcher and each of its parts, by name
    settings: Mapping[str, Any] = field(default_factory=dict)  # every parameter of the comparer, defaults included
    versions: Mapping[str, str] = field(default_factory=dict)  # of the normalizers and the comparer, by name
    check: Callable[[], None] | None = None
    prepare: Callable[[Sequence[str]], None] | None = None
    compare_batch: Callable[..., Any] | None = None  # the texts of many samples -> scores of each
    cache: bool = True  # whether each distinct text is normalized once

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
        for normalizer in self.normalizers:  # by no `map`, which ends where a normalizer raises StopIteration
            texts = [normalizer(text) for text in texts]
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
            msg = (
                f"matcher {name or str(matcher)!r}: {after.declaration.name!r} ({after.declaration.stage}) must come "
                f"before {before.declaration.name!r} ({before.declaration.stage}): the order is {' < '.join(STAGES)}, "
                "because folding removes what an earlier stage looks for"
            )
            raise MatcherError(msg)
    claim: Claim[Comparer] = find("comparer", matcher.comparer)
    declaration = claim.declaration
    function = declaration.function
    known = signature_parameters(function)
    try:
        params = check_parameters(f"comparer {matcher.comparer!r}", known, dict(matcher.params))
    except ParameterError as error:
        msg = f"matcher {name or str(matcher)!r}: {error}"
        raise MatcherError(msg) from error

    takes_cutoff = any(parameter.name == "cutoff" for parameter in known) and "cutoff" not in params
    given = {"cutoff": matcher.threshold, **params} if takes_cutoff else params
    everything = {**given, "cutoff": 0.0} if "cutoff" in given else given
    providers = [] if declared is None else [declared]
    providers += [(step.declaration.name, step.provider) for step in steps]
    providers.append((matcher.comparer, claim.provider))
    return ResolvedMatcher(
        name,
        matcher,
        tuple(step.declaration.function for step in steps),
        functools.partial(function, **given),
        functools.partial(function, **everything),
        tuple(providers),
        settings={**{parameter.name: parameter.default for parameter in known}, **given},
        versions={
            **{step.declaration.name: step.declaration.version for step in steps},
            matcher.comparer: declaration.version,
        },
        check=None if declaration.check is None else functools.partial(declaration.check, **params),
        prepare=None if declaration.prepare is None else functools.partial(declaration.prepare, **params),
        compare_batch=None if declaration.batch is None else functools.partial(declaration.batch, **given),
        cache=any(step.declaration.cache for step in steps),
    )
