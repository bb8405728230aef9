"""
Records: reading whole samples, and finding everything that is wrong with one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankgauge.errors import Problem, did_you_mean, listed
from rankgauge.policy import DEFAULT_CONTRACT, Contract
from rankgauge.samples.ground_truth import FORMS, read_expected
from rankgauge.samples.outputs import read_output
from rankgauge.samples.scalars import InvalidError, look, read_id
from rankgauge.samples.values import HIGHEST_K, Expected, Sample
from rankgauge.visible import visible

__all__ = ["read_metadata", "read_sample"]

_FIELDS = {"id", "input", "expected_output", "actual_output", "metadata"}
_NOTHING_EXPECTED = Expected()
_NO_METADATA: tuple[int | None, tuple[str, ...], bool] = (None, (), True)
"""What a sample without metadata says: no cutoff, no cohorts, answerable."""


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
    if type(record) is not dict and not isinstance(record, Mapping):
        message = f"a sample is an object with 'id' and 'expected_output', not {look(record)}"
        problems.append(Problem(message, file, line, path))
        return None
    get = record.get
    sample_id: Any = get("id")
    metadata, raw = get("metadata"), get("expected_output")
    k, tags, answerable = _NO_METADATA
    found: tuple[tuple[str, str], ...] = ()
    try:
        if type(sample_id) is not str or not sample_id:
            sample_id = _sample_id(record, contract)
    except InvalidError as invalid:
        found += (("id", invalid.message),)
    try:
        if metadata is not None:
            k, tags, answerable = read_metadata(metadata, contract)
    except InvalidError as invalid:
        found += ((f"metadata{invalid.path}", invalid.message),)
    try:
        if raw is None:
            expected = _expected_of(record, contract, is_needed=answerable)
        else:
            expected = read_expected(raw, contract=contract)
    except InvalidError as invalid:
        found += ((f"expected_output{invalid.path}", invalid.message),)
    if found:
        shown = get("id") if isinstance(get("id"), str) else None
        problems.extend(Problem(why, file, line, f"{path}.{field}" if path else field, shown) for field, why in found)
        return None
    raw = get("actual_output")
    output = None if raw is None else read_output(raw, contract=contract)
    return Sample(sample_id, get("input"), expected, output, k, tags, answerable, metadata)


def _expected_of(record: Mapping[Any, Any], contract: Contract, *, is_needed: bool) -> Expected:
    """Return what is expected where the field is null or missing."""
    if contract.on_bad_gold == "pair" and "expected_output" in record:
        return read_expected(None, contract=contract)
    if is_needed:
        if "expected_output" in record:
            raise InvalidError("", f"the field is null; give {FORMS}")
        others = [visible(key) for key in record if isinstance(key, str) and key not in _FIELDS]
        hint = did_you_mean("expected_output", others)
        if others:
            mapped = "`fields: {expected_output: ...}` or --field expected_output=..."
            raise InvalidError("", f"the field is missing{hint}; map one of yours ({listed(others)}) onto it: {mapped}")
        raise InvalidError("", f"the field is missing; give {FORMS}")
    return _NOTHING_EXPECTED


def _sample_id(record: Mapping[Any, Any], contract: Contract) -> str:
    """Return an id that is no plain string."""
    raw = record.get("id")
    if raw is None and "id" in record:
        raise InvalidError("", "the id is null; every sample needs one")
    if raw is None:
        hint = did_you_mean(
            "id", [visible(key) for key in record if isinstance(key, str) and key.lower().endswith("id")]
        )
        raise InvalidError(
            "", f"the field is missing{hint}; map your own name onto it: `fields: {{id: ...}}` or --field id=..."
        )
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
