"""
Score files: what trec_eval, ir_measures, pytrec_eval and PyTerrier print or save for each query, as plain numbers.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from rankgauge.base.plain_text import read_number, visible
from rankgauge.catalog import Catalog
from rankgauge.catalog.other_tools import translated
from rankgauge.catalog.trec_eval import read_form
from rankgauge.errors import DataError, ParameterError, Problem, RankgaugeError, did_you_mean, listed
from rankgauge.expression import parse
from rankgauge.io.documents import decode_text
from rankgauge.io.files import plain_suffix, read_bytes, reading
from rankgauge.io.problems import first_problems, refuse

__all__ = ["SystemScores", "check_score_columns", "read_score_file", "scores_of_mapping", "scores_of_rows"]

ALL = "all"
"""What trec_eval and ir_measures call the mean over queries."""

NOT_SCORES = frozenset({"runid", "num_q", "relstring"})
"""Lines of trec_eval that are no scores of queries."""

_TITLE = "the scores cannot be read:"
_ROLES = ("query", "measure", "value", "system")
_LINE_ROLES = ("query", "measure", "value")
_USUAL: Mapping[str, tuple[str, ...]] = {
    "query": ("query_id", "qid", "q_id", "query-id", "topic_id", "topic", "query", "id"),
    "measure": ("measure", "metric"),
    "value": ("value", "score"),
    "system": ("name", "system", "run", "run_id"),
}
_OF_RUNS = ("docno", "docid", "doc_id", "document_id", "corpus_id", "did", "pid", "document", "doc", "rank")
"""Columns that rankings have and scores of queries do not."""

_INDEX = ("", "Unnamed: 0")
"""The index that pandas writes as a first column."""

_WAY_OUT = "say what they are with --columns query,measure,value or --columns measure,query,value"


@dataclass(eq=False)
class SystemScores:
    """
    The scores of one system.

    Attributes:
        system: What the file calls it; empty if it holds one system without a name.

        values: The scores by measure, as the file calls it, and query; NaN for an empty one.

        means: What the file says is the mean of a measure.

        n_queries: Over how many queries, if it says so.

        decimals: The most decimals that a score of lines is written with; None if no line was read.
    """

    system: str = ""
    values: dict[str, dict[str, float]] = field(default_factory=dict)
    means: dict[str, float] = field(default_factory=dict)
    n_queries: int | None = None
    decimals: int | None = None


class _Row(NamedTuple):
    """One score as it was written."""

    system: str
    query: object
    measure: object
    value: object
    place: Problem


def read_score_file(path: Path, catalog: Catalog, columns: Mapping[str, str] | None = None) -> list[SystemScores]:
    """
    Read the scores of queries from a file.

    Args:
        path: Lines of a measure, a query and a value (``trec_eval -q``), or of a query, a measure and a value
            (``ir_measures -q``); a table with a header (CSV, TSV, JSON, JSONL, Parquet), with a row for each score
            or with a column for each measure; or JSON ``{query: {measure: value}}``, as pytrec_eval returns it.

        catalog: Which measures there are: by them it is decided what a column holds.

        columns: What columns are called, by role (`query`, `measure`, `value`, `system`); or ``{"lines": "query,
            measure,value"}`` for lines without a header.

    Returns:
        One or several systems, in their order.

    Raises:
        DataError: The file cannot be read, could be several things, or is something else; every problem at once.
    """
    columns = check_score_columns(columns)
    suffix, name = plain_suffix(path), str(path)
    if suffix == ".parquet":
        import polars as pl

        with reading(name, path, form="Parquet"):
            rows = pl.read_parquet(io.BytesIO(read_bytes(path))).to_dicts()
        return scores_of_rows(rows, catalog, columns, name)
    data = read_bytes(path)
    start = data.lstrip()[:1]
    if start == b"[" or suffix in {".jsonl", ".ndjson"} or (start == b"{" and suffix != ".json"):
        return scores_of_rows(_json_rows(data, name), catalog, columns, name)
    if start == b"{":
        return [scores_of_mapping(_json(data, name), catalog, name)]
    text = decode_text(data, name)
    return _of_text(text, catalog, columns, name)


def check_score_columns(columns: Mapping[str, str] | None) -> dict[str, str]:
    """Return names of columns by role; raise `ParameterError` for others."""
    given = dict(columns or {})
    for role in given:
        if role not in {*_ROLES, "lines"}:
            raise ParameterError(
                f"scores have no column {role!r}{did_you_mean(role, _ROLES)}; known are {', '.join(_ROLES)}"
            )
    order = [part.strip() for part in given["lines"].split(",")] if "lines" in given else []
    if order and sorted(order) != sorted(_LINE_ROLES):
        raise ParameterError(f"lines of scores have {', '.join(_LINE_ROLES)} in any order, not {given['lines']!r}")
    return given


def is_measure(name: object, catalog: Catalog) -> bool:
    """Return whether a name is that of a measure, in our spelling or in that of another tool."""
    if not isinstance(name, str):
        return False
    try:
        for expression in read_form(name) or [translated(parse(name))]:
            catalog.read(expression)
    except (RankgaugeError, ValueError):
        return name in NOT_SCORES
    return True


def scores_of_mapping(given: object, catalog: Catalog, name: str = "") -> SystemScores:
    """Return the scores of a mapping by query and measure, as pytrec_eval returns it."""
    form = "{query: {measure: value}}, as pytrec_eval returns it"
    if not isinstance(given, Mapping) or not given or not all(isinstance(row, Mapping) for row in given.values()):
        what = f"it is no JSON of the form {form}; a frame is saved with to_json(orient='records')"
        raise DataError(_TITLE, [Problem(what, name)])
    measures = dict.fromkeys(measure for row in given.values() for measure in row)
    if not any(is_measure(measure, catalog) for measure in measures):
        shown = listed([repr(measure) for measure in list(measures)[:3]])
        what = f"scores are {form}, and none of {shown} is a measure"
        raise DataError(_TITLE, [Problem(what, name)])
    rows = (
        _Row("", query, measure, value, Problem("", name, None, f"{query}.{measure}"))
        for query, row in given.items()
        for measure, value in row.items()
    )
    return _collected(rows, name)[0]


def scores_of_rows(
    rows: Iterable[object], catalog: Catalog, columns: Mapping[str, str], name: str = ""
) -> list[SystemScores]:
    """Return the scores of the rows of a table, with a row for each score or a column for each measure."""
    read = list(rows)
    wrong = next((number for number, row in enumerate(read, 1) if not isinstance(row, Mapping)), None)
    if wrong is not None or not read:
        what = "it has no rows" if not read else "a row is an object with fields such as query_id, measure and value"
        raise DataError(_TITLE, [Problem(what, name, None, "" if wrong is None else f"row {wrong}")])
    table: list[Mapping[str, Any]] = [row for row in read if isinstance(row, Mapping)]
    names = list(dict.fromkeys(str(key) for row in table for key in row if key not in _INDEX))
    found = _roles(names, columns, catalog, name)
    return _collected(_rows(table, names, found, name), name)


def _roles(names: Sequence[str], columns: Mapping[str, str], catalog: Catalog, name: str) -> dict[str, str]:
    """Return which columns have which role; a `DataError` says what could not be decided."""
    there = listed(list(map(repr, names)))
    found = _named(names, columns, name)
    if "query" not in found:
        what = f"no column has the ids of queries; there are {there}; name it with --columns query=COLUMN"
        raise DataError(_TITLE, [Problem(what, name)])
    if "measure" in found and "value" in found:
        return found
    of_run = [column for column in names if column in _OF_RUNS and column not in columns.values()]
    if of_run:
        what = f"the column {of_run[0]!r} makes it a ranking, and no scores of queries"
        raise DataError(_TITLE, [Problem(what, name)])
    if "measure" in found:
        what = f"no column has the values; there are {there}; name it with --columns value=COLUMN"
        raise DataError(_TITLE, [Problem(what, name)])
    if "value" not in columns:
        found.pop("value", None)  # a measure like the others
    others = [column for column in names if column not in found.values()]
    if not any(is_measure(column, catalog) for column in others):
        what = (
            f"none of the columns {there} is a measure, nor do they name measures and values; say which do with "
            "--columns measure=COLUMN,value=COLUMN, or call at least one column as a measure, such as ndcg@10"
        )
        raise DataError(_TITLE, [Problem(what, name)])
    return found


def _named(names: Sequence[str], columns: Mapping[str, str], name: str) -> dict[str, str]:
    """Return the columns that were named, or have a usual name, by role."""
    found = {role: column for role, column in columns.items() if role in _ROLES}
    for role, column in found.items():
        if column not in names:
            what = f"no column {column!r} for the {role}{did_you_mean(column, names)}"
            raise DataError(_TITLE, [Problem(f"{what}; there are {listed(list(map(repr, names)))}", name)])
    for role, usual in _USUAL.items():
        known = [column for column in usual if column in names and column not in found.values()]
        if role not in found and known:
            found[role] = known[0]
    return found


def _rows(
    table: Sequence[Mapping[str, Any]], names: Sequence[str], found: Mapping[str, str], name: str
) -> Iterator[_Row]:
    query, measure, value, system = found["query"], *(found.get(role) for role in _ROLES[1:])
    others = [column for column in names if column not in found.values()]
    for number, row in enumerate(table, 1):
        place = Problem("", name, None, f"row {number}")
        of = "" if system is None or row.get(system) is None else str(row[system])
        if measure is not None and value is not None:
            yield _Row(of, row.get(query), row.get(measure), row.get(value), place)
            continue
        for column in others:
            yield _Row(of, row.get(query), column, row.get(column), place._replace(path=f"row {number}.{column}"))


def _of_text(text: str, catalog: Catalog, columns: Mapping[str, str], name: str) -> list[SystemScores]:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise DataError(_TITLE, [Problem("it is empty", name)])
    head = lines[0][1]
    delimiter = "\t" if "\t" in head else ","
    header = [cell.strip() for cell in next(csv.reader([head], delimiter=delimiter))]
    known = {*_USUAL["query"], *(column for role, column in columns.items() if role != "lines")}
    if len(header) > 1 and known & set(header) and "lines" not in columns:
        table = csv.DictReader(io.StringIO(text, newline=""), header, delimiter=delimiter)
        next(table)
        rows = [{key: cell for key, cell in row.items() if key is not None} for row in table]
        return scores_of_rows(rows, catalog, columns, name)
    fields = [(number, line.split("\t") if line.count("\t") == 2 else line.split()) for number, line in lines]
    fields = [(number, [part.strip() for part in parts]) for number, parts in fields]
    odd = [(number, parts) for number, parts in fields if len(parts) != 3]
    if odd:
        number = odd[0][0]
        if len(odd) == len(fields):
            what = "it has neither a header nor lines of three fields: a query, a measure and a value"
            raise DataError(_TITLE, [Problem(what, name, number)])
        problems = (Problem(f"{len(parts)} fields where a line of scores has three", name, at) for at, parts in odd)
        refuse(_TITLE, first_problems(problems, name))
    order = columns.get("lines") or _order([parts for _, parts in fields], catalog, name)
    at = {role.strip(): place for place, role in enumerate(order.split(","))}
    rows_read = (
        _Row("", parts[at["query"]], parts[at["measure"]], parts[at["value"]], Problem("", name, number))
        for number, parts in fields
    )
    return _collected(rows_read, name)


def _order(fields: Sequence[Sequence[str]], catalog: Catalog, name: str) -> str:
    """Return what the columns of lines are: the one of the first two that names measures, where only one does."""
    is_known = [
        any(is_measure(each, catalog) for each in dict.fromkeys(parts[at] for parts in fields)) for at in (0, 1)
    ]
    if is_known == [True, False]:
        return "measure,query,value"
    if is_known == [False, True]:
        return "query,measure,value"
    which = "both the first and the second" if any(is_known) else "neither the first nor the second"
    what = f"{which} of its three columns has names of measures; {_WAY_OUT}"
    raise DataError(_TITLE, [Problem(what, name)])


def _collected(rows: Iterable[_Row], name: str) -> list[SystemScores]:
    """Return rows by system; every one that cannot be read is a problem."""
    systems: dict[str, SystemScores] = {}
    problems: list[Problem] = []
    for row in rows:
        measure = row.measure if isinstance(row.measure, str) else ""
        of = systems.setdefault(row.system, SystemScores(row.system))
        query = _query(row.query)
        value = _value(row.value)
        if not query or not measure:
            lacks = "query" if not query else "measure"
            problems.append(row.place._replace(message=f"it has no {lacks}"))
        elif measure in NOT_SCORES:
            if measure == "num_q" and query == ALL and value is not None and not math.isnan(value):
                of.n_queries = int(value)
        elif value is None:
            problems.append(
                row.place._replace(message=f"{visible(str(row.value))!r} is no score of {measure} for {query}")
            )
        elif query == ALL:
            of.means[measure] = value
        elif query in of.values.setdefault(measure, {}):
            twice = f"query {query!r} has a second score of {measure}"
            which = "" if row.system else "; a file of several systems has a column `name` or `system`"
            problems.append(row.place._replace(message=f"{twice}{which}"))
        else:
            of.values[measure][query] = value
            if row.place.line is not None and isinstance(row.value, str):
                of.decimals = max(of.decimals or 0, _decimals(row.value))
    refuse(_TITLE, first_problems(problems, name))
    found = [of for of in systems.values() if of.values]
    if not found:
        what = "it has means only, and none for a query; trec_eval and ir_measures print these with -q"
        raise DataError(_TITLE, [Problem(what, name)])
    return found


def _query(given: object) -> str:
    is_id = isinstance(given, str | int) and not isinstance(given, bool)
    return str(given).strip() if is_id else ""


def _value(given: object) -> float | None:
    """Return a score; NaN for an empty one, None for what is no finite number."""
    if given is None or given == "":
        return math.nan
    if isinstance(given, str):
        if given.strip().lower() in {"nan", "na", "none", "null"}:
            return math.nan
        number = read_number(given.strip().encode())
        return None if math.isnan(number) or math.isinf(number) else number
    if not isinstance(given, int | float) or math.isinf(given):
        return None
    return float(given)


def _decimals(written: str) -> int:
    digits = written.strip().partition(".")[2]
    return len(digits) if digits.isdigit() else 99 if digits else 0


def _json(data: bytes, name: str) -> object:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise DataError(_TITLE, [Problem(f"it is no JSON: {error}", name)]) from None


def _json_rows(data: bytes, name: str) -> list[object]:
    if data.lstrip()[:1] == b"[":
        rows = _json(data, name)
        return list(rows) if isinstance(rows, list) else []
    found: list[object] = []
    problems: list[Problem] = []
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            try:
                found.append(orjson.loads(line))
            except orjson.JSONDecodeError as error:
                problems.append(Problem(f"it is no JSON: {error}", name, number))
    refuse(_TITLE, first_problems(problems, name))
    return found
