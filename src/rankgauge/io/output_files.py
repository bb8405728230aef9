"""
Outputs: what the system under test emitted, in a file or mapping; kept as JSON lines while it runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

import orjson

from rankgauge.base.logs import logger
from rankgauge.base.plain_text import visible
from rankgauge.catalog import Catalog
from rankgauge.errors import DataError, Problem, counted
from rankgauge.io.builtin_formats import LINES, read_jsonl
from rankgauge.io.field_names import without_mapped
from rankgauge.io.file_records import decoded, given, has_our_lines, is_row, records
from rankgauge.io.files import digest, ends_within_a_line, is_regular, open_file
from rankgauge.io.input_joins import InputJoin
from rankgauge.io.preset_records import Shape, place_of
from rankgauge.io.problems import once, refuse
from rankgauge.io.row_records import holds_rows, run_records
from rankgauge.plugin.declarations import Record
from rankgauge.policy import Contract
from rankgauge.samples import (
    CallError,
    Fault,
    IdOutputs,
    KeptOutput,
    Output,
    Sample,
    labelled,
    read_id_outputs,
    read_output,
)
from rankgauge.samples.sample_outputs import are_scores, items_of
from rankgauge.samples.sample_values import is_absent, look
from rankgauge.samples.unread_keys import KNOWN, OUTPUT, Unread, meant, similar

__all__ = [
    "OUTPUTS_FILE",
    "Outputs",
    "OutputsSource",
    "check_known",
    "kept",
    "kept_line",
    "kept_row",
    "read_kept",
    "read_outputs",
]

OutputsSource = str | os.PathLike[str] | Mapping[str, object] | Sequence[Mapping[str, object]]
"""A file with outputs, a map from sample ids to outputs, or rows ``{id, actual_output}``."""

OUTPUTS_FILE = "outputs.jsonl"
"""What kept outputs are called in a result folder."""

_PARTS = ("retrieved", "answer", "support")
"""What an output holds."""

_BLOCK = 64  # lines, as of a dataset

_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY


def kept(raw: object, contract: Contract) -> KeptOutput:
    """
    Return what a system under test returned in a form that JSON holds, and that is read as the original is.

    JSON has no NaN and no halves of surrogate pairs, and a system may return objects of its own. What JSON would change
    is kept as the ranking that was read from it, or as the reason that it cannot be read.
    """
    if raw is None:
        return KeptOutput(error=CallError("", "the system under test returned None"))
    read = read_output(raw, contract=contract)
    value = _plain(raw)
    if value is not None and read_output(value, contract=contract) == read:
        return KeptOutput(value)
    if isinstance(read, Fault):
        return KeptOutput(error=CallError("", read.reason))
    support = {} if read.support is None else {"support": labelled(read.support)}
    ranking = {"retrieved": items_of(read)} if read.is_ranked else {}
    value = _plain({**ranking, "answer": read.answer, **support})
    if value is None:
        return KeptOutput(error=CallError("", "the output holds half of a surrogate pair, which UTF-8 cannot encode"))
    return KeptOutput(value)


def kept_line(sample_id: str, output: KeptOutput) -> bytes:
    """Return a row of an outputs file, with its line end."""
    row: dict[str, Any] = {"id": sample_id}
    if output.error is None:
        row["actual_output"] = output.actual_output
    else:
        row["error"] = output.error._asdict()
    if output.seconds is not None:
        row["seconds"] = round(output.seconds, 6)
    row["attempt"] = output.attempt
    row |= {"repeat": output.repeat} if output.repeat > 1 else {}
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def kept_row(row: Mapping[str, Any]) -> KeptOutput:
    """Return what a row of an outputs file holds, besides its id; what is no number of attempts or repeats is one."""
    error, seconds, attempt, repeat = (row.get(name) for name in ("error", "seconds", "attempt", "repeat"))
    output = KeptOutput(row.get("actual_output")) if error is None else KeptOutput(error=_error(error))
    seconds = seconds if isinstance(seconds, int | float) else None
    repeat = repeat if isinstance(repeat, int) and repeat > 0 else 1
    return output._replace(seconds=seconds, attempt=attempt if isinstance(attempt, int) else 1, repeat=repeat)


def _error(value: object) -> CallError:
    """Return an error of a row: as we write it, or a text of somebody else's."""
    if isinstance(value, Mapping):
        return CallError(*(str(value.get(name) or "") for name in CallError._fields))
    return CallError("", f"the system under test failed: {value}")


def _plain(value: object) -> Any:  # noqa: ANN401  # any JSON value
    """Return a value as JSON gives it back; None if it cannot be written."""
    try:
        return orjson.loads(orjson.dumps(value, default=_known, option=_OPTIONS))
    except (TypeError, ValueError, RecursionError):
        return None


def _known(value: object) -> object:
    """Return a value of a kind that we read and JSON does not know."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, bytes):
        return value.decode()
    raise TypeError


T = TypeVar("T")


@dataclass(slots=True)
class Outputs:
    """What was emitted, or the fault of what was malformed, by sample id; with the name and the hash of its file."""

    by_id: dict[str, Output | Fault | None]  # None for one that is null, which counts as missing
    source: str = ""
    fingerprint: str = ""
    further: dict[str, list[Output | Fault | None]] = field(default_factory=dict)  # of later repeats, if there are any
    as_ids: IdOutputs | None = None  # the same, if all are plain; then the others are read where they are needed
    read: Callable[[], Outputs] | None = None
    join: InputJoin = field(default_factory=InputJoin)  # of outputs that do not name their sample
    notes: Sequence[str] = ()  # what their user should know

    @property
    def ids(self) -> Mapping[str, object]:
        """Return the samples that have outputs."""
        return self.by_id if self.as_ids is None else self.as_ids.by_id

    @property
    def repeats(self) -> int:
        """Return how many outputs a sample has at the most."""
        return 1 + max(map(len, self.further.values()), default=0)

    def name_of(self, sample: Sample) -> str | None:
        """Return the id or the place of a sample's output; None if it has none here."""
        if self.join.inputs:
            return self.join.name_of(sample, self.by_id)
        return sample.id if sample.id in self.ids else None

    def attached(self, sample: Sample) -> list[Sample]:
        """Return a sample with its output, once for each repeat; as it is if it has none here."""
        name = self.name_of(sample)
        if name is None:
            return [sample]
        if self.read is not None:
            self.by_id, self.read = self.read().by_id, None
        return [sample._replace(output=output) for output in (self.by_id[name], *self.further.get(name, ()))]


def read_outputs(
    source: Path | Mapping[str, object] | Sequence[Mapping[str, object]],
    *,
    catalog: Catalog,
    contract: Contract,
    shape: Shape | None = None,
    as_ids: bool = False,
    reader: str = "",
    sorts_runs: bool = True,
) -> Outputs:
    """
    Read outputs; a malformed one is a fault of its sample, a row without a usable id a `DataError`.

    Plain ones come *as_ids* where that is asked for, which is fast. A *reader* reads the file whatever its ending. Of a
    run each query is an output, by descending score; unless it *sorts runs*, in the order of the file.

    Of the rows that a run has kept, which have attempts, the last of each sample and repeat counts. A last line of JSON
    lines that is cut off is logged and left out.
    """
    shape = shape or Shape(catalog)
    may_be_plain = as_ids and not (shape or reader)
    if may_be_plain and isinstance(source, Path) and has_our_lines(source, catalog) and is_regular(source):
        plain = _read_as_ids(source)
        if plain is not None:
            how: dict[str, Any] = {"catalog": catalog, "contract": contract}
            return Outputs({}, str(source), digest(source), {}, plain, lambda: read_outputs(source, **how))
    if isinstance(source, Mapping):
        source = _as_rankings(source)
        every = {str(name): () if is_absent(raw) else _shaped(raw, shape).every for name, raw in source.items()}
        return _outputs({name: [one.read(contract) for one in outputs] or [None] for name, outputs in every.items()})
    label, notes = str(source) if isinstance(source, Path) else "", list[str]()
    if not isinstance(source, Path):
        rows = given(source, "outputs")
    elif holds_rows(source, "run", catalog, only_lines=bool(shape.preset or shape.fields), reader=reader):
        rows = run_records(source, catalog, notes, keeps_order=not sorts_runs, reader=reader)
    else:
        rows = records(source, catalog, reader)

    def read(output: KeptOutput | None) -> Output | Fault | None:
        return None if output is None else without_mapped(output.read(contract), shape.fields)

    collected = _Rows(label, read, shape, takes_null=True)
    collected.take_all(rows)
    outputs = _outputs(collected.by_repeat(), label, digest(source) if isinstance(source, Path) else "")
    outputs.join, outputs.notes = collected.join, notes
    return outputs


def _read_as_ids(path: Path) -> IdOutputs | None:
    """Return the outputs of a file of JSON lines without an object for each; None unless all are plain."""
    by_id: dict[str, Any] = {}
    unread, rows = frozenset[Unread](), 0
    with open_file(path) as source:
        lines = iter(source.stream)
        while block := list(islice(lines, _BLOCK)):
            values = decoded(block)
            outputs = None if values is None else read_id_outputs(values)
            if outputs is None:
                return None
            by_id |= outputs.by_id
            unread |= outputs.unread
            rows += len(block)
    return IdOutputs(by_id, unread) if len(by_id) == rows else None


def _outputs(repeats: Mapping[str, list[Output | Fault | None]], source: str = "", fingerprint: str = "") -> Outputs:
    """Return outputs of which each sample has one or, of several repeats, a list."""
    further = {name: rest for name, (_, *rest) in repeats.items() if rest}
    return Outputs({name: outputs[0] for name, outputs in repeats.items()}, source, fingerprint, further)


def read_kept(path: Path) -> dict[str, KeptOutput]:
    """Return the rows of an outputs file in JSON lines as they are, by sample id, with the errors of `read_outputs`."""
    collected = _Rows(str(path), lambda output: output or KeptOutput(), Shape())
    with open_file(path) as source:
        collected.take_all(read_jsonl(source))
    return {name: KeptOutput.of_repeats(outputs) for name, outputs in collected.by_repeat().items()}


def _instead(row: object) -> str:
    """Return what a row without an output has instead, and what reads it; empty if that is not known."""
    if not isinstance(row, Mapping):
        return ""
    parts = ((key, key if key in _PARTS else meant(OUTPUT, key)) for key in row if isinstance(key, str))
    inside = next((f"; put {key!r} into it, or map it: --field {ours}={key}" for key, ours in parts if ours), "")
    return similar(row, OUTPUT) or visible(inside)


def _is_row(value: Mapping[str, Any]) -> bool:
    """Return whether an object is one output, and not a map of several by the ids of their samples."""
    is_named = isinstance(value.get("input"), str) and not {*_PARTS}.isdisjoint(value)
    return is_named or not {"id", "actual_output"}.isdisjoint(value)


def _beside(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the output whose keys are beside the id of its sample; None if there is none."""
    if "expected_output" in row or {*_PARTS}.isdisjoint(row):
        return None
    return {key: value for key, value in row.items() if key in KNOWN[OUTPUT]}


def _as_rankings(outputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return outputs by the ids of samples; beside rankings as ``{id: score}`` an empty one retrieved nothing."""
    if not any(isinstance(raw, Mapping) and not raw for raw in outputs.values()):
        return outputs
    is_run = any(isinstance(raw, Mapping) and are_scores(raw) for raw in outputs.values())
    return {name: [] if is_run and isinstance(raw, Mapping) and not raw else raw for name, raw in outputs.items()}


def _shaped(raw: object, shape: Shape) -> KeptOutput:
    """Return an output as it is kept; one that is kept already has its form."""
    return raw if isinstance(raw, KeptOutput) else KeptOutput(shape.output(raw))


def _kept(raw: object) -> KeptOutput:
    return raw if isinstance(raw, KeptOutput) else KeptOutput(raw)


class _Rows(Generic[T]):
    """Collects the outputs of a file, each as *read* returns it, and what is wrong with it."""

    def __init__(
        self, file: str, read: Callable[[KeptOutput | None], T], shape: Shape, *, takes_null: bool = False
    ) -> None:
        self.takes_null = takes_null  # as an output that is missing; unless all of them are
        self.absent: list[Problem] = []
        self.file = file
        self.read = read
        self.shape = shape
        self.by_id: dict[str, dict[int, T]] = {}  # the output of each repeat
        self.problems: list[Problem] = []
        self.n_given = 0
        self.join = InputJoin()

    def by_repeat(self) -> dict[str, list[T]]:
        """Return the outputs of each sample, in order of their repeats."""
        return {name: [outputs[repeat] for repeat in sorted(outputs)] for name, outputs in self.by_id.items()}

    def take_all(self, rows: Iterable[Record]) -> None:
        last: Record | None = None
        for last in self.shape.records(rows):
            self.take(last)
        is_lines = Path(self.file).suffix.lower() in LINES
        if last is not None and isinstance(last.value, Fault) and is_lines and ends_within_a_line(Path(self.file)):
            self.problems.pop()
            logger("io").warning("%s:%s: the last line is cut off; its output is left out", self.file, last.line)
        problems = once([*self.problems, *([] if self.n_given else self.absent)])
        refuse(f"{self.file or 'the outputs'} cannot be used ({counted(len(problems), 'problem')}):", problems)

    def take(self, record: Record) -> None:
        value: Any = record.value
        if isinstance(value, Fault):
            self.problem(record, value.reason)
        elif not isinstance(value, Mapping):
            kind = type(value).__name__
            self.problem(record, f"expected rows {{id, actual_output}} or a map id -> output, found {kind}")
        elif record.path or self.shape.fields or _is_row(value) or self.shape.knows(value):
            is_kept = "attempt" in value  # and has its form
            row = value if is_kept else self.shape.sample(record, is_numbered=False)
            name = self.name_of(record, row)
            if {"error", "attempt", "repeat"}.isdisjoint(value):
                raw = row.get("actual_output", _beside(row))
                self.add(record, name, None if is_absent(raw) else raw, row=row)
            else:
                self.add(record, name, kept_row(row), replaces=is_kept, row=row)
        elif not {*_PARTS}.isdisjoint(value):
            self.problem(record, "a row needs 'id' and 'actual_output'")
        elif self.shape.advice(value):
            self.problem(record, "expected rows {id, actual_output} or a map id -> output")
        else:
            for name, raw in _as_rankings(value).items():
                self.add(record._replace(path=f"[{name!r}]"), name, self.shape.output(raw))

    def name_of(self, record: Record, row: Mapping[str, Any]) -> object:
        """Return the id of an output, or what it is called without one; its input may say whose it is."""
        name, is_numbered = row.get("id"), False
        if is_absent(name) and (self.shape.preset is not None or self.join.has_input(row)):
            name, is_numbered = place_of(record), True
        if is_numbered or self.shape.joins_by_input:
            self.join.add(str(name), row, is_numbered=is_numbered)
        return name

    def add(
        self, record: Record, name: object, raw: object, *, replaces: bool = False, row: Mapping[str, Any] | None = None
    ) -> None:
        output = _kept(raw)
        is_null = output.actual_output is None and (row is None or "actual_output" in row or self.may_lack(record))
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        if not isinstance(name, str) or not name:
            hint = similar(record.value, "id") if name is None and isinstance(record.value, Mapping) else ""
            self.problem(
                record, f"an output needs the 'id' of its sample, a string, or its 'input'; found {look(name)}{hint}"
            )
        elif output.repeat in self.by_id.get(name, ()) and not replaces:
            advice = "keep one, number them (repeat: 2), or give each system a file"
            self.problem(record, f"there are two outputs for this sample; {advice}", name)
        elif output.actual_output is None and output.error is None:
            is_sample = row is not None and "expected_output" in row
            hint = "; if this is a file of samples, it goes with --data" if is_sample else _instead(record.value)
            problem = self.worded(record, f"the field 'actual_output' is missing{hint}", name)
            if is_null and self.takes_null:
                self.absent.append(problem)
                self.by_id.setdefault(name, {})[output.repeat] = self.read(None)
            else:
                self.problems.append(problem)
        else:
            self.n_given += 1
            self.by_id.setdefault(name, {})[output.repeat] = self.read(output)

    def may_lack(self, record: Record) -> bool:
        """Return whether a row without an output has none: an empty cell, or nothing where a preset or field looks."""
        return self.shape.maps("actual_output") or (is_row(record) and not _instead(record.value))

    def problem(self, record: Record, message: str, sample: str | None = None) -> None:
        self.problems.append(self.worded(record, message, sample))

    def worded(self, record: Record, message: str, sample: str | None) -> Problem:
        """Return a problem, the first with what reads records that look like another tool's."""
        advice = "" if self.problems or self.absent else self.shape.advice(record.value)
        return Problem(message + advice, self.file, record.line, record.path, sample)


def check_known(
    outputs: Mapping[str, object],
    sample_ids: AbstractSet[str],
    first_id: str,
    source: str,
    join: InputJoin | None = None,
) -> None:
    """Refuse outputs of samples that a dataset lacks, whose ids look like its first one."""
    join = join or InputJoin()
    left = {name for name in outputs if not join.is_known(name, sample_ids)} if join.inputs else None
    if unknown := sorted(outputs.keys() - sample_ids if left is None else left):
        is_by_input = unknown[0] in join.inputs
        first = join.first if is_by_input else first_id
        alike = f"(the dataset's look like {first!r})" if first else "(its samples have no 'input' to find them by)"
        problem = (
            f"{len(unknown):,} of {len(outputs):,} outputs are for {'queries' if is_by_input else 'samples'} that the "
            f"dataset lacks, such as {', '.join(map(join.shown, unknown[:5]))} {alike}; "
            "remove them, or use policy queries=intersection to leave out what one side lacks"
        )
        raise DataError(f"{source or 'the outputs'} and the dataset do not fit:", [Problem(problem, source)])
