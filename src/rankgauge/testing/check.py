"""
Checks: a metric, normalizer, comparer, matcher or tokenizer in, a report out.

hypothesis draws the cases; it loads when a check runs, so that importing this module stays cheap.
"""

from __future__ import annotations

import contextlib
import importlib
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock

from rankgauge.errors import MissingExtraError
from rankgauge.testing.laws import LawInfo, Subjects, check_names, laws_of
from rankgauge.testing.report import Report, Verdict

if TYPE_CHECKING:
    from rankgauge.testing.trial import Law, Trial

__all__ = ["CASES", "QUICK_CASES", "Checker", "checking", "closed_network", "ready"]

CASES = 100
"""How many cases are drawn for a law by default."""

QUICK_CASES = 10
"""How many are drawn for a quick check, which finds what is wrong nearly everywhere."""

_CALLS = ("connect", "connect_ex", "sendto")
_LOOKUPS = ("getaddrinfo", "gethostbyname", "gethostbyname_ex")


@contextlib.contextmanager
def ready(what: str) -> Iterator[list[str]]:
    """Close the network and yield a list of attempts to reach it; raise where hypothesis is not installed."""
    try:
        importlib.import_module("hypothesis")
    except ImportError as error:
        raise MissingExtraError(f"checking a {what}", "testing") from error
    with closed_network() as attempts:
        yield attempts


@contextlib.contextmanager
def checking(kind: Subjects, without: Iterable[str], cases: int) -> Iterator[Checker]:
    """Get ready, and yield what checks laws of one kind."""
    left_out = check_names(kind, without)
    with ready(kind) as attempts:
        yield Checker(kind, left_out, cases, attempts)


@dataclass(frozen=True, slots=True)
class Checker:
    """
    What checks laws of one kind, one after the other.

    Attributes:
        kind: What is checked.

        left_out: Laws to skip.

        cases: How many cases to draw for a law.

        attempts: Attempts to reach the network, read when all else is done.
    """

    kind: Subjects
    left_out: frozenset[str]
    cases: int
    attempts: list[str]

    def report(
        self,
        name: str,
        trial: Callable[[], Trial[Any]],
        known: Mapping[str, Law],
        wanted: Iterable[str],
        *,
        called: str = "",
        could: Iterable[str] = (),
    ) -> Report:
        """
        Check the laws that are *wanted*, each by its rule in *known*, on fresh trials.

        Where nothing is broken, the report names the laws of *could* that hold without being declared.
        """
        infos, wanted = laws_of(self.kind), frozenset(wanted)
        verdicts: list[Verdict] = []
        for law, info in infos.items():
            if law in self.left_out and law != "no-network":
                verdicts.append(info.verdict("skipped", "left out on request"))
            elif law in wanted and law != "no-network":
                verdicts.append(self._verdict(info, known[law], trial))
                if law == "usable" and verdicts[-1].state == "broken":  # then no other law can be checked
                    return Report(kind=self.kind, name=name, called=called, verdicts=tuple(verdicts))
        if "no-network" in wanted - self.left_out:
            reason = f"it tried to {', and to '.join(self.attempts)}" if self.attempts else ""
            verdicts.append(infos["no-network"].verdict("broken" if self.attempts else "holds", reason))
        hold: list[str] = []
        if all(verdict.state != "broken" for verdict in verdicts):
            tried = [self._verdict(infos[law], known[law], trial, shrink=False) for law in could]
            hold = [verdict.law for verdict in tried if verdict.state == "holds" and verdict.law not in self.left_out]
        return Report(kind=self.kind, name=name, called=called, verdicts=tuple(verdicts), could_declare=tuple(hold))

    def unusable(self, name: str, reason: str) -> Report:
        """Return the report of what cannot work here, such as a comparer without its model: every law is skipped."""
        verdicts = tuple(info.verdict("skipped", reason) for info in laws_of(self.kind).values())
        return Report(kind=self.kind, name=name, verdicts=verdicts, unusable=reason)

    def _verdict(self, info: LawInfo, rule: Law, trial: Callable[[], Trial[Any]], *, shrink: bool = True) -> Verdict:
        from rankgauge.testing.trial import broken_by

        if reason := rule.skip(trial().subject):
            return info.verdict("skipped", reason)
        broken = broken_by(rule, trial, cases=self.cases, shrink=shrink)
        return info.verdict("holds") if broken is None else info.verdict("broken", broken.reason, broken.example)


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
        msg = f"the network is closed while laws are checked: {attempt}"
        raise OSError(msg)

    with contextlib.ExitStack() as stack:
        for name in _CALLS:
            stack.enter_context(mock.patch.object(socket.socket, name, _guarded(name, refuse)))
        for name in _LOOKUPS:
            stack.enter_context(
                mock.patch.object(socket, name, lambda host, *_rest, **_options: refuse("look up", host))
            )
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
