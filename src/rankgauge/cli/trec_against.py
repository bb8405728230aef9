"""
`rankgauge trec --against OTHER`: how much the rankings of runs agree with those of another run.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from rankgauge.agreement.measures import DEFAULT_MEASURES
from rankgauge.agreement.rank_agreement import (
    RankAgreement,
    agreement_json,
    agreement_jsonl,
    agreement_table,
    agreements_table,
    query_table,
)
from rankgauge.base.plain_text import visible
from rankgauge.cli.console import emit, print_report, remark, report_width, row_width
from rankgauge.cli.conventions import Conventions, run_names
from rankgauge.engine.run_agreement import rank_agreements
from rankgauge.errors import ParameterError, counted, listed
from rankgauge.policy import option_text

_FORMS = ("table", "json", "jsonl")

_TAKEN = frozenset(
    {
        *("qrels", "runs", "against", "metric", "per_query", "no_summary", "form"),
        *("profile", "policy", "depth", "columns"),
    }
)
"""The options of `rankgauge trec` that have an effect; all others read judgments or scores."""


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
    typed = [name for name, value in vars(given).items() if value is not None and value is not False]
    if idle := [name for name in typed if name not in _TAKEN]:
        option = f"--{idle[0].replace('_', '-')}"
        raise ParameterError(f"--against compares rankings with each other, where {option} has no effect; leave it out")
    if given.form not in _FORMS:
        raise ParameterError(f"--against prints {', '.join(_FORMS)}, not {given.form}")


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
