"""
Agreement between runs in tables and as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from rankgauge.report.wording import number
from rankgauge.tables import aligned

if TYPE_CHECKING:
    from rankgauge.comparison.rankings import RankAgreement

__all__ = [
    "SCHEMA_VERSION",
    "agreement_json",
    "agreement_jsonl",
    "agreement_table",
    "agreements_table",
    "query_table",
]

SCHEMA_VERSION = "rankgauge.agreement.v1"


def agreement_table(agreement: RankAgreement) -> Iterator[str]:
    """Yield the lines of a table of one run's measures."""
    header = ["measure", "mean", "std", "lowest", "highest", "n"]
    rows = [
        [name, *map(number, (each.mean, each.std, each.lowest, each.highest)), f"{each.n:,}"]
        for name, each in agreement.measures.items()
    ]
    if any(each.n_undefined for each in agreement.measures.values()):
        header.append("undefined")
        for row, each in zip(rows, agreement.measures.values(), strict=True):
            row.append(f"{each.n_undefined:,}")
    yield from aligned([header, *rows])


def agreements_table(agreements: Mapping[str, RankAgreement]) -> Iterator[str]:
    """Yield the lines of a table of several runs: a row of means each."""
    measures = next(iter(agreements.values())).measures
    rows = [[name, *(number(each.mean) for each in own.measures.values())] for name, own in agreements.items()]
    yield from aligned([["run", *measures], *rows])


def query_table(agreement: RankAgreement) -> Iterator[str]:
    """Yield the lines of a table of every query's values."""
    columns = [each.values.tolist() for each in agreement.measures.values()]
    rows = [[query, *map(number, values)] for query, *values in zip(agreement.queries, *columns, strict=True)]
    yield from aligned([["query", *agreement.measures], *rows])


def agreement_json(agreements: Mapping[str, RankAgreement]) -> str:
    """Return means and counts as one JSON object, or as a list of them where there are several runs."""
    found = [_summary(name, own) for name, own in agreements.items()]
    value = found if len(found) > 1 else found[0]
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def agreement_jsonl(agreements: Mapping[str, RankAgreement]) -> str:
    """Return one JSON object a line: a query of a run with its values, null for one that is undefined."""
    lines = []
    for name, own in agreements.items():
        columns = [each.values.tolist() for each in own.measures.values()]
        for query, *values in zip(own.queries, *columns, strict=True):
            line = {"run": name, "query": query, "values": dict(zip(own.measures, values, strict=True))}
            lines.append(f"{orjson.dumps(line).decode()}\n")  # NaN becomes null
    return "".join(lines)


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
            measure: {
                "mean": each.mean,
                "std": each.std,
                "lowest": each.lowest,
                "highest": each.highest,
                "n": each.n,
                "undefined": each.n_undefined,
                "summary": each.summary,
            }
            for measure, each in agreement.measures.items()
        },
        "notes": list(agreement.notes),
    }
