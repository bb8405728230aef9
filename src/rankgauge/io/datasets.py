"""
Datasets: turns the records of a file, or Python objects, into samples, and reports all problems at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, partial
from itertools import count, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import orjson

from rankgauge.catalog import Catalog
from rankgauge.errors import DataError, NothingToEvaluateError, Problem, UnreadableError, counted
from rankgauge.io.beir_folders import BEIR, folder_digest, folder_records
from rankgauge.io.builtin_formats import is_array, records_of
from rankgauge.io.field_names import FieldMap, without_mapped
from rankgauge.io.file_records import Lines, Placed, decoded, given, has_our_lines, is_row, portions, records
from rankgauge.io.files import digest, is_regular, is_there, no_such_file, open_file
from rankgauge.io.preset_records import Shape, recognized
from rankgauge.io.problems import once
from rankgauge.io.query_groups import QueryGroups
from rankgauge.io.row_records import holds_rows, judgment_records
from rankgauge.plugin.declarations import Record
from rankgauge.policy import Contract
from rankgauge.samples import (
    Block,
    BlockKind,
    Fault,
    IdOutputs,
    Output,
    PlacedBlock,
    Sample,
    SampleRules,
    read_block,
    read_placed,
    read_sample,
    read_samples,
)
from rankgauge.samples.sample_records import with_cohorts
from rankgauge.samples.sample_values import InvalidError, read_id

__all__ = ["DataSource", "DatasetReader", "Kinds", "Part"]

_BATCH = 4096
_BLOCK = 64  # lines that are read as one block: few enough to stay in a processor's cache
_ROWS = 30_000  # samples and retrieved items that are judged together, at least: numpy takes as many calls for fewer
_SMALLEST = 4  # so few lines are not worth a block
_MOST_PROBLEMS = 10_000
_LOOKED_AT = 50  # samples that are compared with the records of other tools


class DataSource(NamedTuple):
    """Where a dataset comes from."""

    source: Path | Sequence[object]  # a file, or samples: mappings in the form of the contract, or `Sample` values
    outputs: Path | Mapping[str, object] | Sequence[Mapping[str, object]] | None = None
    fields: FieldMap = MappingProxyType({})
    name: str = ""
    cohorts: tuple[str, ...] = ()  # fields of the metadata whose values make cohorts, in addition to the tags
    # as a config names files: the path, how it is written, and the config's file, line and key
    places: tuple[tuple[Path, str, tuple[str, int | None, str]], ...] = ()
    preset: str = ""  # whose records they are
    separator: str = ""  # between the entries of a list that is written as one text
    reader: str = ""  # which reads the file, whatever its ending
    outputs_reader: str = ""  # the same for the file of outputs
    number_rows: bool = False  # whether records without an id are called by their place
    system: str = ""  # whose records are read, if a file has those of several systems
    letters: str = ""  # what grades that are no numbers are worth, if the data are judgments
    groups: QueryGroups | None = None  # cohorts by sample id, in addition to the tags

    def shape(self, catalog: Catalog, *, of_outputs: bool = False) -> Shape:
        """Return how records become samples, or outputs in a file of their own."""
        return Shape(
            catalog,
            self.preset,
            self.fields,
            self.separator,
            number_rows=self.number_rows,
            system=self.system,
            may_lack_system=self.outputs is not None and not of_outputs,
        )

    def systems(self, catalog: Catalog) -> list[str]:
        """Return what the systems are called whose outputs a file has, or the data; none unless a preset says it."""
        if self.preset and (shape := self.shape(catalog)).needs_all:
            source = self.source if self.outputs is None else self.outputs
            if isinstance(source, Path):
                reader = self.reader if self.outputs is None else self.outputs_reader
                return shape.systems(records(source, catalog, reader))
            if not isinstance(source, Mapping):
                return shape.systems(given(source, "records"))
        return []

    @property
    def label(self) -> str:
        """Return the name of the data for messages."""
        return str(self.source) if isinstance(self.source, Path) else self.name or "the samples"

    @property
    def size(self) -> int:
        """Return the bytes of the file; 0 if that is unknown."""
        source = self.source
        return source.stat().st_size if isinstance(source, Path) and is_regular(source) else 0

    def check_there(self, used: Collection[object]) -> None:
        """Raise `UnreadableError` for those of the *used* files that a config names and that are not there."""
        missing = [place for place in self.places if place[0] in used and not is_there(place[0])]
        problems = [Problem(f"{name}: {no_such_file(path)}", *place) for path, name, place in missing]
        if problems:
            raise UnreadableError(f"cannot read the data of {self.name!r}:", problems)

    def fingerprint(self) -> str:
        """Return the SHA-256 of the file or of the samples; of nothing for a file that is not there."""
        source = self.source
        if isinstance(source, Path) and self.preset == BEIR:
            return folder_digest(source)
        return digest(source) if isinstance(source, Path) and is_regular(source) else _digest_of(source)


P = TypeVar("P", bound=Placed)
Part = Block | PlacedBlock | list[Sample]
Kinds = AbstractSet[BlockKind]
"""Which samples are read as columns; none for an empty set."""


class DatasetReader:
    """Reads one dataset in batches; its fingerprint is that of the content, once reading has begun."""

    def __init__(
        self,
        data: DataSource,
        *,
        catalog: Catalog,
        contract: Contract,
        needs_gold: bool = True,
        limit: int | None = None,
        is_part: bool = False,
    ) -> None:
        """Name the data; if it *is part* of more, others may have the ground truth that all of its samples lack."""
        self.fingerprint = ""
        self.count = 0
        self._data = data
        self._catalog = catalog
        self._rules = SampleRules(contract, catalog.gold_kinds, needs_gold)
        self._limit = limit
        self.is_labelled = is_part  # whether a sample with ground truth was read
        self.unlabelled: list[Problem] = []  # of samples without any, as long as no other has some
        self._attached: IdOutputs | None = None
        # the line or place of each id, or of a block the line of its first and all of its ids: a million numbers would
        # take 32 MB
        self._seen: dict[str, int | str | tuple[int, Sequence[str]]] = {}
        self._shape = data.shape(catalog)
        self._maps_gold = self._shape.maps("expected_output")
        self._to_recognize = 0 if data.preset else _LOOKED_AT
        self.looks_like = ""  # whose records samples without a usable output look like

    def batches(self, size: int = _BATCH) -> Iterator[list[Sample]]:
        """Yield batches of samples; after the first problem yield nothing more and raise all problems at the end."""
        problems: list[Problem] = []
        self.fingerprint = self._data.fingerprint()
        samples = self._samples(islice(self._records(), self._limit), problems)
        held: list[list[Sample]] = []  # nothing is made of samples that all lack ground truth
        while True:
            batch = list(islice(samples, size))
            self.count += len(batch)
            if not batch or len(problems) > _MOST_PROBLEMS:
                break
            held.append(batch)
            if not problems and (self.is_labelled or not self.unlabelled):
                yield from held
                held.clear()
        self._conclude(problems)

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield the records in the form of samples, as preset and fields make them, unchecked."""
        shaped = map(self._shape.sample, self._records())
        return (row for row in shaped if isinstance(row, Mapping))

    def _records(self) -> Iterator[Record]:
        source = self._data.source
        if not isinstance(source, Path):
            return self._shape.records(given(source, "samples"))
        read: Callable[[Path, Catalog], Iterator[Record]] = partial(records, reader=self._data.reader)
        if self._data.preset == BEIR and not self._data.reader:
            read = folder_records
        if self._holds_judgments:
            read = partial(judgment_records, letters=self._data.letters, reader=self._data.reader)
        return self._shape.records(read(source, self._catalog))

    @cached_property
    def _holds_judgments(self) -> bool:
        """Return whether each judged query of a file is a sample."""
        source, reader = self._data.source, self._data.reader
        if self._data.preset or not isinstance(source, Path):
            return False
        return holds_rows(source, "qrels", self._catalog, only_lines=bool(reader and self._data.fields), reader=reader)

    @property
    def has_blocks(self) -> bool:
        """Return whether plain samples can be read as columns: those of a whole file of JSON lines, as they are."""
        return self.has_lines and not (self._shape or self._data.cohorts or self._data.groups)

    @property
    def has_lines(self) -> bool:
        """Return whether all of a file of JSON lines is read, by our own reader."""
        is_ours = not self._data.reader and has_our_lines(self._data.source, self._catalog)
        return self._limit is None and is_ours and not (self._shape.needs_all or self._holds_judgments)

    def blocks(self, kinds: Kinds, attached: IdOutputs | None = None) -> Iterator[Part]:
        """
        Yield what `batches` yields, with samples of some kinds as columns; only if `has_blocks` says so.

        Outputs that are *attached* are those of the columns; other samples come without them.
        """
        problems: list[Problem] = []
        self._attached = attached
        self.fingerprint = self._data.fingerprint()
        with open_file(Path(str(self._data.source))) as source:
            yield from self.read_lines(Lines(source.stream, 1, source.offset), problems, kinds)
        self._conclude(problems)

    def read_lines(self, given: Lines, problems: list[Problem], kinds: Kinds) -> Iterator[Part]:
        """Yield samples of some lines of the file, those of some kinds as columns."""
        together, rows = list[Block](), 0
        for part in self._small_blocks(given, problems, kinds):
            if isinstance(part, Block):
                together.append(part)
                rows += len(part.ids) + sum(part.retrieved.counts)
                if rows < _ROWS:
                    continue
            if together:
                yield Block.together(together)
                together, rows = [], 0
            if not isinstance(part, Block):
                yield part
        if together:
            yield Block.together(together)

    def shared(
        self, judged: Callable[[Iterator[Lines]], Iterator[tuple[Lines, P | None]]], kinds: Kinds
    ) -> Iterator[P | Part]:
        """
        Yield what others have *judged* of the lines of a file, and samples if they judged nothing, all in order.

        They return None for lines with a problem, whatever it is, and it is found again here. Only where `has_lines`.
        """
        problems: list[Problem] = []
        self.fingerprint = self._data.fingerprint()
        with open_file(Path(str(self._data.source))) as source:
            for lines, part in judged(portions(source)):
                if part is None or not self._seen.keys().isdisjoint(part.places):
                    yield from self.read_lines(lines, problems, kinds)
                else:
                    self._seen.update(part.places)
                    self.count += len(part.places)
                    self._note_labels(part.unlabelled, is_labelled=part.is_labelled)
                    if part.places and not problems:
                        yield part
                if len(problems) > _MOST_PROBLEMS or is_array(next(iter(lines.lines)), lines.first):
                    break
        self._conclude(problems)

    def _small_blocks(self, given: Lines, problems: list[Problem], kinds: Kinds) -> Iterator[Part]:
        """Yield samples of some lines at a time, until the first problem; find all problems."""
        stream, line, offset = iter(given.lines), given.first, given.offset
        while len(problems) <= _MOST_PROBLEMS and (lines := list(islice(stream, _BLOCK))):
            if is_array(lines[0], line):
                yield from self._singles(lines[:1], line, offset, problems)
                return
            read = self._parts(lines, (line, offset), problems, kinds)
            found = set[BlockKind]()
            for part in read if kinds else self._singles(lines, line, offset, problems):
                if not isinstance(part, list):
                    found.add("ids" if isinstance(part, Block) else "places")
                self.count += len(part if isinstance(part, list) else part.ids)
                if part and not problems:
                    yield part
            kinds &= found  # if no part is of a kind, none in the rest of the file is
            line += len(lines)
            offset += sum(map(len, lines))

    def _singles(
        self, lines: Sequence[bytes], first: int, offset: int, problems: list[Problem]
    ) -> Iterator[list[Sample]]:
        """Yield the samples of some lines, read one by one."""
        yield list(self._samples(self._shape.records(records_of(lines, first, offset)), problems))

    def _parts(
        self,
        lines: Sequence[bytes],
        place: tuple[int, int],
        problems: list[Problem],
        kinds: Kinds,
        values: Sequence[Any] | None = None,
    ) -> Iterator[Part]:
        """Yield lines from a line and an offset on as one block; if one is of no kind, as parts that mostly are."""
        first, offset = place
        values = values or decoded(lines)
        if values is not None and (block := self._block(values, first, kinds)) is not None:
            yield block
        elif len(lines) <= _SMALLEST:
            yield from self._singles(lines, first, offset, problems)
        else:
            half = len(lines) // 2
            behind = first + half, offset + sum(map(len, lines[:half]))
            yield from self._parts(lines[:half], place, problems, kinds, values and values[:half])
            yield from self._parts(lines[half:], behind, problems, kinds, values and values[half:])

    def _block(self, values: Sequence[Any], first: int, kinds: Kinds) -> Block | PlacedBlock | None:
        """Return decoded lines as a block; None if one is of none of the kinds, or has an id that came before."""
        block = read_block(values, self._attached) if "ids" in kinds else None
        placed = read_placed(values, self._rules) if block is None and "places" in kinds else None
        found = block or placed
        if found is None:
            return None
        places = dict.fromkeys(found.ids, (first, found.ids))
        if len(places) < len(values) or not self._seen.keys().isdisjoint(places):
            return None
        self._seen.update(places)
        self._note_labels((), is_labelled=True)
        return found

    def _note_labels(self, unlabelled: Sequence[Problem], *, is_labelled: bool) -> None:
        """Note which samples have no ground truth; that is their problem only if none has any."""
        self.is_labelled |= is_labelled
        if self.is_labelled:
            self.unlabelled.clear()
        elif len(self.unlabelled) < _MOST_PROBLEMS:
            self.unlabelled += unlabelled

    def _conclude(self, problems: list[Problem]) -> None:
        """Raise all problems of the data, or that it has no samples."""
        label = self._data.label
        problems = sorted([*problems, *self.unlabelled], key=lambda problem: problem.line or 0)
        if problems:
            more = "at least " if len(problems) > _MOST_PROBLEMS else ""
            problems = once(problems)
            raise DataError(f"{label} cannot be used ({more}{counted(len(problems), 'problem')}):", problems)
        if not self.count:
            raise NothingToEvaluateError(f"{label} has no samples; there is nothing to evaluate", [])

    def _samples(self, read: Iterable[Record], problems: list[Problem]) -> Iterator[Sample]:
        """Yield samples, read some records at a time; one by one where something is wrong with one of these."""
        rest = iter(read)
        while some := list(islice(rest, _BLOCK)):
            samples = self._together(some)
            yield from map(self._in_cohorts, self._one_by_one(some, problems) if samples is None else samples)

    def _together(self, read: Sequence[Record]) -> Sequence[Sample] | None:
        """Return the samples of some records; None if one of these has to be read for itself."""
        if self._shape or len(read) <= _SMALLEST:
            return None
        samples = read_samples([record.value for record in read], self._rules)
        if samples is None or (self._to_recognize and not all(isinstance(each.output, Output) for each in samples)):
            return None
        places = {sample.id: record.line or record.path for sample, record in zip(samples, read, strict=True)}
        if len(places) < len(samples) or not self._seen.keys().isdisjoint(places):
            return None
        self._seen.update(places)
        if not self.is_labelled:
            self._note_labels((), is_labelled=any(any(sample.expected) for sample in samples))
        return samples

    def _one_by_one(self, read: Iterable[Record], problems: list[Problem]) -> Iterator[Sample]:
        contract, seen, source = self._rules.contract, self._seen, self._data.source
        file = str(source) if isinstance(source, Path) else ""
        is_shaped = bool(self._shape)
        for record in read:
            value = record.value
            if isinstance(value, Fault):
                problems.append(Problem(value.reason, file, record.line, record.path))
                continue
            if isinstance(value, Sample):
                sample: Sample | None = value
                self._note_labels((), is_labelled=any(value.expected))
            else:
                value = self._shape.sample(record) if is_shaped else value
                sample = self._read(record, value, problems, file)
            name = sample.id if sample is not None else _id_of(value, contract)
            if name is None:
                continue
            if name in seen:
                first = seen[name]
                first = first[0] + first[1].index(name) if isinstance(first, tuple) else first
                where = f"line {first}" if isinstance(first, int) else first
                message = f"duplicate sample id {name!r}; ids must be unique (first in {where})"
                problems.append(Problem(message, file, record.line, record.path, name))
                continue
            seen[name] = record.line or record.path
            if sample is not None:
                yield sample

    def _in_cohorts(self, sample: Sample) -> Sample:
        sample = with_cohorts(sample, self._data.cohorts) if self._data.cohorts else sample
        groups = self._data.groups
        return sample if groups is None else sample._replace(tags=groups.added(sample.id, sample.tags))

    def _read(self, record: Record, value: object, problems: list[Problem], file: str) -> Sample | None:
        """Return the sample that a record is in the form of samples, or None and its problems."""
        before, shape, where = len(problems), self._shape, record.path
        lacking: list[str] = []
        sample = read_sample(
            value,
            self._rules,
            problems=problems,
            unlabelled=lacking,
            may_lack=self._maps_gold or is_row(record),
            file=file,
            line=record.line,
            path=where,
        )
        if self._to_recognize and (sample is None or not isinstance(sample.output, Output)):
            self._recognize(record.value, problems, before)
        if sample is None:
            is_labelled = any("expected_output" in problem.path for problem in problems[before:])
            self._note_labels((), is_labelled=self.is_labelled or is_labelled)
            return None
        if lacking and not self.is_labelled:
            advice = "" if self.unlabelled else shape.advice(record.value)
            path = f"{where}.expected_output" if where else "expected_output"
            self._note_labels([Problem(lacking[0] + advice, file, record.line, path, sample.id)], is_labelled=False)
        elif not self.is_labelled:
            self._note_labels((), is_labelled=any(sample.expected))
        if lacking and shape.preset is not None:
            return sample._replace(unread=())  # the whole record was kept, so that messages can name its keys
        if shape.fields:
            sample = without_mapped(sample, shape.fields)
            if sample.output is not None:
                sample = sample._replace(output=without_mapped(sample.output, shape.fields))
        return sample

    def _recognize(self, value: object, problems: list[Problem], before: int) -> None:
        """Notice whose record this is, which could not be read as a sample, and say so with its first new problem."""
        self._to_recognize -= 1
        if len(problems) > before:
            first = problems[before]
            problems[before] = first._replace(message=first.message + self._shape.advice(value))
        self.looks_like = self.looks_like or recognized(value, self._catalog) or ""

    @property
    def sample_ids(self) -> AbstractSet[str]:
        """Return the ids of the samples read so far."""
        return self._seen.keys()

    @property
    def places(self) -> Mapping[str, int | str]:
        """Return the ids of the samples read so far, each with its line or place."""
        places: dict[str, int | str] = {}
        for name, place in self._seen.items():
            if not isinstance(place, tuple):
                places[name] = place
            elif name not in places:
                first, ids = place
                places.update(zip(ids, count(first)))
        return places

    @property
    def first_id(self) -> str:
        """Return the id of the first sample; empty before it was read."""
        return next(iter(self._seen), "")


def _id_of(value: object, contract: Contract) -> str | None:
    """Return the id of a sample that has another problem; None if the id cannot be read."""
    try:
        return read_id(value.get("id"), "", contract) if isinstance(value, Mapping) else None
    except InvalidError:
        return None


def _digest_of(source: Path | Sequence[object]) -> str:
    """Return the SHA-256 of samples given in Python, or of nothing for a file that cannot be read."""
    hasher = hashlib.sha256()
    for value in () if isinstance(source, Path) else source:
        plain = value._asdict() if isinstance(value, Sample) else value
        try:
            hasher.update(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=repr))
        except TypeError:  # what JSON cannot hold is a problem of its sample, and reported as one
            hasher.update(type(value).__name__.encode())
    return f"sha256:{hasher.hexdigest()}"
