"""
The parser of a command: options and arguments in any order, help as wide as the terminal, and usage errors that raise.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NoReturn

from rankgauge.cli.console import emit, terminal_width

_Listed = Callable[[], list[tuple[str, str]]]


class UsageError(Exception):
    """Something was typed that the parser cannot read."""

    def __init__(self, parser: CommandParser, message: str) -> None:
        self.parser = parser
        super().__init__(message)


class ParserExit(Exception):  # noqa: N818  # it is no error
    """
    An action of a parser ended the command.

    Attributes:
        code: The exit code.
    """

    def __init__(self, code: int, message: str) -> None:
        self.code = code
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
        return f"{', '.join(action.option_strings)} {self.values_of(action)}"

    def values_of(self, action: argparse.Action) -> str:
        """Return how the values of an option are written: by its metavar, its choices or its name."""
        return self._format_args(action, self._get_default_metavar_for_optional(action))


class CommandParser(argparse.ArgumentParser):
    """Reads options and arguments in any order, and raises if they cannot be read."""

    def __init__(self, prog: str, usage: str, about: str, commands: _Listed | None = None) -> None:
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
        self.first: Collection[str] = ()
        self._took_all = ""  # the last option that took every word up to the next option
        self._commands = commands
        self.add_argument("-h", "--help", dest="wants_help", action="store_true", help="Show this message and exit.")

    def error(self, message: str) -> NoReturn:
        """Raise what argparse finds wrong."""
        if self._took_all and message.startswith("the following arguments are required: "):
            name, missing = self._took_all, message.partition(": ")[2]
            message += f"; {name} takes every word up to the next option: type {missing} before {name}, or -- between"
        raise UsageError(self, message)

    @property
    def how_to_see_all(self) -> str:
        """Return what to type for all options."""
        return f"rankgauge help {self.prog.removeprefix('rankgauge ')} all" if self.first else f"{self.prog} --help"

    def format_part(self, name: str) -> str:
        """Return the help of all options (`all`), or of the group whose heading begins with a word."""
        if name == "all":
            return super().format_help()
        groups = self._by_word()
        if name not in groups:
            from rankgauge.errors import did_you_mean, listed

            there = listed([*groups, "all"])
            self.error(f"no group of options {name!r}{did_you_mean(name, [*groups, 'all'])}; there are {there}")
        formatter = self._get_formatter()
        self._add_group(formatter, groups[name])
        return formatter.format_help()

    def _by_word(self) -> dict[str, argparse._ArgumentGroup]:
        """Return the groups of options by the first words of their headings."""
        named = [group for group in self._action_groups if group not in {self._positionals, self._optionals}]
        return {(group.title or "").partition(" ")[0]: group for group in named}

    def _add_group(self, formatter: argparse.HelpFormatter, group: argparse._ArgumentGroup) -> None:
        """Add a group to a help."""
        formatter.start_section(group.title)
        formatter.add_arguments(group._group_actions)  # noqa: SLF001  # as argparse does
        formatter.end_section()

    def _first_help(self) -> str:
        """Return the help that fits a screen: arguments, the options that most people need, and the groups of all."""
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, [], [])
        summary, about, *_ = f"{self.description}\n\n".split("\n\n")
        formatter.add_text(f"{summary}\n\n{about}")
        self._add_group(formatter, self._positionals)
        formatter.start_section("options that most need")
        for name in self.first:
            formatter.add_argument(self._option_string_actions[name])
        formatter.end_section()
        groups = self._by_word()
        least, most = max(map(len, groups)) + 2, _help_width()
        words = self.prog.removeprefix("rankgauge ")
        lines = [_cut(f"  {name:{least}}{', '.join(_names(group))}", most) for name, group in groups.items()]
        lines = [f"all options: rankgauge help {words} GROUP", *lines, f"  {'all':{least}}everything"]
        return "\n".join([formatter.format_help(), *lines, ""])

    def format_help(self) -> str:
        """Return the help, with the commands of a group."""
        if self._commands is None:
            return self._first_help() if self.first else super().format_help()
        from textwrap import fill  # argparse has loaded it by now

        listed = self._commands()
        least, most = max(len(name) for name, _ in listed), _help_width()
        lines = [
            fill(text, most, initial_indent=f"  {name:{least}}  ", subsequent_indent=" " * (least + 4))
            for name, text in listed
        ]
        return "\n".join([super().format_help(), "commands:", *lines, ""])

    def parts(self, arguments: Sequence[str], *, until_word: bool = False) -> tuple[list[str], list[str]]:
        """
        Return options with their values, and the other words; *until_word* ends at the first of these.

        argparse takes them in any order only from Python 3.13 on, and takes a value that begins with ``-`` in no other
        way than ``--name=value``. ``-qf trec`` becomes ``-q -f=trec``; the values of an option that has several stay
        separate words.
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
                options += self._long(part, rest)
            else:
                options += self._short(part, rest)
        return options, words

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Return what was typed; if help is asked for, nothing else is looked at."""
        options, words = self.parts(arguments)
        if {"-h", "--help"}.intersection(options):
            return argparse.Namespace(wants_help=True)
        # Behind "--" no word is taken for an option, or for a further value of the last one.
        typed, extra = self.parse_known_args([*options, "--", *words] if words else options)
        if extra := [word for word in extra if word != "--"]:
            self.error(f"unexpected argument {extra[0]!r}")
        return typed

    def add_subparsers(self, **_settings: object) -> NoReturn:
        """Refuse: several words are several commands."""
        from rankgauge.errors import DeclarationError

        form = '"acme.mint" = "acme.cli:mint"'
        raise DeclarationError(f"a command has no subparsers: make each an entry point of its own, such as {form}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Raise that an action ends the command, as that of ``--version`` does."""
        raise ParserExit(status, message or "")

    def _print_message(self, message: str, _file: object = None) -> None:
        """Print what an action shows, such as a version, as the result."""
        emit([message])

    def _long(self, part: str, rest: list[str]) -> Iterator[str]:
        """Yield a long option with its values, which may be the next words."""
        name, equals, _ = part.partition("=")
        action = self._action(name)
        if equals or action.nargs == 0:
            yield part
        else:
            yield from self._with_values(name, action, rest)

    def _short(self, part: str, rest: list[str]) -> Iterator[str]:
        """Yield the short options behind one hyphen, of which the last may have values."""
        if part.partition("=")[0] in self._option_string_actions and len(part) > 2:
            yield from self._long(part, rest)
            return
        for place, letter in enumerate(part[1:], 2):
            name = f"-{letter}"
            action = self._action(name)
            if action.nargs == 0:
                yield name
                continue
            if behind := part[place:]:
                yield f"{name}={behind.removeprefix('=')}"
            else:
                yield from self._with_values(name, action, rest)
            return

    def _with_values(self, name: str, action: argparse.Action, rest: list[str]) -> Iterator[str]:
        """Yield an option and the values that it takes off the next words, as many as argparse would."""
        if action.nargs is None:
            if not rest or rest[0].partition("=")[0] in self._option_string_actions:
                self._lacks(action, "a value")
            yield f"{name}={rest.pop(0)}"
            return
        most = 1 if action.nargs == "?" else action.nargs if isinstance(action.nargs, int) else len(rest)
        values = list(itertools.takewhile(lambda word: word != "--" and not _is_option(word), rest[:most]))
        del rest[: len(values)]
        if isinstance(action.nargs, int) and len(values) < action.nargs:
            self._lacks(action, f"{action.nargs} values" if action.nargs > 1 else "a value")
        if action.nargs == "+" and not values:
            self._lacks(action, "values")
        if not isinstance(action.nargs, int) and values:
            self._took_all = name
        yield from [name, *values]

    def _lacks(self, action: argparse.Action, what: str) -> NoReturn:
        self.error(f"{'/'.join(action.option_strings)} needs {what}: {_HelpFormatter(self.prog).values_of(action)}")

    def _action(self, name: str) -> argparse.Action:
        known = self._option_string_actions
        if name not in known:
            from rankgauge.errors import did_you_mean

            self.error(f"no option {name}{did_you_mean(name, [each for each in known if each.startswith('--')])}")
        return known[name]


def _names(group: argparse._ArgumentGroup) -> list[str]:
    """Return the longest name of each option of a group."""
    return [max(action.option_strings, key=len) for action in group._group_actions]  # noqa: SLF001  # as above


def _cut(line: str, most: int) -> str:
    """Return a line of names, whose last ones are left out if it is longer than a terminal is wide."""
    return line if len(line) <= most else f"{line[: most - 4].rpartition(',')[0]}, ..."


def _help_width() -> int:
    return max(terminal_width() - 2, 40)  # argparse would ask `shutil`, which takes longer to load


def _is_option(part: str) -> bool:
    """Return whether a word is an option: not ``-``, which is standard input, and no negative number."""
    return part.startswith("-") and part[1:2] not in {"", *"0123456789."}
