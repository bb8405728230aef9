"""
Records: reading whole samples with their cohorts, and finding everything that is wrong with one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, NamedTuple

import orjson

from rankgauge.base.plain_text import visible
from rankgauge.errors import ParameterError, Problem, did_you_mean, listed
from rankgauge.policy import DEFAULT_CONTRACT, Contract
from rankgauge.samples.built_in_kinds import GOLD_KINDS
from rankgauge.samples.gold_kinds import Kinds
from rankgauge.samples.gold_sets import unread_in_sets
from rankgauge.samples.ground_truth import FORMS, read_expected
from rankgauge.samples.sample_outputs import read_output, read_outputs
from rankgauge.samples.sample_values import (
    HIGHEST_K,
    Expected,
    Fault,
    InvalidError,
    Output,
    Sample,
    Span,
    is_absent,
    look,
    read_id,
)
from rankgauge.samples.unread_keys import KNOWN, SETS, Unread, unread_among, unread_keys
from rankgauge.samples.validity import read_moment

__all__ = [
    "SampleRules",
    "check_cohort",
    "fields_without_values",
    "read_metadata",
    "read_sample",
    "read_samples",
    "read_without_outputs",
    "unread_gold",
    "value_at",
    "with_cohorts",
    "with_outputs",
]

_FIELDS = {"id", "input", "expected_output", "actual_output", "metadata"}
_NOTHING_EXPECTED = Expected()
_NO_METADATA: tuple[int | None, tuple[str, ...], bool] = (None, (), True)
"""What a sample without metadata says: no cutoff, no cohorts, answerable."""


class SampleRules(NamedTuple):
    """
    What samples are read by.

    Attributes:
        kinds: The kinds of ground truth of plugins.

        needs_gold: Whether each has ground truth.
    """

    contract: Contract = DEFAULT_CONTRACT
    kinds: Kinds | None = None
    needs_gold: bool = True


_PLAIN = SampleRules()


def read_sample(
    record: object,
    rules: SampleRules = _PLAIN,
    *,
    problems: list[Problem],
    unlabelled: list[str] | None = None,
    may_lack: bool = False,
    file: str = "",
    line: int | None = None,
    path: str = "",
) -> Sample | None:
    """
    Read one sample, or add to *problems*; a malformed `actual_output` is no problem but the sample's `Fault`.

    If there is a list of *unlabelled*, what a sample without ground truth lacks is added to that one, and the sample
    is read: where it says so by a null, or *may lack* the key.
    """
    if type(record) is not dict and not isinstance(record, Mapping):
        message = f"a sample is an object with 'id' and 'expected_output', not {look(record)}"
        problems.append(Problem(message, file, line, path))
        return None
    contract, kinds, needs_gold = rules
    get = record.get
    sample_id: Any = get("id")
    metadata, raw = get("metadata"), get("expected_output")
    metadata = None if is_absent(metadata) else metadata
    k, tags, answerable = _NO_METADATA
    flaws: tuple[tuple[str, str], ...] = ()
    try:
        if type(sample_id) is not str or not sample_id:
            sample_id = _sample_id(record, contract)
    except InvalidError as invalid:
        flaws += (("id", invalid.message),)
    try:
        if metadata is not None:
            k, tags, answerable = read_metadata(metadata, contract)
    except InvalidError as invalid:
        flaws += ((f"metadata{invalid.path}", invalid.message),)
    try:
        if is_absent(raw):
            needed = answerable and needs_gold
            expected = _expected_of(record, contract, unlabelled, is_needed=needed, may_lack=may_lack)
        else:
            expected = read_expected(raw, contract=contract, kinds=kinds)
    except InvalidError as invalid:
        flaws += ((f"expected_output{invalid.path}", invalid.message),)
    if flaws:
        shown = get("id") if isinstance(get("id"), str) else None
        problems.extend(Problem(why, file, line, f"{path}.{field}" if path else field, shown) for field, why in flaws)
        return None
    raw = get("actual_output")
    output = None if is_absent(raw) else read_output(raw, contract=contract)
    unread = unread_among(record.keys(), "") + unread_gold(record.get("expected_output"))
    is_null = raw is None and "actual_output" in record
    return Sample(sample_id, get("input"), expected, output, k, tags, answerable, metadata, unread, is_null)


_ID = itemgetter("id")
_OUTPUT = Sample._fields.index("output")
_sample = partial(tuple.__new__, Sample)  # faster than `_replace`


def read_samples(records: Sequence[Any], rules: SampleRules = _PLAIN) -> list[Sample] | None:
    """Return what `read_sample` does for each record, read together; None if one has a problem or no ground truth."""
    if set(map(type, records)) != {dict}:
        return None
    bare = read_without_outputs(records, rules)
    if bare is None:
        return None
    raws = list(map(dict.get, records, repeat("actual_output")))
    return with_outputs(bare, read_outputs(raws, contract=rules.contract))


def with_outputs(bare: Sequence[Sample], outputs: Iterable[Output | Fault | None]) -> list[Sample]:
    """Return samples with outputs."""
    until, behind = _OUTPUT, _OUTPUT + 1
    return [_sample((*each[:until], output, *each[behind:])) for each, output in zip(bare, outputs, strict=True)]


def read_without_outputs(
    records: Sequence[dict[Any, Any]], rules: SampleRules, spans: Sequence[tuple[Span, ...]] | None = None
) -> list[Sample] | None:
    """Return what `read_samples` does without outputs; *spans* are all that is expected, if they were read before."""
    contract = rules.contract
    try:
        expected, unread = _expected(records, rules) if spans is None else _only_spans(spans)
        ids = list(map(_ID, records))
        given = [None if is_absent(each) else each for each in map(dict.get, records, repeat("metadata"))]
        facts = [_NO_METADATA if each is None else read_metadata(each, contract) for each in given]
    except (KeyError, InvalidError):
        return None
    if set(map(type, ids)) != {str} or "" in ids:
        return None
    keys = (unread_among(record.keys(), "") + of_gold for record, of_gold in zip(records, unread, strict=True))
    are_null = ("actual_output" in record and record["actual_output"] is None for record in records)
    columns = (ids, map(dict.get, records, repeat("input")), expected, facts, given, keys, are_null)
    return [
        Sample(name, question, gold, None, k, tags, is_answerable, metadata, unread_keys, is_null)
        for name, question, gold, (k, tags, is_answerable), metadata, unread_keys, is_null in zip(*columns, strict=True)
    ]


def _expected(
    records: Sequence[dict[Any, Any]], rules: SampleRules
) -> tuple[Iterable[Expected], Iterable[tuple[Unread, ...]]]:
    """Return what is expected, and which of its keys nothing reads; an `InvalidError` if one says nothing."""
    golds = list(map(dict.get, records, repeat("expected_output")))
    if any(map(is_absent, golds)):
        raise InvalidError("", "there is no ground truth")
    expected = [read_expected(gold, contract=rules.contract, kinds=rules.kinds) for gold in golds]
    return expected, map(unread_gold, golds)


def _only_spans(spans: Sequence[tuple[Span, ...]]) -> tuple[Iterable[Expected], Iterable[tuple[Unread, ...]]]:
    """Return the same for spans that say no more than where they are."""
    return [Expected(spans=own) for own in spans], repeat((), len(spans))


_STRINGS = {str}
_GOLD_ITEMS = tuple(kind for kind in GOLD_KINDS if f"expected_output.{kind}[]" in KNOWN.keys() - {SETS})


def unread_gold(raw: object) -> tuple[Unread, ...]:
    """Return the keys of items of the ground truth that nothing reads."""
    if type(raw) is str:
        return ()
    if type(raw) is dict or isinstance(raw, Mapping):
        places: list[tuple[str, Any]] = [
            (f"expected_output.{kind}[]", raw[kind]) for kind in _GOLD_ITEMS if kind in raw
        ]
        in_sets = unread_in_sets(raw["sets"]) if "sets" in raw else ()
    else:
        places, in_sets = [("expected_output[]", raw)], ()
    keys = (
        unread_keys(items, place)
        for place, items in places
        if isinstance(items, list | tuple) and not set(map(type, items)) <= _STRINGS
    )
    return (*chain.from_iterable(keys), *in_sets)


def _expected_of(
    record: Mapping[Any, Any], contract: Contract, unlabelled: list[str] | None, *, is_needed: bool, may_lack: bool
) -> Expected:
    """Return what is expected if the field is null or missing."""
    if contract.on_bad_gold == "pair" and "expected_output" in record:
        return read_expected(None, contract=contract)
    if not is_needed:
        return _NOTHING_EXPECTED
    others = [visible(key) for key in record if isinstance(key, str) and key not in _FIELDS]
    hint = did_you_mean("expected_output", others)
    if "expected_output" in record:
        message = f"the field is null; give {FORMS}"
    elif others:
        mapped = "`fields: {expected_output: ...}` or --field expected_output=..."
        message = f"the field is missing{hint}; map one of yours ({listed(others)}) onto it: {mapped}"
    else:
        swapped = "; if this is a file of outputs, it goes with --outputs" if "actual_output" in record else ""
        message = f"the field is missing{swapped}; give {FORMS}, or null if there is none"
    is_said = may_lack or "expected_output" in record
    if unlabelled is None or not is_said or contract.on_bad_gold == "pair":
        raise InvalidError("", message)
    unlabelled.append(message)
    return _NOTHING_EXPECTED


def _sample_id(record: Mapping[Any, Any], contract: Contract) -> str:
    """Return an id that is no plain string."""
    raw = record.get("id")
    if raw is None and "id" in record:
        raise InvalidError("", "the id is null; every sample needs one")
    if raw is None:
        similar = [visible(key) for key in record if isinstance(key, str) and key.lower().endswith("id")]
        advice = "map your own name onto it: `fields: {id: ...}` or --field id=...; --number-rows calls it by its place"
        raise InvalidError("", f"the field is missing{did_you_mean('id', similar)}; {advice}")
    return read_id(raw, "", contract)


def read_metadata(raw: object, contract: Contract) -> tuple[int | None, tuple[str, ...], bool]:
    """Return what metadata says of a sample's cutoff, cohorts and whether it has an answer, or raise `InvalidError`."""
    if not isinstance(raw, Mapping):
        raise InvalidError("", f"expected an object, found {look(raw)}")
    k = raw.get("k")
    if k is not None and (type(k) is not int or not 1 <= k <= HIGHEST_K):
        if contract.on_bad_k == "error":
            wanted = "at most 2**53" if type(k) is int and k > HIGHEST_K else "an integer of 1 or more"
            raise InvalidError(".k", f"k must be {wanted}, not {k!r}")
        k = None
    tags = raw.get("tags")
    listed = [tags] if isinstance(tags, str) else [] if tags is None else tags
    if not isinstance(listed, list | tuple) or not all(isinstance(tag, str) for tag in listed):
        raise InvalidError(".tags", f"expected a string or a list of strings, found {look(tags)}")
    answerable = raw.get("answerable")
    if answerable is not None and not isinstance(answerable, bool):
        raise InvalidError(".answerable", f"expected true or false, found {look(answerable)}")
    if raw.get("asked_at") is not None:
        read_moment(raw["asked_at"], ".asked_at")
    return k, tuple(dict.fromkeys(tag.strip() for tag in listed if tag.strip())), answerable is not False


_FIRST = "metadata."
_TAGS = "metadata.tags"
_NONE = "(none)"


def check_cohort(field: object) -> str:
    """Return a field that cohorts can be made by; raise `ParameterError` unless it is one of the metadata."""
    if isinstance(field, str) and field.startswith(_FIRST) and field.removeprefix(_FIRST):
        return field
    raise ParameterError(f"cohorts are made by a field of the metadata, such as metadata.language; found {field!r}")


def with_cohorts(sample: Sample, fields: Sequence[str]) -> Sample:
    """Return a sample that belongs to the cohort of each value of these fields, in addition to those of its tags."""
    labels = (label for field in fields if field != _TAGS for label in _labels(sample, field))
    return sample._replace(tags=tuple(dict.fromkeys((*sample.tags, *labels))))


def fields_without_values(fields: Sequence[str], tags: Sequence[Sequence[str]]) -> list[str]:
    """Return the fields that no sample has, by the cohorts of all samples."""
    labels = set().union(*tags) if tags else set()
    firsts = {field: f"{field.removeprefix(_FIRST)}=" for field in fields if tags and field != _TAGS}
    given = {label for label in labels if not label.endswith(f"={_NONE}")}
    return [field for field, first in firsts.items() if not any(label.startswith(first) for label in given)]


def _labels(sample: Sample, field: str) -> Iterator[str]:
    name = field.removeprefix(_FIRST)
    value = value_at(sample.metadata or {}, name)
    values = value if isinstance(value, list | tuple) else [value]
    for item in values or [None]:
        yield f"{name}={_text(item)}"


def value_at(record: Mapping[str, Any], path: str, missing: object = None) -> Any:  # noqa: ANN401  # any JSON value
    """Return what a record holds under a name, or under names joined by dots, one inside the other."""
    if path in record:
        return record[path]
    value: Any = record
    for part in path.split("."):
        value = value.get(part, missing) if isinstance(value, Mapping) else missing
    return value


def _text(value: object) -> str:
    if value is None:
        return _NONE
    return value if isinstance(value, str) else orjson.dumps(value, default=repr).decode()
