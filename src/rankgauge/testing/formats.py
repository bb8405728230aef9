"""
Readers and reporters on tiny data: whether they keep to what the engine expects of a file format.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.catalog import Catalog, Claim
from rankgauge.engine.engine import Engine
from rankgauge.engine.result import Result
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.io.files import open_file
from rankgauge.plugin.declarations import Reader, Record, Reporter, Source
from rankgauge.report.rendering import rendered
from rankgauge.testing.laws import laws_of
from rankgauge.testing.report import Report

__all__ = ["check_reader", "check_reporter"]

_FILES = {
    "an empty file": b"",
    "a blank line": b"\n",
    "a line of JSON": b'{"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}\n',
    "a line of text": b"q1 a 0.5\n",
    "bytes that are no text": bytes(range(256)),
}

_MOST = 1000
"""How many records are read of each file: some readers may find no end."""

_SAMPLES = [
    {"id": "found", "expected_output": ["a"], "actual_output": ["a", "b"], "metadata": {"tags": ["first"]}},
    {"id": "missing", "expected_output": ["a"]},
    {"id": "failed", "expected_output": ["a"], "actual_output": 5},
    {"id": "without ground truth", "expected_output": [], "actual_output": ["a"]},
]


def check_reader(claim: Claim[Reader]) -> Report:
    """Check a reader on tiny files: each gives records or a `DataError`, whatever it holds."""
    (law,) = laws_of("reader").values()
    with tempfile.TemporaryDirectory(prefix="rankgauge-") as folder:
        path = Path(folder, f"tiny{claim.declaration.suffixes[0]}")
        for what, content in _FILES.items():
            path.write_bytes(content)
            with open_file(path) as source:
                reason = _misread(claim, source)
            if reason:
                broken = law.verdict("broken", f"for {what} {reason}", ({"content": repr(content[:80])},))
                return Report(kind="reader", name=claim.declaration.name, verdicts=(broken,))
    return Report(kind="reader", name=claim.declaration.name, verdicts=(law.verdict("holds"),))


def _misread(claim: Claim[Reader], source: Source) -> str:
    """Return what a reader does wrong with a file; empty where it does nothing wrong."""
    try:
        with guarded(DataError):
            records: Iterator[Any] = iter(claim.declaration.function(source))
            strange = [record for record in islice(records, _MOST) if type(record) is not Record]
    except DataError:
        return ""
    except ForeignError as error:
        return f"it raised {error}; for a file that it cannot read it raises rankgauge.plugin.DataError"
    return f"it yielded {shown(strange[0])} where a rankgauge.plugin.Record is needed" if strange else ""


def check_reporter(claim: Claim[Reporter]) -> Report:
    """Check a reporter on tiny results, with and without samples that have no score: each gives a text."""
    (law,) = laws_of("reporter").values()
    for what, result in _results():
        try:
            rendered(claim, result)
        except RankgaugeError as error:
            broken = law.verdict("broken", f"for {what}: {error}", ({"samples": ", ".join(result.sample_ids)},))
            return Report(kind="reporter", name=claim.declaration.name, verdicts=(broken,))
    return Report(kind="reporter", name=claim.declaration.name, verdicts=(law.verdict("holds"),))


def _results() -> Iterator[tuple[str, Result]]:
    """Yield tiny results."""
    engine = Engine(catalog=Catalog.discover(own_only=True))
    for what, samples in (("one sample", _SAMPLES[:1]), ("samples without a score", _SAMPLES)):
        yield what, engine.dataset(samples).with_metrics(["hit@1", "MRR"]).run(details=True)
