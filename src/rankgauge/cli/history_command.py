"""
`rankgauge history`: results over time, from an index of result folders.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import visible
from rankgauge.cli.command_line import Command
from rankgauge.cli.console import in_steps, print_json, remark, report_width, rule, show
from rankgauge.cli.shared_options import add_json_option, path, whole_number
from rankgauge.errors import ParameterError, ResultError, counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rankgauge.gates.outcomes import GateReport
    from rankgauge.history import History
    from rankgauge.history.entry import Entry
    from rankgauge.result import ResultValues

__all__ = ["ADD", "EXPORT", "HTML", "LIST", "SHOW", "add_history_option", "add_results", "last_good"]

DEFAULT = "rankgauge.history"
"""Where a history is, unless it is named."""

_CODES = "Exit codes: 0 done, 2 usage, or a folder or history that cannot be used, 5 internal error.\n"

_ABOUT_ADD = f"""\
The folders stay where they are: the history keeps means, intervals, counts and fingerprints, and names each folder by
its content. A folder of result folders adds all of them. A folder that is there already gets what is given now.

{_CODES}"""

_ABOUT_SHOW = f"""\
A line is one metric of one dataset. It breaks where the samples, their ground truth or the definition changed, and says
which. Changes between neighbours are tested sample by sample, with p values corrected over all that are shown; since
when a line is better or worse is told with an interval.

{_CODES}"""

_ABOUT_HTML = f"""\
One file that loads nothing: every line with its intervals, breaks and changes, each point with a link to its report,
and small lines by cohort.

{_CODES}"""


def add_history_option(add: object, help_text: str, default: str | None = None) -> None:
    """Add the option that names the history."""
    add("--history", type=path, default=default, metavar="FILE", help=help_text)  # type: ignore[operator]  # `add_argument`


def _add_add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folders", type=path, nargs="+", metavar="DIR", help="Result folders, or folders of result folders.")
    _add_file(parser)
    add("--name", metavar="NAME", help="What the entry is called. [default: as its folder]")
    add("--commit", metavar="HASH", help="The commit that it was made at. [default: as the result says]")
    add("--tag", action="append", metavar="TAG", help="A word to select entries by. Repeatable.")
    add("--passed", action="store_true", default=None, help="It met its gates: `--baseline last-good` finds it.")


def _add_file(parser: argparse.ArgumentParser) -> None:
    add_history_option(parser.add_argument, "The history. [default: %(default)s]", DEFAULT)


def _add_selection(parser: argparse.ArgumentParser, last: int) -> None:
    add = parser.add_argument
    _add_file(parser)
    add("--dataset", metavar="NAME", help="The entries of this dataset only.")
    add("--system", metavar="NAME", help="The entries of this system only: a function, run tag or outputs file.")
    add("--tag", metavar="TAG", help="The entries with this tag only.")
    newest = "The newest entries of each dataset. [default: %(default)s]"
    add("--last", type=whole_number(1), default=last, metavar="N", help=newest)


def _add_metric(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-m", "--metric", action="append", metavar="METRIC", help="A column. Repeatable. [default: all]"
    )


def _selected(given: argparse.Namespace) -> tuple[History, list[Entry]]:
    from rankgauge.history import History

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


def _add(given: argparse.Namespace) -> int:
    from rankgauge.history import History

    folders = [folder for each in given.folders for folder in _result_folders(each)]
    if given.name and len(folders) > 1:
        raise ParameterError(f"--name is of one entry, and these are {len(folders)}; leave it out, or add one by one")
    facts = {"name": given.name or "", "commit": given.commit or "", "tags": given.tag or (), "passed": given.passed}
    for folder in in_steps("adding", folders):
        entry = History(given.history).add(folder, **facts)
        remark(f"added {visible(entry.name)} ({entry.id}) to {given.history}")
    return 0


def _result_folders(folder: Path) -> list[Path]:
    inner = sorted(manifest.parent for manifest in folder.glob("*/manifest.json"))
    return [folder] if (folder / "manifest.json").exists() or not inner else inner


def _list(given: argparse.Namespace) -> int:
    from rankgauge.history.layouts import entry_facts, list_text

    _, entries = _selected(given)
    if given.as_json:
        print_json([entry_facts(entry) for entry in entries])
    else:
        show(list_text(entries, width=report_width(), rule=rule()))
    return 0


def _show(given: argparse.Namespace) -> int:
    from rankgauge.history.layouts import history_text, line_facts
    from rankgauge.history.lines import history_lines

    history, entries = _selected(given)
    lines = history_lines(history, entries, _metrics(given, entries))
    if given.as_json:
        print_json([line_facts(line) for line in lines])
    else:
        show(history_text(lines, width=report_width(), rule=rule()))
    return 0


def _html(given: argparse.Namespace) -> int:
    from rankgauge.cli.report_command import check_html
    from rankgauge.history.lines import history_lines
    from rankgauge.io.whole_files import replace_file
    from rankgauge.report.html.trend import lay_out_history

    check_html(given.output)
    history, entries = _selected(given)
    lines = history_lines(history, entries, _metrics(given, entries))
    try:
        replace_file(given.output, lay_out_history(lines, given.output.parent).encode())
    except OSError as error:
        raise ResultError(f"cannot write {given.output}: {error.strerror or error}") from error
    remark(f"wrote {given.output}")
    return 0


def _export(given: argparse.Namespace) -> int:
    from rankgauge.history.layouts import export_history

    _, entries = _selected(given)
    export_history(entries, given.output)
    remark(f"wrote {counted(len(entries), 'entry', 'entries')} to {given.output}")
    return 0


def add_results(
    file: Path, saved: Sequence[Path], results: Mapping[str, ResultValues], report: GateReport | None, *, begins: bool
) -> None:
    """
    Add the folders that a run saved to a history, with the commit that is checked out and what became of the gates.

    A gate that only warns is neither met nor failed, so that a baseline does not drift by what was left open. The first
    result of a history, which has no baseline for its gates on changes, has met them.
    """
    from pathlib import Path

    from rankgauge.gates.baseline import commit_of
    from rankgauge.history import History
    from rankgauge.result.wording import partial_line

    commit = commit_of(Path.cwd())
    for folder, (name, result) in zip(saved, results.items(), strict=True):
        if why := partial_line(result):
            remark(f"{visible(name)} was not added to {file}.{why}")
            continue
        statuses = {outcome.status for outcome in report.outcomes if outcome.dataset == name} if report else set()
        passed = False if statuses & {"failed", "error"} or result.is_incomplete else None
        if passed is None and statuses <= {"passed"} and (statuses or begins):
            passed = True
        entry = History(file).add(folder, commit=commit, passed=passed)
        remark(f"added {visible(entry.name)} ({entry.id}) to {file}")


def last_good(file: Path | None) -> dict[str, ResultValues]:
    """Return the baseline `last-good`; none before the first run, which makes the history."""
    from rankgauge.history import History

    if file is None:
        raise ParameterError("--baseline last-good is looked up in a history; name it with --history FILE of `run`")
    return History(file).last_good() if file.exists() else {}


def _add_list_options(parser: argparse.ArgumentParser) -> None:
    _add_selection(parser, 50)
    add_json_option(parser)


def _add_show_options(parser: argparse.ArgumentParser) -> None:
    _add_selection(parser, 20)
    _add_metric(parser)
    add_json_option(parser)


def _add_html_options(parser: argparse.ArgumentParser) -> None:
    _add_selection(parser, 100)
    _add_metric(parser)
    parser.add_argument("-o", "--output", type=path, default="history.html", metavar="FILE", help="The page.")


def _add_export_options(parser: argparse.ArgumentParser) -> None:
    _add_selection(parser, 1_000_000)
    parser.add_argument("output", type=path, metavar="FILE", help="The table: .csv or .parquet.")


ADD = Command("[OPTIONS] DIR [MORE ...]", _ABOUT_ADD, _add_add_options, _add)
LIST = Command("[OPTIONS]", _CODES, _add_list_options, _list)
SHOW = Command("[OPTIONS]", _ABOUT_SHOW, _add_show_options, _show)
HTML = Command("[OPTIONS]", _ABOUT_HTML, _add_html_options, _html)
EXPORT = Command(
    "[OPTIONS] FILE", f"One row for each entry, metric and cohort.\n\n{_CODES}", _add_export_options, _export
)
