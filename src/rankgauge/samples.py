"""
The dataset contract: what a sample, its ground truth and its output are, and how outside data becomes them.

Reading is written by hand rather than with pydantic: it runs once a sample on inputs of millions of lines, and
`docs/explanation/speed.md` has the figures. Values are tuples, so they are immutable and cheap to make.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import orjson

from rankgauge.errors import Problem, did_you_mean

__all__ = [
    "DEFAULT_CONTRACT",
    "FIELDS",
    "GOLD_KINDS",
    "Contract",
    "Expected",
    "Fault",
    "GoldKind",
    "Output",
    "Sample",
    "read_expected",
    "read_output",
    "read_sample",
]

GoldKind = Literal["relevant", "passages", "answer", "keywords"]
"""The kinds of ground truth a metric can be judged against."""

GOLD_KINDS: tuple[GoldKind, ...] = ("relevant", "passages", "answer", "keywords")

FIELDS = (
    "id",
    "input",
    "expected_output",
    "actual_output",
    "metadata",
    "expected_output.relevant",
    "expected_output.passages",
    "expected_output.answer",
    "expected_output.keywords",
    "actual_output.retrieved",
    "actual_output.answer",
    "metadata.k",
    "metadata.tags",
    "metadata.answerable",
)
"""What `fields` may map a name of the user's data onto."""

_TEXT_KINDS: tuple[GoldKind, ...] = ("passages", "answer", "keywords")
_FORMS = (
    "a list of ids, a map id -> gain, a string (the answer), or a map with any of 'relevant', 'passages', 'answer', "
    "'keywords'"
)


class Contract(NamedTuple):
    """
    How strictly outside data is read; part of a profile.

    Attributes:
        strict_ids: Whether every id must be a string, and every retrieved item must have one. Otherwise an integer
            id is read as its decimal text, and an item may have a text only.

        on_bad_gold: `file` makes unusable ground truth a problem of the file, so that nothing runs; `pair` makes it
            a failed score of the metrics that need it.

        on_bad_k: What a `metadata.k` that is not an integer of 1 or more does: `error`, or `ignore` it.

        coerce: Whether values are bent as the eval-harness does: ground truth may be JSON in a string, a gain may be
            a numeric string, a text that is not a string is empty, and ``{}`` is an output without items.
    """

    strict_ids: bool = False
    on_bad_gold: Literal["file", "pair"] = "file"
    on_bad_k: Literal["error", "ignore"] = "error"
    coerce: bool = False


DEFAULT_CONTRACT = Contract()


class Fault(NamedTuple):
    """
    Why a sample's output, or one kind of its ground truth, cannot be used.

    Attributes:
        reason: A sentence with the offending value.
    """

    reason: str


class Expected(NamedTuple):
    """
    The ground truth of one sample; a kind that was not given is None.

    Attributes:
        relevant: Gain by id; 0 and negative gains are judgments, too.

        graded: Whether gains were given (a plain list judges nothing but what it lists).

        repeats: How often an id was listed, for ids listed more than once.

        passages: Texts the retrieved ones should come from.

        answer: Accepted answer spans.

        keywords: Words or phrases that should occur.

        faults: Why a kind of gold cannot be used, where the contract fails the pair instead of the file.
    """

    relevant: Mapping[str, float] | None = None
    graded: bool = False
    repeats: Mapping[str, int] | None = None
    passages: tuple[str, ...] | None = None
    answer: tuple[str, ...] | None = None
    keywords: tuple[str, ...] | None = None
    faults: Mapping[GoldKind, Fault] | None = None


_NOTHING_EXPECTED = Expected()


class Output(NamedTuple):
    """
    What the system under test emitted for one sample, rank 1 first.

    Attributes:
        ids: One id for each retrieved item; None for an item that has a text only.

        texts: One text for each retrieved item, None where it has none; None when no item has one.

        scores: One score for each retrieved item, None where it has none; None when no item has one.

        answer: The generated answer, if there is one.
    """

    ids: Sequence[str | None]
    texts: Sequence[str | None] | None = None
    scores: Sequence[float | None] | None = None
    answer: str | None = None


class Sample(NamedTuple):
    """
    One query with its ground truth and, where it is known, its output.

    Attributes:
        id: Unique in its dataset.

        input: What the system under test is given; any JSON value.

        expected: The ground truth.

        output: What was emitted; a `Fault` when that is malformed; None when there is none.

        k: The cutoff of this sample (`metadata.k`).

        tags: The cohorts it belongs to (`metadata.tags`).

        answerable: False when the collection holds no answer (`metadata.answerable`).

        metadata: All metadata as given.
    """

    id: str
    input: Any = None  # any JSON value: the system under test defines it
    expected: Expected = Expected()
    output: Output | Fault | None = None
    k: int | None = None
    tags: tuple[str, ...] = ()
    answerable: bool = True
    metadata: Mapping[str, Any] | None = None  # any JSON object: users add keys of their own


class _InvalidError(ValueError):
    """A value that the contract does not allow: where, below the field, and why."""

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        self.message = message
        super().__init__(message)


def read_sample(
    record: object,
    *,
    problems: list[Problem],
    contract: Contract = DEFAULT_CONTRACT,
    file: str = "",
    line: int | None = None,
    path: str = "",
) -> Sample | None:
    """
    Read one sample from outside data.

    Args:
        record: A mapping with `id`, `input`, `expected_output`, and optionally `actual_output` and `metadata`.

        problems: Receives every problem found.

        contract: How strictly to read.

        file: The file that the record stands in.

        line: Its line there.

        path: Its place in the document.

    Returns:
        The sample, or None when a problem was found. A malformed `actual_output` is no problem of the dataset: it
        becomes the sample's `Fault`.
    """
    before = len(problems)
    sample_id: str | None = None

    def problem(field: str, message: str) -> None:
        place = f"{path}.{field}" if path and field else path or field
        problems.append(Problem(message, file, line, place, sample_id))

    if type(record) is not dict and not isinstance(record, Mapping):
        problem("", f"a sample is an object with 'id' and 'expected_output', not {_look(record)}")
        return None
    get = record.get
    try:
        sample_id = _sample_id(record, contract)
    except _InvalidError as invalid:
        problem("id", invalid.message)
    k: int | None = None
    tags: tuple[str, ...] = ()
    answerable = True
    if (metadata := get("metadata")) is not None:
        try:
            k, tags, answerable = _read_metadata(metadata, contract)
        except _InvalidError as invalid:
            problem(f"metadata{invalid.path}", invalid.message)
    expected = _NOTHING_EXPECTED
    if (raw := get("expected_output")) is not None:
        try:
            expected = read_expected(raw, contract=contract)
        except _InvalidError as invalid:
            problem(f"expected_output{invalid.path}", invalid.message)
    elif answerable:
        others = [key for key in record if key != "actual_output" and isinstance(key, str)]
        problem("expected_output", f"the field is missing{did_you_mean('expected_output', others)}; give {_FORMS}")
    if len(problems) > before or sample_id is None:
        return None
    raw = get("actual_output")
    output = None if raw is None else read_output(raw, contract=contract)
    return Sample(sample_id, get("input"), expected, output, k, tags, answerable, metadata)


def read_expected(raw: object, *, contract: Contract = DEFAULT_CONTRACT) -> Expected:
    """
    Read the ground truth of one sample.

    Args:
        raw: A list of ids, a map id -> gain, a string (the answer span), or the full form.

        contract: How strictly to read.

    Returns:
        The ground truth. Where the contract says so, unusable kinds stand under `faults`.

    Raises:
        ValueError: The value has none of these forms, and the contract makes that a problem of the file.
    """
    if contract.on_bad_gold == "pair":
        return _read_expected_leniently(raw, contract)
    if type(raw) is list or isinstance(raw, list | tuple):
        return _relevant(raw, contract)
    if isinstance(raw, str):
        return Expected(answer=_texts(raw, ""))
    if isinstance(raw, Mapping):
        if all(type(value) in _NUMBERS for value in raw.values()):
            return _relevant(raw, contract)
        return _full_form(raw, contract)
    raise _InvalidError("", f"ground truth is {_FORMS}; found {_look(raw)}")


def read_output(raw: object, *, contract: Contract = DEFAULT_CONTRACT) -> Output | Fault:
    """
    Read what the system under test emitted for one sample.

    Args:
        raw: `{"retrieved": [...], "answer": "..."}` or a bare list, as a JSON value or as a JSON string. An entry is
            an id or an object with `id`, `text` and `score`, of which `id` or `text` must be there.

        contract: How strictly to read.

    Returns:
        The output, or the fault that makes it unusable.
    """
    if isinstance(raw, str | bytes):
        try:
            raw = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            return Fault(f"the output is a string that is not valid JSON: {error}")
    answer: str | None = None
    if type(raw) is dict or isinstance(raw, Mapping):
        given, entries = raw.get("answer"), raw.get("retrieved")
        if given is not None and not isinstance(given, str):
            return Fault(f"'answer' must be a string, not {_look(given)}")
        answer = given
        if entries is None and (answer is not None or (not raw and contract.coerce)):
            entries = []
    else:
        entries = raw
    if not isinstance(entries, list | tuple):
        return Fault(f"the output must be a list, or an object with a 'retrieved' list; found {_look(raw)}")
    types = set(map(type, entries))
    if types <= _STRING_ONLY:
        if "" in entries:
            return Fault(f"retrieved[{entries.index('')}] is an empty id")
        return Output(entries, None, None, answer)
    try:
        return _read_entries(entries, answer, contract)
    except _InvalidError as invalid:
        return Fault(f"retrieved{invalid.path} {invalid.message}")


_NUMBERS = frozenset({int, float})
_STRING_ONLY = frozenset({str})


def _sample_id(record: Mapping[object, object], contract: Contract) -> str:
    raw = record.get("id")
    if type(raw) is str and raw:
        return raw
    if raw is None:
        hint = did_you_mean("id", [key for key in record if isinstance(key, str) and key.lower().endswith("id")])
        raise _InvalidError("", f"the field is missing{hint}; map your own name onto it with `fields: {{id: ...}}`")
    return _id(raw, "", contract)


def _id(raw: object, path: str, contract: Contract) -> str:
    if isinstance(raw, str):
        if raw:
            return raw
        raise _InvalidError(path, "an id must not be empty")
    if not contract.strict_ids and isinstance(raw, int) and not isinstance(raw, bool):
        return str(raw)
    wanted = "a string" if contract.strict_ids else "a string or an integer"
    raise _InvalidError(path, f"an id must be {wanted}, not {_look(raw)}")


def _gain(raw: object, path: str, contract: Contract) -> float:
    if isinstance(raw, str) and contract.coerce:
        try:
            raw = float(raw)
        except ValueError:
            raise _InvalidError(path, f"a gain must be a number, not {_look(raw)}") from None
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise _InvalidError(path, f"a gain must be a number, not {_look(raw)}")
    try:
        gain = float(raw)
    except OverflowError:
        gain = math.inf
    if not math.isfinite(gain):
        raise _InvalidError(path, f"a gain must be finite, not {raw!r}")
    return gain


def _relevant(raw: Sequence[object] | Mapping[Any, object], contract: Contract, path: str = "") -> Expected:
    """Read gold ids; YAML keys may be integers, hence the loose key type."""
    if not isinstance(raw, list | tuple) and isinstance(raw, Mapping):
        gains: dict[str, float] = {}
        for key, value in raw.items():
            gain_id = key if type(key) is str and key else _id(key, path, contract)
            gains[gain_id] = _gain(value, f"{path}[{key!r}]", contract)
        return Expected(relevant=gains, graded=True)
    if set(map(type, raw)) <= _STRING_ONLY:
        gains = dict.fromkeys(raw, 1.0)  # type: ignore[arg-type]  # the line above proves that all are strings
        if "" in gains:
            raise _InvalidError(f"{path}[{raw.index('')}]", "an id must not be empty")
        repeats = None
        if len(gains) != len(raw):
            repeats = {name: times for name, times in Counter(raw).items() if times > 1}
        return Expected(relevant=gains, repeats=repeats)
    return _relevant_entries(raw, contract, path)


def _relevant_entries(raw: Sequence[object], contract: Contract, path: str) -> Expected:
    gains: dict[str, float] = {}
    listed: dict[str, int] = {}
    graded = False
    for index, entry in enumerate(raw):
        here = f"{path}[{index}]"
        gain = 1.0
        if isinstance(entry, Mapping):
            if "id" not in entry:
                raise _InvalidError(here, f"an entry of the ground truth needs an 'id'; found {_look(entry)}")
            name = _id(entry["id"], f"{here}.id", contract)
            if entry.get("gain") is not None:
                gain = _gain(entry["gain"], f"{here}.gain", contract)
                graded = True
        else:
            name = _id(entry, here, contract)
        gains[name] = max(gain, gains.get(name, -math.inf))
        listed[name] = listed.get(name, 0) + 1
    repeats = {name: times for name, times in listed.items() if times > 1}
    return Expected(relevant=gains, graded=graded, repeats=repeats or None)


def _texts(raw: object, path: str) -> tuple[str, ...]:
    texts = (raw,) if isinstance(raw, str) else raw
    if not isinstance(texts, list | tuple):
        raise _InvalidError(path, f"expected a string or a list of strings, found {_look(raw)}")
    for index, text in enumerate(texts):
        here = path if isinstance(raw, str) else f"{path}[{index}]"
        if not isinstance(text, str):
            raise _InvalidError(here, f"expected a string, found {_look(text)}")
        if not text.strip():
            raise _InvalidError(here, "the text is blank, and a blank text would match nothing; leave it out")
    return tuple(texts)


def _full_form(raw: Mapping[Any, object], contract: Contract) -> Expected:
    unknown = [key for key in raw if key not in GOLD_KINDS]
    if unknown:
        key = unknown[0]
        if not set(raw) & set(GOLD_KINDS):
            raise _InvalidError(f"[{key!r}]", f"{_look(raw[key])} is not a gain; ground truth is {_FORMS}")
        hint = did_you_mean(str(key), GOLD_KINDS)
        raise _InvalidError(f".{key}", f"unknown kind of ground truth{hint}; known are {', '.join(GOLD_KINDS)}")
    expected = Expected()
    if raw.get("relevant") is not None:
        relevant = raw["relevant"]
        if not isinstance(relevant, list | tuple | Mapping):
            raise _InvalidError(".relevant", f"expected a list of ids or a map id -> gain, found {_look(relevant)}")
        expected = _relevant(relevant, contract, ".relevant")
    texts = {kind: _texts(raw[kind], f".{kind}") for kind in _TEXT_KINDS if raw.get(kind) is not None}
    return expected._replace(**texts)  # type: ignore[arg-type]  # the kinds are fields


def _read_expected_leniently(raw: object, contract: Contract) -> Expected:
    """Read each kind for itself, so that one unusable kind fails only the metrics that need it."""
    if isinstance(raw, Mapping) and raw and set(raw) <= set(GOLD_KINDS):
        return _full_form(raw, contract)
    faults: dict[GoldKind, Fault] = {}
    expected = Expected()
    try:
        expected = _relevant_or_encoded(raw, contract)
    except _InvalidError as invalid:
        faults["relevant"] = Fault(f"expected_output{invalid.path} {invalid.message}")
        expected = Expected()
    if isinstance(raw, str) and raw.strip():
        expected = expected._replace(answer=(raw,))
    else:
        faults["answer"] = Fault(f"expected_output must be a string that is not blank (the answer); found {_look(raw)}")
    return expected._replace(faults=faults)


def _relevant_or_encoded(raw: object, contract: Contract) -> Expected:
    decoded = raw
    if isinstance(raw, str):
        try:
            decoded = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            raise _InvalidError("", f"is a string that is not valid JSON: {error}") from None
    if not isinstance(decoded, list | tuple | Mapping):
        raise _InvalidError("", f"must be a list of ids or a map id -> gain; found {_look(decoded)}")
    if not decoded:
        raise _InvalidError("", "must list at least one relevant id")
    return _relevant(decoded, contract)


def _read_entries(entries: Sequence[object], answer: str | None, contract: Contract) -> Output:
    ids: list[str | None] = []
    texts: list[str | None] = []
    scores: list[float | None] = []
    for index, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            ids.append(_id(entry, f"[{index}]", contract))
            texts.append(None)
            scores.append(None)
            continue
        raw, text, score = entry.get("id"), entry.get("text"), entry.get("score")
        if text is not None and not isinstance(text, str):
            if not contract.coerce:
                raise _InvalidError(f"[{index}].text", f"must be a string, not {_look(text)}")
            text = ""
        if type(raw) is str and raw:
            ids.append(raw)
        elif raw is None and text is not None and not contract.strict_ids:
            ids.append(None)
        elif raw is None:
            raise _InvalidError(
                f"[{index}]", f"needs an 'id'{'' if contract.strict_ids else ' or a text'}; found {_look(entry)}"
            )
        else:
            ids.append(_id(raw, f"[{index}].id", contract))
        texts.append(text)
        if score is not None and (
            isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score)
        ):
            raise _InvalidError(f"[{index}].score", f"must be a finite number, not {score!r}")
        scores.append(score)
    has_text = any(text is not None for text in texts)
    has_score = any(score is not None for score in scores)
    return Output(ids, texts if has_text else None, scores if has_score else None, answer)


def _read_metadata(raw: object, contract: Contract) -> tuple[int | None, tuple[str, ...], bool]:
    if not isinstance(raw, Mapping):
        raise _InvalidError("", f"expected an object, found {_look(raw)}")
    k = raw.get("k")
    if k is not None and (type(k) is not int or k < 1):
        if contract.on_bad_k == "error":
            raise _InvalidError(".k", f"k must be an integer of 1 or more, not {k!r}")
        k = None
    tags = raw.get("tags")
    if tags is None:
        cleaned: tuple[str, ...] = ()
    else:
        listed = [tags] if isinstance(tags, str) else tags
        if not isinstance(listed, list | tuple) or not all(isinstance(tag, str) for tag in listed):
            raise _InvalidError(".tags", f"expected a string or a list of strings, found {_look(tags)}")
        cleaned = tuple(dict.fromkeys(tag.strip() for tag in listed if tag.strip()))
    answerable = raw.get("answerable")
    if answerable is not None and not isinstance(answerable, bool):
        raise _InvalidError(".answerable", f"expected true or false, found {_look(answerable)}")
    return k, cleaned, answerable is not False


def _look(value: object) -> str:
    """Return a value as an error message shows it: its kind, and a short look at it."""
    kinds = {str: "the string", bool: "the boolean", int: "the integer", float: "the number", list: "the list"}
    if value is None:
        return "null"
    shown = repr(value)
    if len(shown) > 60:
        shown = f"{shown[:57]}..."
    kind = kinds.get(type(value), "the object" if isinstance(value, Mapping) else f"the {type(value).__name__}")
    return f"{kind} {shown}"
