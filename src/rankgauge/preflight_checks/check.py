"""
Preflight: checking runs against judgments, given in any way, before a number is computed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rankgauge.columns import Qrels, RunSource
from rankgauge.errors import DataError, Problem, RepeatedJudgmentsError, UnreadableError
from rankgauge.io.recognize import Looks, sniff
from rankgauge.io.sources import STANDARD_INPUT, open_qrels, open_run
from rankgauge.io.trec import RunFile
from rankgauge.judging.parts import thread_count, work_on_parts
from rankgauge.preflight_checks.findings import About, Finding, Preflight, counted
from rankgauge.preflight_checks.judgments import check_judgments, judgment_facts
from rankgauge.preflight_checks.overlap import check_overlap, overlap_facts
from rankgauge.preflight_checks.ranking import check_ranking, run_facts
from rankgauge.preflight_checks.scan import RunScan, ScannedRun, merged

__all__ = ["preflight", "preflight_runs"]

_SEVERITIES = ("error", "warning", "info")
_SWAPPED = "the first file is a run and the second holds judgments"
_MOST_EXAMPLES = 100


def preflight(qrels: object, run: object, *, rel: float = 1.0, columns: Mapping[str, str] | None = None) -> Preflight:
    """
    Check a run against judgments without scoring it.

    ::

        checked = rankgauge.preflight("qrels.txt", "run.txt")
        print(checked)
        assert checked.ok

    Args:
        qrels: Judgments, given in any way that `rankgauge.evaluate` takes.

        run: A run, given in any way that `rankgauge.evaluate` takes.

        rel: The lowest grade of a relevant document.

        columns: The tables' names for `query`, `document`, `grade` and `score`.

    Returns:
        What was found; lines that cannot be read are findings, too.

    Raises:
        UnreadableError: A file cannot be opened or decompressed, or is not text.
    """
    return preflight_runs(qrels, {"run": run}, rel=rel, columns=columns)["run"]


def preflight_runs(
    qrels: object,
    runs: Mapping[str, object],
    *,
    rel: float = 1.0,
    columns: Mapping[str, str] | None = None,
) -> dict[str, Preflight]:
    """
    Check several runs against the same judgments, which are read once.

    Args:
        qrels: As in `preflight`.

        runs: Runs by name, each as in `preflight`.

        rel: As in `preflight`.

        columns: As in `preflight`.

    Returns:
        What was found of each run, by name, in the order given.

    Raises:
        UnreadableError: As in `preflight`.
    """
    judgments = _read_judgments(qrels, columns, rel)
    return {name: _checked(judgments, run, rel, columns) for name, run in runs.items()}


class _Judgments(NamedTuple):
    """Judgments as far as they could be read, and findings about them."""

    name: str
    qrels: Qrels | None
    looks: Looks | None
    facts: Mapping[str, float]
    findings: tuple[Finding, ...]


def _read_judgments(source: object, columns: Mapping[str, str] | None, rel: float) -> _Judgments:
    name = _name_of(source)
    findings: list[Finding] = []
    try:
        qrels = source if isinstance(source, Qrels) else open_qrels(source, columns=columns)
    except UnreadableError:
        raise
    except RepeatedJudgmentsError as error:
        qrels = error.kept
        findings.append(_judged_twice(error))
    except DataError as error:
        looks = _looks(source)
        return _Judgments(name, None, looks, {}, (_unreadable("judgments", error.problems, looks),))
    if qrels.n_judgments:
        findings += check_judgments(qrels, rel)
    return _Judgments(name, qrels, None, judgment_facts(qrels, rel) if qrels.n_judgments else {}, tuple(findings))


def _checked(judgments: _Judgments, run: object, rel: float, columns: Mapping[str, str] | None) -> Preflight:
    name = _name_of(run)
    looks = _looks(run) if _is_file(run) else None
    is_run_first = judgments.looks is not None and judgments.looks.kind == "run"
    if is_run_first and looks is not None and looks.kind == "judgments":
        return Preflight(judgments.name, name, {}, (_swapped(judgments.name, name),))
    facts, findings = dict(judgments.facts), list(judgments.findings)
    try:
        source = open_run(run, columns=columns)
        scanned, scattered = _scanned(source, judgments.qrels, rel)
    except UnreadableError:
        raise
    except DataError as error:
        findings.append(_unreadable("run", error.problems, looks))
        return Preflight(judgments.name, name, facts, _by_severity(findings))
    if not scanned.names:
        findings.append(_empty("run"))
        return Preflight(judgments.name, name, facts, _by_severity(findings))
    facts |= run_facts(scanned)
    if judgments.qrels is not None and judgments.facts:
        overlap = overlap_facts(scanned, judgments.qrels, rel)
        facts |= overlap
        findings += check_overlap(scanned, judgments.qrels, overlap)
    findings += check_ranking(scanned)
    if scattered:
        findings.append(_scattered(scattered, len(scanned.names)))
    return Preflight(judgments.name, name, facts, _by_severity(findings))


def _scanned(source: RunSource, qrels: Qrels | None, rel: float) -> tuple[ScannedRun, tuple[bytes, ...]]:
    """Scan a run; also return the queries whose lines are not together."""
    if isinstance(source, RunFile):
        source = source.with_ranks()
    judged = qrels if qrels is not None and qrels.n_judgments else None
    parts = source.parts(thread_count())
    scans = [RunScan(judged, rel) for _ in parts]
    work_on_parts(parts, lambda number: scans[number].add)
    scanned = merged(scans)
    if not scanned.scattered:
        return scanned, ()
    scan = RunScan(judged, rel)
    for batch in source.grouped():
        scan.add(batch)
    return merged([scan]), tuple(scanned.scattered)


def _unreadable(what: About, problems: Sequence[Problem], looks: Looks | None) -> Finding:
    """Return a finding about judgments or a run that cannot be read, with every such line."""
    if looks is not None and looks.kind == "empty":
        return _empty(what, str(problems[0]) if problems else "")
    is_run = what == "run"
    listed = tuple(map(str, problems))
    n = sum(problem.line is not None for problem in problems) or len(problems)
    message = f"the {what} cannot be read; {'at least ' if n < len(problems) else ''}{counted(n, 'problem')}"
    columns = "query Q0 document rank score tag" if is_run else "query iteration document grade"
    advice = f"fix these lines: each is `{columns}`, separated by white space; numbers are finite decimals"
    counts = {"problems": n}
    if looks is not None and looks.what and looks.kind != what:
        message += f"; the file looks like {looks.what}"
        advice = f"is this the wrong file? lines of {'a run' if is_run else 'judgments'} are `{columns}`"
        counts["other_format"] = 1
    return Finding(f"{what}-unreadable", "error", what, message, advice, counts, listed)


def _empty(what: About, example: str = "") -> Finding:
    return Finding(
        f"{what}-empty",
        "error",
        what,
        f"the {what} {'is' if what == 'run' else 'are'} empty",
        "was the file written completely?",
        examples=(example,) if example else (),
    )


def _judged_twice(error: RepeatedJudgmentsError) -> Finding:
    n = len(error.problems)
    return Finding(
        "judged-twice",
        "error",
        "judgments",
        f"{counted(n, 'judgment repeats', 'judgments repeat')} a document that was judged before for the query",
        "keep one line for each document of a query; the rest of this report uses the first",
        {"judgments": n},
        tuple(problem.message for problem in error.problems),
    )


def _swapped(qrels: str, run: str) -> Finding:
    return Finding(
        "swapped",
        "error",
        "both",
        f"{_SWAPPED}: a line of {qrels} has the six columns of a run, a line of {run} the four columns of judgments",
        "name the judgments first, then the run",
    )


def _scattered(scattered: tuple[bytes, ...], n: int) -> Finding:
    return Finding(
        "scattered-queries",
        "info",
        "run",
        f"the lines of {len(scattered):,} of {n:,} queries are not together in the file",
        "harmless: they are grouped, which takes disk space and time; sort the file by query to save both",
        {"queries": len(scattered)},
        tuple(f"query {name.decode('utf-8', 'backslashreplace')!r}" for name in scattered[:_MOST_EXAMPLES]),
    )


def _by_severity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: _SEVERITIES.index(finding.severity)))


def _is_file(source: object) -> bool:
    return isinstance(source, str | os.PathLike) and os.fspath(source) != STANDARD_INPUT


def _looks(source: object) -> Looks | None:
    """Return what a file looks like; None where the source is not a file."""
    if not _is_file(source):
        return None
    path = Path(os.fspath(source))  # type: ignore[call-overload]  # `_is_file` has checked it
    looks = sniff(path)
    if looks.kind == "binary":
        msg = f"cannot read {path}:"
        raise UnreadableError(msg, [Problem(f"it is {looks.what}", str(path))])
    return looks


def _name_of(source: object) -> str:
    if isinstance(source, Qrels):
        return source.source
    if not isinstance(source, str | os.PathLike):
        return ""
    return "standard input" if os.fspath(source) == STANDARD_INPUT else os.fspath(source)
