"""
`rankgauge trec --against OTHER`: how much the rankings of runs agree with those of another run.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from rankgauge.base.plain_text import visible
from rankgauge.cli.console import emit, print_report, remark, report_width, row_width
from rankgauge.cli.conventions import Conventions, run_names
from rankgauge.cli.scoring_options import TREC_OPTIONS
from rankgauge.cli.shared_options import refuse, typed
from rankgauge.errors import counted, listed
from rankgauge.features.agreement.measures import DEFAULT_MEASURES
from rankgauge.features.agreement.rank_agreement import (
    RankAgreement,
    agreement_json,
    agreement_jsonl,
    agreement_table,
    agreements_table,
    query_table,
)
from rankgauge.features.agreement.run_agreement import rank_agreements
from rankgauge.policy import option_text

_FORMS = ("table", "json", "jsonl")

_TAKEN = ("--against", "--metric", "--per-query", "--no-summary", "--format", "--profile", "--policy", "--depth")
"""The options of `rankgauge trec` that have an effect, with the columns; all others read judgments or scores."""


def compare_rankings(given: argparse.Namespace) -> int:
    """Compare rankings by what was typed behind ``trec``, and return the exit code."""
    _check(given)
    conventions = Conventions.of(given)
    files = [given.qrels, *given.runs]
    qrels, runs = (files[0], files[1:]) if len(files) > 1 else (None, files)
    agreements = rank_agreements(
        dict(zip(run_names(runs), runs, strict=True)),
        given.against,
        given.metric or DEFAULT_MEASURES,
        qrels=qrels,
        profile=conventions.profile,
        policy=conventions.policy,
        columns=conventions.columns,
        catalog=conventions.catalog,
    )
    _tell(agreements, given.against)
    if given.form == "table":
        options = next(iter(agreements.values())).policy
        remark(f"policy: {' '.join(f'{option}={option_text(value)}' for option, value in options.items())}")
        _print_tables(agreements, per_query=given.per_query, summary=not given.no_summary)
    else:
        print_report(given.form, [{"json": agreement_json, "jsonl": agreement_jsonl}[given.form](agreements)])
    return 0


def _check(given: argparse.Namespace) -> None:
    """Refuse what needs judgments or scores."""
    idle = ", ".join([name for name in typed(given, TREC_OPTIONS) if name not in {*_TAKEN, "--columns"}][:1])
    refuse(
        (idle, f"--against compares rankings with each other, where {idle} has no effect; leave it out"),
        (given.form not in _FORMS, f"--against prints {', '.join(_FORMS)}, not {given.form}"),
    )


def _tell(agreements: Mapping[str, RankAgreement], other: str) -> None:
    """Say on stderr which queries are in no measure, and what was wrong with the files."""
    for name, agreement in agreements.items():
        for file, alone in ((name, agreement.only), (other, agreement.only_other)):
            if alone:
                queries = counted(len(alone), "query", "queries")
                remark(visible(f"{queries} only in {file}, such as {listed(alone, 3)}; left out"))
        for note in agreement.notes:
            remark(visible(f"{name}: {note}"))


def _print_tables(agreements: Mapping[str, RankAgreement], *, per_query: bool, summary: bool) -> None:
    for name, agreement in agreements.items():
        if per_query:
            emit([f"{visible(name)}\n"] if len(agreements) > 1 else [])
            emit(f"{line}\n" for line in (*query_table(agreement, width=row_width()), ""))
    if summary:
        (only, *others) = agreements.values()
        table = (
            agreements_table(agreements, width=report_width())
            if others
            else agreement_table(only, width=report_width())
        )
        emit(f"{line}\n" for line in table)
