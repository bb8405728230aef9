"""
Records of other tools: recognized, taken out of their document, and brought into the form of samples by a preset.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, starmap
from typing import Any

from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.catalog import Catalog
from rankgauge.errors import PluginError
from rankgauge.io.dotted_names import nested
from rankgauge.io.field_names import LISTS, FieldMap, field_name, remapped
from rankgauge.io.record_paths import decoded, steps_of, values_at
from rankgauge.io.system_records import of_system, with_systems
from rankgauge.plugin.declarations import Record
from rankgauge.plugin.named_data import ITEM_KEYS, RETRIEVED, Preset
from rankgauge.samples import Fault, Sample
from rankgauge.samples.library_items import library_item
from rankgauge.samples.sample_outputs import by_score
from rankgauge.samples.sample_values import is_absent

__all__ = ["Shape", "place_of", "recognized"]

_TOP = ("id", "input", "expected_output", "actual_output", "metadata")
_WORDS = ("expected_output.answer", "actual_output.answer", "metadata.tags")
_MARKED = re.compile("deepeval_source=(?P<id>.+?),deepeval_context=(?P<text>.*)", re.DOTALL)
"""How DeepEval writes a text and where it is from into a data set."""


class Shape:
    """How the records of a dataset become samples: by a preset, the user's fields, and what separates lists."""

    def __init__(
        self,
        catalog: Catalog | None = None,
        preset: str = "",
        fields: FieldMap | None = None,
        separator: str = "",
        *,
        number_rows: bool = False,
        system: str = "",
        may_lack_system: bool = False,
    ) -> None:
        """
        Take what says how records are read; with *number_rows* those without an id are called by their place.

        Of records of several systems, those of the one called *system* are read; of the first, if that has none and
        *may lack* them.
        """
        self._numbers = number_rows
        self._system = system
        self._may_lack_system = may_lack_system
        self._catalog = catalog
        claim = catalog.preset(preset) if catalog is not None and preset else None
        self.preset: Preset | None = None if claim is None else claim.declaration
        self._provider = "" if claim is None else str(claim.provider)
        self.fields = fields or {}
        self.separator = separator or ("" if self.preset is None else self.preset.separator)

    def __bool__(self) -> bool:
        return self.preset is not None or bool(self.fields) or bool(self.separator) or self._numbers

    @property
    def needs_all(self) -> bool:
        """Return whether what a record is depends on others, wherever in the data they are."""
        return self.preset is not None and bool(self.preset.group_by or self.preset.system)

    def maps(self, name: str) -> bool:
        """Return whether the preset, or a field of the user's, says where a field of samples or a part of it is."""
        given = (field_name(each) for each in self.fields)
        return self.preset is not None or any(f"{each}.".startswith(f"{name}.") for each in given)

    def knows(self, record: object) -> bool:
        """Return whether a record looks made for the preset, or has an output where the preset looks."""
        preset = self.preset
        if preset is None:
            return False
        outputs = (paths for name, paths in preset.fields.items() if name.startswith("actual_output"))
        places = [path for path in chain.from_iterable(outputs) if not path.startswith("*")]  # that may be an id
        return _first(record, places, RETRIEVED, self.separator) is not None or _has_marks(record, preset)

    def advice(self, record: object) -> str:
        """Return how to read a record that looks like another tool's; empty for any other, and with a preset."""
        name = None if self._catalog is None or self.preset is not None else recognized(record, self._catalog)
        return "" if name is None else f"; this looks like a record of {name}: read it with --preset {name}"

    def records(self, read: Iterable[Record]) -> Iterator[Record]:
        """Yield records, those of a document that has several one by one, and those of one sample together."""
        single = self._single(read)
        if (preset := self.preset) is None:
            return single
        if preset.system:
            single = iter(of_system(list(single), preset.system, self._system, may_lack=self._may_lack_system))
        return starmap(self._joined, _grouped(single, preset.group_by)) if preset.group_by else single

    def systems(self, read: Iterable[Record]) -> list[str]:
        """Return what the systems are called that records are of; none if the preset knows of none."""
        if self.preset is None or not self.preset.system:
            return []
        return list(dict.fromkeys(name for name, _ in with_systems(self._single(read), self.preset.system)))

    def _single(self, read: Iterable[Record]) -> Iterator[Record]:
        for record in map(_nested, read):
            if self.preset is not None and isinstance(record.value, Mapping):
                yield from _rows(record, record.value, self.preset)
            else:
                yield record

    def _joined(self, name: str | None, rows: Sequence[Record]) -> Record:
        """Return the record of rows that make one sample: the first with all of them, or how two of them disagree."""
        if name is None:
            return rows[0]
        first: Any = rows[0].value
        joined = rows[0]._replace(value={**first, "rows": [row.value for row in rows]})
        return self._disagreement(name, rows) or joined

    def _disagreement(self, name: str, rows: Sequence[Record]) -> Record | None:
        """
        Return why rows cannot be one sample, with the first of them that says another thing where only one is read.

        What a preset reads by ``rows[]`` may differ, and so may anything if it has a function to refine samples,
        which may read it.
        """
        if self.preset is None or self.preset.refine is not None:
            return None
        known = self._scored(rows[0])
        for row in rows[1:]:
            here = self._scored(row)
            for path in sorted({*known, *here}):
                if _differ(known.get(path), here.get(path)):
                    where = rows[0].path or f"line {rows[0].line}"
                    return row._replace(
                        value=Fault(
                            f"rows of {name!r} disagree: {path} is {shown(here.get(path))} here and "
                            f"{shown(known.get(path))} in the first of them ({where}), which alone is read; make them "
                            "equal, or read all of them by a path that begins with rows[]"
                        )
                    )
        return None

    def _scored(self, row: Record) -> dict[str, object]:
        """Return what a row alone says that may change a score, by its path in a sample."""
        value: Any = row.value
        sample = self.sample(row._replace(value={**value, "rows": []}))
        found: dict[str, object] = {}
        for name in ("expected_output", "actual_output", "metadata"):
            part = sample.get(name)
            if isinstance(part, Mapping):
                found |= {f"{name}.{key}": held for key, held in part.items()}
            else:
                found[name] = part
        is_scored = {f"metadata.{key}" for key in ("k", "answerable", "asked_at")}
        return {
            path: held
            for path, held in found.items()
            if not is_absent(held) and (path in is_scored or not path.startswith("metadata"))
        }

    @property
    def joins_by_input(self) -> bool:
        """Return whether outputs whose ids are not those of samples belong to the samples with their input."""
        return self.preset is not None and self.preset.join_by_input

    def sample(self, record: Record, *, is_numbered: bool = True) -> Any:  # noqa: ANN401  # a mapping, or what it was
        """Return a record in the form of a sample; under a preset one without an id *is numbered* by its place."""
        value: Any = _nested(record).value
        if isinstance(value, Sample) or not (self and isinstance(value, Mapping)):
            return value
        shaped = dict(value)
        if self.preset is not None:
            shaped = self._refined(value, _shaped(value, self.preset, self.separator))
            if is_numbered:
                shaped.setdefault("id", place_of(record))
        mapped = remapped({**value, **shaped}, self.fields, self.separator)
        if self._numbers and is_absent(mapped.get("id")):
            mapped["id"] = shaped["id"] = place_of(record)
        ours = {*shaped, *(field_name(name).partition(".")[0] for name in self.fields)}
        return {name: held for name, held in mapped.items() if name in ours}

    def _refined(self, record: Mapping[Any, Any], sample: dict[str, Any]) -> dict[str, Any]:
        """Return a sample with what the function of the preset adds; raise `PluginError` if that fails."""
        if self.preset is None or self.preset.refine is None:
            return sample
        try:
            with guarded():
                return dict(self.preset.refine(record, sample))
        except ForeignError as error:
            raise PluginError(f"refine of preset {self.preset.name!r}", self._provider, str(error)) from error

    def output(self, raw: object) -> object:
        """
        Return what a system emitted in the form of an `actual_output`.

        It is looked at as a record of its own, and as the `actual_output` of one: both is where preset and fields look.
        """
        if self.preset is not None:
            found = _output(raw, self.preset, self.separator)
            raw = found or _output({"actual_output": raw}, self.preset, self.separator) or raw
        fields = {name: place for name, place in self.fields.items() if field_name(name).startswith("actual_output")}
        if not fields:
            return raw
        record = {**(raw if isinstance(raw, Mapping) else {}), "actual_output": raw}
        return remapped(record, fields, self.separator)["actual_output"]


def _nested(record: Record) -> Record:
    """Return a record with names that are joined by dots where these lead."""
    value = record.value
    if type(value) is not dict or (within := nested(value)) is value:
        return record
    return record._replace(value=within)


def recognized(record: object, catalog: Catalog) -> str | None:
    """Return the name of the preset that a raw record looks made for, None for any other record."""
    outputs = [record.get("actual_output")] if isinstance(record, Mapping) else []
    for name, claim in catalog.all("preset").items():
        if any(_has_marks(value, claim.declaration) for value in (record, *outputs)):
            return name
    return None


def _has_marks(record: object, preset: Preset) -> bool:
    return any(all(any(True for _ in values_at(record, path)) for path in mark) for mark in preset.marks)


def _rows(record: Record, document: Mapping[Any, Any], preset: Preset) -> Iterator[Record]:
    """Yield the records of a document: a list of them, maps by id, or columns."""
    fields = {path for paths in preset.fields.values() for path in paths}
    outer = f"{record.path}." if record.path else ""
    for path in preset.records:
        if path in fields and any(isinstance(document.get(field), str) for field in fields):
            continue  # one record, whose field is a list: columns are beside columns
        part = next(iter(values_at(document, path)), None)
        if isinstance(part, Mapping) and part:
            columns = [(name, column) for name, column in document.items() if isinstance(column, Mapping)]
            for key in part:
                row = {name: column[key] for name, column in columns if key in column}
                yield Record({"key": str(key), **row}, record.line, f"{outer}{path}[{key!r}]")
            return
        if isinstance(part, list) and part:
            lists = [(name, column) for name, column in document.items() if isinstance(column, list)]
            for place, item in enumerate(part):
                row = {name: column[place] for name, column in lists if len(column) == len(part)}
                yield Record(item if isinstance(item, Mapping) else row, record.line, f"{outer}{path}[{place}]")
            return
    yield record


def _grouped(read: Iterable[Record], paths: Iterable[str]) -> Iterator[tuple[str | None, Sequence[Record]]]:
    """Yield records with the same value on the first path with one together, in the order of the first; None alone."""
    groups: dict[str | int, list[Record]] = {}  # the place of those that are alone
    for place, record in enumerate(read):
        found = (str(value) for path in paths for value in values_at(record.value, path) if _names(value))
        groups.setdefault(next(found, place), []).append(record)
    for name, rows in groups.items():
        yield None if isinstance(name, int) else name, rows


def _differ(one: object, other: object) -> bool:
    try:
        return bool(one != other)
    except ValueError:  # arrays, which say it of each item
        return False


def _names(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _shaped(record: Mapping[Any, Any], preset: Preset, separator: str) -> dict[str, Any]:
    """Return what a preset finds; all of a record if that has no ground truth, so that messages can name it."""
    shaped = {name: record[name] for name in _TOP if record.get(name) is not None}
    gold: dict[str, Any] = {}
    for name in preset.fields:
        value = None if name.startswith("actual_output") else _first(record, preset.fields[name], name, separator)
        head, _, inner = name.partition(".")
        if value is None:
            continue
        if head == "expected_output" and inner:
            gold[inner] = value
        elif inner:
            held = shaped.get(head)
            shaped[head] = {**(held if isinstance(held, Mapping) else {}), inner: value}
        else:
            shaped[head] = value
    if gold:
        shaped["expected_output"] = gold
    emitted = _output(record, preset, separator)
    if emitted is None or "retrieved" not in emitted:
        emitted = _output(record.get("actual_output"), preset, separator) or emitted
    if emitted is not None:
        held = shaped.get("actual_output")
        shaped["actual_output"] = {**(held if isinstance(held, Mapping) else {}), **emitted}
    return shaped if "expected_output" in shaped else {**record, **shaped}


def _output(raw: object, preset: Preset, separator: str) -> dict[str, Any] | None:
    """Return what was retrieved and answered, None if a preset finds neither."""
    if raw is None:
        return None
    paths = preset.fields
    answer = _first(raw, paths.get("actual_output.answer", ()), "actual_output.answer", separator)
    columns = {key: _first(raw, paths.get(f"{RETRIEVED}.{key}", ()), RETRIEVED, separator) for key in ITEM_KEYS}
    given = {key: column for key, column in columns.items() if isinstance(column, list)}
    retrieved: list[Any] | None = None
    if given and len({len(column) for column in given.values()}) == 1:
        retrieved = [_plain(zip(given, row, strict=True)) for row in zip(*given.values(), strict=True)]
    else:
        items = _first(raw, (*paths.get(RETRIEVED, ()), *paths.get(f"{RETRIEVED}.text", ())), RETRIEVED, separator)
        if items is None:
            retrieved = _whole(decoded(raw), preset, separator)
        elif isinstance(items, Mapping):
            retrieved = by_score(items)
        else:
            retrieved = [_item(item, preset) for item in items]
    emitted = _plain((("answer", answer), ("retrieved", retrieved)))
    return emitted or None


def _whole(raw: object, preset: Preset, separator: str) -> list[Any] | None:
    """Return an output that is a ranking itself, of which bare strings are ids as anywhere; None for any other."""
    items = (
        None if isinstance(raw, str) else _suited(list(raw) if isinstance(raw, tuple) else raw, RETRIEVED, separator)
    )
    if items is None or isinstance(items, Mapping):
        return None if items is None else by_score(items)
    return [item if isinstance(item, str) else _item(item, preset) for item in items]


def _item(item: object, preset: Preset) -> object:
    """Return one retrieved item; what the preset cannot read stays as it is, and is reported like any other."""
    if isinstance(item, str):
        marked = _MARKED.fullmatch(item)
        return {"text": item} if marked is None else marked.groupdict()
    values = [(key, next((v for path in preset.items.get(key, ()) for v in _scalars(item, path, key)), None))
              for key in ITEM_KEYS]  # fmt: skip
    known = library_item(item) or {}  # with what presets do not name: the metadata, and the place
    return {**known, **_plain(values)} or item


def _scalars(item: object, path: str, key: str) -> Iterator[object]:
    """Yield the values of a path that can be an id, a text or a score."""
    kinds: tuple[type, ...] = {"text": (str,), "score": (int, float)}.get(key, (str, int))
    for value in values_at(item, path):
        if isinstance(value, kinds) and not isinstance(value, bool) and value != "":
            yield str(value) if key == "id" else value


def _plain(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {key: value for key, value in pairs if value is not None}


def _first(record: object, paths: Iterable[str], target: str, separator: str) -> Any:  # noqa: ANN401  # any JSON value
    """Return the first value on some paths that suits a field."""
    for path in paths:
        steps = steps_of(path)
        values = [value for value in values_at(record, path) if value is not None]
        several = any("" in selectors or name == "*" for name, selectors in steps)
        for value in [values] if several and values and target in LISTS else values:
            if (suited := _suited(decoded(value), target, separator)) is not None:
                return suited
    return None


def _suited(value: Any, target: str, separator: str) -> Any:  # noqa: ANN401  # any JSON value
    """Return a value as a field needs it, None if it cannot be that."""
    if is_absent(value) or value == "":
        return None
    if target in _WORDS and isinstance(value, int) and not isinstance(value, bool):
        value = str(value)  # a year, or a category by number
    if target in LISTS:
        if isinstance(value, str):
            return [part.strip() for part in value.split(separator) if part.strip()] if separator else [value]
        is_map = isinstance(value, Mapping) and all(type(gain) in {int, float} for gain in value.values())
        return value if isinstance(value, list) or (is_map and value) else None
    if target == "id":
        return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
    if target.endswith(".answer"):
        is_list = target != "actual_output.answer" and isinstance(value, list)
        return value if is_list or isinstance(value, str | int | float | dt.date) else None  # others are refused
    return value if target != "metadata" or isinstance(value, Mapping) else None


def place_of(record: Record) -> str:
    """Return what a record without an id is called: its place in a list, or in lists (`0-3`), its row, or its line."""
    places = re.findall(r"\d+", record.path)
    return "-".join(places) if places else str(1 if record.line is None else record.line)
