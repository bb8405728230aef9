"""
Options that several commands have: how they are added to a parser, and the types of what stands behind them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from rankgauge.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "FUNCTION",
    "OF_RUNS",
    "add_all_columns_option",
    "add_cluster_option",
    "add_columns_option",
    "add_config_option",
    "add_cutoff_option",
    "add_data_options",
    "add_field_option",
    "add_force_option",
    "add_gate_options",
    "add_html_options",
    "add_interval_option",
    "add_json_option",
    "add_judging_options",
    "add_policy_options",
    "add_profile_option",
    "add_report_options",
    "add_score_options",
    "add_unjudged_options",
    "check_unjudged",
    "finite",
    "judging_typed",
    "path",
    "share",
    "whole_number",
]

FUNCTION = "module:function or file.py:function"

OF_RUNS = "trec10"
"""The profile by which runs are judged unless another is named."""

_PROFILE = (
    "The conventions to use: default, eval-harness, remem, haystack, classic, keyword, trec9, trec10, or those of a "
    "config or plugin."
)


def path(written: str) -> Path:
    """Read a path."""
    from pathlib import Path  # loads more than a parser needs

    if not written or "\0" in written:
        raise argparse.ArgumentTypeError(f"takes the name of a file or folder, not {written!r}")
    return Path(written)


def finite(written: str) -> float:
    """Read a finite number."""
    from rankgauge.base.plain_text import read_number

    number = read_number(written.strip().encode())
    if number != number:  # noqa: PLR0124  # NaN
        raise argparse.ArgumentTypeError(f"takes a finite number, not {written!r}")
    return number


def share(written: str) -> float:
    """Read a share, written as a number or a percentage."""
    from rankgauge.base.plain_text import read_share

    try:
        return read_share(written)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def whole_number(least: int) -> Callable[[str], int]:
    """Return the type of a whole number that has a lowest value."""

    def read(written: str) -> int:
        try:
            number = int(written)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"takes a whole number from {least} on, not {written!r}")
        return number

    return read


def add_all_columns_option(parser: argparse._ActionsContainer) -> None:
    """Add ``--all-columns`` to a command whose table begins with what decides."""
    text = "Show every column and detail of the table, also below each other; --plain does too."
    parser.add_argument("--all-columns", action="store_true", help=text)


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--json`` to a command that prints either text or JSON."""
    parser.add_argument("--json", dest="as_json", action="store_true", help="Print JSON.")


def add_config_option(parser: argparse.ArgumentParser) -> None:
    """Add the config of a command that has one for its matchers only."""
    parser.add_argument("--config", type=path, metavar="FILE", help="A config file that declares matchers.")


def add_cutoff_option(parser: argparse._ActionsContainer) -> None:
    """Add the default cutoff."""
    parser.add_argument("-k", "--k", type=int, metavar="K", help="Default cutoff, used when a metric has none.")


def add_columns_option(parser: argparse._ActionsContainer) -> None:
    """Add the names of the columns of tables."""
    text = "Column names of tables, such as query=qid,document=pid,score=s."
    parser.add_argument("--columns", metavar="NAME=COLUMN,...", help=text)


def add_profile_option(parser: argparse._ActionsContainer, more: str, **settings: Any) -> None:  # noqa: ANN401  # argparse's
    """Add the profile, with *more* to say about it."""
    parser.add_argument("--profile", metavar="NAME", help=f"{_PROFILE} {more}".rstrip(), **settings)


def add_policy_options(parser: argparse._ActionsContainer, profile: str | None) -> None:
    """Add profile and policy options, with a default profile."""
    add_profile_option(parser, "" if profile is None else "[default: %(default)s]", default=profile)
    parser.add_argument(
        "--policy", action="append", metavar="NAME=VALUE", help="A policy option, such as ties=average. Repeatable."
    )


def add_interval_option(parser: argparse._ActionsContainer) -> None:
    """Add which intervals there are."""
    text = "Which intervals: standard (Wilson's for scores of 0 and 1, else Student's t), or exact, for few samples "
    text += "(Clopper-Pearson, else a betting interval). [default: standard, or as the policy says]"
    parser.add_argument("--interval", choices=("standard", "exact"), metavar="KIND", help=text)


def add_force_option(parser: argparse._ActionsContainer) -> None:
    """Add whether a result may be replaced."""
    text = "Replace a result in that folder, once the new one is complete."
    parser.add_argument("--force", action="store_true", help=text)


def add_cluster_option(parser: argparse._ActionsContainer) -> None:
    """Add the option that says which samples are not independent."""
    cluster = "Metadata field whose samples belong together; or a file: id, cluster."
    parser.add_argument("--cluster", metavar="FIELD", help=cluster)


def add_field_option(parser: argparse._ActionsContainer) -> None:
    """Add where a data file has what samples consist of."""
    text = "Your name for a field of samples, such as id=qid; for a list of texts: retrieved=contexts:text. Repeatable."
    parser.add_argument("--field", action="append", metavar="OURS=THEIRS", help=text)
    preset = "Whose records they are: ragas, deepeval, langchain, llamaindex, haystack, trulens, promptfoo, phoenix, "
    preset += "langfuse, elasticsearch, openai, beir (also MTEB), or one of a plugin."
    parser.add_argument("--preset", metavar="NAME", help=preset)
    text = "What stands between the entries of a list that is written as one text, such as '|' in cells of CSV files."
    parser.add_argument("--separator", metavar="TEXT", help=text)


def add_data_options(parser: argparse._ActionsContainer) -> None:
    """Add how a data file is read, and the outputs beside it."""
    add_field_option(parser)
    parser.add_argument("--outputs", type=path, metavar="FILE", help="A file with the outputs to score.")


def add_gate_options(parser: argparse.ArgumentParser, *, more: str = "", has_baseline: bool = True) -> None:
    """Add the options that `GateOptions` reads; *more* says what is particular to a command."""
    add = parser.add_argument_group("gates").add_argument
    gate = f"A gate, such as 'ndcg@10 >= 0.6' or 'ndcg@10 max_drop 0.01'. Repeatable. {more}".rstrip()
    add("--gate", action="append", metavar="GATE", help=gate)
    open_gates = "What gates on changes do that too few samples leave open: fail, warn or pass. [default: warn]"
    add("--inconclusive", choices=("fail", "warn", "pass"), metavar="EFFECT", help=open_gates)
    if has_baseline:
        baseline = "A baseline that gates on changes compare with; last-good: the newest of --history that passed."
        add("--baseline", type=path, metavar="FILE", help=baseline)
        text = "Save the scores as a baseline, to compare later runs with."
        add("--save-baseline", type=path, metavar="FILE", help=text)
    add("--junit", type=path, metavar="FILE", help="Write the gates as a JUnit report.")
    add("--markdown", type=path, metavar="FILE", help="Write gates and means as Markdown for a pull request.")


def add_report_options(parser: argparse._ActionsContainer) -> None:
    """Add the texts of an HTML report, for runs that have ids only."""
    text = "Texts of documents, for runs that have ids only: JSONL, Parquet or TSV."
    parser.add_argument("--texts", type=path, metavar="FILE", help=text)
    parser.add_argument("--queries", type=path, metavar="FILE", help="Texts of queries, likewise.")


def add_html_options(parser: argparse._ActionsContainer, more: str = "") -> None:
    """Add the HTML report of a command that prints something else; *more* says what is particular to it."""
    text = f"Also write an HTML report: one self-contained file, which opens by double-click. {more}".rstrip()
    parser.add_argument("--html", type=path, metavar="FILE", help=text)


def add_judging_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that decide how a run is judged."""
    group = parser.add_argument_group("how runs are judged")
    add = group.add_argument
    add("-l", "--relevance", type=float, metavar="GRADE", help="Lowest grade of a relevant document.")
    add("-J", "--judged-only", action="store_true", help="Drop unjudged documents before ranks are counted.")
    add("-M", "--depth", type=int, metavar="N", help="Use only the first N results of each query.")
    add_policy_options(group, OF_RUNS)
    add_cutoff_option(group)
    add_columns_option(group)


def judging_typed(given: argparse.Namespace) -> list[str]:
    """Return what was typed of `add_judging_options`, for a command that may have no run."""
    names = ("relevance", "judged_only", "depth", "profile", "policy", "k", "columns")
    typed = {name: getattr(given, name) for name in names}
    if typed["profile"] == OF_RUNS:
        del typed["profile"]
    return [f"--{name.replace('_', '-')}" for name, value in typed.items() if value is not None and value is not False]


def add_unjudged_options(parser: argparse._ActionsContainer, where: str) -> None:
    """Add what can be asked about unjudged documents of runs; *where* says which formats show it."""
    add = parser.add_argument
    add("--condensed", action="store_true", help=f"Also use rankings without unjudged documents, as -J does. ({where})")
    add("--bounds", action="store_true", help=f"Also print the worst and best case of each mean. ({where})")


def check_unjudged(given: argparse.Namespace, forms: Collection[str]) -> None:
    """Refuse to say anything about unjudged documents where there are none, or in a format that cannot."""
    wanted = [option for option in ("condensed", "bounds") if getattr(given, option)]
    if wanted and given.form not in forms:
        raise ParameterError(f"--{wanted[0]} is for --format {', '.join(forms)}, not for {given.form}")
    if wanted and given.judged_only:
        raise ParameterError(f"--judged-only drops unjudged documents everywhere; leave out --{wanted[0]}")


def add_score_options(parser: argparse.ArgumentParser) -> None:
    """Add what `run` and `rescore` have in common: what is computed, printed, saved and judged."""
    group = parser.add_argument_group("metrics and policy")
    add = group.add_argument
    metric = "A metric, such as ndcg@10 or recall@1,5. Repeatable."
    add("-m", "--metric", action="append", metavar="METRIC", help=metric)
    add_policy_options(group, None)
    add_cutoff_option(group)
    add_interval_option(group)
    add_cluster_option(group)
    failed = "Exit with 3 if more than this share (0.1, or 10%%) of the samples is missing or failed."
    add("--max-failed", type=share, metavar="SHARE", help=failed)
    cohort = "Make a cohort of each value of a metadata field, such as metadata.language. Repeatable."
    add("--cohort", action="append", metavar="FIELD", help=cohort)

    group = parser.add_argument_group("what is printed")
    add = group.add_argument
    form = "How to print: table, json, jsonl, markdown, or a format of a plugin (rankgauge plugins list -v)."
    add("-f", "--format", dest="form", default="table", metavar="FORMAT", help=f"{form} [default: %(default)s]")
    add("--json", dest="form", action="store_const", const="json", help="Same as --format json.")
    add("--details", action="store_true", help="Keep the facts behind every score.")
    near = "Also keep, for each gold text not found, the nearest retrieved text."
    add("--near-misses", action="store_true", help=near)
    worst = "Also list the N worst samples, with what was retrieved and expected."
    add("--worst", type=whole_number(1), metavar="N", help=worst)
    add("--worst-by", metavar="METRIC", help="The metric by which --worst picks samples. [default: the first]")
    add_all_columns_option(group)
    add("--bands", action="store_true", help="Label each mean with a word, such as good.")
    bar = "Show a progress bar when a run takes long. [default: --progress]"
    add("--progress", action=argparse.BooleanOptionalAction, default=True, help=bar)

    group = parser.add_argument_group("what is written")
    add = group.add_argument
    add("-o", "--output", type=path, metavar="FOLDER", help="Write a result folder here.")
    add_force_option(group)
    keep = "Copy data and outputs into the result folder, so that it is self-contained."
    add("--keep-data", action="store_true", help=keep)
    text = "Also save each sample's question and top results beside its scores."
    add("--with-text", action="store_true", help=text)
    history = "Add the results to this history; --baseline last-good is looked up there."
    add("--history", type=path, metavar="FILE", help=history)
    add_html_options(group, "Of several datasets each has its own, FILE-NAME.html.")

    add_gate_options(parser)

    workers = "Processes that read and judge a large file of JSON lines. [default: %(default)s]"
    parser.add_argument("--workers", type=whole_number(1), default=1, metavar="N", help=workers)
