"""
Outputs: what the system under test emitted, in a separate file or mapping.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankgauge.catalog import Catalog
from rankgauge.errors import DataError, Problem, counted
from rankgauge.io.datasets import given, records, remapped
from rankgauge.io.files import digest
from rankgauge.io.kept import kept_row
from rankgauge.plugin.formats import Record
from rankgauge.policy import Contract
from rankgauge.samples import Fault, KeptOutput, Output, read_output

__all__ = ["Outputs", "read_outputs"]


@dataclass(slots=True)
class Outputs:
    """
    Outputs by sample id.

    Attributes:
        by_id: What was emitted, or the fault of what was malformed.

        source: Where they came from: a file's name, or empty.

        fingerprint: A hash of the file.
    """

    by_id: dict[str, Output | Fault]
    source: str = ""
    fingerprint: str = ""


def read_outputs(
    source: Path | Mapping[str, object] | Sequence[Mapping[str, object]],
    *,
    catalog: Catalog,
    contract: Contract,
    fields: Mapping[str, str] | None = None,
) -> Outputs:
    """
    Read outputs; a malformed one is a fault of its sample, a row without a usable id a `DataError`.

    Of the rows that a run has kept, which have attempts, the last of each sample counts.
    """
    if isinstance(source, Mapping):
        return Outputs({str(name): _read(raw, contract) for name, raw in source.items()})
    label = str(source) if isinstance(source, Path) else ""
    collected = _Rows(label, contract)
    rows = records(source, catalog) if isinstance(source, Path) else given(source, "outputs")
    for record in rows:
        collected.take(record, fields or {})
    if problems := collected.problems:
        msg = f"{label or 'the outputs'} cannot be used ({counted(len(problems), 'problem')}):"
        raise DataError(msg, problems)
    return Outputs(collected.by_id, label, digest(source) if isinstance(source, Path) else "")


def _read(raw: object, contract: Contract) -> Output | Fault:
    return raw.read(contract) if isinstance(raw, KeptOutput) else read_output(raw, contract=contract)


class _Rows:
    """Collects the outputs of a file, and what is wrong with it."""

    def __init__(self, file: str, contract: Contract) -> None:
        self.file = file
        self.contract = contract
        self.by_id: dict[str, Output | Fault] = {}
        self.problems: list[Problem] = []

    def take(self, record: Record, fields: Mapping[str, str]) -> None:
        value: Any = record.value
        if isinstance(value, Fault):
            self.problem(record, value.reason)
        elif not isinstance(value, Mapping):
            self.problem(
                record, f"expected rows {{id, actual_output}} or a map id -> output, found {type(value).__name__}"
            )
        elif record.path or fields or {"id", "actual_output"} & set(value):
            row = remapped(value, fields)
            is_kept = not {"error", "attempt"}.isdisjoint(value)
            self.add(record, row.get("id"), kept_row(row) if is_kept else row.get("actual_output"))
        elif {"retrieved", "answer"} & set(value):
            self.problem(record, "a row needs 'id' and 'actual_output'")
        else:
            for name, raw in value.items():
                self.add(record._replace(path=f"[{name!r}]"), name, raw)

    def add(self, record: Record, name: object, raw: object) -> None:
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        if not isinstance(name, str) or not name:
            self.problem(record, f"an output needs the 'id' of its sample, a string; found {name!r}")
        elif name in self.by_id and not isinstance(raw, KeptOutput):
            self.problem(record, "there are two outputs for this sample; keep one", name)
        elif raw is None:
            self.problem(record, "the field 'actual_output' is missing", name)
        else:
            self.by_id[name] = _read(raw, self.contract)

    def problem(self, record: Record, message: str, sample: str | None = None) -> None:
        self.problems.append(Problem(message, self.file, record.line, record.path, sample))
