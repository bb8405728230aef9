"""
The command line as argparse reads it: which commands there are, their parsers, help, usage errors and completion.

A command is a line in `rankgauge.commands`, and a `Command` in a file of options, which names the function that does
it. Commands of plugins join that table when commands are listed, or a word is not ours.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rankgauge.arguments import path
from rankgauge.cli.console import emit, remark
from rankgauge.cli.option_parser import CommandParser, ParserExit, UsageError
from rankgauge.cli.own_process import load_numpy
from rankgauge.cli.shared_options import Command, add_options, flag, value
from rankgauge.commands import COMMANDS, GROUPS, words

if TYPE_CHECKING:
    from rankgauge.base.entry_points import EntryPoint

_ABOUT = "Retrieval metrics you can trust."

_HIDDEN = ("eval",)
_SHELLS = ("bash", "zsh", "tcsh")
_COMPLETION = f"Print what completes commands and options in a shell: {', '.join(_SHELLS)}."
_LIMIT = "Limit of one line, and of what is read into memory at once. Can be anywhere."
_OPTIONS = (
    flag("--debug", "Show tracebacks. Can be anywhere on the command line."),
    flag("--plain", "Plain output for logs: no colour, no progress bar, one line a row. Can be anywhere."),
    value("--max-line", "SIZE", _LIMIT, says="256MB"),
    value("--log-level", "LEVEL", "Lowest log level to show: debug, info, warning or error.", says="warning"),
    value("--log-format", "FORMAT", "Format of the log lines on stderr: console or json.", says="console"),
    value("--print-completion", "SHELL", _COMPLETION, choices=_SHELLS, dest="completion"),
    flag("--version", "Print the version and exit."),
)
"""The options of rankgauge itself."""


class _Table(NamedTuple):
    """
    What can be typed.

    Attributes:
        commands: Where each command is, and its one line in listings.

        groups: What the commands of a group have in common.

        refused: What is said of other names: of commands that are disabled, or that cannot be run.
    """

    commands: Mapping[str, tuple[str | EntryPoint, str]]
    groups: Mapping[str, str]
    refused: Mapping[str, str]


_OURS = _Table(COMMANDS, GROUPS, {})


def command_names() -> list[str]:
    """Return the words of every command."""
    return list(COMMANDS)


def run_command_line(arguments: Sequence[str]) -> int:
    """Run the command that was typed, and return its exit code."""
    try:
        return _run(arguments)
    except UsageError as error:
        remark(f"{error.parser.format_usage()}error: {error}; `{error.parser.how_to_see_all}` shows all there is")
        return 2
    except ParserExit as ended:
        if text := str(ended).rstrip("\n"):
            remark(text)
        return ended.code


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
    if name in table.groups:
        return _show(parser)
    if name not in table.commands:
        remark(parser.format_help().rstrip("\n"))
        return 2
    command = _command(name, table)
    command.add_options(parser)
    given = command.guarded(lambda: parser.read(words))
    if given.wants_help:
        emit([command.guarded(parser.format_help)])
        return 0
    if command.calls_nothing(given):
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

    The name is that of a group if its help is asked for, and empty if words are missing.
    """
    parser, name, table = root, "", _OURS
    while name not in table.commands:
        if not words:
            return parser, "", table
        word = words.pop(0)
        if f"{name} {word}".lstrip() not in {*table.commands, *table.groups}:
            table = _with_plugins()
        name = _named(parser, name, word, table)
        parser = _parser(name, table)
        if name in table.groups:
            options, words[:] = parser.parts(words, until_word=True)
            if options:  # a group has no other one than --help
                break
    return parser, name, table


def execute_help(given: argparse.Namespace) -> int:
    """Print the help of rankgauge, of a command, or of some of its options."""
    rest = list(given.words)
    parser, name, table = _typed(_root(), rest)
    if name not in table.commands:
        return _show(parser)
    command = _command(name, table)
    command.add_options(parser)
    if len(rest) > 1:
        parser.error(f"help is of one group of options at a time, not of {' and '.join(rest)}")
    emit([command.guarded(lambda: parser.format_part(rest[0]) if rest else parser.format_help())])
    return 0


def _tell_missing_texts(name: str) -> None:
    if sys.flags.optimize > 1 and name.startswith(("metrics", "matchers")):
        remark("summaries and definitions are missing: Python runs without docstrings (-OO, PYTHONOPTIMIZE=2)")


def _show(parser: CommandParser) -> int:
    emit([parser.format_help()])
    return 0


def _named(parser: CommandParser, group: str, word: str, table: _Table) -> str:
    """Return the name of a command or group, which *word* completes."""
    name = f"{group} {word}".lstrip()
    if name not in {*table.commands, *table.groups}:
        if name in table.refused:
            parser.error(table.refused[name])
        from rankgauge.errors import did_you_mean

        hint = did_you_mean(word, [known for known, _ in _listed(group, table)])
        parser.error(f"no command {word!r}{hint or '; it may be one of a plugin that is not installed'}")
    return name


def _with_plugins(*, tells_faults: bool = False) -> _Table:
    """
    Return our commands with those of plugins, by what their distributions say: nothing is imported.

    With *tells_faults*, say on stderr what is wrong with any of them, which explains what a list lacks.
    """
    from rankgauge.command_points import installed_commands, no_plugins

    found = installed_commands()
    refused = {words(point.name): fault for point, fault in found.faults}
    if tells_faults:
        for fault in dict.fromkeys(refused.values()):
            remark(f"warning: {fault}")
    by = "RANKGAUGE_NO_PLUGINS" if no_plugins() else "RANKGAUGE_DISABLE_PLUGINS"
    for name, point in found.disabled.items():
        whose = f"{point.distribution} {point.version}"
        refused.setdefault(name, f"command {name!r} is one of {whose}, which is disabled ({by})")
    for name, why in [*refused.items()]:
        refused.setdefault(name.partition(" ")[0], why)
    theirs = {
        name: (point, f"A command of {point.distribution} {point.version}.") for name, point in found.usable.items()
    }
    return _Table({**theirs, **COMMANDS}, {**found.groups, **GROUPS}, refused)


def _listed(group: str, table: _Table) -> list[tuple[str, str]]:
    """Return the commands below a group, or below rankgauge itself, with their summaries; ours come first."""
    names = [*COMMANDS, *sorted(name for name in table.commands if name not in COMMANDS)]
    if group:
        behind = len(group) + 1
        return [(name[behind:], table.commands[name][1]) for name in names if name.startswith(f"{group} ")]
    firsts = dict.fromkeys(name.partition(" ")[0] for name in names if name not in _HIDDEN)
    return [(name, table.groups[name] if name in table.groups else table.commands[name][1]) for name in firsts]


def _listing(group: str) -> list[tuple[str, str]]:
    """Return what the help of a group lists, and say on stderr what it lacks."""
    return _listed(group, _with_plugins(tells_faults=True))


def _command(name: str, table: _Table) -> Command:
    place = table.commands[name][0]
    if isinstance(place, str):
        command: Command = _imported(place)
        return command
    from rankgauge.cli.plugin_commands import plugin_command

    return plugin_command(name, place)


def _imported(place: str) -> Any:  # noqa: ANN401  # a command, or a function that does one
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module if "." in module else f"rankgauge.cli.{module}"), name)


def _parser(name: str, table: _Table) -> CommandParser:
    """Return the parser of a group, or that of a command without its options."""
    if name in table.groups:
        return CommandParser(
            f"rankgauge {name}",
            "COMMAND [OPTIONS]",
            table.groups[name],
            lambda: _listing(name),
        )
    command = _command(name, table)
    summary = command.summary or table.commands[name][1]
    parser = CommandParser(f"rankgauge {name}", command.usage, f"{summary}\n\n{command.about}".rstrip())
    parser.first = command.first
    return parser


def _root() -> CommandParser:
    parser = CommandParser("rankgauge", "[OPTIONS] COMMAND ...", _ABOUT, lambda: _listing(""))
    add_options(parser, _OPTIONS)
    return parser


def _print_completion(shell: str) -> int:
    """Print the script that completes every command, option and file in a shell."""
    from rankgauge.errors import MissingExtraError, PluginError

    try:
        import shtab
    except ImportError as error:
        raise MissingExtraError("--print-completion", "completion") from error
    root = _root()
    table = _with_plugins(tells_faults=True)
    groups = {"": argparse.ArgumentParser.add_subparsers(root, parser_class=argparse.ArgumentParser)}
    for name in (*table.groups, *table.commands):
        group, _, word = name.rpartition(" ")
        summary = table.groups.get(name) or table.commands[name][1]
        parser = groups[group].add_parser(word, help=summary, add_help=False)
        if name in table.groups:
            groups[name] = parser.add_subparsers()
            continue
        try:
            _command(name, table).add_options(parser)
        except PluginError as error:  # it is completed without its options
            remark(f"warning: {error}")
        for action in parser._actions:  # noqa: SLF001  # there is no other way to all of them, and shtab reads them, too
            if action.type is path:
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab's attribute
    emit([shtab.complete(root, shell), "\n"])
    return 0
