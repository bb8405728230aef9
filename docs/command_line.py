"""
Write `docs/reference/command-line.md`: every command with its options, as `rankgauge help COMMAND all` prints them.

What no help says, such as exit codes and the keys of JSON, is in `docs/command-line.template`.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from rankgauge.cli import command_line
from rankgauge.cli.option_parser import CommandParser

__all__ = ["page"]

TEMPLATE = Path(__file__).parent / "command-line.template"
_DEFAULT = re.compile(r" \[default: (.*)\]$")
_MORE = {
    "--against": "../how-to/compare-runs.md#without-judgments",
    "--baseline": "file-formats.md#baselines",
    "--cluster": "../explanation/comparing.md#clusters",
    "--columns": "file-formats.md#runs-and-judgments",
    "--condensed": "../how-to/judge-more.md#1-see-how-much-it-matters",
    "--field": "file-formats.md#fields-of-other-systems",
    "--gate": "gates.md",
    "--groups": "file-formats.md#groups",
    "--inconclusive": "gates.md#open-gates",
    "--interval": "../explanation/comparing.md#the-interval-of-a-mean",
    "--matters": "../explanation/comparing.md#equivalence",
    "--metric": "expressions.md",
    "--policy": "policy.md",
    "--preset": "../how-to/come-from-rag-tools.md",
    "--profile": "policy.md#profiles",
    "--reader": "plugins.md#a-reader",
    "--repeat": "../how-to/how-many-questions.md#repeat-calls",
    "--resume": "../how-to/how-many-questions.md#keep-outputs-and-rescore",
    "--stage": "../how-to/find-lost-documents.md",
    "--test": "plugins.md#tests-of-a-difference",
    "--until": "../how-to/how-many-questions.md#stop-early",
    "--workers": "../explanation/past-one-machine.md#several-processes",
}
"""Where a page says more of an option; the first command that has it leads there."""


def page() -> str:
    """
    Return the text of the page.

    Returns:
        The template, with the commands in place of its mark.
    """
    parts = [_options(command_line._root())]  # noqa: SLF001  # as the help of rankgauge does
    shown, linked = dict[str, str](), set[str]()
    for name in command_line.command_names():
        if name not in command_line._HIDDEN:  # noqa: SLF001
            parts += _section(name, shown, linked)
    if unknown := _MORE.keys() - linked:
        msg = f"no command has {', '.join(sorted(unknown))}; see _MORE in docs/command_line.py"
        raise LookupError(msg)
    return TEMPLATE.read_text(encoding="utf-8").replace("{commands}", "\n\n".join(parts))


def _section(name: str, shown: dict[str, str], linked: set[str]) -> list[str]:
    """Return a command with its groups of options; a group that an earlier command has leads there."""
    parser = command_line._parser(name, command_line._OURS)  # noqa: SLF001
    command_line._command(name, command_line._OURS).add_options(parser)  # noqa: SLF001
    usage = " ".join((parser.usage or "").split()).replace(f" {parser.prog} ", f"\n{parser.prog} ")
    summary, _, about = (parser.description or "").partition("\n\n")
    parts = [f"## {name}", f"```text\n{usage}\n```", _escaped(summary)]
    parts += [_escaped(" ".join(each.split())) for each in about.split("\n\n") if each.strip()]
    for group in parser._action_groups:  # noqa: SLF001  # argparse has no public name for them
        table = _table(group._group_actions, set())  # noqa: SLF001
        title = {"positional arguments": "arguments"}.get(group.title or "", group.title or "")
        if not table:
            continue
        if earlier := shown.get(table):
            parts.append(f"**{title.capitalize()}**: as of [`{earlier}`](#{earlier.replace(' ', '-')}).")
        else:
            shown[table] = name
            parts.append(f"**{title.capitalize()}**\n\n{_table(group._group_actions, linked)}")  # noqa: SLF001
    return parts


def _options(parser: CommandParser) -> str:
    """Return the options of rankgauge itself."""
    return f"## Options of rankgauge itself\n\n{_table(parser._actions, set())}"  # noqa: SLF001


def _table(actions: list[argparse.Action], linked: set[str]) -> str:
    """Return a row for each option; *linked* are those that a link was given for, which grows."""
    formatter = CommandParser("", "", "")._get_formatter()  # noqa: SLF001
    rows = []
    for action in actions:
        if action.dest == "wants_help" or action.help in {None, argparse.SUPPRESS}:
            continue
        if action.option_strings:
            value = f" {formatter.values_of(action)}" if action.nargs != 0 else ""  # type: ignore[attr-defined]
            names = ", ".join(f"`{each}{value if each.startswith('--') else ''}`" for each in action.option_strings)
        else:
            names = f"`{action.metavar or action.dest}`"
        words = " ".join(str(action.help).split()).replace("%(default)s", str(action.default)).replace("%%", "%")
        default = _DEFAULT.search(words)
        about = _escaped(_DEFAULT.sub("", words))
        option = action.option_strings[-1] if action.option_strings else ""
        if option in _MORE and option not in linked:
            linked.add(option)
            about += f" [More]({_MORE[option]})."
        rows.append(f"| {names.replace('|', chr(92) + '|')} | {_escaped(default[1]) if default else ''} | {about} |")
    return "\n".join(["| | default | |", "|---|---|---|", *rows]) if rows else ""


def _escaped(text: str) -> str:
    """Return a text of a help as Markdown: options and what is between `<>` or `|` mean nothing here."""
    marked = re.sub(r"(?<![\w`-])(--[a-z][\w-]*)(?![\w`])", r"`\1`", text)
    return marked.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
