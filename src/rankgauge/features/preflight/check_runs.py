"""
Preflight: checking runs against judgments, given in any way, before a number is computed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, overload

from rankgauge.catalog import Catalog
from rankgauge.columns import Qrels, RunSource
from rankgauge.errors import DataError, ParameterError, Problem, RepeatedJudgmentsError, UnreadableError
from rankgauge.features.preflight.finding_kinds import MOST_EXAMPLES, finding, query_named
from rankgauge.features.preflight.findings import Finding, Preflight
from rankgauge.features.preflight.id_overlap import check_overlap, overlap_facts
from rankgauge.features.preflight.ranking_checks import check_judgments, check_ranking, judgment_facts, run_facts
from rankgauge.features.preflight.run_scan import RunScan, ScannedRun, merged
from rankgauge.io.open_sources import STANDARD_INPUT, QrelsLike, RunLike, open_qrels, open_run
from rankgauge.io.problems import unreadable
from rankgauge.io.recognize import FileKind, Looks, recognize, sniff
from rankgauge.io.trec import OddLines, RunFile
from rankgauge.judging.swapped_sides import nested_otherwise, swap_doubt
from rankgauge.judging.threads import thread_count, work_on_parts

__all__ = ["preflight"]

_SEVERITIES = ("error", "warning", "info")


@overload
def preflight(
    qrels: QrelsLike, run: RunLike, *, rel: float = ..., columns: Mapping[str, str] | None = ...
) -> Preflight: ...


@overload
def preflight(
    qrels: QrelsLike, *, runs: Mapping[str, RunLike], rel: float = ..., columns: Mapping[str, str] | None = ...
) -> dict[str, Preflight]: ...


def preflight(
    qrels: QrelsLike,
    run: RunLike | None = None,
    *,
    runs: Mapping[str, RunLike] | None = None,
    rel: float = 1.0,
    columns: Mapping[str, str] | None = None,
) -> Preflight | dict[str, Preflight]:
    """
    Check a run, or several, against judgments without scoring.

        checked = rankgauge.preflight("qrels.txt", "run.txt")
        print(checked)
        assert checked.ok

    Args:
        qrels: Judgments, given in any way that `rankgauge.evaluate` takes.

        run: A run, given in any way that `rankgauge.evaluate` takes.

        runs: Several runs by name instead of *run*; the judgments are read once.

        rel: The lowest grade of a relevant document.

        columns: The tables' names, as `rankgauge.evaluate` takes them.

    Returns:
        What was found; lines that cannot be read are findings, too. Of several runs by name, in the order given.

    Raises:
        ParameterError: Neither or both of *run* and *runs*.

        UnreadableError: A file cannot be opened or decompressed, or is not text.
    """
    if (run is None) is (runs is None):
        got = "neither" if run is None else "both"
        raise ParameterError(f"preflight takes one run, or several as runs={{name: run}}; it got {got}")
    judgments = _read_judgments(qrels, columns, rel)
    if run is not None:
        return _checked(judgments, run, rel, columns)
    return {name: _checked(judgments, each, rel, columns) for name, each in (runs or {}).items()}


class _Judgments(NamedTuple):
    """Judgments as far as they could be read, and findings about them."""

    name: str
    qrels: Qrels | None
    looks: Looks | None
    facts: Mapping[str, float]
    findings: tuple[Finding, ...]


def _read_judgments(source: QrelsLike, columns: Mapping[str, str] | None, rel: float) -> _Judgments:
    name = _name_of(source)
    findings: list[Finding] = []
    try:
        qrels = (
            source if isinstance(source, Qrels) else open_qrels(source, columns=columns, catalog=Catalog.installed())
        )
    except UnreadableError:
        raise
    except RepeatedJudgmentsError as error:
        qrels = error.kept
        repeats = [problem.message for problem in error.problems]
        findings.append(finding("judged-twice", {"judgments": len(repeats)}, repeats))
    except DataError as error:
        looks = _looks(source)
        return _Judgments(name, None, looks, {}, (_unreadable("judgments", error.problems, looks),))
    if not qrels.n_judgments:
        return _Judgments(name, None, None, {}, tuple(findings))
    findings += check_judgments(qrels, rel)
    return _Judgments(name, qrels, None, judgment_facts(qrels, rel), tuple(findings))


def _checked(judgments: _Judgments, run: RunLike, rel: float, columns: Mapping[str, str] | None) -> Preflight:
    name = _name_of(run)
    looks = _looks(run)
    is_run_first = judgments.looks is not None and judgments.looks.kind == "run"
    if is_run_first and looks is not None and looks.kind == "judgments":
        return Preflight(judgments.name, name, {}, (finding("swapped", qrels=judgments.name, run=name),))
    facts, findings = dict(judgments.facts), list(judgments.findings)
    try:
        source = open_run(run, columns=columns, catalog=Catalog.installed())
        if (with_ranks := getattr(source, "with_ranks", None)) is not None:  # of a file or table that may state them
            source = with_ranks()
        scanned, scattered = _scanned(source, judgments.qrels, rel)
    except UnreadableError:
        raise
    except DataError as error:
        findings.append(_unreadable("run", error.problems, looks))
    else:
        odd = source.odd_lines if isinstance(source, RunFile) else None
        findings += _other_way_round(judgments.qrels, source, overlap=bool((scanned.queries.place >= 0).any()))
        findings += _findings_of(scanned, scattered, odd, judgments.qrels, rel, facts)
    findings.sort(key=lambda finding: _SEVERITIES.index(finding.severity))
    return Preflight(judgments.name, name, facts, tuple(findings))


def _other_way_round(qrels: Qrels | None, source: RunSource, *, overlap: bool) -> Iterator[Finding]:
    """Yield whether judgments and run are swapped or, if no query is in both, one is nested the other way round."""
    if qrels is None:
        return
    if (doubt := swap_doubt(qrels, source)) is not None:
        may = "are swapped" if doubt.is_certain else "may be swapped"
        yield finding("swapped-sides", severity="error" if doubt.is_certain else None, may=may, why=doubt.message)
    if not overlap and (error := nested_otherwise(qrels, source)) is not None:
        yield finding("nested-otherwise", why=error.problems[0].message)


def _findings_of(
    run: ScannedRun,
    scattered: Sequence[bytes],
    odd: OddLines | None,
    qrels: Qrels | None,
    rel: float,
    facts: dict[str, float],
) -> Iterator[Finding]:
    """Yield findings about a run, and add to the facts."""
    if not run.names:
        yield finding("run-empty")
        return
    facts |= run_facts(run)
    if qrels is not None:
        facts |= overlap_facts(run, qrels, rel)
        yield from check_overlap(run, qrels, facts)
    if odd is not None:
        yield finding("shifted-fields", {"lines": odd.n}, map(str, odd.examples(MOST_EXAMPLES)))
    yield from check_ranking(run, facts, has_odd_ranks=odd is not None)
    if scattered:
        places = map(query_named, scattered[:MOST_EXAMPLES])
        yield finding("scattered-queries", {"queries": len(scattered)}, places, of=len(run.names))


def _scanned(source: RunSource, qrels: Qrels | None, rel: float) -> tuple[ScannedRun, Sequence[bytes]]:
    """Scan a run; also return the queries whose lines are not together."""
    parts = source.parts(thread_count())
    scans = [RunScan(qrels, rel) for _ in parts]
    work_on_parts(parts, lambda number: scans[number].add)
    scanned = merged(scans)
    if not scanned.scattered:
        return scanned, ()
    scan = RunScan(qrels, rel)
    for batch in source.grouped():
        scan.add(batch)
    return merged([scan]), scanned.scattered


def _unreadable(what: Literal["judgments", "run"], problems: Sequence[Problem], looks: Looks | None) -> Finding:
    """Return a finding about judgments or a run that cannot be read, with every such line."""
    if looks is not None and looks.kind == "empty":
        return finding(f"{what}-empty", examples=map(str, problems[:1]))
    n = sum(problem.line is not None for problem in problems) or len(problems)
    least = "at least " if n < len(problems) else ""
    counts, hint, ask = {"problems": n}, "", ""
    if looks is not None and looks.what and looks.kind != what:
        counts["other_format"] = 1
        hint, ask = f"; the file looks like {looks.what}", "is this the wrong file? if not, "
    return finding(f"{what}-unreadable", counts, map(str, problems), least=least, looks=hint, ask=ask)


def _looks(source: object) -> Looks | None:
    """Return what a file looks like; None if the source is not a file."""
    if not isinstance(source, str | os.PathLike) or os.fspath(source) == STANDARD_INPUT:
        return None
    path = Path(source)
    looks = sniff(path)
    if looks.kind == "binary":
        if recognize(path, "run", None, name=str(path)) is FileKind.PARQUET:
            return None  # a table
        raise unreadable(str(path), f"it is {looks.what}")
    return looks


def _name_of(source: object) -> str:
    if isinstance(source, Qrels):
        return source.source
    if not isinstance(source, str | os.PathLike):
        return ""
    return "standard input" if os.fspath(source) == STANDARD_INPUT else os.fspath(source)
