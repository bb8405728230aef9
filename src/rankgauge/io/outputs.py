"""
Outputs: what the system under test emitted, in a separate file or mapping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from rankgauge.catalog import Catalog
from rankgauge.errors import DataError, Problem, counted
from rankgauge.io.fields import FieldMap, remapped
from rankgauge.io.files import digest, ends_within_a_line, open_file
from rankgauge.io.formats import read_jsonl
from rankgauge.io.kept import kept_row
from rankgauge.io.records import given, records
from rankgauge.logs import logger
from rankgauge.plugin.formats import Record
from rankgauge.policy import Contract
from rankgauge.samples import Fault, KeptOutput, Output
from rankgauge.samples.scalars import look

__all__ = ["Outputs", "read_kept", "read_outputs"]

T = TypeVar("T")


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
    fields: FieldMap | None = None,
) -> Outputs:
    """
    Read outputs; a malformed one is a fault of its sample, a row without a usable id a `DataError`.

    Of the rows that a run has kept, which have attempts, the last of each sample counts. A last line of JSON lines that
    is cut off is logged and left out.
    """
    if isinstance(source, Mapping):
        return Outputs({str(name): _kept(raw).read(contract) for name, raw in source.items()})
    label = str(source) if isinstance(source, Path) else ""
    rows = records(source, catalog) if isinstance(source, Path) else given(source, "outputs")
    collected = _Rows(label, lambda output: output.read(contract))
    collected.take_all(rows, fields or {})
    return Outputs(collected.by_id, label, digest(source) if isinstance(source, Path) else "")


def read_kept(path: Path) -> dict[str, KeptOutput]:
    """Return the rows of an outputs file in JSON lines as they are, by sample id, with the errors of `read_outputs`."""
    collected = _Rows(str(path), lambda output: output)
    with open_file(path) as source:
        collected.take_all(read_jsonl(source), {})
    return collected.by_id


def _kept(raw: object) -> KeptOutput:
    return raw if isinstance(raw, KeptOutput) else KeptOutput(raw)


def _is_cut(file: str) -> bool:
    """Return whether a file of JSON lines ends within a line."""
    path = Path(file)
    return path.suffix.lower() in {".jsonl", ".ndjson"} and ends_within_a_line(path)


class _Rows(Generic[T]):
    """Collects the outputs of a file, each as *read* returns it, and what is wrong with it."""

    def __init__(self, file: str, read: Callable[[KeptOutput], T]) -> None:
        self.file = file
        self.read = read
        self.by_id: dict[str, T] = {}
        self.problems: list[Problem] = []

    def take_all(self, rows: Iterable[Record], fields: FieldMap) -> None:
        last: Record | None = None
        for last in rows:
            self.take(last, fields)
        if last is not None and isinstance(last.value, Fault) and _is_cut(self.file):
            self.problems.pop()
            logger("io").warning("%s:%s: the last line is cut off; its output is left out", self.file, last.line)
        if self.problems:
            msg = f"{self.file or 'the outputs'} cannot be used ({counted(len(self.problems), 'problem')}):"
            raise DataError(msg, self.problems)

    def take(self, record: Record, fields: FieldMap) -> None:
        value: Any = record.value
        if isinstance(value, Fault):
            self.problem(record, value.reason)
        elif not isinstance(value, Mapping):
            self.problem(
                record, f"expected rows {{id, actual_output}} or a map id -> output, found {type(value).__name__}"
            )
        elif record.path or fields or {"id", "actual_output"} & set(value):
            row = remapped(value, fields)
            if {"error", "attempt"}.isdisjoint(value):
                self.add(record, row.get("id"), row.get("actual_output"))
            else:
                self.add(record, row.get("id"), kept_row(row), replaces="attempt" in value)
        elif {"retrieved", "answer", "support"} & set(value):
            self.problem(record, "a row needs 'id' and 'actual_output'")
        else:
            for name, raw in value.items():
                self.add(record._replace(path=f"[{name!r}]"), name, raw)

    def add(self, record: Record, name: object, raw: object, *, replaces: bool = False) -> None:
        output = _kept(raw)
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        if not isinstance(name, str) or not name:
            self.problem(record, f"an output needs the 'id' of its sample, a string; found {look(name)}")
        elif name in self.by_id and not replaces:
            self.problem(record, "there are two outputs for this sample; keep one", name)
        elif output.actual_output is None and output.error is None:
            self.problem(record, "the field 'actual_output' is missing", name)
        else:
            self.by_id[name] = self.read(output)

    def problem(self, record: Record, message: str, sample: str | None = None) -> None:
        self.problems.append(Problem(message, self.file, record.line, record.path, sample))
