"""
Data by their names in the catalog of ir_datasets, such as ``ir_datasets:beir/scifact/test``.

The package is an extra; it downloads what it does not have.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from rankgauge.errors import DataError, Problem, RankgaugeError, did_you_mean, listed

__all__ = ["TextOf", "documents_named", "is_named", "judgments_named", "texts_named"]

_PREFIX = "ir_datasets:"
_MOST_NAMES, _LONGEST = 5, 120

TextOf = Literal["query", "document"]


def is_named(source: object) -> bool:
    """Return whether a source is a name in the catalog, and no file."""
    return isinstance(source, str | Path) and str(source).startswith(_PREFIX) and not Path(source).exists()


def judgments_named(source: str | Path) -> list[Any]:
    """Return the judgments as named tuples; a `DataError` if there are none."""
    with _reading(source) as dataset:
        if not dataset.has_qrels():
            raise _lacks(source, "judgments", "qrels")
        return list(dataset.qrels_iter())


def texts_named(source: str | Path, wanted: Collection[str], of: TextOf) -> dict[str, str]:
    """Return the texts of some queries or documents by id; ids without a text are left out."""
    with _reading(source) as dataset:
        if of == "query":
            if not dataset.has_queries():
                raise _lacks(source, "queries", "queries")
            found = {each.query_id: each for each in dataset.queries_iter() if each.query_id in wanted}
        else:
            if not dataset.has_docs():
                raise _lacks(source, "documents", "docs")
            found = dataset.docs_store().get_many(sorted(wanted))
        texts = {str(name): str(each.default_text()).strip() for name, each in found.items()}
        return {name: text for name, text in texts.items() if text}


def documents_named(source: str | Path) -> Iterator[tuple[str, str]]:
    """Yield the id and the text of each document."""
    with _reading(source) as dataset:
        if not dataset.has_docs():
            raise _lacks(source, "documents", "docs")
        for each in dataset.docs_iter():
            yield str(each.doc_id), str(each.default_text())


@contextmanager
def _reading(source: str | Path) -> Iterator[Any]:
    """Yield the dataset; anything that goes wrong on the way is a `DataError`."""
    name = Path(source).as_posix().removeprefix(_PREFIX)
    try:
        import ir_datasets
    except ImportError:
        raise _unusable(source, "it needs the package ir_datasets: pip install 'rankgauge[ir_datasets]'") from None
    try:
        yield ir_datasets.load(name)
    except RankgaugeError:
        raise
    except KeyError as error:
        if error.args != (name,):
            raise _unusable(source, f"ir_datasets could not read it: {error!r}") from error
        known = _names()
        there = "`ir_datasets list` names those that there are"
        raise _unusable(source, f"ir_datasets has no {name!r}{did_you_mean(name, known)}; {there}") from None
    except Exception as error:
        first = str(error).partition("\n")[0]
        first = first if len(first) <= _LONGEST else f"{first[:_LONGEST]} ..."
        where = "it downloads what is not in its folder (~/.ir_datasets, or IR_DATASETS_HOME), or says where to get it"
        raise _unusable(source, f"ir_datasets could not read it ({type(error).__name__}: {first}); {where}") from error


def _names() -> list[str]:
    import ir_datasets

    return list(ir_datasets.registry)


def _lacks(source: str | Path, what: str, part: str) -> DataError:
    """Return that a dataset has no judgments, queries or documents, and which of its parts have."""
    import ir_datasets

    name = Path(source).as_posix().removeprefix(_PREFIX)
    below = [each for each in _names() if each.startswith(f"{name}/")]
    having = [f"{_PREFIX}{each}" for each in below if getattr(ir_datasets.load(each), f"has_{part}")()]
    more = f"; these parts of it have: {listed(having[:_MOST_NAMES])}" if having else ""
    return _unusable(source, f"it has no {what}{more}")


def _unusable(source: str | Path, why: str) -> DataError:
    return DataError("the data cannot be read:", [Problem(why, Path(source).as_posix())])
