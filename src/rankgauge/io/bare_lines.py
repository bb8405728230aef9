"""
Runs and judgments without a header that are not TREC's: which column is what, if that is certain or was said.

The third column of `query document rank` is an ascending order, that of `query document score` a descending one, so
that a guess could reverse a ranking. Ranks are certain where they count 1, 2, 3, ... for every query of a larger file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from rankgauge.columns import RankingBatch
from rankgauge.errors import DataError, Problem, counted
from rankgauge.io.field_names import Kind, positions
from rankgauge.io.problems import SUBJECTS
from rankgauge.io.recognize import TREC_LINE, Head, cells, shortened, split_line
from rankgauge.io.trec.line_columns import Form
from rankgauge.io.trec.run_text import RunFile

__all__ = ["bare_form"]

_RANKS = ("query", "document", "rank"), ("query", "document", "rank", "score")
"""The columns that are recognized where they count ranks."""

_LEAST_QUERIES, _LEAST_RESULTS = 10, 3
"""How many queries with how many results have to count ranks; fewer may be scores that happen to."""


def bare_form(path: Path, kind: Kind, columns: Mapping[str, str] | None, head: Head, *, name: str) -> tuple[Form, str]:
    """
    Return the form of lines without a header, and a note that says how it was recognized, empty if it was said.

    A `DataError` names the option that says it if it is not certain.
    """
    given, n = positions(columns, kind), len(cells(head, kind, columns))
    if len(given) == n:
        form = Form.of(given, is_run=kind == "run")
        if kind == "run" and not form.is_ranked and form.rank is None:
            _refuse_ranks(path, given, head, name)
        return form, ""
    if kind == "run" and not given and len(split_line(head.line)) == n:
        for roles in _RANKS:
            if len(roles) == n and _counts_ranks(path, Form.of(roles, is_run=True), name):
                by_rank = "which counts its results for each query, and orders them"
                by_score = "and the third counts its results for each query"
                is_ranked = len(roles) == len(_RANKS[0])
                how = f"the third is the rank, {by_rank}" if is_ranked else f"the fourth is the score, {by_score}"
                return Form.of(roles, is_run=True), f"{name} has no header, and {n} columns: {how}"
    raise _unclear(head, kind, given, n, name)


def _refuse_ranks(path: Path, given: Sequence[str], head: Head, name: str) -> None:
    """Refuse ranks that are called scores, because the best result would come last."""
    ranked = ["rank" if role == "score" else role for role in given]
    if len(split_line(head.line)) == len(given) and _counts_ranks(path, Form.of(ranked, is_run=True), name):
        column = given.index("score") + 1
        message = (
            f"column {column} counts 1, 2, 3, ... for every query, as ranks do, and --columns says that it is the "
            f"score: write {','.join(ranked)}; of several files, leave the option out, and give a header to the others"
        )
        raise DataError("the run cannot be read:", [Problem(message, name, head.number)])


def _counts_ranks(path: Path, form: Form, name: str) -> bool:
    """Return whether the ranks of every query are 1, 2, 3, ..., and no score rises with them."""
    seen: dict[bytes, int] = {}  # how many results of each query came before; its lines may be scattered
    n_long = 0
    run = RunFile(path, name=name, form=form).with_ranks()
    try:
        for batch in run.parts(1)[0]:
            ranks, starts = _ranks(batch), batch.starts
            steps = ranks - np.arange(len(ranks)) + np.repeat(starts, batch.lengths)
            firsts = steps[starts]
            if (steps != np.repeat(firsts, batch.lengths)).any() or run.notes:
                return False
            lengths = batch.lengths.tolist()
            for query, first, length in zip(batch.queries, firsts.tolist(), lengths, strict=True):
                before = seen.get(query, 0)
                if first != before + 1:
                    return False
                seen[query] = before + length
                n_long += before < _LEAST_RESULTS <= before + length
    except DataError:
        return False
    return n_long >= _LEAST_QUERIES


def _ranks(batch: RankingBatch) -> np.ndarray:
    return -batch.scores if batch.stated is None else batch.stated


def _unclear(head: Head, kind: Kind, given: tuple[str, ...], n: int, name: str) -> DataError:
    shown = shortened(head.line.rstrip())
    if given:
        message = f"{shown} has {counted(n, 'column')}, and --columns names {len(given)}: {','.join(given)}"
    else:
        blank = ["-"] * (n - 3)
        lists = ["query,document,grade"] if kind == "qrels" else ["query,document,rank", "query,document,score"]
        if n == 4 and kind == "run":
            lists = ["query,document,rank,score"]
        ways = " or ".join(
            f"--columns {','.join([option, *(blank if option.count(',') == 2 else [])])}" for option in lists
        )
        message = (
            f"{shown} has {counted(n, 'column')} and no header, where TREC text is `{TREC_LINE[kind]}`; say what they "
            f"are: {ways} (in Python columns={{{kind!r}: {lists[0]!r}}}; - is a column that nothing reads)"
        )
    return DataError(f"{SUBJECTS[kind]} cannot be read:", [Problem(message, name, head.number)])
