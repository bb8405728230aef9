"""
Declarations of tests of a difference, by which `compare` gives a p.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from rankgauge.errors import DeclarationError, did_you_mean
from rankgauge.plugin.signature import Authored, declaring, plain_name, plain_version

__all__ = ["SETTINGS", "PairedTest", "PairedTestFunction", "paired_test"]

PairedTestFunction = Callable[..., float | None]
F = TypeVar("F", bound=PairedTestFunction)

SETTINGS = ("clusters", "confidence", "resamples", "seed", "weights")
"""What a test may be given beside differences, each by a keyword that its function names."""


@dataclass(frozen=True, slots=True)
class PairedTest(Authored):
    """A test of a difference."""

    name: str
    function: PairedTestFunction
    version: str = "1"
    settings: frozenset[str] = frozenset()  # which of `SETTINGS` the function takes

    @property
    def takes_clusters(self) -> bool:
        """Return whether samples need not be independent."""
        return "clusters" in self.settings

    @property
    def takes_weights(self) -> bool:
        """Return whether samples may count differently."""
        return "weights" in self.settings


def paired_test(name: str, *, version: str = "1") -> Callable[[F], F]:
    """
    Declare a test of a difference: ``(differences: ndarray) -> float``, the two-sided p.

        @paired_test("sign")
        def sign(differences):
            \"\"\"Sign test, two-sided, which does not test the mean.\"\"\"
            wins, losses = np.count_nonzero(differences > 0), np.count_nonzero(differences < 0)
            return scipy.stats.binomtest(wins, wins + losses).pvalue

    It is called once for each metric, with a difference for each pair of scores (the run's minus the baseline's; shape
    (pairs,), float64, read-only); those of at most 1e-12 are 0. At least one of them is not: if no pair differs, p
    is 1, and without any pair there is none. None, or NaN, means that there is no p for these differences. Several p
    values, of metrics and of runs, are corrected by Holm's method.

    The function may have these keywords, and is given those that it has:

    - ``clusters``: an integer for each difference, equal if samples are not independent; None if all are. Without
      this keyword the test is refused if a comparison has clusters.
    - ``weights``: a number above 0 for each difference, as often as it counts in the mean; None if all count the
      same. Without this keyword the test is refused if results have weights.
    - ``confidence``: 1 minus it is the level of the test; ``resamples``: how many random resamples to take; ``seed``:
      an integer from which all randomness comes, so that the same data have the same p.

    Args:
        name: Lower-case words joined by hyphens; ``compare --test NAME`` and ``compare(test=NAME)`` use it.

        version: Raise it when the definition changes.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the name cannot be used, or the function needs what it is not given.
    """
    return declaring(
        lambda function: PairedTest(plain_name(name), function, plain_version(version), _taken(name, function))
    )


def _taken(name: str, function: Callable[..., object]) -> frozenset[str]:
    """Return what a function takes of the settings; refuse one that cannot be called with differences and these."""
    parameters = list(inspect.signature(function).parameters.values())
    first = parameters[0] if parameters else None
    if first is None or first.kind not in {first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD}:
        raise DeclarationError(f"test {name!r} has to take differences as its first parameter")
    taken = set()
    for parameter in parameters[1:]:
        if parameter.name in SETTINGS and parameter.kind is not parameter.POSITIONAL_ONLY:
            taken.add(parameter.name)
        elif parameter.default is parameter.empty and parameter.kind not in {
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        }:
            hint = f"{did_you_mean(parameter.name, SETTINGS)}; it may have {', '.join(SETTINGS)}"
            raise DeclarationError(f"test {name!r} takes {parameter.name!r}, which it cannot be given{hint}")
    return frozenset(taken)
