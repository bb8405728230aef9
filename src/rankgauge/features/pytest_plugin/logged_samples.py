"""
Records: logged samples as plain JSON values, which can be sent to another process and written into a report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NoReturn, cast

import orjson

from rankgauge.errors import DataError, Problem, counted
from rankgauge.policy import Contract
from rankgauge.samples import (
    Expected,
    Fault,
    GoldSet,
    Kinds,
    Output,
    Sample,
    SampleRules,
    Span,
    Stage,
    labelled,
    read_sample,
)
from rankgauge.samples.sample_outputs import items_of

__all__ = ["make_record", "numbered", "outputs_of", "samples_of"]

_OUTPUT, _REPEAT = "actual_output", "repeat"
_NO_OUTPUT = {"type": "", "message": "there is no output for this repeat"}
_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY


def make_record(
    sample: object, given: Mapping[str, Any], contract: Contract, kinds: Kinds | None = None
) -> dict[str, Any]:
    """
    Check a sample, either whole or an id with what is *given* beside it, and return it as plain values.

    *kinds* are the kinds of ground truth of plugins.
    """
    if isinstance(sample, Sample):
        sample = _whole(sample)
    if isinstance(sample, Mapping):
        if stray := [name for name, value in given.items() if value is not None]:
            _refuse(str(sample.get("id")), f"{stray[0]}= is given beside a whole sample; put it into the sample")
        record = dict(sample)
    else:
        record = _put_together(sample, given)
    plain = _plain(record)
    problems: list[Problem] = []
    if read_sample(plain, SampleRules(contract, kinds), problems=problems) is None:
        _raise(problems)
    return plain


def numbered(record: dict[str, Any], repeat: int, calls: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a call for a sample with its number, from the second on; refuse one that does not follow its *calls*."""
    record = {key: value for key, value in record.items() if key != _REPEAT}  # which a whole sample may have
    sample_id, problem = record["id"], ""
    if repeat == 1 and calls:
        problem = "it was logged in this test before; give each query its own id, or number calls for it by repeat="
    elif repeat != len(calls) + 1:
        problem = f"this is repeat {repeat!r} after {counted(len(calls), 'call')}; number them from 1, without gaps"
    elif calls and {**record, _OUTPUT: None} != {**calls[0], _OUTPUT: None}:
        problem = f"repeat {repeat} differs from the first call in more than the output"
    if problem:
        _refuse(sample_id, problem)
    return record if repeat == 1 else {**record, _REPEAT: repeat}


def samples_of(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return each sample once; without an output if samples have several, which are `outputs_of` them."""
    firsts = [record for record in records if _REPEAT not in record]
    return firsts if len(firsts) == len(records) else [{**record, _OUTPUT: None} for record in firsts]


def outputs_of(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]] | None:
    """Return the output of each call as a row of outputs, if a sample has several; None if none has."""
    if not any(_REPEAT in record for record in records):
        return None
    answered = {record["id"] for record in records if record.get(_OUTPUT) is not None}
    rows: list[Mapping[str, Any]] = []
    for record in records:
        output = {_OUTPUT: record.get(_OUTPUT)} if record.get(_OUTPUT) is not None else {"error": _NO_OUTPUT}
        if record["id"] in answered:  # the others are missing
            rows.append({"id": record["id"], "repeat": record.get(_REPEAT, 1), **output})
    return rows


def _refuse(sample_id: str, message: str) -> NoReturn:
    """Raise a `DataError` on one logged sample."""
    _raise([Problem(message, sample=sample_id)])


def _put_together(sample_id: object, given: Mapping[str, Any]) -> dict[str, Any]:
    retrieved, answer = given["retrieved"], given["answer"]
    output: dict[str, Any] | None = None
    if isinstance(retrieved, AbstractSet):
        _refuse(str(sample_id), "retrieved= is a set, which has no order; give a list, rank 1 first")
    if retrieved is not None or answer is not None:
        output = {"answer": answer} if retrieved is None else {"retrieved": retrieved, "answer": answer}
    return {
        "id": sample_id,
        "input": given["input"],
        "expected_output": given["expected"],
        "actual_output": output,
        "metadata": given["metadata"],
    }


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return cast("dict[str, Any]", orjson.loads(orjson.dumps(record, default=_unfold, option=_OPTIONS)))
    except (TypeError, orjson.JSONEncodeError) as error:
        _refuse(str(record.get("id")), f"it holds a value that JSON cannot express: {error}")


def _unfold(value: object) -> object:
    """Return a value that JSON lacks in terms of values that it has."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, AbstractSet):
        return sorted(value)
    if hasattr(value, "model_dump"):  # pydantic's way
        return value.model_dump(mode="json")
    if hasattr(value, "tolist"):  # numpy's
        return value.tolist()
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return list(value)
    raise TypeError(f"a {type(value).__name__}")


def _whole(sample: Sample) -> dict[str, Any]:
    """Return a sample as plain values, in a form from which it can be read again."""
    metadata = {**(sample.metadata or {}), "k": sample.k, "tags": sample.tags, "answerable": sample.answerable}
    says_output = sample.output is not None or sample.is_null
    return {
        "id": sample.id,
        "input": sample.input,
        "expected_output": _expected(sample.expected),
        **({"actual_output": _output(sample.output)} if says_output else {}),
        "metadata": metadata,
    }


def _expected(expected: Expected) -> dict[str, Any]:
    passages = None if expected.passages is None else [_passage(text, expected) for text in expected.passages]
    kinds: dict[str, Any] = {"passages": passages, "answer": expected.answer, "keywords": expected.keywords}
    kinds["nuggets"] = None if expected.nuggets is None else [nugget._asdict() for nugget in expected.nuggets]
    kinds["spans"] = None if expected.spans is None else list(map(_span, expected.spans))
    kinds["forbidden"] = None if expected.forbidden is None else [each._asdict() for each in expected.forbidden]
    sets = expected.sets if expected.other_sets is None else next(iter(expected.other_sets.values()))
    kinds["sets"] = None if sets is None else list(map(_set, sets))
    kinds |= {name: gold.raw for name, gold in (expected.others or {}).items()}
    if expected.relevant is None:
        return kinds
    repeats, metadata, intents = expected.repeats or {}, expected.metadata or {}, expected.intents or {}
    entries: list[object] = []
    for name, gain in expected.relevant.items():
        entry = {"id": name, "gain": gain if expected.graded else None, "metadata": metadata.get(name)}
        of_intents = intents.get(name, {}).items()
        entries += [{**entry, "gain": own if expected.graded else None, "intent": intent} for intent, own in of_intents]
        entries += [entry] * (repeats.get(name, 1) - bool(of_intents))  # all intents together are one listing
    return {"relevant": entries, **kinds}


def _passage(text: str, expected: Expected) -> str | dict[str, Any]:
    grade, name = (known and known.get(text) for known in (expected.passage_grades, expected.passage_ids))
    return text if grade is None and name is None else {"text": text, "grade": grade, "id": name}


def _set(needed: GoldSet) -> dict[str, Any]:
    return {f"{needed.needs}_of": [item if isinstance(item, str) else _set(item) for item in needed.items]}


def _span(span: Span) -> dict[str, Any]:
    return {**span.place._asdict(), "grade": span.grade, "text": span.text}


def _output(output: Output | Fault | None) -> dict[str, Any] | None:
    if output is None:
        return None
    if isinstance(output, Fault):
        return {"failed": output.reason}
    items = items_of(output)
    ranking: dict[str, Any] = {"retrieved": items} if output.is_ranked else {}
    if output.searches is not None:
        numbers, of_items = range(1, output.searches.n + 1), output.searches.of_items
        returned = [[item for item, of in zip(items, of_items, strict=True) if of == number] for number in numbers]
        ranking = {"searches": returned}
    if output.stages is not None:
        ranking["stages"] = [_stage(name, stage) for name, stage in output.stages.items()]
    support = None if output.support is None else labelled(output.support)
    said = {"remarks": output.remarks} if output.remarks else {}
    return {**ranking, "answer": output.answer, "support": support, **(output.spent or {}), **said}


def _stage(name: str, stage: Stage) -> dict[str, Any]:
    output = stage.output
    items = [{"failed": output.reason}] if isinstance(output, Fault) else items_of(output)
    return {"name": name, "retrieved": items, "from": stage.sources, "seconds": stage.seconds, "cost": stage.cost}


def _raise(problems: list[Problem]) -> NoReturn:
    raise DataError("the sample cannot be logged:", problems)
