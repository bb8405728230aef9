"""
`Sample` and its parts as values, and the scalars that are read into them.
"""

from __future__ import annotations

import datetime as dt
import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

from rankgauge.base.plain_text import visible
from rankgauge.errors import listed
from rankgauge.policy import Contract
from rankgauge.samples.gold_items import Forbidden, GoldSet, Importance, Misplaced, Nugget, OtherGold, Place, Span
from rankgauge.samples.unread_keys import OUTPUT, Unread, how_to_map, of_object

__all__ = [
    "HIGHEST_K",
    "NUMBERS",
    "Expected",
    "Fault",
    "Forbidden",
    "GoldSet",
    "Importance",
    "InvalidError",
    "Misplaced",
    "Nugget",
    "OtherGold",
    "Output",
    "Place",
    "Sample",
    "Searches",
    "Span",
    "Stage",
    "are_strings",
    "as_digits",
    "in_quotes",
    "is_absent",
    "is_dotted",
    "is_finite_number",
    "is_real",
    "lacks_key",
    "look",
    "read_id",
]

HIGHEST_K = 2**53
"""The largest cutoff: up to it every integer is a float of its own."""


class Fault(NamedTuple):
    """Why a sample's output, or one kind of its ground truth, cannot be used: a sentence with the offending value."""

    reason: str
    unread: tuple[Unread, ...] = ()  # the keys of an output, and of its items, that nothing reads
    has_no_key: bool = False  # whether the output is an object that has nothing but such keys


class Expected(NamedTuple):
    """
    The ground truth of one sample; a kind that was not given is None.

    Attributes:
        relevant: Gain by id; 0 and negative gains are judgments, too.

        graded: Whether gains were given (a plain list judges nothing but what it lists).

        repeats: How often an id was listed, for ids listed more than once.

        intents: The gain for each intent, by id and intent, for ids whose intents were named.

        passages: Texts the retrieved ones should come from.

        answer: Accepted answer spans.

        keywords: Words or phrases that should occur.

        nuggets: Facts that a good answer states.

        spans: Stretches of documents that should be retrieved, each once.

        faults: Why a kind of gold cannot be used, if the contract fails the pair instead of the file.

        metadata: What is known of relevant items, by id; None if nothing is.

        forbidden: What must not be retrieved.

        sets: What has to be retrieved together, or in place of each other, of relevant ids.

        passage_grades: The gain of each passage, by its text, if any was given; 0 is judged and not relevant.

        passage_ids: What passages are called, by their texts, of those that were given an id.

        other_sets: The same of items of other kinds, such as passages, by kind; the items by their names.

        others: What kinds of plugins hold, by their names.
    """

    relevant: Mapping[str, float] | None = None
    graded: bool = False
    repeats: Mapping[str, int] | None = None
    intents: Mapping[str, Mapping[str, float]] | None = None
    passages: tuple[str, ...] | None = None
    answer: tuple[str, ...] | None = None
    keywords: tuple[str, ...] | None = None
    nuggets: tuple[Nugget, ...] | None = None
    spans: tuple[Span, ...] | None = None
    faults: Mapping[str, Fault] | None = None
    metadata: Mapping[str, Mapping[str, Any]] | None = None  # any JSON object
    forbidden: tuple[Forbidden, ...] | None = None
    sets: tuple[GoldSet, ...] | None = None
    passage_grades: Mapping[str, float] | None = None
    passage_ids: Mapping[str, str] | None = None
    other_sets: Mapping[str, tuple[GoldSet, ...]] | None = None
    others: Mapping[str, OtherGold] | None = None

    def sets_of(self, kind: str) -> tuple[GoldSet, ...]:
        """Return the sets whose items are of one kind."""
        return (self.sets if kind == "relevant" else (self.other_sets or {}).get(kind)) or ()


class Output(NamedTuple):
    """
    What the system under test emitted for one sample, rank 1 first.

    Attributes:
        ids: One id for each retrieved item; None for an item that has a text only.

        texts: One text for each retrieved item, None if it has none; None when no item has one.

        scores: One score for each retrieved item, None if it has none; None when no item has one.

        answer: The generated answer, if there is one.

        support: How far the answer supports each nugget, from 0 to 1, by id or text; None if not given.

        places: Where in a document each retrieved item is, None if it does not say, a `Fault` where it says so
            in a form that cannot be used, `Misplaced` if it is known to be a place of another text; None when no
            item says.

        is_ranked: Whether it says what was retrieved, even if that is nothing.

        unread: Its keys, and those of its items, that nothing reads.

        metadata: What is known of each retrieved item; None if nothing is.

        stages: What each stage of a pipeline retrieved, by its name and in order, the last is this output; or None.

        spent: What it took, as far as it is known: `seconds`, `bytes`, `cost`.

        searches: If several searches returned the items, which one each; None for a single ranking.

        remarks: What the system says of this answer that its user should know.

        whole: The same with every result, if a policy leaves some out; None if nothing can be left out.
    """

    ids: Sequence[str | None]
    texts: Sequence[str | None] | None = None
    scores: Sequence[float | None] | None = None
    answer: str | None = None
    support: Mapping[str, float] | None = None
    is_ranked: bool = True
    unread: tuple[Unread, ...] = ()
    places: Sequence[Place | Fault | Misplaced | None] | None = None
    metadata: Sequence[Mapping[str, Any] | None] | None = None  # any JSON object
    stages: Mapping[str, Stage] | None = None
    spent: Mapping[str, float] | None = None
    searches: Searches | None = None
    remarks: tuple[str, ...] = ()
    whole: Output | None = None

    def at(self, stage: str) -> Output | Fault:
        """Return what a stage retrieved, with the answer of the whole, or why that cannot be used."""
        if self.stages is None:
            return Fault(f"the output has no 'stages', and so no stage {stage!r}")
        if stage not in self.stages:
            return Fault(f"the output has no stage {stage!r}; it has {listed([repr(name) for name in self.stages])}")
        output, _, seconds, cost = self.stages[stage]
        spent = {name: value for name, value in (("seconds", seconds), ("cost", cost)) if value is not None}
        if isinstance(output, Fault):
            return output
        return output._replace(answer=self.answer, support=self.support, spent=spent)


class Searches(NamedTuple):
    """The searches that returned the items of an output, which are in the order of these, repeats included."""

    n: int  # how many there were
    of_items: Sequence[int]  # the number, from 1, of the search that returned each item


class Stage(NamedTuple):
    """What one stage of a pipeline retrieved for one sample."""

    output: Output | Fault  # a fault if its ranking cannot be used
    sources: tuple[str, ...] = ()  # the stages whose results it was given; empty if it searched itself
    seconds: float | None = None  # that it took, if it is known
    cost: float | None = None  # of it, in whatever unit


def lacks_key(key: str, unread: Sequence[Unread]) -> Fault:
    """Return that an output lacks a key, with those of its keys that may be meant by it."""
    similar = [each.key for each in unread if each.place == OUTPUT and each.meant == key]
    others = [each.key for each in unread if each.place == OUTPUT]
    hint = f"; is it {similar[0]!r}? {how_to_map(key, f'{OUTPUT}.{similar[0]}')}" if similar else ""
    shown = f"; nothing reads its {listed([repr(other) for other in others])}" if others and not similar else ""
    return Fault(f"the output has no {key!r}{visible(hint or shown)}", tuple(unread), has_no_key=bool(unread))


class Sample(NamedTuple):
    """
    One query with its ground truth and, if it is known, its output.

    Attributes:
        id: Unique in its dataset.

        input: What the system under test is given; any JSON value.

        expected: The ground truth.

        output: What was emitted; a `Fault` when that is malformed; None when there is none.

        k: The cutoff of this sample (`metadata.k`).

        tags: The cohorts it belongs to (`metadata.tags`).

        answerable: False when the collection holds no answer (`metadata.answerable`).

        metadata: All metadata as given.

        unread: Its keys, and those of its ground truth, that nothing reads.

        is_null: Whether it says that there is no output (``"actual_output": null``), rather than nothing of it.
    """

    id: str
    input: Any = None  # any JSON value: the system under test defines it
    expected: Expected = Expected()
    output: Output | Fault | None = None
    k: int | None = None
    tags: tuple[str, ...] = ()
    answerable: bool = True
    metadata: Mapping[str, Any] | None = None  # any JSON object: users add keys of their own
    unread: tuple[Unread, ...] = ()
    is_null: bool = False


NUMBERS = frozenset({int, float})


class InvalidError(ValueError):
    """A value that the contract does not allow: where, below the field, and why."""

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        self.message = message
        super().__init__(message)


def read_id(raw: object, path: str, contract: Contract) -> str:
    """Return an id; an `InvalidError` if the contract allows none."""
    if isinstance(raw, str):
        if raw:
            return raw
        raise InvalidError(path, "an id must not be empty")
    if not contract.strict_ids and isinstance(raw, int) and not isinstance(raw, bool):
        try:
            return str(raw)
        except ValueError as error:  # more digits than Python writes
            raise InvalidError(path, f"an id cannot be so large an integer: {error}") from None
    wanted = "a string" if contract.strict_ids else "a string or an integer"
    raise InvalidError(path, f"an id must be {wanted}, not {look(raw)}{of_object(raw)}")


def are_strings(values: Sequence[object]) -> TypeGuard[Sequence[str]]:
    """Return whether all of some values are strings; joining them is the fastest way to ask."""
    try:
        "".join(values)  # type: ignore[arg-type]  # whether it is one is the question
    except TypeError:
        return False
    return True


def is_real(value: object) -> TypeGuard[numbers.Real]:
    """Return whether a value is a number, one of numpy's included, and no boolean."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_finite_number(value: object) -> bool:
    """Return whether a value is a number that a float can hold."""
    try:
        return is_real(value) and math.isfinite(value)
    except OverflowError:
        return False


def as_digits(value: object) -> object:
    """Return an integer in place of a text as its digits, as `41` in JSON or YAML is meant; anything else as it is."""
    if not is_real(value) or not isinstance(value, numbers.Integral):
        return value
    try:
        return str(int(value))
    except ValueError:  # more digits than Python writes
        return value


def in_quotes(value: object) -> str:
    """Return how a number, a truth value or a date is written where a text is needed; empty for anything else."""
    if isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, float | dt.date | dt.time):
        text = repr(value) if isinstance(value, float) else value.isoformat()
    elif isinstance(value, numbers.Number):
        text = str(value)
    else:
        return ""
    is_whole = isinstance(value, float) and value.is_integer()
    also = f' or "{value:.0f}" (pandas makes floats of integers if one is missing)' if is_whole else ""
    return f'; write it in quotes: "{text}"{also}'


def is_absent(value: object) -> bool:
    """Return whether a value stands for none: null, or NaN, which tables have in its place."""
    return value is None or (type(value) is float and math.isnan(value))


def is_dotted(name: object) -> bool:
    """Return whether a name of a sample leads into one of its objects, as `metadata.k` does."""
    return isinstance(name, str) and name.startswith(_HEADS) and not name.endswith(".")


_HEADS = ("expected_output.", "actual_output.", "metadata.")


def look(value: object) -> str:
    """Return a value as an error message shows it: its kind, and a short look at it."""
    kinds = {str: "the string", bool: "the boolean", int: "the integer", float: "the number", list: "the list"}
    kinds |= {dt.date: "the date", dt.datetime: "the time"}
    if value is None:
        return "null"
    try:
        shown = value.isoformat() if isinstance(value, dt.date) else repr(value)
    except (RecursionError, ValueError):  # nested as deep as JSON allows, or an integer of thousands of digits
        shown = "(too large to show)"
    if len(shown) > 60:
        shown = f"{shown[:57]}..."
    kind = kinds.get(type(value), "the object" if isinstance(value, Mapping) else f"the {type(value).__name__}")
    return f"{kind} {shown}"
