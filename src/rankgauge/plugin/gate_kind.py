"""
Declarations of kinds of gates: what else than a bound of a mean, or of its change, a metric can be held to.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

from rankgauge.errors import DeclarationError, did_you_mean
from rankgauge.plugin.signature import Authored, declaring, plain_version

__all__ = ["BUILT_IN_WORDS", "GATE_WORD", "GateFinding", "GateFunction", "GateKind", "gate_kind"]

GATE_WORD = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
"""Two lower-case words or more, joined by underscores."""

BUILT_IN_WORDS = ("max_drop", "not_worse")
"""The words in gates that are no plugin's."""

_TAKEN = (*BUILT_IN_WORDS, "per_sample", "short_lists")
_OFFERED = ("baseline", "counts", "higher_is_better")


class GateFinding(NamedTuple):
    """
    What a kind of gates says of a metric.

    Attributes:
        state: `passed` or `missed`; `open` if the scores do not decide.

        words: What was found, in one line: ``the median 0.55 is below 0.6``.

        value: The number that was held to the gate's, in the unit of the metric; None if it is none.
    """

    state: Literal["passed", "missed", "open"]
    words: str
    value: float | None = None


GateFunction = Callable[..., GateFinding]
F = TypeVar("F", bound=GateFunction)


@dataclass(frozen=True, slots=True)
class GateKind(Authored):
    """A kind of gates."""

    name: str
    function: GateFunction
    version: str = "1"
    takes: frozenset[str] = frozenset()  # the keywords that the function has of those it may have

    @property
    def is_change(self) -> bool:
        """Return whether it compares with a baseline."""
        return "baseline" in self.takes


def gate_kind(name: str, *, version: str = "1") -> Callable[[F], F]:
    """
    Declare a kind of gates: ``(values: ndarray, number: float) -> GateFinding``.

        @gate_kind("median_at_least")
        def median_at_least(values, number):
            \"\"\"The middle score is at least a number.\"\"\"
            middle = float(np.median(values))
            if middle >= number:
                return GateFinding("passed", f"the median {middle:.4f} is at least {number:g}", middle)
            return GateFinding("missed", f"the median {middle:.4f} is below {number:g}", middle)

    A gate is written ``ndcg@10 median_at_least 0.6``, or ``{metric: ndcg@10, median_at_least: 0.6}``. The function is
    given the scores of the samples that count (shape (n,), float64, read-only, in the order of the data), at least one,
    and the number. It may also have these keywords, and is given those that it has:

    - ``baseline``: the baseline's scores of the same samples; the gate is then on a change, needs a baseline, and gets
      the samples alone that have a score in both;
    - ``counts``: how many samples count (``n``), and how many are ``undefined``, ``missing`` and ``failed``;
    - ``higher_is_better``: which end of the metric is the good one.

    A metric without any score misses the gate, a run that is incomplete passes none, and a baseline that is missing or
    does not fit is an error, before the function is called.

    Args:
        name: Two lower-case words or more, joined by underscores; the word in gates.

        version: Raise it when the definition changes.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the name cannot be used, or the function needs what it is not given.
    """
    return declaring(lambda function: GateKind(_word(name), function, plain_version(version), _taken(name, function)))


def _word(name: str) -> str:
    if not isinstance(name, str) or not GATE_WORD.fullmatch(name):
        msg = f"{name!r} is not a usable name of a kind of gates: join two lower-case words or more by underscores"
        raise DeclarationError(msg)
    if name in _TAKEN:
        raise DeclarationError(f"{name!r} has a meaning in gates already; choose another name")
    return name


def _taken(name: str, function: Callable[..., object]) -> frozenset[str]:
    """Return which keywords a function has of those offered; refuse one that cannot be called with these."""
    parameters = list(inspect.signature(function).parameters.values())
    placed = [each for each in parameters if each.kind in {each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD}]
    if len(placed) < 2:
        raise DeclarationError(f"kind of gates {name!r} has to take values and a number as its first parameters")
    taken = set()
    for parameter in parameters[2:]:
        if parameter.name in _OFFERED and parameter.kind is not parameter.POSITIONAL_ONLY:
            taken.add(parameter.name)
        elif parameter.default is parameter.empty and not str(parameter).startswith("*"):
            hint = f"{did_you_mean(parameter.name, _OFFERED)}; it may have {', '.join(_OFFERED)}"
            raise DeclarationError(f"kind of gates {name!r} takes {parameter.name!r}, which it cannot be given{hint}")
    return frozenset(taken)
