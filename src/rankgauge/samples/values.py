"""
The values of the dataset contract: samples, ground truth and outputs, as tuples that are immutable and cheap to make.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

__all__ = [
    "FIELDS",
    "GOLD_KINDS",
    "HIGHEST_K",
    "Expected",
    "Fault",
    "GoldKind",
    "Importance",
    "Nugget",
    "Output",
    "Sample",
]

GoldKind = Literal["relevant", "passages", "answer", "keywords", "nuggets"]
"""The kinds of ground truth a metric can be judged against."""

GOLD_KINDS: tuple[GoldKind, ...] = ("relevant", "passages", "answer", "keywords", "nuggets")

Importance = Literal["vital", "okay"]

FIELDS = (
    *("id", "input", "expected_output", "actual_output", "metadata"),
    *(f"expected_output.{kind}" for kind in GOLD_KINDS),
    *("actual_output.retrieved", "actual_output.answer", "actual_output.support"),
    *("metadata.k", "metadata.tags", "metadata.answerable"),
)
"""What `fields` may map a name of the user's data onto."""


HIGHEST_K = 2**53
"""The largest cutoff: up to it every integer is a float of its own."""


class Fault(NamedTuple):
    """
    Why a sample's output, or one kind of its ground truth, cannot be used.

    Attributes:
        reason: A sentence with the offending value.
    """

    reason: str


class Nugget(NamedTuple):
    """
    A fact that a good answer states; it has a text, an id, or both.

    Attributes:
        text: The fact as a sentence.

        id: What the support of an output may call it.

        importance: Whether an answer without it is poor (`vital`), or only less good (`okay`).
    """

    text: str | None
    id: str | None = None
    importance: Importance = "vital"

    @property
    def name(self) -> str:
        """Return its text, or its id if it has none."""
        return self.id or "" if self.text is None else self.text

    @property
    def weight(self) -> float:
        """Return its grade."""
        return 1.0 if self.importance == "vital" else 0.5


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

        faults: Why a kind of gold cannot be used, where the contract fails the pair instead of the file.
    """

    relevant: Mapping[str, float] | None = None
    graded: bool = False
    repeats: Mapping[str, int] | None = None
    intents: Mapping[str, Mapping[str, float]] | None = None
    passages: tuple[str, ...] | None = None
    answer: tuple[str, ...] | None = None
    keywords: tuple[str, ...] | None = None
    nuggets: tuple[Nugget, ...] | None = None
    faults: Mapping[GoldKind, Fault] | None = None


class Output(NamedTuple):
    """
    What the system under test emitted for one sample, rank 1 first.

    Attributes:
        ids: One id for each retrieved item; None for an item that has a text only.

        texts: One text for each retrieved item, None where it has none; None when no item has one.

        scores: One score for each retrieved item, None where it has none; None when no item has one.

        answer: The generated answer, if there is one.

        support: How far the answer supports each nugget, from 0 to 1, by id or text; None where nobody said.
    """

    ids: Sequence[str | None]
    texts: Sequence[str | None] | None = None
    scores: Sequence[float | None] | None = None
    answer: str | None = None
    support: Mapping[str, float] | None = None


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
