"""
The frame of every check: with the network closed, laws are tried on cases that hypothesis draws, and make a report.

Everything is reproducible: hypothesis runs without its database, without a deadline, and from a fixed seed. It loads
when a check runs, so that importing this module stays cheap.
"""

from __future__ import annotations

import contextlib
import importlib
import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.base.logs import logger
from rankgauge.errors import MissingExtraError
from rankgauge.features.testing.law import BrokenError, Law, Laws, Trial, applying, law_names
from rankgauge.features.testing.law_report import Report, Verdict
from rankgauge.features.testing.state_laws import ProcessState

__all__ = [
    "CASES",
    "QUICK_CASES",
    "Candidate",
    "Checker",
    "broken_by",
    "checking",
    "closed_network",
    "drawn_laws",
]

CASES = 100
"""How many cases are drawn for a law by default."""

QUICK_CASES = 10
"""How many are drawn for a quick check, which finds what is wrong nearly everywhere."""

_CALLS = ("connect", "connect_ex", "sendto")
_LOOKUPS = ("getaddrinfo", "gethostbyname", "gethostbyname_ex")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """
    What is held to laws.

    Attributes:
        name: What the report calls it.

        subject: What the laws are about.

        laws: The laws that apply to it.

        could_declare: Laws that are tried if nothing is broken; the report names those that hold.

        called: How it is called, for the report.

        unusable: Why it cannot work here, such as a comparer without its model; then every law is skipped.

        trial: What a case on its way through a law is.
    """

    name: str
    subject: Any
    laws: tuple[Law, ...]
    could_declare: tuple[Law, ...] = ()
    called: str = ""
    unusable: str = ""
    trial: type[Trial[Any]] = Trial


def drawn_laws(kind: str) -> Laws:
    """Return the laws of one kind, whose cases are drawn, or none of a whole plugin; raise without hypothesis."""
    try:
        importlib.import_module("hypothesis")
    except ImportError as error:
        raise MissingExtraError(f"checking a {kind}", "testing") from error
    if kind == "metric":
        from rankgauge.features.testing.run_laws import METRIC_LAWS

        return METRIC_LAWS
    from rankgauge.features.testing.text_laws import TEXT_LAWS

    return TEXT_LAWS.get(kind, {})


@contextlib.contextmanager
def checking(kind: str, without: Iterable[str] = (), cases: int = CASES) -> Iterator[Checker]:
    """Close the network, and yield what checks one kind of things; raise if hypothesis is not installed."""
    laws = drawn_laws(kind)
    state = ProcessState()
    with closed_network() as attempts:
        try:
            yield Checker(kind, laws, without, cases, attempts, state)
        finally:
            state.restore()


@dataclass(frozen=True, slots=True)
class Checker:
    """
    What checks things of one kind.

    Attributes:
        kind: What is checked.

        laws: All laws of that kind, in the order of reports.

        without: Laws to skip.

        cases: How many cases to draw for a law.

        attempts: Attempts to reach the network.

        state: What belongs to the whole process, which each law finds as it was.
    """

    kind: str
    laws: Laws
    without: Iterable[str] = ()
    cases: int = CASES
    attempts: list[str] | tuple[()] = ()
    state: ProcessState = field(default_factory=ProcessState)

    def report_on(self, subject: Any, declared: Iterable[str] = ()) -> Report:  # noqa: ANN401  # what the laws are about
        """Check a subject with a name for the laws of all of its kind, and those that it declares."""
        return self.report(Candidate(name=subject.name, subject=subject, laws=applying(self.laws, declared)))

    def report(self, candidate: Candidate) -> Report:
        """Check the laws that apply to a candidate."""
        left_out = law_names(self.kind, self.laws, self.without)
        chosen = {law.name: law for law in candidate.laws}
        verdicts: list[Verdict] = []
        for law in self.laws.values():
            if candidate.unusable:
                verdicts.append(law.verdict("skipped", candidate.unusable))
            elif law.name in left_out:
                verdicts.append(law.verdict("skipped", "left out on request"))
            elif law.name in chosen:
                verdicts.append(self._verdict(chosen[law.name], candidate))
                if law.name == "usable" and verdicts[-1].state == "broken":  # then no other law can be checked
                    break
        hold: list[str] = []
        if not candidate.unusable and all(verdict.state != "broken" for verdict in verdicts):
            could = [law for law in candidate.could_declare if law.name not in left_out]
            hold = [law.name for law in could if self._verdict(law, candidate, shrink=False).state == "holds"]
        return Report(
            kind=self.kind,
            name=candidate.name,
            called=candidate.called,
            verdicts=tuple(verdicts),
            could_declare=tuple(hold),
            unusable=candidate.unusable,
        )

    def _verdict(self, law: Law, candidate: Candidate, *, shrink: bool = True) -> Verdict:
        if reason := law.skip(candidate.subject):
            return law.verdict("skipped", reason)

        def trial() -> Trial[Any]:
            return candidate.trial(candidate.subject, self.attempts)

        self.state.restore()
        with mock.patch.object(logger("engine"), "disabled", new=True):  # notes on drawn samples are no help
            broken = broken_by(law, trial, cases=self.cases, shrink=shrink)
        return law.verdict("holds") if broken is None else law.verdict("broken", broken.reason, broken.example)


def broken_by(law: Law, trial: Callable[[], Trial[Any]], *, cases: int, shrink: bool = True) -> BrokenError | None:
    """Return what breaks a law, with the smallest example unless *shrink* is off; None if it holds for all cases."""
    if law.draw is None:
        try:
            _check(law, trial(), ())
        except BrokenError as error:
            return error
        return None
    from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
    from hypothesis.errors import Flaky, HypothesisException, StopTest

    broken: list[BrokenError] = []

    @seed(0)
    @settings(
        max_examples=max(min(5, cases), int(cases / law.cost)),
        phases=[Phase.explicit, Phase.generate, *([Phase.shrink] if shrink else [])],
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @given(law.draw(trial().subject))
    def holds(drawn: tuple[Any, ...]) -> None:
        try:
            _check(law, trial(), drawn, HypothesisException, StopTest)
        except BrokenError as error:
            broken.append(error)
            raise

    try:
        holds()
    except BrokenError as error:
        return error
    except Flaky:  # what broke the law did not break it again: the subject remembers
        first = broken[0]
        return BrokenError(f"{first.reason}; the same case does not give the same result each time", first.example)
    return None


def _check(law: Law, trial: Trial[Any], drawn: tuple[Any, ...], *passing: type[BaseException]) -> None:
    """Check a law for one case; what is raised if the law expects no error breaks it, too."""
    try:
        with guarded(BrokenError, *passing):
            law.check(trial, *drawn)
    except ForeignError as error:
        trial.fail(f"it raised {error}")


@contextlib.contextmanager
def closed_network() -> Iterator[list[str]]:
    """
    Refuse connections and name look-ups in every thread, and yield a list of what was tried, each attempt once.

    Unix sockets are allowed, and what is already connected stays connected.
    """
    attempts: list[str] = []

    def refuse(what: str, where: object) -> None:
        attempt = f"{what} {where!r}"
        if attempt not in attempts:
            attempts.append(attempt)
        raise OSError(f"the network is closed while laws are checked: {attempt}")

    with contextlib.ExitStack() as stack:
        for name in _CALLS:
            stack.enter_context(mock.patch.object(socket.socket, name, _guarded(name, refuse)))
        for name in _LOOKUPS:
            lookup = mock.patch.object(socket, name, lambda host, *_rest, **_options: refuse("look up", host))
            stack.enter_context(lookup)
        yield attempts


def _guarded(name: str, refuse: Callable[[str, object], None]) -> Callable[..., Any]:
    """Return a method in place of one of `socket.socket` that lets Unix sockets through."""
    original = getattr(socket.socket, name)
    local = getattr(socket, "AF_UNIX", None)

    def method(self: socket.socket, *arguments: Any) -> Any:  # noqa: ANN401  # what the original takes and gives
        if self.family != local:
            refuse("connect to", arguments[-1] if arguments else None)
        return original(self, *arguments)

    return method
