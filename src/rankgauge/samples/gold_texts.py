"""
Gold texts: reading `expected_output.passages`, `answer` and `keywords`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from rankgauge.policy import Contract
from rankgauge.samples.gold_ids import read_gain
from rankgauge.samples.gold_kinds import GoldKind
from rankgauge.samples.sample_values import Expected, InvalidError, are_strings, as_digits, in_quotes, look, read_id

__all__ = ["ANSWER", "KEYWORDS", "PASSAGES", "read_texts"]


def read_texts(raw: object, path: str, *, has_numbers: bool = False) -> tuple[str, ...]:
    """Return texts; if they *have numbers* an integer is its digits."""
    raw = as_digits(raw) if has_numbers else raw
    texts = (raw,) if isinstance(raw, str) else raw
    if not isinstance(texts, list | tuple):
        raise InvalidError(path, f"expected a string or a list of strings, found {look(raw)}{in_quotes(raw)}")
    if has_numbers and not are_strings(texts):
        texts = [as_digits(text) for text in texts]
    for index, text in enumerate(texts):
        here = path if isinstance(raw, str) else f"{path}[{index}]"
        if not isinstance(text, str):
            raise InvalidError(here, f"expected a string, found {look(text)}{in_quotes(text)}")
        if not text.strip():
            raise InvalidError(here, "the text is blank, and a blank text would match nothing; leave it out")
    return tuple(texts)


def _with_objects(raw: object) -> Sequence[object]:
    """Return entries of which some are objects; nothing for anything else."""
    return raw if isinstance(raw, list | tuple) and any(isinstance(entry, Mapping) for entry in raw) else ()


def _with_grades(raw: Sequence[object], path: str, contract: Contract) -> dict[str, Any]:
    """Return what is known of passages of which some are objects: texts, each once, highest grades and first ids."""
    grades: dict[str, float] = {}
    ids: dict[str, str] = {}
    graded = False
    for index, entry in enumerate(raw):
        here, grade, text, name = f"{path}[{index}]", 1.0, entry, None
        if isinstance(entry, Mapping):
            if (text := entry.get("text")) is None:
                raise InvalidError(here, f"a passage is a text, or an object with a 'text'; found {look(entry)}")
            if entry.get("id") is not None:
                name = read_id(entry["id"], f"{here}.id", contract)
            if entry.get("grade") is not None:
                grade, graded = read_gain(entry["grade"], f"{here}.grade", contract), True
            here += ".text"
        (text,) = read_texts(text if isinstance(text, str) else [text], here)
        grades[text] = max(grade, grades.get(text, -math.inf))
        if name is not None:
            ids.setdefault(text, name)
    return {"passages": tuple(grades), "passage_grades": grades if graded else None, "passage_ids": ids or None}


def _read_passages(raw: object, _: Mapping[str, Any], contract: Contract) -> Mapping[str, Any]:
    if entries := _with_objects(raw):
        return _with_grades(entries, ".passages", contract)
    return {"passages": read_texts(raw, ".passages")}


def _read_answer(raw: object, _: Mapping[str, Any], contract: Contract) -> Mapping[str, Any]:
    return {"answer": read_texts(raw, ".answer", has_numbers=contract.on_bad_gold != "pair")}


def _read_keywords(raw: object, _: Mapping[str, Any], contract: Contract) -> Mapping[str, Any]:
    return {"keywords": read_texts(raw, ".keywords", has_numbers=contract.on_bad_gold != "pair")}


def _passages(expected: Expected) -> Sequence[str]:
    return expected.passages or ()


def _answers(expected: Expected) -> Sequence[str]:
    return expected.answer or ()


def _keywords(expected: Expected) -> Sequence[str]:
    return expected.keywords or ()


def _names_of_passages(expected: Expected) -> Sequence[str]:
    """Return passages by their texts, and by their ids if they have one that no other passage has."""
    texts = list(dict.fromkeys(_passages(expected)))
    if expected.passage_ids is None:
        return texts
    names = [expected.passage_ids.get(text, text) for text in texts]
    times = Counter(names)
    return [text if times[name] > 1 else name for text, name in zip(texts, names, strict=True)]


def _names_of_answers(expected: Expected) -> Sequence[str]:
    return list(dict.fromkeys(_answers(expected)))


def _names_of_keywords(expected: Expected) -> Sequence[str]:
    return list(dict.fromkeys(_keywords(expected)))


def _grades_of_passages(expected: Expected, texts: Sequence[str]) -> Sequence[float] | None:
    grades = expected.passage_grades
    return None if grades is None else [grades[text] for text in texts]


PASSAGES = GoldKind(
    name="passages",
    read=_read_passages,
    names=_names_of_passages,
    is_text=True,
    texts=_passages,
    grades=_grades_of_passages,
    matcher=attrgetter("passages"),
    other_names=MappingProxyType({"documents": "document"}),  # from which results were cut
    together="by-matcher",
    is_evidence=True,
    takes_blocks=True,
    has_keys=True,
)
ANSWER = GoldKind(
    name="answer",
    read=_read_answer,
    names=_names_of_answers,
    is_text=True,
    texts=_answers,
    matcher="contains",
    together="by-matcher",
    takes_blocks=True,
)
KEYWORDS = GoldKind(
    name="keywords",
    read=_read_keywords,
    names=_names_of_keywords,
    is_text=True,
    texts=_keywords,
    matcher="contains",
    together="by-matcher",
    takes_blocks=True,
)
