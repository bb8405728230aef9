"""Commands of plugins: where they can stand, when plugins are looked for, and what is refused."""

import argparse
from types import SimpleNamespace

import pytest

from rankgauge import Catalog
from rankgauge.cli.command_line import _OPEN, command_names
from rankgauge.errors import DeclarationError
from rankgauge.plugin import Console, command, hookimpl
from rankgauge.plugin.programs import OPEN_GROUPS
from rankgauge.testing import check_plugin

MODULE = '''\
"""A plugin with a command."""

from rankgauge.plugin import DataError, command, hookimpl

def options(parser):
    parser.add_argument("queue", metavar="QUEUE", help="A queue.")
    parser.add_argument("--code", type=int, default=0, metavar="N", help="An exit code.")

@command("judge {word}", options=options, usage="[OPTIONS] QUEUE")
def toss(given, console):
    """
    Toss a coin for each document.

    Nobody should believe it.
    """
    if given.code == 2:
        raise DataError("the coin cannot be read:", [])
    print("tossed", given.queue)
    return given.code

@hookimpl
def rankgauge_commands():
    return [toss]
'''


@pytest.fixture
def install(installed, monkeypatch):
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS")
    monkeypatch.setenv("RANKGAUGE_DISABLE_PLUGINS", "rankgauge-judge")
    return installed


def test_one_runs_with_its_options_its_exit_code_and_its_errors(install, rankgauge):
    install.add("acme-coins", MODULE.format(word="toss"))

    done = rankgauge("judge", "toss", "q.jsonl", "--code", "3")
    assert (done.code, done.out) == (3, "tossed q.jsonl\n")
    done = rankgauge("judge", "toss", "q.jsonl", "--code=2")
    assert (done.code, done.err.splitlines()[-1]) == (2, "error: the coin cannot be read:")
    done = rankgauge("judge", "toss", "--cod", "1")
    assert (done.code, "did you mean '--code'?" in done.err) == (2, True)


def test_its_help_and_that_of_its_group_come_from_the_docstring(install, rankgauge):
    install.add("acme-coins", MODULE.format(word="toss"))

    assert "  toss   Toss a coin for each document.\n" in rankgauge("judge", "--help").out + "\n"
    text = rankgauge("judge", "toss", "-h").out
    assert text.startswith("usage: rankgauge judge toss [OPTIONS] QUEUE\n\nToss a coin for each document.\n\nNobody")
    assert "--code N" in text


def test_a_word_that_two_plugins_claim_works_for_neither_and_a_broken_plugin_is_named(install, rankgauge):
    install.add("acme-coins", MODULE.format(word="toss"))
    install.add("acme-dice", MODULE.format(word="toss"))
    install.add("acme-broken", "raise RuntimeError('no luck')")

    done = rankgauge("judge", "toss", "q.jsonl")
    assert done.code == 2
    assert "no command 'toss'" in done.err
    assert "command 'judge toss' is claimed by 2 plugins" in done.err
    assert "no luck" in done.err


def test_without_plugins_the_error_says_that_plugins_add_commands(rankgauge):
    done = rankgauge("judge", "run", "q.jsonl")
    assert done.code == 2
    assert "no command 'run'; plugins add others, such as rankgauge-judge" in done.err


def test_a_group_without_any_command_says_what_brings_some(rankgauge, monkeypatch):
    monkeypatch.setenv("RANKGAUGE_DISABLE_PLUGINS", "rankgauge-traces")
    assert "None is installed: pip install rankgauge-traces brings them." in rankgauge("traces", "--help").out
    done = rankgauge("traces", "read", "spans.jsonl")
    assert done.code == 2
    assert "no command 'read'; plugins add others, such as rankgauge-traces" in done.err
    assert rankgauge("traces").code == 2


@pytest.mark.parametrize(
    "name", ["judge queue", "judge read", "judge", "metrics mine", "mine", "judge Run", "judge ", 5]
)
def test_a_name_that_is_taken_or_stands_nowhere_is_refused(name):
    with pytest.raises(DeclarationError):
        command(name, options=lambda parser: None)(lambda given: 0)


def test_the_open_groups_are_those_of_the_command_line_with_their_words():
    assert set(_OPEN) == set(OPEN_GROUPS)
    for group, words in OPEN_GROUPS.items():
        assert tuple(name.split()[1] for name in command_names() if name.startswith(f"{group} ")) == words


def test_laws_try_the_options():
    def options(parser):
        parser.add_argument("--quiet", action="store_true")

    def taken(parser):
        parser.add_argument("--help", help="Show nothing.")

    @command("judge silently", options=options)
    def silently(given: argparse.Namespace, console: Console) -> int:
        """Judge silently."""
        return 0

    @command("judge helped", options=taken)
    def helped(given: argparse.Namespace, console: Console) -> int:
        """Judge with help."""
        return 0

    plugin = SimpleNamespace(rankgauge_commands=hookimpl(lambda: [silently, helped]))
    report = check_plugin(plugin)
    assert report.broken == dict.fromkeys(["judge silently", "judge helped"], ("described-options",))
    assert report["judge silently"]["described-options"].reason == "--quiet has no help"
    assert "conflicting option" in report["judge helped"]["described-options"].reason
    assert list(Catalog.discover(own_only=True, plugins={"p": plugin}).all("command")) == [
        "judge helped",
        "judge silently",
    ]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return {}['no key']", "failed: KeyError: 'no key' ("),
        ("import sys; sys.exit(4)", "failed: SystemExit: 4 ("),
        ("return None", "failed: it returned None, and an exit code is an integer from 0 to 255"),
        ("return True", "failed: it returned True, and"),
        ("return '0'", "failed: it returned '0', and"),
        ("return 256", "failed: it returned 256, and"),
        ("return -1", "failed: it returned -1, and"),
    ],
)
def test_a_crash_and_a_wrong_exit_code_are_faults_of_the_plugin(install, rankgauge, body, reason):
    file = install.add("acme-coins", MODULE.format(word="toss").replace("return given.code", body))

    done = rankgauge("judge", "toss", "q.jsonl")
    assert (done.code, done.out) == (2, "tossed q.jsonl\n")
    assert "error: command 'judge toss' (by acme-coins 1.0 (plugin main), " in done.err
    assert reason in done.err
    assert f"{file}:" in done.err
    assert "this is a fault of the plugin, not of your data" in done.err
    assert "report it" not in done.err


def test_options_that_cannot_be_added_are_a_fault_of_the_plugin(install, rankgauge):
    install.add("acme-coins", MODULE.format(word="toss").replace("type=int", "typ=int"))

    done = rankgauge("judge", "toss", "q.jsonl")
    assert (done.code, "command 'judge toss' (by acme-coins" in done.err) == (2, True)
    assert rankgauge("judge", "toss", "--help").code == 2


def test_what_a_plugin_raises_on_purpose_and_files_that_are_not_there_are_told_as_ours(install, rankgauge):
    install.add("acme-coins", MODULE.format(word="toss").replace("return given.code", "open('nowhere')"))

    done = rankgauge("judge", "toss", "q.jsonl")
    assert (done.code, "cannot read or write nowhere: No such file" in done.err) == (2, True)
