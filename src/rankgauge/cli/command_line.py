"""
The command line as argparse reads it: which commands there are, their parsers, help, usage errors and completion.

A command is a line in `COMMANDS`, and a `Command` in a file of options, which names the function that does it. Commands
of plugins join that table where a group that is open to them is listed, or a word in it is not ours.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from rankgauge.arguments import path
from rankgauge.cli.console import emit, remark, warn_of_faults
from rankgauge.cli.option_parser import CommandParser, UsageError
from rankgauge.cli.own_process import load_numpy
from rankgauge.cli.shared_options import Options, add_options, flag, value
from rankgauge.cli.streams import results

Given = TypeVar("Given")
Found = TypeVar("Found")

if TYPE_CHECKING:
    from rankgauge.catalog import Claim
    from rankgauge.plugin.programs import Command as PluginCommand

_ABOUT = "Retrieval metrics you can trust."

_HIDDEN = ("eval",)
_HIGHEST_CODE = 255  # a system keeps eight bits of an exit code, so that 256 would be a success
_OPEN = {"judge": "rankgauge-judge", "systems": "rankgauge-systems", "traces": "rankgauge-traces"}
"""
The groups that plugins can join, each with a plugin that does.

`rankgauge.plugin.programs`, which has the groups, is slow to load.
"""
_SHELLS = ("bash", "zsh", "tcsh")
_COMPLETION = f"Print what completes commands and options in a shell: {', '.join(_SHELLS)}."
_LIMIT = "Limit of one line, and of what is read into memory at once. Can stand anywhere."
_OPTIONS = (
    flag("--debug", "Show tracebacks. Can stand anywhere on the command line."),
    flag("--plain", "Plain output for logs: no colour, no progress bar, one line a row. Can stand anywhere."),
    value("--max-line", "SIZE", _LIMIT, says="256MB"),
    value("--log-level", "LEVEL", "Lowest log level to show: debug, info, warning or error.", says="warning"),
    value("--log-format", "FORMAT", "Format of the log lines on stderr: console or json.", says="console"),
    value("--print-completion", "SHELL", _COMPLETION, choices=_SHELLS, dest="completion"),
    flag("--version", "Print the version and exit."),
)
"""The options of rankgauge itself."""


class Command(NamedTuple):
    """
    A command: what can be typed behind its name, and what it does.

    Attributes:
        usage: What stands behind the name; a further line is another way to use it.

        about: The description below the summary, in paragraphs that are wrapped when they are shown.

        options: Its options and arguments; or what adds those of a plugin's command to a parser.

        execute: What does it, and returns the exit code: a function, or the place of one.
    """

    usage: str
    about: str
    options: Options | Callable[[argparse.ArgumentParser], None]
    execute: str | Callable[[argparse.Namespace], int]

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add options and arguments to a parser."""
        if callable(self.options):
            self.options(parser)
        else:
            add_options(parser, self.options)


_Table = Mapping[str, tuple[str | Command, str]]
"""Commands by name: each, or the place of its `Command`; and its one line in listings."""

COMMANDS: _Table = {
    "run": ("scoring_options:RUN", "Evaluate a config or a data file."),
    "eval": ("scoring_options:RUN", "The same as `run`."),
    "rescore": ("scoring_options:RESCORE", "Score the outputs of a result folder again, without calling anything."),
    "validate": ("scoring_options:VALIDATE", "Check a config, samples, or judgments and runs."),
    "init": ("catalog_options:INIT", "Write a config, its schema for editors, and a tiny dataset to start from."),
    "trec": ("scoring_options:TREC", "Evaluate TREC runs as trec_eval does."),
    "explain": ("result_options:EXPLAIN", "Explain one score, rank by rank."),
    "funnel": ("result_options:FUNNEL", "Show where a pipeline loses what is relevant, stage by stage."),
    "threshold": ("result_options:THRESHOLD", "Choose the score below which a system should say nothing."),
    "report": ("result_options:REPORT", "Write an HTML report of result folders."),
    "compare": ("result_options:COMPARE", "Compare systems sample by sample: is NEW better than BASE?"),
    "power": ("result_options:POWER", "How many questions show a difference of some size?"),
    "history add": ("result_options:HISTORY_ADD", "Add result folders to an index of results over time."),
    "history list": ("result_options:HISTORY_LIST", "List results over time."),
    "history show": ("result_options:HISTORY_SHOW", "Show each metric over time, with breaks and tested changes."),
    "history html": ("result_options:HISTORY_HTML", "Write the history as one HTML page."),
    "history export": ("result_options:HISTORY_EXPORT", "Write the history as a table."),
    "judge queue": (
        "rankgauge.features.labels.label_options:JUDGE_QUEUE",
        "Queue the unjudged documents that can change a comparison most.",
    ),
    "judge read": (
        "rankgauge.features.labels.label_options:JUDGE_READ",
        "Add the judgments of a queue to those that it was made for.",
    ),
    "gold check": (
        "rankgauge.features.labels.label_options:GOLD_CHECK",
        "Check whether labels still hold for a corpus.",
    ),
    "gold repair": (
        "rankgauge.features.labels.label_options:GOLD_REPAIR",
        "Write samples whose labels that moved have their new place.",
    ),
    "metrics check": ("catalog_options:METRICS_CHECK", "Check a metric against laws."),
    "metrics number": ("catalog_options:METRICS_NUMBER", "Check a published mean without its data."),
    "metrics diff": ("catalog_options:METRICS_DIFF", "Compare two profiles on one data file."),
    "metrics list": ("catalog_options:METRICS_LIST", "List every metric."),
    "metrics show": ("catalog_options:METRICS_SHOW", "Show one metric."),
    "matchers list": ("catalog_options:MATCHERS_LIST", "List every matcher."),
    "matchers show": ("catalog_options:MATCHERS_SHOW", "Show one matcher."),
    "matchers try": ("catalog_options:MATCHERS_TRY", "Try a matcher on two texts."),
    "plugins list": ("catalog_options:PLUGINS_LIST", "List every plugin, what it offers, and whether it works."),
    "plugins check": ("catalog_options:PLUGINS_CHECK", "Check that plugins can be used."),
    "plugins lock": ("catalog_options:PLUGINS_LOCK", "Write a lock file."),
    "doctor": ("catalog_options:DOCTOR", "Show what is installed and what works, to paste into a report of a bug."),
}
"""Where each command stands, and its one line in listings; the table is all that the help of rankgauge itself loads."""

GROUPS: Mapping[str, str] = {
    "gold": "Check labels against a corpus, and repair those that moved.",
    "history": "Results over time: trends, breaks, and since when something is worse.",
    "judge": "Queue unjudged documents for a judge, and read the judgments back.",
    "metrics": "List, show, check and compare metrics.",
    "matchers": "List, show and try matchers.",
    "systems": "Load documents into engines, and try their options, by a plugin.",
    "traces": "Make samples of traces of pipelines, by a plugin.",
    "plugins": "List and check plugins, and lock what a config uses.",
}
"""What the commands of a group have in common."""


def command_names() -> list[str]:
    """Return the words of every command."""
    return list(COMMANDS)


def run_command_line(arguments: Sequence[str]) -> int:
    """Run the command that was typed, and return its exit code."""
    try:
        return _run(arguments)
    except UsageError as error:
        remark(f"{error.parser.format_usage()}error: {error}; `{error.parser.prog} --help` shows all there is")
        return 2


def _run(arguments: Sequence[str]) -> int:
    root = _root()
    options, words = root.parts(arguments, until_word=True)
    typed = root.read(options)
    if typed.wants_help:
        return _show(root)
    if typed.version:
        import rankgauge

        emit([f"rankgauge {rankgauge.__version__}\n"])
        return 0
    if typed.completion is not None:
        return _print_completion(typed.completion)
    parser, name, table = _typed(root, words)
    if name in GROUPS:
        return _show(parser)
    if name not in table:
        remark(parser.format_help().rstrip("\n"))
        return 2
    command = _command(name, table)
    command.add_options(parser)
    given = parser.read(words)
    if given.wants_help:
        return _show(parser)
    if name == "trec":  # it multiplies no large matrices
        load_numpy()
    # Logging takes longer to load than a small run takes to evaluate.
    if name != "trec" or typed.log_level is not None or typed.log_format is not None:
        from rankgauge.cli.log_lines import configure

        configure(level=typed.log_level or "warning", form=typed.log_format or "console")
    _tell_missing_texts(name)
    execute = _imported(command.execute) if isinstance(command.execute, str) else command.execute
    return execute(given)


def _typed(root: CommandParser, words: list[str]) -> tuple[CommandParser, str, _Table]:
    """
    Take the words of a command off *words*; return its parser, its name, and the table that has it.

    The name is that of a group where its help is asked for, and empty where words are missing.
    """
    parser, name = root, ""
    table: _Table = COMMANDS
    while name not in table:
        if not words:
            return parser, "", table
        if name in _OPEN and f"{name} {words[0]}" not in COMMANDS:
            table = _all_commands()
        name = _named(parser, name, words.pop(0), table)
        parser = _parser(name, table)
        if name in GROUPS:
            options, words[:] = parser.parts(words, until_word=True)
            if options:  # a group has no other one than --help
                break
    return parser, name, table


def _tell_missing_texts(name: str) -> None:
    if sys.flags.optimize > 1 and name.startswith(("metrics", "matchers")):
        remark("summaries and definitions are missing: Python runs without docstrings (-OO, PYTHONOPTIMIZE=2)")


def _show(parser: CommandParser) -> int:
    emit([parser.format_help()])
    return 0


def _named(parser: CommandParser, group: str, word: str, table: _Table) -> str:
    """Return the name of a command or group, which *word* completes."""
    known = [name for name, _ in _listed(group, table)]
    if word not in {*known, *(() if group else _HIDDEN)}:
        from rankgauge.errors import did_you_mean

        hint = f"; plugins add others, such as {_OPEN[group]}" if group in _OPEN else ""
        parser.error(f"no command {word!r}{did_you_mean(word, known)}{hint}")
    return f"{group} {word}".lstrip()


def _all_commands() -> _Table:
    """Return the commands with those of plugins; say on stderr which plugins are broken."""
    import inspect

    from rankgauge.cli.conventions import make_catalog

    catalog = make_catalog()
    warn_of_faults(catalog)
    table = dict[str, tuple[str | Command, str]](COMMANDS)
    for name, claim in catalog.all("command").items():
        declared = claim.declaration
        about = (inspect.getdoc(declared.function) or "").partition("\n")[2].strip()
        execute = functools.partial(_executed, name, claim)
        options = functools.partial(_of_plugin, name, claim, declared.options)
        table[name] = Command(declared.usage, about, options, execute), declared.summary
    return table


def _executed(name: str, claim: Claim[PluginCommand], given: argparse.Namespace) -> int:
    """Run a command of a plugin, and let what it prints be the result, as what ours print is."""
    from rankgauge.cli.plugin_console import PluginConsole

    with contextlib.redirect_stdout(results()):
        function = claim.declaration.function
        code = _of_plugin(name, claim, lambda given: function(given, PluginConsole()), given)
    if type(code) is int and 0 <= code <= _HIGHEST_CODE:
        return code
    from rankgauge.base.guard import shown
    from rankgauge.errors import PluginError

    reason = f"it returned {shown(code)}, and an exit code is an integer from 0 to {_HIGHEST_CODE}"
    raise PluginError(f"command {name!r}", str(claim.provider), reason)


def _of_plugin(name: str, claim: Claim[PluginCommand], function: Callable[[Given], Found], given: Given) -> Found:
    """Call a function of a command; what it raises by mistake is the plugin's fault, and says where that stands."""
    from rankgauge.base.guard import ForeignError, guarded
    from rankgauge.errors import PluginError, RankgaugeError

    try:
        with guarded(RankgaugeError, KeyboardInterrupt, OSError, MemoryError):
            return function(given)
    except ForeignError as error:
        raise PluginError(f"command {name!r}", str(claim.provider), str(error)) from error


def _listed(group: str, table: _Table = COMMANDS) -> list[tuple[str, str]]:
    """Return the commands below a group, or below rankgauge itself, with their summaries."""
    if group:
        behind = len(group) + 1
        return [(name[behind:], text) for name, (_, text) in table.items() if name.startswith(f"{group} ")]
    firsts = dict.fromkeys(name.partition(" ")[0] for name in (*COMMANDS, *_OPEN) if name not in _HIDDEN)
    return [(name, GROUPS[name] if name in GROUPS else COMMANDS[name][1]) for name in firsts]


def _command(name: str, table: _Table = COMMANDS) -> Command:
    place = table[name][0]
    command: Command = _imported(place) if isinstance(place, str) else place
    return command


def _imported(place: str) -> Any:  # noqa: ANN401  # a command, or a function that does one
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module if "." in module else f"rankgauge.cli.{module}"), name)


def _parser(name: str, table: _Table = COMMANDS) -> CommandParser:
    """Return the parser of a group, or that of a command without its options."""
    if name in GROUPS:

        def listed() -> list[tuple[str, str]]:
            commands = _listed(name, _all_commands() if name in _OPEN else table)
            return commands or [("", f"None is installed: pip install {_OPEN[name]} brings them.")]

        return CommandParser(f"rankgauge {name}", "COMMAND [OPTIONS]", GROUPS[name], listed)
    command = _command(name, table)
    return CommandParser(f"rankgauge {name}", command.usage, f"{table[name][1]}\n\n{command.about}".rstrip())


def _root() -> CommandParser:
    parser = CommandParser("rankgauge", "[OPTIONS] COMMAND ...", _ABOUT, lambda: _listed(""))
    add_options(parser, _OPTIONS)
    return parser


def _print_completion(shell: str) -> int:
    """Print the script that completes every command, option and file in a shell."""
    try:
        import shtab
    except ImportError as error:
        from rankgauge.errors import MissingExtraError

        raise MissingExtraError("--print-completion", "completion") from error
    root = _root()
    groups, table = {"": root.add_subparsers(parser_class=argparse.ArgumentParser)}, _all_commands()
    for name in (*GROUPS, *table):
        group, _, word = name.rpartition(" ")
        summary = GROUPS.get(name) or table[name][1]
        parser = groups[group].add_parser(word, help=summary, add_help=False)
        if name in GROUPS:
            groups[name] = parser.add_subparsers()
            continue
        _command(name, table).add_options(parser)
        for action in parser._actions:  # noqa: SLF001  # there is no other way to all of them, and shtab reads them, too
            if action.type is path:
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab's attribute
    emit([shtab.complete(root, shell), "\n"])
    return 0
