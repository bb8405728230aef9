"""
Groups of queries from a file or a mapping: the cohorts of queries that have no metadata of their own, such as topics.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError, ParameterError, Problem, counted, listed
from rankgauge.io.excluded_files import QUERIES, by_form, query_of
from rankgauge.io.files import real_path
from rankgauge.io.problems import first_problems, refuse

__all__ = ["Groups", "QueryGroups"]

Groups = str | os.PathLike[str] | Mapping[str, str | Sequence[str]]
"""Groups of queries as they are given: a file, or groups by query."""

_PLAIN = ("group", "groups", "tag", "tags", "cohort", "cohorts")
"""Columns whose values are groups as they are; those of another column are called ``column=value``."""

_TITLE = "the groups of queries cannot be read:"
_LINES = "each line is the id of a query and its groups, parted by tabs or commas, or an id, a blank and a group"
_FORM = "a file, or groups by query, such as {'q1': 'short', 'q2': ['long', 'legal']}"
_SHOWN = 3


class QueryGroups:
    """
    The groups of queries. A query may be in several, and counts in each.

    Attributes:
        path: The file they were read from; empty if they were given in Python or in a config.

        fingerprint: A hash of the groups, wherever they are written.
    """

    __slots__ = ("_by_query", "fingerprint", "path")

    def __init__(self, by_query: Mapping[str, Iterable[str]], path: str = "") -> None:
        """Take the groups of each query."""
        self._by_query = {query: tuple(dict.fromkeys(groups)) for query, groups in by_query.items()}
        self.path = path
        written = [[query, sorted(self._by_query[query])] for query in sorted(self._by_query)]
        self.fingerprint = f"sha256:{hashlib.sha256(json.dumps(written).encode()).hexdigest()}"

    @classmethod
    def of(cls, given: Groups | QueryGroups) -> QueryGroups:
        """Return groups that are given as a file or a mapping; raise `ParameterError` for anything else."""
        if isinstance(given, QueryGroups):
            return given
        if isinstance(given, str | os.PathLike):
            return cls.read(Path(given))
        if not isinstance(given, Mapping):
            raise ParameterError(f"groups are {_FORM}; not {given!r:.80}")
        found: dict[str, list[str]] = {}
        for query, groups in given.items():
            names = _names(groups)
            if not isinstance(query, str) or names is None:
                raise ParameterError(f"groups are {_FORM}; query {query!r} has {groups!r:.80}")
            found[query] = names
        return cls(found)

    @classmethod
    def read(cls, path: Path) -> QueryGroups:
        """
        Read the groups of queries.

        Args:
            path: A table with a header (TSV, CSV, JSONL, JSON, Parquet) that has an id (`query_id`, `qid`, `id`) and
                one or more columns: the values of `group` or `tags` are groups, those of `type` become ``type=short``;
                lines without a header, of an id and its groups; or JSON ``{query: group}``. Compressed or not.

        Returns:
            The groups by query; those of several lines of a query add up.

        Raises:
            DataError: A file that is not there, or has another form; every problem at once.
        """
        problems: list[Problem] = []
        found: dict[str, list[str]] = {}
        for query, groups in _pairs(path, problems):
            found.setdefault(query, []).extend(groups)
        refuse(_TITLE, first_problems(problems, str(path)))
        if not any(found.values()):
            raise DataError(_TITLE, [Problem("it has no group", str(path))])
        return cls(found, str(real_path(path)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QueryGroups) and (self.fingerprint, self.path) == (other.fingerprint, other.path)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[type[QueryGroups], tuple[dict[str, tuple[str, ...]], str]]:
        return QueryGroups, (self._by_query, self.path)

    def __str__(self) -> str:
        return self.path or f"groups of {counted(len(self._by_query), 'query', 'queries')}"

    def __repr__(self) -> str:
        return f"QueryGroups({self})"

    def of_query(self, query: str) -> tuple[str, ...]:
        """Return the groups of a query; none if it is in none."""
        return self._by_query.get(query, ())

    def has_values_of(self, field: str) -> bool:
        """Return whether groups are values of a column, such as ``type=short`` of ``type``."""
        return any(group.startswith(f"{field}=") for groups in self._by_query.values() for group in groups)

    def added(self, query: str, tags: Sequence[str]) -> tuple[str, ...]:
        """Return the cohorts of a query along with its groups, each once."""
        return tuple(dict.fromkeys((*tags, *self.of_query(query))))

    def plain(self) -> str | dict[str, list[str]]:
        """Return it as a config has it: the file, or if there is none the groups by query."""
        return self.path or {query: list(groups) for query, groups in self._by_query.items()}

    def check(self, queries: Collection[str]) -> None:
        """Raise `DataError` if none of the queries that were evaluated is in a group."""
        if queries and not any(map(self.of_query, queries)):
            first, second = (_look(list(names)) for names in (self._by_query, queries))
            what = f"no query of {self} was evaluated: it has {first}, and the data have {second}"
            raise DataError("the groups of queries cannot be used:", [Problem(what)])

    def notes(self, queries: Collection[str]) -> Iterator[str]:
        """Yield how the groups fit the queries that were evaluated."""
        without = [query for query in queries if not self.of_query(query)]
        if lacking := len(without):
            yield (
                f"{lacking:,} of {counted(len(queries), 'query', 'queries')} {'has' if lacking == 1 else 'have'} no "
                f"group in {self}, such as {_look(without[:1])}"
            )
        unknown = self._by_query.keys() - set(queries)
        if unknown:
            are = "is" if len(unknown) == 1 else "are"
            yield (
                f"{counted(len(unknown), 'query', 'queries')} of {self} {are} not among those evaluated, such as "
                f"{_look(sorted(unknown)[:1])}"
            )


def _look(queries: Sequence[str]) -> str:
    return listed([repr(query) for query in queries], _SHOWN)


def _pairs(path: Path, problems: list[Problem]) -> Iterator[tuple[str, list[str]]]:
    def of_mapping(value: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
        for query, groups in value.items():
            names = _names(groups)
            if names is None:
                message = f"query {query!r}: its groups are a text or a list of texts, not {groups!r:.60}"
                problems.append(Problem(message, str(path)))
            yield query, names or []

    def of_row(row: Mapping[str, Any], place: Problem) -> Iterator[tuple[str, list[str]]]:
        return _of_row(row, place, problems)

    return by_form(path, problems, of_row, of_mapping, lambda text: _of_text(text, path, problems))


def _of_row(row: Mapping[str, Any], place: Problem, problems: list[Problem]) -> Iterator[tuple[str, list[str]]]:
    """Yield the groups of one row: of columns named so as they are, of others with the name of the column."""
    query = query_of(row)
    if query is None:
        message = f"a row has the id of a query (query_id, qid or id); this one has {', '.join(map(repr, row))}"
        problems.append(place._replace(message=message))
        return
    groups: list[str] = []
    for column, given in row.items():
        names = [] if column == query[0] else _names(given)
        if names is None:
            message = f"{column!r} of query {query[1]!r} is a group or a list of groups, not {given!r:.60}"
            problems.append(place._replace(message=message))
            continue
        groups += names if column in _PLAIN else [f"{column}={name}" for name in names]
    yield query[1].strip(), groups


def _of_text(text: str, path: Path, problems: list[Problem]) -> Iterator[tuple[str, list[str]]]:
    lines = text.splitlines()
    head = next((line for line in lines if line.strip()), "")
    delimiter = "\t" if "\t" in head else "," if "," in head else None
    names: list[str] | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        cells = line.split() if delimiter is None else next(csv.reader([line], delimiter=delimiter))
        cells, place = [cell.strip() for cell in cells], Problem("", str(path), number)
        if line is head and cells[0] in QUERIES:
            names = cells
        elif names is not None and len(cells) > len(names):
            problems.append(place._replace(message=f"{len(cells)} cells under a header of {len(names)}"))
        elif names is not None:
            yield from _of_row(dict(zip(names, cells, strict=False)), place, problems)
        elif len(cells) < 2 or (delimiter is None and len(cells) > 2) or not cells[0]:
            problems.append(place._replace(message=f"{_LINES}; this one has {counted(len(cells), 'field')}"))
        else:
            yield cells[0], [cell for cell in cells[1:] if cell]


def _names(given: object) -> list[str] | None:
    """Return the names of groups that a value is; none for an empty one, None for what is no name."""
    if given is None:
        return []
    if isinstance(given, str | int | float):
        text = str(given).strip()
        return [text] if text else []
    is_list = isinstance(given, Iterable) and not isinstance(given, bytes | Mapping)
    names = list(map(_names, given)) if is_list and isinstance(given, Iterable) else [None]
    return None if None in names else [name for part in names if part is not None for name in part]
