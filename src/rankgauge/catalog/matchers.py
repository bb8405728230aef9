"""
Matchers, resolved: names turned into functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from rankgauge.catalog.discovery import Claim, Provider
from rankgauge.catalog.parameters import check_parameters, signature_parameters
from rankgauge.errors import MatcherError, ParameterError
from rankgauge.plugin.matching import STAGES, Comparer, Matcher, Normalizer

__all__ = ["ResolvedMatcher", "build_matcher"]


@dataclass(frozen=True, slots=True)
class ResolvedMatcher:
    """
    A matcher with its functions.

    Attributes:
        name: Its name; empty for an anonymous composition.

        matcher: The value it was made from.

        normalizers: The normalizing functions, in order.

        compare: ``(retrieved, gold) -> scores`` of shape (retrieved, gold); scores below the threshold may be 0.

        compare_all: The same without a cutoff, for near misses.

        providers: Who provides it and each of its parts, by name.

        settings: Every parameter of the comparer with its value, the defaults included.

        versions: The version that each normalizer and the comparer declare, by name.

        check: Raises where the comparer cannot work; None when it always can.

        prepare: Takes the texts of many samples before each is compared; None when that would be of no use.
    """

    name: str
    matcher: Matcher
    normalizers: tuple[Callable[[str], str], ...]
    compare: Callable[..., Any]  # a plugin's function: what it returns is checked where it is called
    compare_all: Callable[..., Any]
    providers: tuple[tuple[str, Provider], ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    check: Callable[[], None] | None = None
    prepare: Callable[[Sequence[str]], None] | None = None

    def check_usable(self) -> None:
        """Raise `MatcherError` when the comparer says that it cannot work here."""
        if self.check is None:
            return
        try:
            self.check()
        except Exception as error:
            by = dict(self.providers)[self.matcher.comparer]
            msg = f"matcher {self} cannot be used (comparer {self.matcher.comparer!r} by {by}): {error}"
            raise MatcherError(msg) from error

    def normalize(self, text: str) -> str:
        """Return *text* after every normalizer."""
        for normalizer in self.normalizers:
            text = normalizer(text)
        return text

    def __str__(self) -> str:
        return f"{self.name} ({self.matcher})" if self.name else str(self.matcher)


def build_matcher(
    name: str,
    matcher: Matcher,
    find_normalizer: Callable[[str], Claim[Normalizer]],
    find_comparer: Callable[[str], Claim[Comparer]],
    provider: Provider | None,
) -> ResolvedMatcher:
    """
    Turn a matcher's names into functions.

    Args:
        name: The matcher's own name; may be empty.

        matcher: The composition.

        find_normalizer: Looks up a normalizer.

        find_comparer: Looks up a comparer.

        provider: Who declared the composition; None for one from config or code.

    Returns:
        The matcher with its functions.

    Raises:
        MatcherError: The stages are in the wrong order, or a comparer's parameter is not acceptable.

        UnknownNameError: A name that no plugin offers.
    """
    steps = [find_normalizer(step) for step in matcher.normalizers]
    for before, after in pairwise(steps):
        if STAGES.index(after.declaration.stage) < STAGES.index(before.declaration.stage):
            msg = (
                f"matcher {name or str(matcher)!r}: {after.declaration.name!r} ({after.declaration.stage}) must stand "
                f"before {before.declaration.name!r} ({before.declaration.stage}): the order is {' < '.join(STAGES)}, "
                "because a folded text no longer shows what an earlier stage looks for"
            )
            raise MatcherError(msg)
    claim = find_comparer(matcher.comparer)
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
    providers = [(name, provider)] if provider is not None else []
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
    )
