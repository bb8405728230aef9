"""
A law as a value: what it says, what is drawn for it, how it is checked; and one trial of it, with what was observed.

A law is written as a check with a decorator. It is named like the function and says what the docstring says::

    @law(draw(TEXTS, TEXTS), when="declared")
    def _monotone(trial: Trial[Tokenizer], text: str, more: str) -> None:
        \"\"\"A text with a line break and more behind it has no fewer tokens.\"\"\"
        ...
"""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, TypeVar

from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.errors import ParameterError, did_you_mean
from rankgauge.features.testing.law_report import Exhibit, State, Verdict

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = [
    "BrokenError",
    "Draw",
    "Kind",
    "Law",
    "Laws",
    "Trial",
    "applying",
    "book",
    "draw",
    "function_name",
    "law",
    "law_names",
    "no_network",
    "pickling",
    "unless",
]

Kind = Literal[
    "metric",
    "normalizer",
    "comparer",
    "matcher",
    "tokenizer",
    "reader",
    "reporter",
    "aggregate",
    "profile",
    "metric set",
    "report section",
    "preset",
    "command",
    "system",
    "test",
    "gate kind",
    "gold kind",
    "filter",
    "observer",
]
Draw = Callable[[Any], "SearchStrategy[tuple[Any, ...]]"]
S = TypeVar("S")
R = TypeVar("R")


def _never(_subject: object) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """
    A property that a metric, normalizer, comparer, matcher or tokenizer has for every input.

    Attributes:
        name: Its name in declarations, reports and ``--without``.

        says: What it says, in a clause.

        when: `every`: it applies to all of its kind; `declared`: to those whose declaration names it; `elsewhere`: only
            to metrics that were not written for rankgauge.

        elsewhere: Whether it also applies to metrics that were not written for rankgauge.

        check: Called with a trial and what was drawn; raises `BrokenError`.

        draw: Returns what the other arguments of the check are drawn from, for a subject; None if nothing is drawn.

        skip: Returns why the law does not apply to a subject; empty if it does.

        cost: How many times fewer cases are drawn than for a law of one ranking.
    """

    name: str
    says: str
    check: Callable[..., object]
    draw: Draw | None = None
    skip: Callable[[Any], str] = _never
    cost: float = 1
    when: Literal["every", "declared", "elsewhere"] = "every"
    elsewhere: bool = True

    def checked_otherwise(
        self, draw: Draw | None, skip: Callable[[Any], str] = _never, *, cost: float = 1
    ) -> Callable[[Callable[..., object]], Law]:
        """Return a decorator that makes a check one of this law, for subjects of another kind."""
        return lambda check: replace(self, check=check, draw=draw, skip=skip, cost=cost)

    def verdict(self, state: State, reason: str = "", example: tuple[Exhibit, ...] = ()) -> Verdict:
        """Return what became of this law."""
        return Verdict(law=self.name, says=self.says, state=state, reason=reason, example=example)


Laws = Mapping[str, Law]


def law(draw: Draw | None = None, *, name: str = "", **fields: Any) -> Callable[[Callable[..., object]], Law]:  # noqa: ANN401
    """Return a decorator that makes a law of its check; *fields* are those of `Law`."""

    def declare(check: Callable[..., object]) -> Law:
        clause = " ".join((inspect.getdoc(check) or "").split()).removesuffix(".")
        called = name or check.__name__.removeprefix("_").replace("_", "-")
        return Law(name=called, says=clause[:1].lower() + clause[1:], check=check, draw=draw, **fields)

    return declare


def draw(*parts: SearchStrategy[Any] | Callable[[Any], SearchStrategy[Any]]) -> Draw:
    """Return what draws the arguments of a check: a part is a strategy, or a function of the subject that gives one."""

    def drawn(subject: object) -> SearchStrategy[tuple[Any, ...]]:
        from hypothesis import strategies as st

        return st.tuples(*(part(subject) if callable(part) else part for part in parts))

    return drawn


def book(*laws: Law) -> Laws:
    """Return laws by name, in the order in which they are checked; the last of a name counts."""
    return {one.name: one for one in laws}


def applying(laws: Laws, declared: Iterable[str] = ()) -> tuple[Law, ...]:
    """Return the laws that apply to a subject which declares some of them."""
    named = frozenset(declared)
    return tuple(each for each in laws.values() if each.when == "every" or each.name in named)


def law_names(kind: str, laws: Iterable[str], names: Iterable[str]) -> frozenset[str]:
    """Return names of laws as a set; raise `ParameterError` for one that is none of *laws*."""
    known = list(dict.fromkeys(laws))
    given = (names,) if isinstance(names, str) else tuple(names)
    for name in given:
        if name not in known:
            of = f" of a {kind}" if kind else ""
            hint = f"{did_you_mean(name, known)}; known are {', '.join(known)}"
            raise ParameterError(f"there is no law {name!r}{of}{hint}")
    return frozenset(given)


def function_name(function: object) -> str:
    """Return what reports call a function that declares no name."""
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def unless(fits: Callable[[Any], object], reason: str) -> Callable[[Any], str]:
    """Return what skips a law for that reason unless a subject fits."""
    return lambda subject: "" if fits(subject) else reason


class BrokenError(AssertionError):
    """A law does not hold for a case: what is wrong, and what was observed."""

    def __init__(self, reason: str, example: tuple[Exhibit, ...]) -> None:
        self.reason = reason
        self.example = example
        super().__init__(reason)


class Trial(Generic[S]):
    """One drawn case on its way through a law; *attempts* are those to reach the network."""

    def __init__(self, subject: S, attempts: Sequence[str] = ()) -> None:
        self.subject = subject
        self.attempts = attempts
        self._seen: list[Exhibit] = []

    def note(self, **facts: object) -> None:
        """Keep an observation for the report."""
        self._seen.append(facts)

    def forget(self, kept: int = 0) -> None:
        """Forget what was observed of values that turned out right, but for the first *kept* observations."""
        del self._seen[kept:]

    def lead_with(self, **facts: object) -> None:
        """Put observations with these facts before the others."""
        self._seen.sort(key=lambda seen: not facts.items() <= seen.items())

    def fail(self, reason: str) -> NoReturn:
        """Raise `BrokenError` with what was observed."""
        raise BrokenError(reason, tuple(self._seen))

    def demand(self, holds: object, otherwise: str) -> None:
        """Fail with the reason *otherwise* unless something holds."""
        if not holds:
            self.fail(otherwise)

    def attempt(self, call: Callable[[], R], facts: Exhibit, who: str = "it") -> R:
        """Call plugin code, and fail if it raises, with *facts* in the report."""
        try:
            with guarded():
                return call()
        except ForeignError as error:
            if facts:
                self.note(**facts)
            self.fail(f"{who} raised {error.told}")

    def repeats(self, call: Callable[[], object], between: Callable[[], object], otherwise: str) -> None:
        """Demand that a call always returns the same, whatever is called in between."""
        before = call()
        for _ in range(2):
            self.demand(before == call(), otherwise)
            between()


@law()
def pickling(trial: Trial[Any]) -> None:
    """The function can be sent to another process."""
    sent = trial.subject.function
    try:
        with guarded():
            restored = pickle.loads(pickle.dumps(sent))  # noqa: S301  # it was pickled on this very line
    except ForeignError as error:
        trial.fail(f"{error.told}; define the function at the top of a module, so that it can be found by its name")
    trial.demand(type(restored) is type(sent), f"unpickling gives something else: {shown(restored)}")


@law()
def no_network(trial: Trial[Any]) -> None:
    """Nothing connects to the network."""
    trial.demand(not trial.attempts, f"it tried to {', and to '.join(trial.attempts)}")
