"""
The checks: a metric, normalizer, comparer or matcher in, a report out.

hypothesis draws the cases; it loads when a check runs, so that naming this module costs nothing of it.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from rankgauge.errors import MissingExtraError
from rankgauge.testing.laws import Subjects, check_names, laws_of
from rankgauge.testing.network import closed_network
from rankgauge.testing.report import Report, Verdict

if TYPE_CHECKING:
    from rankgauge.testing.metric_laws import MetricLaw
    from rankgauge.testing.text_laws import TextLaw
    from rankgauge.testing.trial import Trial

__all__ = ["CASES", "checking", "judge_laws", "unusable_report"]

CASES = 100
"""How many cases are drawn for a law, unless one says otherwise."""


@contextlib.contextmanager
def checking(what: str) -> Iterator[list[str]]:
    """
    Enter a check: hypothesis has to be there, and the network is closed.

    Args:
        what: What is called, for the message.

    Yields:
        A list that receives attempts to reach the network.

    Raises:
        MissingExtraError: hypothesis is not installed.
    """
    try:
        importlib.import_module("hypothesis")
    except ImportError as error:
        raise MissingExtraError(what, "testing") from error
    with closed_network() as attempts:
        yield attempts


def judge_laws(
    kind: Subjects,
    name: str,
    trial: Callable[[], Trial[Any]],
    known: Mapping[str, MetricLaw | TextLaw],
    wanted: Iterable[str],
    *,
    without: Iterable[str] = (),
    cases: int = CASES,
    attempts: list[str],
    called: str = "",
    could: Iterable[str] = (),
) -> Report:
    """
    Check laws one after the other.

    Args:
        kind: What is checked.

        name: What it is called.

        trial: Makes a fresh trial.

        known: How each law is checked, by name.

        wanted: The laws to check.

        without: Those to skip all the same.

        cases: How many cases to draw for a law.

        attempts: What was tried to reach over the network; it is read when all else is done.

        called: How the function is called, for the report.

        could: Laws that are not declared; those that hold are named in the report when nothing is broken.

    Returns:
        The report.
    """
    infos = laws_of(kind)
    wanted, left_out = frozenset(wanted), check_names(kind, without)
    verdicts: list[Verdict] = []
    for law, info in infos.items():
        if law == "no-network" or (law not in wanted and law not in left_out):
            continue
        if law in left_out:
            verdicts.append(Verdict(law=law, says=info.summary, state="skipped", reason="left out on request"))
            continue
        verdicts.append(_verdict(law, info.summary, known[law], trial, cases))
        if law == "usable" and verdicts[-1].state == "broken":  # nothing else can be told then
            return Report(kind=kind, name=name, called=called, verdicts=tuple(verdicts))
    if "no-network" not in left_out and "no-network" in wanted:
        verdicts.append(
            Verdict(
                law="no-network",
                says=infos["no-network"].summary,
                state="broken" if attempts else "holds",
                reason=f"it tried to {', and to '.join(attempts)}" if attempts else "",
            )
        )
    hold: tuple[str, ...] = ()
    if all(verdict.state != "broken" for verdict in verdicts):
        tried = [_verdict(law, "", known[law], trial, cases, shrink=False) for law in could if law not in left_out]
        hold = tuple(verdict.law for verdict in tried if verdict.state == "holds")
    return Report(kind=kind, name=name, called=called, verdicts=tuple(verdicts), could_declare=hold)


def unusable_report(kind: Subjects, name: str, reason: str) -> Report:
    """
    Return the report of what cannot work where it is checked, such as a comparer whose model is not installed.

    Args:
        kind: What was to be checked.

        name: What it is called.

        reason: Why it cannot work here.

    Returns:
        A report in which every law is skipped.
    """
    verdicts = [
        Verdict(law=law, says=info.summary, state="skipped", reason=reason) for law, info in laws_of(kind).items()
    ]
    return Report(kind=kind, name=name, verdicts=tuple(verdicts), unusable=reason)


def _verdict(
    law: str, says: str, rule: MetricLaw | TextLaw, trial: Callable[[], Trial[Any]], cases: int, *, shrink: bool = True
) -> Verdict:
    from rankgauge.testing.draws import hold  # loads hypothesis
    from rankgauge.testing.trial import BrokenError  # loads the engine

    fresh = trial()
    if reason := rule.skip(fresh.subject):
        return Verdict(law=law, says=says, state="skipped", reason=reason)
    broken: BrokenError | None = None
    if rule.cost == 0:
        try:
            rule.check(fresh)
        except BrokenError as error:
            broken = error
    else:
        strategies = cast("Any", rule.draw)(fresh.subject)
        broken = hold(rule.check, strategies, trial, most=max(5, int(cases / rule.cost)), shrink=shrink)
    if broken is None:
        return Verdict(law=law, says=says, state="holds")
    return Verdict(law=law, says=says, state="broken", reason=broken.reason, example=broken.example)
