"""
The command line as argparse reads it: which commands there are, their parsers, help, usage errors and completion.

A command is a line in `COMMANDS` and a module that holds it as a `Command`. Commands of plugins would join that table.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, NoReturn

from rankgauge.cli.command_table import COMMANDS, GROUPS
from rankgauge.cli.console import emit, remark, terminal_width

__all__ = ["Command", "CommandParser", "command_names", "run_command_line"]

_ABOUT = "Retrieval metrics you can trust."

_HIDDEN = ("eval",)
_SHELLS = ("bash", "zsh", "tcsh")


class Command(NamedTuple):
    """
    A command: what can be typed behind its name, and what it does.

    Attributes:
        usage: What stands behind the name; a further line is another way to use it.

        about: The description below the summary, in paragraphs that are wrapped when they are shown.

        add_options: Adds options and arguments to a parser.

        execute: Does it, and returns the exit code.
    """

    usage: str
    about: str
    add_options: Callable[[argparse.ArgumentParser], None]
    execute: Callable[[argparse.Namespace], int]


class _UsageError(Exception):
    """Something was typed that the parser cannot read."""

    def __init__(self, parser: CommandParser, message: str) -> None:
        self.parser = parser
        super().__init__(message)


class _HelpFormatter(argparse.HelpFormatter):
    """Wraps paragraphs, and writes an option as ``-m, --metric METRIC`` in every version of Python."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=_help_width())

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        return "\n\n".join(fill(paragraph, width, indent) for paragraph in text.split("\n\n"))

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        return f"{', '.join(action.option_strings)} {action.metavar}"


class CommandParser(argparse.ArgumentParser):
    """Reads options and arguments in any order, and raises where they cannot be read."""

    def __init__(self, prog: str, usage: str, about: str, commands: Iterable[tuple[str, str]] = ()) -> None:
        lines = [f"{prog} {line}".rstrip() for line in usage.splitlines()]
        super().__init__(
            prog=prog,
            usage="\n       ".join(lines),
            description=about,
            formatter_class=_HelpFormatter,
            allow_abbrev=False,
            add_help=False,
        )
        self.color = False  # Python 3.14 colours help by rules that are not those of --plain
        self._commands = list(commands)
        self.add_argument("-h", "--help", dest="wants_help", action="store_true", help="Show this message and exit.")

    def error(self, message: str) -> NoReturn:
        """Raise what argparse finds wrong."""
        raise _UsageError(self, message)

    def format_help(self) -> str:
        """Return the help, with the commands of a group."""
        if not self._commands:
            return super().format_help()
        from textwrap import fill  # argparse has loaded it by now

        least, most = max(len(name) for name, _ in self._commands), _help_width()
        lines = [
            fill(text, most, initial_indent=f"  {name:{least}}  ", subsequent_indent=" " * (least + 4))
            for name, text in self._commands
        ]
        return "\n".join([super().format_help(), "commands:", *lines, ""])

    def parts(self, arguments: Sequence[str], *, until_word: bool = False) -> tuple[list[str], list[str]]:
        """
        Return options with their values as ``--name=value``, and the other words; *until_word* ends at the first one.

        argparse takes them in any order only from Python 3.13 on, and takes a value that begins with ``-`` in no other
        way. ``-qf trec`` becomes ``--per-query --format=trec``.
        """
        rest, options = list(arguments), list[str]()
        words = list[str]()
        while rest:
            part = rest.pop(0)
            if part == "--" or (until_word and not _is_option(part)):
                words += rest if part == "--" else [part, *rest]
                break
            if not _is_option(part):
                words.append(part)
            elif part.startswith("--"):
                options.append(self._long(part, rest))
            else:
                options += self._short(part, rest)
        return options, words

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Return what was typed; where help is asked for, nothing else is looked at."""
        options, words = self.parts(arguments)
        if "--help" in options:
            return argparse.Namespace(wants_help=True)
        typed, extra = self.parse_known_args([*options, *(["--"] if any(map(_is_option, words)) else []), *words])
        if extra := [word for word in extra if word != "--"]:
            self.error(f"unexpected argument {extra[0]!r}")
        return typed

    def _long(self, part: str, rest: list[str]) -> str:
        """Return a long option with its value, which may be the next word."""
        name, equals, _ = part.partition("=")
        action = self._action(name)
        return part if equals or action.nargs == 0 else f"{part}={self._value(action, rest)}"

    def _short(self, part: str, rest: list[str]) -> Iterator[str]:
        """Yield the long forms of short options behind one hyphen, of which the last may have a value."""
        for place, letter in enumerate(part[1:], 2):
            action = self._action(f"-{letter}")
            if action.nargs != 0:
                yield f"{action.option_strings[-1]}={part[place:].removeprefix('=') or self._value(action, rest)}"
                return
            yield action.option_strings[-1]

    def _value(self, action: argparse.Action, rest: list[str]) -> str:
        if not rest or rest[0].partition("=")[0] in self._option_string_actions:
            self.error(f"{'/'.join(action.option_strings)} needs a value: {action.metavar}")
        return rest.pop(0)

    def _action(self, name: str) -> argparse.Action:
        known = self._option_string_actions
        if name not in known:
            from rankgauge.errors import did_you_mean

            self.error(f"no option {name}{did_you_mean(name, [each for each in known if each.startswith('--')])}")
        return known[name]


def _help_width() -> int:
    return max(terminal_width() - 2, 40)  # argparse would ask `shutil`, which takes longer to load


def _is_option(part: str) -> bool:
    """Return whether a word is an option: not ``-``, which is standard input, and no negative number."""
    return part.startswith("-") and part[1:2] not in {"", *"0123456789."}


def command_names() -> list[str]:
    """Return the words of every command."""
    return list(COMMANDS)


def run_command_line(arguments: Sequence[str]) -> int:
    """Run the command that was typed, and return its exit code."""
    try:
        return _run(arguments)
    except _UsageError as error:
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
    parser, name = root, ""
    while name not in COMMANDS:
        if not words:
            remark(parser.format_help().rstrip("\n"))
            return 2
        name = _named(parser, name, words.pop(0))
        parser = _parser(name)
        if name in GROUPS:
            options, words = parser.parts(words, until_word=True)
            if options:  # a group has no other one than --help
                return _show(parser)
    command = _command(name)
    command.add_options(parser)
    given = parser.read(words)
    if given.wants_help:
        return _show(parser)
    # Logging takes longer to load than a small run takes to evaluate.
    if name != "trec" or typed.log_level is not None or typed.log_format is not None:
        from rankgauge.cli.log_lines import configure

        configure(level=typed.log_level or "warning", form=typed.log_format or "console")
    _tell_missing_texts(name)
    return command.execute(given)


def _tell_missing_texts(name: str) -> None:
    if sys.flags.optimize > 1 and name.startswith(("metrics", "matchers")):
        remark("summaries and definitions are missing: Python runs without docstrings (-OO, PYTHONOPTIMIZE=2)")


def _show(parser: CommandParser) -> int:
    emit([parser.format_help()])
    return 0


def _named(parser: CommandParser, group: str, word: str) -> str:
    """Return the name of a command or group, which *word* completes."""
    known = [name for name, _ in _listed(group)]
    if word not in {*known, *(() if group else _HIDDEN)}:
        from rankgauge.errors import did_you_mean

        parser.error(f"no command {word!r}{did_you_mean(word, known)}")
    return f"{group} {word}".lstrip()


def _listed(group: str) -> list[tuple[str, str]]:
    """Return the commands below a group, or below rankgauge itself, with their summaries."""
    if group:
        behind = len(group) + 1
        return [(name[behind:], text) for name, (_, text) in COMMANDS.items() if name.startswith(f"{group} ")]
    firsts = dict.fromkeys(name.partition(" ")[0] for name in COMMANDS if name not in _HIDDEN)
    return [(name, GROUPS[name] if name in GROUPS else COMMANDS[name][1]) for name in firsts]


def _command(name: str) -> Command:
    module, _, attribute = COMMANDS[name][0].partition(":")
    command: Command = getattr(importlib.import_module(f"rankgauge.cli.{module}"), attribute)
    return command


def _parser(name: str) -> CommandParser:
    """Return the parser of a group, or that of a command without its options."""
    if name in GROUPS:
        return CommandParser(f"rankgauge {name}", "COMMAND [OPTIONS]", GROUPS[name], _listed(name))
    command = _command(name)
    return CommandParser(f"rankgauge {name}", command.usage, f"{COMMANDS[name][1]}\n\n{command.about}".rstrip())


def _root() -> CommandParser:
    parser = CommandParser("rankgauge", "[OPTIONS] COMMAND ...", _ABOUT, _listed(""))
    add = parser.add_argument
    add("--debug", action="store_true", help="Show tracebacks. Can stand anywhere on the command line.")
    add(
        "--plain",
        action="store_true",
        help="Plain output for logs: no colour, no progress bar, one line a row. Can stand anywhere.",
    )
    size = "Limit of one line, and of what is read into memory at once. Can stand anywhere. [default: 256MB]"
    add("--max-line", metavar="SIZE", help=size)
    level = "Lowest log level to show: debug, info, warning or error. [default: warning]"
    add("--log-level", metavar="LEVEL", help=level)
    form = "Format of the log lines on stderr: console or json. [default: console]"
    add("--log-format", metavar="FORMAT", help=form)
    shells = f"Print what completes commands and options in a shell: {', '.join(_SHELLS)}."
    add("--print-completion", dest="completion", choices=_SHELLS, metavar="SHELL", help=shells)
    add("--version", action="store_true", help="Print the version and exit.")
    return parser


def _print_completion(shell: str) -> int:
    """Print the script that completes every command, option and file in a shell."""
    try:
        import shtab
    except ImportError as error:
        from rankgauge.errors import MissingExtraError

        raise MissingExtraError("--print-completion", "completion") from error
    from rankgauge.cli.shared_options import path

    root = _root()
    groups = {"": root.add_subparsers(parser_class=argparse.ArgumentParser)}
    for name in (*GROUPS, *COMMANDS):
        group, _, word = name.rpartition(" ")
        summary = GROUPS.get(name) or COMMANDS[name][1]
        parser = groups[group].add_parser(word, help=summary, add_help=False)
        if name in GROUPS:
            groups[name] = parser.add_subparsers()
            continue
        _command(name).add_options(parser)
        for action in parser._actions:  # noqa: SLF001  # there is no other way to all of them, and shtab reads them, too
            if action.type is path:
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab's attribute
    emit([shtab.complete(root, shell), "\n"])
    return 0
