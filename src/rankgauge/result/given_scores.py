"""
Given scores: results made of scores that another tool computed, as far as their names say what they are.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from rankgauge.catalog import Catalog
from rankgauge.columns.judged_rows import Floats
from rankgauge.errors import DataError, ParameterError, Problem, RankgaugeError, counted, listed
from rankgauge.expression import MetricExpression, as_written, safe_name
from rankgauge.io.score_files import (
    SystemScores,
    check_score_columns,
    read_score_file,
    scores_of_mapping,
    scores_of_rows,
)
from rankgauge.planning.cutoffs import Conventions, DefaultK
from rankgauge.planning.plan import make_plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.plugin.metric import POOLED, WHOLE_RUN
from rankgauge.result.column_info import MetricInfo
from rankgauge.result.result import Result
from rankgauge.result.summary import MetricSummary
from rankgauge.scoring.score import LARGEST, STATUSES, UNDEFINED

__all__ = ["Direction", "load_scores"]

Direction = Literal["higher", "lower"]
"""Which values of a measure are better."""

_NOT_RECORDED = "not recorded"
_NOWHERE: Mapping[str, Any] = {"distribution": "", "version": "", "plugin": "", "file": "", "line": 0}
_TITLE = "the scores cannot be used:"


def load_scores(
    source: str | os.PathLike[str] | Mapping[str, Mapping[str, float]] | Iterable[object],
    *,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    better: Mapping[str, Direction] | None = None,
    catalog: Catalog | None = None,
) -> dict[str, Result]:
    """
    Read scores of queries that another tool computed, to compare them.

        results = rankgauge.load_scores("bm25.trec_eval") | rankgauge.load_scores("dense.trec_eval")
        rankgauge.compare(results)

    Names of measures are read in the spellings of rankgauge, trec_eval and ir_measures. One that is not known keeps its
    name, and is left out unless *better* says which way it is better. What scores do not say is not checked when they
    are compared: by which judgments, policy and code they were computed.

    Args:
        source: A file: lines as ``trec_eval -q`` or ``ir_measures -q`` print them; a table (CSV, TSV, JSON, JSONL,
            Parquet) with a row for each score (`query_id` or `qid`, `measure`, `value`, and maybe the system's `name`),
            or with a column for each measure; or JSON ``{query: {measure: value}}``. In Python: the same mapping, a
            pandas, polars or Arrow table, rows, or what ``ir_measures.iter_calc`` yields.

        name: What to call the system, if the scores do not; by default the file's name, or `scores`.

        columns: What the columns are called, such as ``{"query": "topic_no", "value": "x"}``; or the order of lines,
            such as ``{"lines": "measure,query,value"}``.

        better: `higher` or `lower` for measures that are not known, by name.

        catalog: Which measures are known; by default those of what is installed.

    Returns:
        A result for each system, by name. It has scores, and neither data nor a policy, so that it can be compared and
        not explained or scored again.

    Raises:
        DataError: The scores cannot be read, could be two things, or lie outside of the range of their measure.

        ParameterError: An argument that cannot be used.
    """
    better = {} if better is None else better
    for measure, way in better.items():
        if way not in get_args(Direction):
            raise ParameterError(f"{measure} is better {' or '.join(get_args(Direction))}, not {way!r}")
    catalog = catalog or Catalog.installed()
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    systems = read_score_file(path, catalog, columns) if path is not None else _of_values(source, catalog, columns)
    usual = name or (path.name if path is not None else "scores")
    if name is not None and len(systems) > 1:
        msg = f"the scores are of {len(systems)} systems, which have names: {listed([each.system for each in systems])}"
        raise ParameterError(f"{msg}; leave out name={name!r}")
    return {each.system or usual: _result(each, "" if path is None else str(path), better, catalog) for each in systems}


def _of_values(source: object, catalog: Catalog, columns: Mapping[str, str] | None) -> list[SystemScores]:
    """Return the scores of a mapping, a frame or rows."""
    if isinstance(source, Mapping):
        return [scores_of_mapping(source, catalog)]
    rows: object = source
    if hasattr(source, "to_dicts"):
        rows = source.to_dicts()
    elif hasattr(source, "to_dict"):
        rows = source.to_dict("records")
    elif hasattr(source, "__arrow_c_stream__"):
        import polars as pl

        rows = pl.DataFrame(source).to_dicts()
    if not isinstance(rows, Iterable):
        raise ParameterError(f"scores are a file, a mapping, a frame or rows, not {type(source).__name__}")
    plain = (row._asdict() if hasattr(row, "_asdict") else row for row in rows)
    read = [
        {str(key): _written(value) for key, value in row.items()} if isinstance(row, Mapping) else row for row in plain
    ]
    return scores_of_rows(read, catalog, check_score_columns(columns))


def _written(value: object) -> object:
    """Return a value of a frame as a plain one: a number of numpy as ours, a measure of ir_measures as its name."""
    return value.item() if isinstance(value, np.generic) else as_written(value)


def _result(scores: SystemScores, source: str, better: Mapping[str, Direction], catalog: Catalog) -> Result:
    queries = list(dict.fromkeys(query for column in scores.values.values() for query in column))
    place = {query: at for at, query in enumerate(queries)}
    unknown: list[str] = []
    metrics: dict[str, MetricSummary] = {}
    written: dict[str, str] = {}
    problems: list[Problem] = []
    for measure, column in scores.values.items():
        planned = _planned(measure, catalog)
        if planned is None and measure not in better:
            unknown.append(measure)
            continue
        info = _unknown(measure, better[measure]) if planned is None else _known(measure, planned)
        other = next((each.name for each in metrics.values() if each.info.expression == info.expression), None)
        if other is not None:
            what = f"{written[other]} and {measure} are both {info.expression}; leave one of them out"
            problems.append(Problem(what, source))
            continue
        written[info.name] = measure
        values = np.full(len(queries), np.nan)
        values[[place[query] for query in column]] = list(column.values())
        problems += _outside(info, measure, values, queries, source)
        codes = np.where(np.isnan(values), STATUSES.index("undefined"), STATUSES.index("scored")).astype(np.uint8)
        reasons = dict.fromkeys(np.flatnonzero(np.isnan(values)).tolist(), f"no score of {measure} is given")
        metrics[info.name] = MetricSummary(info, values, codes, reasons)
    if not metrics and not problems:
        problems.append(Problem(_left_out(unknown), source))
    if problems:
        raise DataError(_TITLE, problems)
    notes = [*_notes(scores, metrics, written, len(queries)), *([_left_out(unknown)] if unknown else [])]
    manifest = {
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {},
        "dataset": {"name": None, "path": None},
        "scores": {"path": source or None, "system": scores.system or None, "measures": written},
        "interrupted": False,
    }
    return Result(queries, [()] * len(queries), metrics, manifest, notes)


def _left_out(unknown: list[str]) -> str:
    first = unknown[0]
    which = f"{listed(unknown)} {'is no measure' if len(unknown) == 1 else 'are no measures'} that rankgauge knows"
    return (
        f"{which}, so whether higher is better is not known, and it is left out; say which with --better "
        f"'{first}=higher' or --better '{first}=lower' (in Python better={{{first!r}: 'higher'}})"
    )


def _planned(measure: str, catalog: Catalog) -> PlannedMetric | None:
    """Return the metric that a name means for runs and judgments; None if it means none."""
    conventions = Conventions(catalog=catalog, profile=catalog.profile("trec10"), default_k=DefaultK(), by_id=True)
    try:
        planned = make_plan([measure], conventions).metrics
    except (RankgaugeError, ValueError):
        return None
    unknown = {WHOLE_RUN, POOLED}  # scores alone are not enough for these
    known = [each for each in planned if each.metric.aggregate not in unknown and each.aggregate is None]
    return known[0] if len(planned) == 1 and known else None


def _known(measure: str, planned: PlannedMetric) -> MetricInfo:
    """Return what a column is whose name means one of our metrics."""
    k = planned.cut.k
    return _info(
        name=planned.name,
        safe_name=planned.safe_name,
        spellings=(*planned.spellings, measure),
        names=planned.metric.names,
        alias=planned.metric.alias,
        expression=str(planned.expression),
        cut=planned.cut.rule if planned.cut.rule != "budget" else "none",
        k=None if k is None else (k, k),
        range=planned.metric.range,
        higher_is_better=planned.metric.higher_is_better,
        aggregate=planned.metric.aggregate,
        params=planned.settings,
        pins=planned.metric.cutoff.pins,
    )


def _unknown(measure: str, way: Direction) -> MetricInfo:
    """Return what a column is of which nothing but its direction is known."""
    plain = safe_name(measure)
    return _info(
        name=measure,
        safe_name=plain,
        spellings=(measure,),
        names=(measure,),
        alias=measure,
        expression=str(MetricExpression(plain)),
        cut="none",
        k=None,
        range=(None, None),
        higher_is_better=way == "higher",
        aggregate="mean",
        params={},
    )


def _info(**facts: Any) -> MetricInfo:  # noqa: ANN401  # the fields of a `MetricInfo`
    digest = hashlib.sha256(f"given {facts['expression']} {facts['higher_is_better']}".encode()).hexdigest()[:16]
    unknown: dict[str, Any] = {"judged": _NOT_RECORDED, "matcher": None, "k_sources": {}, "inferred": {}, "version": ""}
    return MetricInfo(**facts, **unknown, fingerprint=digest, provider=_NOWHERE, matcher_providers={}, is_given=True)


def _outside(info: MetricInfo, measure: str, values: Floats, queries: list[str], source: str) -> Iterator[Problem]:
    """Yield a problem if a score cannot be one of its measure."""
    low, high = (
        -LARGEST if info.range[0] is None else info.range[0],
        LARGEST if info.range[1] is None else info.range[1],
    )
    wrong = np.flatnonzero((values < low - _ROUNDING) | (values > high + _ROUNDING)).tolist()
    if wrong:
        at = wrong[0]
        others = "" if len(wrong) == 1 else f" and {counted(len(wrong) - 1, 'other')}"
        yield Problem(
            f"{measure} of query {queries[at]!r} is {values[at]:g}{others}, and {info.name} lies from {low:g} to "
            f"{high:g}; divide percentages by 100, or give another measure a name of its own",
            source,
        )


_ROUNDING = 5e-4


def _notes(
    scores: SystemScores, metrics: Mapping[str, MetricSummary], written: Mapping[str, str], n: int
) -> Iterator[str]:
    """Yield what the scores leave open."""
    means = [column for column in metrics.values() if column.info.aggregate == "mean"]
    gaps = {column.name: int(np.count_nonzero(column.codes == UNDEFINED)) for column in metrics.values()}
    if lacking := [f"{name} of {count:,}" for name, count in gaps.items() if count]:
        yield f"of {counted(n, 'query', 'queries')} it has no score of {listed(lacking)}; they are not compared"
    ends = [(column, column.info.range[0 if column.info.higher_is_better else 1]) for column in means]
    worst = [column.values == end for column, end in ends if end is not None]
    if worst and (n_zero := int(np.count_nonzero(np.logical_and.reduce(worst)))):
        yield (
            f"{counted(n_zero, 'query', 'queries')} of {n:,} {'has' if n_zero == 1 else 'have'} the worst value of "
            "every measure; whether nothing was returned, nothing relevant was, or nothing is relevant is not recorded"
        )
    if scores.n_queries is not None and scores.n_queries != n:
        more = scores.n_queries - n
        yield (
            f"its means are over {counted(scores.n_queries, 'query', 'queries')} (num_q), and it has lines for {n:,}"
            + (f"; {more:,} that the tool left out are not compared" if more > 0 else "")
        )
    decimals = scores.decimals
    slack = 1e-9 if decimals is None else 10.0**-decimals
    off = []
    for column in means:
        stated = scores.means.get(written[column.name])
        if stated is not None and column.mean is not None and abs(column.mean - stated) > slack + 1e-12:
            off.append(f"{written[column.name]} ({stated:g}, of the lines {column.mean:.4g})")
    if off:
        yield (
            f"its mean is not that of its lines for {listed(off)}: the tool counted other queries than it lists, "
            "such as those for which the system returned nothing"
        )
    if decimals is not None and decimals <= _FEW_DECIMALS and means:
        size = f"{10.0**-decimals:.{decimals}f}"
        yield f"scores have {counted(decimals, 'decimal')}, so differences of {size} may be rounding"


_FEW_DECIMALS = 6
