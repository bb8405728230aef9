"""Options of a plugin's command: whatever argparse documents is read as argparse reads it, in any order."""

import argparse
import json

import pytest

HEAD = '''\
import argparse

from rankgauge.plugin import command

def options(parser):
    add = parser.add_argument
{options}

@command(options=options)
def show(given, console):
    """Show what was typed."""
    console.json({{name: value for name, value in vars(given).items() if name != "wants_help"}})
    return 0
'''


@pytest.fixture
def show(installed, rankgauge, monkeypatch):
    """Return a function that installs a command with some options and runs it."""
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS")
    made = {}

    def run(options, *typed):
        if options not in made:
            lines = "\n".join(f"    {line}" for line in options.splitlines())
            name = f"show{len(made)}"
            installed.add(f"acme-{name}", HEAD.format(options=lines), commands={name: "{module}:show"})
            made[options] = name
        return rankgauge(made[options], *typed)

    return run


READ = [
    # nargs
    ('add("--names", nargs="+", help="N")\nadd("file", help="F")', ["--names", "a", "b", "--", "f"]),
    ('add("--names", nargs="+", help="N")\nadd("file", help="F")', ["f", "--names", "a", "b"]),
    ('add("--names", nargs="+", help="N")\nadd("--other", help="O")', ["--names", "a", "b", "--other", "c"]),
    ('add("--names", nargs="*", help="N")', ["--names"]),
    ('add("--names", nargs="*", default=["x"], help="N")', []),
    ('add("--pair", nargs=2, type=int, help="P")\nadd("file", help="F")', ["--pair", "1", "-2", "f"]),
    ('add("--one", nargs=1, help="O")', ["--one", "a"]),
    ('add("-p", "--pair", nargs=2, help="P")\nadd("files", nargs="*", help="F")', ["-p", "1", "2", "f", "g"]),
    ('add("--mode", nargs="?", const="all", default="none", help="M")', []),
    ('add("--mode", nargs="?", const="all", default="none", help="M")', ["--mode"]),
    ('add("--mode", nargs="?", const="all", default="none", help="M")', ["--mode", "some"]),
    ('add("--mode", nargs="?", const="all", help="M")\nadd("-v", action="store_true", help="V")', ["--mode", "-v"]),
    ('add("first", help="F")\nadd("more", nargs="*", help="M")\nadd("-v", action="count", help="V")', ["a", "b", "c"]),
    ('add("first", help="F")\nadd("last", nargs="?", default="z", help="L")', ["a"]),
    ('add("files", nargs=2, help="F")', ["a", "b"]),
    # actions
    ('add("-v", "--verbose", action="count", default=0, help="V")', ["-vvv"]),
    ('add("-v", "--verbose", action="count", default=0, help="V")', ["-v", "--verbose"]),
    ('add("--fast", dest="how", action="store_const", const="fast", default="slow", help="F")', ["--fast"]),
    ('add("--no", dest="yes", action="store_false", help="N")', ["--no"]),
    ('add("--add", action="append", type=int, help="A")', ["--add", "1", "--add=2"]),
    ('add("--pairs", action="append", nargs=2, help="P")', ["--pairs", "a", "b", "--pairs", "c", "d"]),
    ('add("--more", action="extend", nargs="+", help="M")', ["--more", "a", "--more", "b", "c"]),
    (('add("--x", dest="l", action="append_const", const=1, help="X")\nadd("--y", dest="l", action="append_const",'
     ' const=2, help="Y")'), ["--y", "--x"]),
    ('add("-b", "--bar", action=argparse.BooleanOptionalAction, default=None, help="B")', ["--no-bar"]),
    ('add("-b", "--bar", action=argparse.BooleanOptionalAction, default=None, help="B")', ["-b"]),
    ('add("-b", "--bar", action=argparse.BooleanOptionalAction, default=None, help="B")', ["--bar"]),
    # values
    ('add("--mode", choices=("a", "b"), help="M")', ["--mode", "b"]),
    ('add("--k", type=int, choices=range(3), help="K")', ["--k", "2"]),
    ('add("-k", type=int, default="7", help="K")', []),
    ('add("-k", type=int, help="K")', ["-k5"]),
    ('add("-k", type=float, help="K")', ["-k", "-1.5"]),
    ('add("--text", help="T")', ["--text", ""]),
    ('add("-t", help="T")', ["-t", ""]),
    ('add("--text", help="T")', ["--text=a=b"]),
    ('add("-o", "--out-put", dest="there", help="O")', ["-o", "-"]),
    ('add("-long", help="L")', ["-long", "a"]),
    # groups and defaults
    ('g = parser.add_argument_group("more")\ng.add_argument("--in-group", type=int, help="I")', ["--in-group", "1"]),
    (('g = parser.add_mutually_exclusive_group(required=True)\ng.add_argument("--a", action="store_true", help="A")\n'
     'g.add_argument("--b", help="B")'), ["--b", "x"]),
    ('parser.set_defaults(extra=3)\nadd("--x", required=True, help="X")', ["--x", "1"]),
]  # fmt: skip


@pytest.mark.parametrize(("options", "typed"), READ)
def test_options_are_read_as_argparse_reads_them(show, options, typed):
    """The other side is a parser of argparse with the same options, in an order that it takes in every Python."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    exec(options, {"parser": parser, "add": parser.add_argument, "argparse": argparse})  # noqa: S102  # as above
    try:
        expected = vars(parser.parse_intermixed_args(typed))
    except TypeError:  # argparse mixes no groups that are exclusive
        expected = vars(parser.parse_args(typed))

    done = show(options, *typed)
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == expected


@pytest.mark.parametrize(
    ("options", "typed", "words"),
    [
        ('add("--pair", nargs=2, metavar=("A", "B"), help="P")', ["--pair", "1"], "--pair needs 2 values: A B;"),
        ('add("--names", nargs="+", help="N")', ["--names"], "--names needs values: NAMES [NAMES ...];"),
        ('add("-m", "--mode", choices=("a", "b"), help="M")', ["--mode"], "-m/--mode needs a value: {a,b};"),
        ('add("--mode", choices=("a", "b"), help="M")', ["--mode", "c"], "argument --mode: invalid choice: 'c'"),
        ('add("-k", type=int, help="K")', ["-k", "x"], "argument -k: invalid int value: 'x'"),
        ('add("file", help="F")', [], "the following arguments are required: file"),
        ('add("file", help="F")', ["a", "b"], "unexpected argument 'b'"),
        ('add("--flag", action="store_true", help="F")', ["--flag=1"], "ignored explicit argument '1'"),
        (
            (
                'g = parser.add_mutually_exclusive_group()\ng.add_argument("--a", action="store_true", help="A")\n'
                'g.add_argument("--b", action="store_true", help="B")'
            ),
            ["--a", "--b"],
            "argument --b: not allowed with argument --a",
        ),
    ],
)
def test_what_cannot_be_read_is_an_error_of_usage(show, options, typed, words):
    done = show(options, *typed)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("usage: rankgauge show0 [OPTIONS]\nerror: ")
    assert words in done.err


def test_the_help_names_values_by_metavar_choices_or_name(show):
    options = (
        'add("--mode", choices=("a", "b"), help="M")\nadd("-k", "--top", type=int, help="K")\n'
        'add("--pair", nargs=2, metavar=("LOW", "HIGH"), help="P")\nadd("--names", nargs="+", help="N")\n'
        'add("--maybe", nargs="?", help="Y")\nadd("--bar", action=argparse.BooleanOptionalAction, help="B")'
    )
    lines = [line.split("  ")[1] for line in show(options, "--help").out.splitlines() if line.startswith("  -")]
    assert lines == [
        "-h, --help",
        "--mode {a,b}",
        "-k, --top TOP",
        "--pair LOW HIGH",
        "--names NAMES [NAMES ...]",
        "--maybe [MAYBE]",
        "--bar, --no-bar",
    ]


def test_actions_that_print_and_end_the_command_print_the_result(show):
    options = 'add("--acme-version", action="version", version="acme 1.2")\nadd("file", help="F")'
    done = show(options, "--acme-version")
    assert (done.code, done.out, done.err) == (0, "acme 1.2\n", "")
    done = show('add("--usage", action="help", help="U")', "--usage")
    assert (done.code, done.out.startswith("usage: rankgauge show1 [OPTIONS]\n")) == (0, True)


def test_an_action_may_end_the_command_with_a_message(show):
    options = (
        "class Leave(argparse.Action):\n    def __call__(self, parser, *_):\n        parser.exit(3, 'enough\\n')\n"
        'add("--leave", nargs=0, action=Leave, help="L")'
    )
    done = show(options, "--leave")
    assert (done.code, done.out, done.err) == (3, "", "enough\n")


@pytest.mark.parametrize(
    ("options", "typed", "words"),
    [
        ("parser.add_subparsers()", [], "a command has no subparsers: make each an entry point of its own"),
        ('add("rest", nargs="...", help="R")', [], "rest takes the remainder of the line"),
        ('add("--debug", action="store_true", help="D")', [], "the option --debug is rankgauge's own"),
        ('add("--k", type=lambda text: {}[text], help="K")', ["--k", "1"], "failed: KeyError: '1'"),
        ('add("--k", help="100%")', ["--help"], "failed: ValueError: "),
        ('add("--k", nargs=0, help="K")', [], "failed: ValueError: nargs for store actions must be != 0"),
    ],
)
def test_options_that_cannot_be_used_are_told_with_whose_they_are(show, options, typed, words):
    done = show(options, *typed)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert "This is a bug" not in done.err


def test_an_option_that_takes_every_word_says_how_to_write_the_arguments_behind_it(show):
    done = show('add("--names", nargs="+", help="N")\nadd("file", help="F")', "--names", "a", "b", "f")
    assert done.code == 2
    assert "required: file; --names takes every word up to the next option: type file before --names, or --" in done.err
