"""
The mean over datasets, as tables for people, Markdown and JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import orjson

from rankgauge.base.tables import Line, markdown_table, ruled
from rankgauge.errors import counted, listed
from rankgauge.result.over_datasets import DatasetMean
from rankgauge.result.wording import json_text, number

__all__ = ["datasets_lines", "datasets_markdown", "with_datasets"]

_HEADER = ("metric", "mean", "standard error")


def datasets_lines(means: Mapping[str, DatasetMean], *, width: int | None, rule: str) -> Iterator[Line]:
    """Yield a table of means over datasets, by whatever names, with what makes one undefined."""
    yield from ruled(_title(means), _HEADER, _rows(means), width=width, rule=rule)
    yield from (Line(note, "small") for note in _notes(means))


def datasets_markdown(means: Mapping[str, DatasetMean]) -> str:
    """Return the same as Markdown."""
    table = markdown_table(_HEADER, _rows(means))
    return "\n".join([f"# {_title(means)}", "", *table, *(f"{note}." for note in _notes(means)), ""])


def with_datasets(report: str, means: Mapping[str, DatasetMean]) -> str:
    """Return the JSON report of one dataset with the same in it, under a key of its own."""
    names = list(next(iter(means.values())).means)
    over = {"datasets": names, "metrics": {name: mean.to_dict() for name, mean in means.items()}}
    return json_text({**orjson.loads(report), "over_datasets": over})


def _title(means: Mapping[str, DatasetMean]) -> str:
    n = len(next(iter(means.values())).means)
    return f"mean over {counted(n, 'dataset')}, each of which counts the same"


def _rows(means: Mapping[str, DatasetMean]) -> Sequence[tuple[str, str, str]]:
    return [(name, number(each.mean), number(each.standard_error)) for name, each in means.items()]


def _notes(means: Mapping[str, DatasetMean]) -> Iterator[str]:
    for name, each in means.items():
        if each.without:
            have = "has" if len(each.without) == 1 else "have"
            yield f"{name}: no mean over datasets, as {listed(each.without)} {have} none"
