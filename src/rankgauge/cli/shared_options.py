"""
How options are declared, and those that several commands have.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from rankgauge.arguments import path, whole_number

FUNCTION = "module:function or file.py:function"

OF_RUNS = "trec10"
"""The profile by which runs are judged unless another is named."""


def two_files(written: str) -> tuple[str, str]:
    """Read the files of judgments and a run, written with a comma between them."""
    judgments, _, run = written.partition(",")
    if not (judgments and run) or "," in run:
        raise argparse.ArgumentTypeError(f"takes judgments and a run with a comma between them, not {written!r}")
    return judgments, run


class Option(NamedTuple):
    """An option or an argument: its names, and what else argparse is given for it."""

    names: tuple[str, ...]
    settings: Mapping[str, Any]


Options = tuple[Option | str, ...]
"""Options in the order of the help; a text is the heading of those behind it, and its first word is typed for them."""


def flag(names: str, text: str, **settings: Any) -> Option:  # noqa: ANN401  # argparse's
    """Return an option without a value."""
    return Option(tuple(names.split()), {"action": "store_true", "help": text, **settings})


def value(
    names: str,
    metavar: str,
    text: str,
    *,
    many: bool = False,
    says: str | None = None,
    **settings: Any,  # noqa: ANN401
) -> Option:
    """Return an option with a value, or an argument; the help ends with the default, or with what *says* which."""
    if many:
        settings["action"], text = "append", f"{text} Repeatable."
    if says is None and settings.get("default") is not None:
        says = "%(default)s"
    help_text = f"{text} [default: {says}]" if says else text
    return Option(tuple(names.split()), {"metavar": metavar, "help": help_text, **settings})


def file(names: str, text: str, metavar: str = "FILE", **settings: Any) -> Option:  # noqa: ANN401  # argparse's
    """Return an option whose value is a file or folder."""
    return value(names, metavar, text, type=path, **settings)


def count(names: str, text: str, least: int = 1, **settings: Any) -> Option:  # noqa: ANN401  # argparse's
    """Return an option whose value is a whole number that has a lowest value."""
    return value(names, "N", text, type=whole_number(least), **settings)


def add_options(parser: argparse.ArgumentParser, options: Options) -> None:
    """Add options to a parser."""
    group: argparse._ActionsContainer = parser
    for option in options:
        if isinstance(option, str):
            group = parser.add_argument_group(option)
        else:
            group.add_argument(*option.names, **option.settings)


ALL_COLUMNS = flag(
    "--all-columns", "Show every column and detail of the table, also below each other; --plain does too."
)
AS_JSON = flag("--json", "Print JSON.", dest="as_json")
CONFIG = file("--config", "A config file that declares matchers.")
CUTOFF = value("-k --k", "K", "Default cutoff, used when a metric has none.", type=int)
COLUMNS = value(
    "--columns",
    "NAME=COLUMN,...",
    "Column names of tables, such as query=qid,document=pid,score=s; of files without a header what each column is, "
    "such as query,document,rank (runs: rank or score; judgments: grade; - for what nothing reads).",
    many=True,
)
LETTERS = value("--letters", "LETTER=NUMBER,...", "What grades that are no numbers are worth, such as E=3,S=2,C=1,I=0.")
CLUSTER = value("--cluster", "FIELD", "Metadata field whose samples belong together; or a file: id, cluster.")
GROUPS = file("--groups", "Groups of queries, each a cohort: a file of ids and groups (TSV, CSV, JSONL, Parquet).")
WEIGHTS = value("--weights", "FIELD", "Metadata field that says how much a sample counts; or a file: id, weight.")
DATASET = value("--dataset", "NAME", "Which dataset, if there are several.")
FORCE = flag("--force", "Replace a result in that folder, once the new one is complete.")
TEST = value("--test", "NAME", "sign-flip, t, wilcoxon or bootstrap-bca.", default="sign-flip")
INTERVAL = value(
    "--interval",
    "KIND",
    "Which intervals: standard (Wilson's for scores of 0 and 1, else Student's t), or exact, for few samples "
    "(Clopper-Pearson, else a betting interval).",
    says="standard, or as the policy says",
    choices=("standard", "exact"),
)

FIELDS = (
    value(
        "--field",
        "OURS=THEIRS",
        "Your name for a field of samples, such as id=qid; for a list of texts: retrieved=contexts:text.",
        many=True,
    ),
    value(
        "--preset",
        "NAME",
        "Whose records they are: ragas, deepeval, langchain, llamaindex, haystack, trulens, promptfoo, phoenix, "
        "langfuse, elasticsearch, openai, beir (also MTEB), longmemeval, locomo, tevatron, "
        "chunking-evaluation, or one of a plugin.",
    ),
    value(
        "--separator",
        "TEXT",
        "What separates the entries of a list that is written as one text, such as '|' in cells of CSV files.",
    ),
    value("--system", "NAME", "Whose records to read, if a file has those of several systems."),
    flag(
        "--number-rows", "Call records without an id by their line, row or place in a list, in data and outputs alike."
    ),
)
"""How a data file is written."""

READER = value("--reader", "NAME", "The reader of the data, whatever its ending; outputs=NAME: of outputs.", many=True)
"""Which reader reads samples."""

RUN_READER = value("--reader", "NAME", "The reader of runs, whatever the ending; qrels=NAME: of judgments.", many=True)
"""Which reader reads runs."""

DATA = (*FIELDS, READER, LETTERS, file("--outputs", "A file with the outputs to score."))

TEXTS = (
    file("--texts", "Texts of documents, for runs that have ids only: JSONL, Parquet or TSV."),
    file("--queries", "Texts of queries, likewise."),
)
"""The texts of an HTML report."""


def profile(more: str = "", **settings: Any) -> Option:  # noqa: ANN401  # argparse's
    """Return the option that names a profile, with *more* to say about it; if one is enough, `--as` is the same."""
    text = (
        "The conventions to use: default, eval-harness, remem, haystack, classic, keyword, trec9, trec10, those of a "
    )
    names = "--profile" if settings.get("action") == "append" else "--as --profile"
    return value(
        names,
        "NAME",
        f"{text}tool such as lightgbm or ranx, a config or a plugin. {more}".rstrip(),
        dest="profile",
        **settings,
    )


def policy(says: str | None) -> tuple[Option, ...]:
    """Return profile and policy options, with what the help *says* of the profile that is used if none is named."""
    return (
        profile(says=says),
        value("--policy", "NAME=VALUE", "A policy option, such as ties=average.", many=True),
    )


def formats(text: str, **settings: Any) -> tuple[Option, ...]:  # noqa: ANN401  # argparse's
    """Return the options that say how to print."""
    return (
        value("-f --format", "FORMAT", f"How to print: {text}.", dest="form", default="table", **settings),
        Option(
            ("--json",), {"dest": "form", "action": "store_const", "const": "json", "help": "Same as --format json."}
        ),
    )


def html(more: str = "") -> Option:
    """Return the HTML report of a command that prints something else; *more* says what is particular to it."""
    text = f"Also write an HTML report: one self-contained file, which opens by double-click. {more}"
    return file("--html", text.rstrip())


def gates(*, more: str = "", has_baseline: bool = True) -> Options:
    """Return the options that `AskedGates` reads; *more* says what is particular to a command."""
    gate = f"A gate, such as 'ndcg@10 >= 0.6' or 'ndcg@10 max_drop 0.01'. Repeatable. {more}".rstrip()
    left_open = (
        "What open gates on changes do: fell (fail if the mean fell for certain, else warn), fail, warn or pass."
    )
    short = (
        "What a change is if the lists of the worse run end before a budget in over a tenth of samples: open or allow."
    )
    baseline = "A baseline that gates on changes compare with; last-good: the newest of --history that passed."
    baselines = (
        file("--baseline", baseline),
        file("--save-baseline", "Save the scores as a baseline, to compare later runs with."),
    )
    return (
        "gates",
        value("--gate", "GATE", gate, action="append"),
        value("--inconclusive", "EFFECT", left_open, choices=("fell", "fail", "warn", "pass"), says="fell"),
        value("--short-lists", "EFFECT", short, choices=("open", "allow"), says="open"),
        *(baselines if has_baseline else ()),
        file("--junit", "Write the gates as a JUnit report."),
        file("--markdown", "Write gates and means as Markdown for a pull request."),
    )


JUDGING: Options = (
    "judging of runs",
    value("-l --relevance", "GRADE", "Lowest grade of a relevant document.", type=float),
    flag("-J --judged-only", "Drop unjudged documents before ranks are counted."),
    value("-M --depth", "N", "Use only the first N results of each query.", type=int),
    *policy(OF_RUNS),
    CUTOFF,
    COLUMNS,
    LETTERS,
    RUN_READER,
)


def refuse(*rules: tuple[object, str]) -> None:
    """Refuse what was typed with the message of the first rule whose condition holds."""
    for holds, message in rules:
        if holds:
            from rankgauge.errors import ParameterError  # no help needs it

            raise ParameterError(message)


OUTPUTS = file("run", "Its outputs, or the run: as --outputs.", "OUTPUTS", nargs="?")
"""The outputs of a data file as the second that is named, as a run stands behind judgments."""


def take_outputs(given: argparse.Namespace) -> None:
    """Take what was typed as `OUTPUTS` for --outputs."""
    twice = given.run is not None and given.outputs is not None
    refuse((twice, f"outputs are given twice: {given.run} and --outputs {given.outputs}"))
    given.outputs = given.outputs or given.run


def typed(given: argparse.Namespace, options: Options) -> list[str]:
    """Return which of some options were typed, by their long names: their value is not what it is otherwise."""
    names = []
    for option in options:
        if isinstance(option, str) or not option.names[0].startswith("-"):
            continue
        name, settings, action = option.names[-1], option.settings, option.settings.get("action")
        usual = settings.get("default", False if action == "store_true" else None)
        value = getattr(given, settings.get("dest", name[2:].replace("-", "_")))
        if action != "store_const" and value != usual:  # which stands for another option
            names.append(name)
    return names


def unjudged(where: str) -> tuple[Option, ...]:
    """Return what can be asked about unjudged documents of runs; *where* says which formats show it."""
    return (
        flag("--condensed", f"Also use rankings without unjudged documents, as -J does. ({where})"),
        flag("--bounds", f"Also print the worst and best case of each mean. ({where})"),
    )


def check_unjudged(given: argparse.Namespace, forms: Collection[str]) -> None:
    """Refuse to say anything about unjudged documents if there are none, or in a format that cannot."""
    for option in ("condensed", "bounds"):
        wanted = getattr(given, option)
        refuse(
            (
                wanted and given.form not in forms,
                f"--{option} is for --format {', '.join(forms)}, not for {given.form}",
            ),
            (wanted and given.judged_only, f"--judged-only drops unjudged documents everywhere; leave out --{option}"),
        )


def _as_it_is(function: Callable[[], Any]) -> Any:  # noqa: ANN401  # whatever it returns
    return function()


class Command(NamedTuple):
    """
    A command: what can be typed behind its name, and what it does.

    Attributes:
        usage: What is behind the name; a further line is another way to use it.

        about: The description below the summary, in paragraphs that are wrapped when they are shown.

        options: Its options and arguments; or what adds those of a plugin's command to a parser.

        execute: What does it, and returns the exit code: a function, or the place of one.

        summary: Its one line, if the table of commands has none.

        guarded: Calls a function that may run code of the command, such as types of its options.

        first: The options that its help shows beside arguments and groups; empty if it shows all.

        calls_nothing: Returns whether, with what was typed, it calls no system of the user, which may multiply large
            matrices: numpy then loads without the threads for that, a tenth of a short run.
    """

    usage: str
    about: str
    options: Options | Callable[[argparse.ArgumentParser], None]
    execute: str | Callable[[argparse.Namespace], int]
    summary: str = ""
    guarded: Callable[[Callable[[], Any]], Any] = _as_it_is
    first: tuple[str, ...] = ()
    calls_nothing: Callable[[argparse.Namespace], bool] = lambda _: False

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add options and arguments to a parser."""
        if callable(self.options):
            self.options(parser)
        else:
            add_options(parser, self.options)
