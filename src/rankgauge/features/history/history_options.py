"""
What can be typed for the commands of the history.
"""

from __future__ import annotations

from rankgauge.cli.shared_options import AS_JSON, Command, Options, count, file, flag, value

_CODES = "Exit codes: 0 done, 2 usage, or a folder or history that cannot be used, 5 internal error.\n"
_OF_HISTORY = "rankgauge.features.history.history_command"
_HISTORY = file("--history", "The history.", default="rankgauge.history")
_COLUMN = value("-m --metric", "METRIC", "A column.", many=True, says="all")


def _selected(newest: int) -> Options:
    """Return the options that select entries of a history, by default its *newest*."""
    return (
        _HISTORY,
        value("--dataset", "NAME", "The entries of this dataset only."),
        value("--system", "NAME", "The entries of this system only: a function, run tag or outputs file."),
        value("--tag", "TAG", "The entries with this tag only."),
        count("--last", "The newest entries of each dataset.", default=newest),
    )


_ABOUT_ADD = f"""\
The folders stay where they are: the history keeps means, intervals, counts and fingerprints, and names each folder by
its content. A folder of result folders adds all of them. A folder that is there already gets what is given now.

{_CODES}"""
_ADD_OPTIONS: Options = (
    file("folders", "Result folders, or folders of result folders.", "DIR", nargs="+"),
    _HISTORY,
    value("--name", "NAME", "What the entry is called.", says="as its folder"),
    value("--commit", "HASH", "The commit that it was made at.", says="as the result says"),
    value("--tag", "TAG", "A word to select entries by.", many=True),
    flag("--passed", "It met its gates: `--baseline last-good` finds it.", default=None),
)
HISTORY_ADD = Command("[OPTIONS] DIR [MORE ...]", _ABOUT_ADD, _ADD_OPTIONS, f"{_OF_HISTORY}:execute_add")
HISTORY_LIST = Command("[OPTIONS]", _CODES, (*_selected(50), AS_JSON), f"{_OF_HISTORY}:execute_list")
_ABOUT_SHOW = f"""\
A line is one metric of one dataset. It breaks where the samples, their ground truth or the definition changed, and says
which. Changes between neighbours are tested sample by sample, with p values corrected over all that are shown; it
says since when a line is better or worse, with an interval.

{_CODES}"""
HISTORY_SHOW = Command(
    "[OPTIONS]",
    _ABOUT_SHOW,
    (*_selected(20), _COLUMN, AS_JSON),
    f"{_OF_HISTORY}:execute_show",
)
_ABOUT_HTML = f"""\
One file that loads nothing: every line with its intervals, breaks and changes, each point with a link to its report,
and small lines by cohort.

{_CODES}"""
_PAGE = file("-o --output", "The page.", default="history.html", says="")
HISTORY_HTML = Command(
    "[OPTIONS]",
    _ABOUT_HTML,
    (*_selected(100), _COLUMN, _PAGE),
    f"{_OF_HISTORY}:execute_html",
)
_ABOUT_EXPORT = f"One row for each entry, metric and cohort.\n\n{_CODES}"
_EXPORT_OPTIONS: Options = (*_selected(1_000_000), file("output", "The table: .csv or .parquet."))
HISTORY_EXPORT = Command("[OPTIONS] FILE", _ABOUT_EXPORT, _EXPORT_OPTIONS, f"{_OF_HISTORY}:execute_export")
