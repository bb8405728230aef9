"""
Records: reading whole samples, and finding everything that is wrong with one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankgauge.errors import Problem, did_you_mean
from rankgauge.policy import DEFAULT_CONTRACT, Contract
from rankgauge.samples.ground_truth import FORMS, read_expected
from rankgauge.samples.outputs import read_output
from rankgauge.samples.scalars import InvalidError, look, read_id
from rankgauge.samples.values import HIGHEST_K, Expected, Sample

__all__ = ["read_sample"]

_NOTHING_EXPECTED = Expected()
_NO_METADATA: tuple[int | None, tuple[str, ...], bool] = (None, (), True)


def read_sample(
    record: object,
    *,
    problems: list[Problem],
    contract: Contract = DEFAULT_CONTRACT,
    file: str = "",
    line: int | None = None,
    path: str = "",
) -> Sample | None:
    """Read one sample, or add to *problems*; a malformed `actual_output` is no problem but the sample's `Fault`."""
    try:
        return _read_sample(record, contract)
    except InvalidError:
        found = _problems_of(record, contract)
    sample = record.get("id") if isinstance(record, Mapping) else None
    sample_id = sample if isinstance(sample, str) else None
    for field, message in found:
        place = f"{path}.{field}" if path and field else path or field
        problems.append(Problem(message, file, line, place, sample_id))
    return None


def _read_sample(record: object, contract: Contract) -> Sample:
    """Read a sample up to the first thing that is wrong with it."""
    if type(record) is not dict and not isinstance(record, Mapping):
        msg = f"a sample is an object with 'id' and 'expected_output', not {look(record)}"
        raise InvalidError("", msg)
    get = record.get
    sample_id = get("id")
    if type(sample_id) is not str or not sample_id:
        sample_id = _sample_id(record, contract)
    metadata = get("metadata")
    k, tags, answerable = _NO_METADATA if metadata is None else _read_metadata(metadata, contract)
    raw = get("expected_output")
    if raw is None:
        expected = _expected_of(record, contract, is_needed=answerable)
    else:
        expected = read_expected(raw, contract=contract)
    raw = get("actual_output")
    output = None if raw is None else read_output(raw, contract=contract)
    return Sample(sample_id, get("input"), expected, output, k, tags, answerable, metadata)


def _problems_of(record: object, contract: Contract) -> list[tuple[str, str]]:
    """Return everything that is wrong with a record: the field, and what is wrong."""
    if not isinstance(record, Mapping):
        return [("", f"a sample is an object with 'id' and 'expected_output', not {look(record)}")]
    found: list[tuple[str, str]] = []
    answerable = True
    try:
        _sample_id(record, contract)
    except InvalidError as invalid:
        found.append(("id", invalid.message))
    try:
        if record.get("metadata") is not None:
            answerable = _read_metadata(record["metadata"], contract)[2]
    except InvalidError as invalid:
        found.append((f"metadata{invalid.path}", invalid.message))
    try:
        _expected_of(record, contract, is_needed=answerable)
    except InvalidError as invalid:
        found.append((f"expected_output{invalid.path}", invalid.message))
    return found


def _expected_of(record: Mapping[Any, Any], contract: Contract, *, is_needed: bool) -> Expected:
    raw = record.get("expected_output")
    if raw is not None or (contract.on_bad_gold == "pair" and "expected_output" in record):
        return read_expected(raw, contract=contract)
    if is_needed:
        others = [key for key in record if isinstance(key, str) and key not in {"actual_output", "expected_output"}]
        hint = did_you_mean("expected_output", others)
        raise InvalidError(
            "", f"the field is {'null' if 'expected_output' in record else f'missing{hint}'}; give {FORMS}"
        )
    return _NOTHING_EXPECTED


def _sample_id(record: Mapping[object, object], contract: Contract) -> str:
    raw = record.get("id")
    if type(raw) is str and raw:
        return raw
    if raw is None and "id" in record:
        raise InvalidError("", "the id is null; every sample needs one")
    if raw is None:
        hint = did_you_mean("id", [key for key in record if isinstance(key, str) and key.lower().endswith("id")])
        raise InvalidError("", f"the field is missing{hint}; map your own name onto it with `fields: {{id: ...}}`")
    return read_id(raw, "", contract)


def _read_metadata(raw: object, contract: Contract) -> tuple[int | None, tuple[str, ...], bool]:
    if not isinstance(raw, Mapping):
        raise InvalidError("", f"expected an object, found {look(raw)}")
    k = raw.get("k")
    if k is not None and (type(k) is not int or not 1 <= k <= HIGHEST_K):
        if contract.on_bad_k == "error":
            wanted = "at most 2**53" if type(k) is int and k > HIGHEST_K else "an integer of 1 or more"
            raise InvalidError(".k", f"k must be {wanted}, not {k!r}")
        k = None
    tags = raw.get("tags")
    if tags is None:
        cleaned: tuple[str, ...] = ()
    else:
        listed = [tags] if isinstance(tags, str) else tags
        if not isinstance(listed, list | tuple) or not all(isinstance(tag, str) for tag in listed):
            raise InvalidError(".tags", f"expected a string or a list of strings, found {look(tags)}")
        cleaned = tuple(dict.fromkeys(tag.strip() for tag in listed if tag.strip()))
    answerable = raw.get("answerable")
    if answerable is not None and not isinstance(answerable, bool):
        raise InvalidError(".answerable", f"expected true or false, found {look(answerable)}")
    return k, cleaned, answerable is not False
