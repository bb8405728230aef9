"""
`rankgauge history`: results over time, from an index of result folders.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankgauge.base.plain_text import visible
from rankgauge.cli.console import in_steps, print_answer, remark, report_width, rule
from rankgauge.cli.result_folders import check_html, folders_within
from rankgauge.errors import ParameterError, ResultError, counted
from rankgauge.features.history.entry import Entry
from rankgauge.features.history.index_file import History
from rankgauge.features.history.layouts import entry_facts, export_history, history_text, line_facts, list_text
from rankgauge.features.history.lines import history_lines
from rankgauge.gates.baseline import commit_of
from rankgauge.gates.outcomes import GateReport
from rankgauge.io.whole_files import replace_file
from rankgauge.result import Result
from rankgauge.result.wording import partial_line


def _selected(given: argparse.Namespace) -> tuple[History, list[Entry]]:
    history = History(given.history)
    return history, history.entries(dataset=given.dataset, system=given.system, tag=given.tag, last=given.last)


def _metrics(given: argparse.Namespace, entries: Sequence[Entry]) -> list[str] | None:
    """Return the columns that were typed, by their names in the entries."""
    if not given.metric:
        return None
    known = {name.casefold(): name for entry in entries for name in entry.means}
    if lost := [name for name in given.metric if name.casefold() not in known]:
        raise ParameterError(f"no entry has a metric {lost[0]!r}; there are {', '.join(known.values())}")
    return [known[name.casefold()] for name in given.metric]


def execute_add(given: argparse.Namespace) -> int:
    """Add result folders to the history."""
    folders = [folder for place in given.folders for folder in folders_within(place)]
    if given.name and len(folders) > 1:
        raise ParameterError(f"--name is of one entry, and these are {len(folders)}; leave it out, or add one by one")
    facts = {"name": given.name or "", "commit": given.commit or "", "tags": given.tag or (), "passed": given.passed}
    for folder in in_steps("adding", folders):
        _add(given.history, folder, **facts)
    return 0


def _add(file: Path, folder: Path, **facts: Any) -> None:  # noqa: ANN401  # those of `History.add`
    entry = History(file).add(folder, **facts)
    remark(f"added {visible(entry.name)} ({entry.id}) to {file}")


def execute_list(given: argparse.Namespace) -> int:
    """List the entries."""
    _, entries = _selected(given)
    return print_answer(given, list(map(entry_facts, entries)), list_text(entries, width=report_width(), rule=rule()))


def execute_show(given: argparse.Namespace) -> int:
    """Show each metric over time."""
    history, entries = _selected(given)
    lines = history_lines(history, entries, _metrics(given, entries))
    return print_answer(given, list(map(line_facts, lines)), history_text(lines, width=report_width(), rule=rule()))


def execute_html(given: argparse.Namespace) -> int:
    """Write the history as one page."""
    from rankgauge.features.history.trend import lay_out_history

    check_html(given.output)
    history, entries = _selected(given)
    lines = history_lines(history, entries, _metrics(given, entries))
    try:
        replace_file(given.output, lay_out_history(lines, given.output.parent).encode())
    except OSError as error:
        raise ResultError(f"cannot write {given.output}: {error.strerror or error}") from error
    remark(f"wrote {given.output}")
    return 0


def execute_export(given: argparse.Namespace) -> int:
    """Write the history as a table."""
    _, entries = _selected(given)
    export_history(entries, given.output)
    remark(f"wrote {counted(len(entries), 'entry', 'entries')} to {given.output}")
    return 0


def add_results(
    file: Path, saved: Sequence[Path], results: Mapping[str, Result], report: GateReport | None, *, begins: bool
) -> None:
    """
    Add the folders that a run saved to a history, with the commit that is checked out and what became of the gates.

    A gate that only warns is neither met nor failed, so that a baseline does not drift by what was left open. The first
    result of a history, which has no baseline for its gates on changes, has met them.
    """
    commit = commit_of(Path.cwd())
    for folder, (name, result) in zip(saved, results.items(), strict=True):
        if why := partial_line(result):
            remark(f"{visible(name)} was not added to {file}.{why}")
            continue
        statuses = {outcome.status for outcome in report.outcomes if outcome.dataset == name} if report else set()
        passed = False if statuses & {"failed", "error"} or result.is_incomplete else None
        if passed is None and statuses <= {"passed"} and (statuses or begins):
            passed = True
        _add(file, folder, commit=commit, passed=passed)


def last_good(file: Path | None) -> dict[str, Result]:
    """Return the baseline `last-good`; none before the first run, which makes the history."""
    if file is None:
        raise ParameterError("--baseline last-good is looked up in a history; name it with --history FILE of `run`")
    return History(file).last_good() if file.exists() else {}
