"""
`RankAgreement`: how much the rankings of two runs agree, query by query and on average, and its tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from rankgauge.base.frozen import freeze_fields
from rankgauge.base.tables import aligned
from rankgauge.columns import Floats
from rankgauge.errors import counted
from rankgauge.features.agreement.measures import read_measures
from rankgauge.result.wording import json_text, number
from rankgauge.stats.aggregates import aggregate, standard_deviation

__all__ = [
    "SCHEMA_VERSION",
    "AgreementMeasure",
    "RankAgreement",
    "agreement_json",
    "agreement_jsonl",
    "agreement_table",
    "agreements_table",
    "query_table",
]


@dataclass(frozen=True, slots=True, eq=False)
class AgreementMeasure:
    """
    One measure of agreement over all queries.

    Attributes:
        name: Its canonical spelling, such as ``rbo(p=0.98)``.

        summary: What it says, in one line.

        values: One value for each query, NaN if there is none; shape (queries,).
    """

    name: str
    summary: str
    values: Floats

    def __post_init__(self) -> None:
        freeze_fields(self)

    @property
    def n(self) -> int:
        """Return how many queries have a value."""
        return len(self._defined)

    @property
    def n_undefined(self) -> int:
        """Return how many have none, such as the tau of rankings that share fewer than two documents."""
        return len(self.values) - self.n

    @property
    def mean(self) -> float | None:
        """Return the mean over the queries that have a value; None if none has."""
        return aggregate(self._defined)

    @property
    def std(self) -> float | None:
        """Return their sample standard deviation (divided by n - 1); None for fewer than two."""
        return standard_deviation(self._defined)

    @property
    def lowest(self) -> float | None:
        """Return the value of the query whose rankings agree least; None without any."""
        return min(self._defined, default=None)

    @property
    def highest(self) -> float | None:
        """Return the value of the query whose rankings agree most; None without any."""
        return max(self._defined, default=None)

    @property
    def _defined(self) -> list[float]:
        defined: list[float] = self.values[~np.isnan(self.values)].tolist()
        return defined


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RankAgreement:
    """
    How much the rankings of a run agree with those of another.

    ::

        agreement = rankgauge.rank_agreement("new.run", "old.run", ["rbo", "overlap@10"])
        agreement["rbo"].mean
        agreement.worst("overlap@10", 3)

    Attributes:
        run: The file of the run; empty for one given in Python.

        other: The file of the other run.

        queries: The ids of the queries that both have, in byte order.

        measures: The measures by canonical spelling, in the order asked for.

        only: Queries of the run that the other lacks; they are in no measure.

        only_other: Queries of the other run that the run lacks.

        policy: The policy options by which the rankings were ordered.

        notes: What a user should know about how the runs were read.
    """

    run: str
    other: str
    queries: Sequence[str]
    measures: Mapping[str, AgreementMeasure]
    only: Sequence[str]
    only_other: Sequence[str]
    policy: Mapping[str, Any]
    notes: Sequence[str]

    def __post_init__(self) -> None:
        freeze_fields(self)

    def __iter__(self) -> Iterator[str]:
        """
        Iterate over the names of the measures; `len` counts queries.

        Returns:
            The names, in order.
        """
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.queries)

    def __getitem__(self, name: str) -> AgreementMeasure:
        """
        Return a measure.

        Args:
            name: Any spelling of it.

        Returns:
            Its values and their mean.

        Raises:
            KeyError: It was not asked for.

            UnknownNameError: There is no such measure.
        """
        (measure,) = read_measures([name])
        if measure.name not in self.measures:
            raise KeyError(f"{name!r} was not asked for; there are {', '.join(self.measures)}")
        return self.measures[measure.name]

    def __repr__(self) -> str:
        means = ", ".join(
            f"{name}={'-' if each.mean is None else f'{each.mean:.4f}'}" for name, each in self.measures.items()
        )
        return f"RankAgreement({counted(len(self), 'query', 'queries')}: {means})"

    def worst(self, name: str, most: int = 10) -> list[tuple[str, float]]:
        """
        Return the queries whose rankings agree least.

        Args:
            name: The measure to go by.

            most: How many queries at most.

        Returns:
            Query ids with their values, the lowest first; those without a value are left out.
        """
        values = self[name].values
        order = np.argsort(values, kind="stable")[: self[name].n][:most]
        return [(self.queries[place], float(values[place])) for place in order.tolist()]


SCHEMA_VERSION = "rankgauge.agreement.v1"

_SPREAD = ("mean", "std", "lowest", "highest")


def agreement_table(agreement: RankAgreement, *, width: int | None = None) -> Iterator[str]:
    """Yield the lines of a table of one run's measures."""
    counts = {"n": "n", "undefined": "n_undefined"}
    if not any(measure.n_undefined for measure in agreement.measures.values()):
        del counts["undefined"]
    rows = [
        [
            name,
            *(number(getattr(measure, fact)) for fact in _SPREAD),
            *(f"{getattr(measure, count):,}" for count in counts.values()),
        ]
        for name, measure in agreement.measures.items()
    ]
    yield from aligned([["measure", *_SPREAD, *counts], *rows], width)


def agreements_table(agreements: Mapping[str, RankAgreement], *, width: int | None = None) -> Iterator[str]:
    """Yield the lines of a table of several runs: a row of means each."""
    measures = next(iter(agreements.values())).measures
    rows = [[name, *(number(measure.mean) for measure in run.measures.values())] for name, run in agreements.items()]
    yield from aligned([["run", *measures], *rows], width)


def query_table(agreement: RankAgreement, *, width: int | None = None) -> Iterator[str]:
    """Yield the lines of a table of every query's values."""
    rows = [[query, *map(number, values)] for query, *values in _by_query(agreement)]
    yield from aligned([["query", *agreement.measures], *rows], width)


def agreement_json(agreements: Mapping[str, RankAgreement]) -> str:
    """Return means and counts as one JSON object, or as a list of them if there are several runs."""
    summaries = [_summary(name, agreement) for name, agreement in agreements.items()]
    return json_text(summaries if len(summaries) > 1 else summaries[0])


def agreement_jsonl(agreements: Mapping[str, RankAgreement]) -> str:
    """Return one JSON object a line: a query of a run with its values, null for one that is undefined."""
    lines = (
        {"run": name, "query": query, "values": dict(zip(agreement.measures, values, strict=True))}
        for name, agreement in agreements.items()
        for query, *values in _by_query(agreement)
    )
    return "".join(f"{orjson.dumps(line).decode()}\n" for line in lines)  # NaN becomes null


def _by_query(agreement: RankAgreement) -> Iterator[tuple[Any, ...]]:
    """Yield each query with its values."""
    columns = [measure.values.tolist() for measure in agreement.measures.values()]
    return zip(agreement.queries, *columns, strict=True)


def _summary(name: str, agreement: RankAgreement) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "run": name,
        "path": agreement.run or None,
        "against": agreement.other or None,
        "policy": dict(agreement.policy),
        "queries": len(agreement),
        "only": list(agreement.only),
        "only_other": list(agreement.only_other),
        "measures": {
            name: {
                **{fact: getattr(measure, fact) for fact in (*_SPREAD, "n")},
                "undefined": measure.n_undefined,
                "summary": measure.summary,
            }
            for name, measure in agreement.measures.items()
        },
        "notes": list(agreement.notes),
    }
