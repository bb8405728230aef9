"""
Doubts about labels as values, and in words: which gold rankings speak against, with the signs, counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

from rankgauge.base.frozen import freeze_fields
from rankgauge.errors import counted, listed

__all__ = ["LABEL_DOUBTS", "LabelDoubt", "LabelDoubts", "Sign", "SignKind"]

LABEL_DOUBTS = "label_doubts"
"""The entry of a manifest and of a report that has them."""

_SHOWN, _NAMED = 3, 10

SignKind = Literal["missed", "elsewhere", "answer-above", "twin", "same-gold", "swapped", "unseen-id"]
"""What may speak against a label, the most frequent first."""

_COUNTED: Mapping[str, str] = {
    "missed": "{system} finds {n} within {depth} results",
    "elsewhere": "the text of {n} occurs word for word in a result that ids or offsets miss",
    "answer-above": "above the first hit, an unlabelled result holds the answer to the question of {n}",
    "twin": "a near-copy of {n} was retrieved and has no label",
    "same-gold": "another question has the same gold as that of {n}",
    "swapped": "another question, whose own gold {system} finds, has on top what is missed as {n}",
    "unseen-id": "no ranking of any question has the id of {n}",
}


class Sign(NamedTuple):
    """One thing that speaks against a label."""

    kind: SignKind
    reason: str
    agrees: bool = True  # whether it makes a doubt of another sign


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDoubt:
    """
    A label that two signs or more speak against.

    Attributes:
        sample: The id of the sample.

        kind: `relevant`, `passages` or `spans`.

        number: Which of its kind, from 0.

        label: The label as a reader calls it.

        signs: What speaks against it, by kind, in sentences.
    """

    sample: str
    kind: str
    number: int
    label: str
    signs: Mapping[str, str]

    def __post_init__(self) -> None:
        freeze_fields(self)

    def __str__(self) -> str:
        """Return it in one line."""
        return f"{self.sample}, {self.kind} {self.label}: {'; '.join(self.signs.values())}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDoubts:
    """
    What the rankings of one system or of several say about the labels that they were judged by.

    Attributes:
        systems: How many systems were looked at.

        samples: How many samples, the first ones.

        labels: How many gold ids, texts and spans these have.

        depth: How many results the median ranking has.

        doubts: Labels that two signs speak against, those with most signs first.

        counts: How many labels each sign speaks against, by kind, the doubted ones included.

        examples: The samples of the first labels that a sign speaks against, and no other, by kind of sign.

        counted: These labels, all of them: the sample, the kind, and which of its kind, from 0.
    """

    systems: int
    samples: int
    labels: int
    depth: int
    doubts: tuple[LabelDoubt, ...]
    counts: Mapping[str, int]
    examples: Mapping[str, tuple[str, ...]]
    counted: tuple[tuple[str, str, int], ...] = ()

    def __post_init__(self) -> None:
        freeze_fields(self)

    def notes(self) -> Iterator[str]:
        """Yield the doubts, then how many labels each sign speaks against."""
        yield from self.of_doubts()
        yield from self.of_signs()

    def of_doubts(self) -> Iterator[str]:
        """Yield how many labels are doubtful, the worst examples first, and what looks closer."""
        if self.doubts:
            worst = " | ".join(map(str, self.doubts[:_SHOWN]))
            rest = self.doubts[_SHOWN:]
            of = list(dict.fromkeys(doubt.sample for doubt in rest))
            more = f" | and {len(rest):,} more, of {listed(of, _NAMED)}" if rest else ""
            yield (
                f"{counted(len(self.doubts), 'label')} of {self.labels:,} {'is' if len(self.doubts) == 1 else 'are'} "
                f"doubtful, two signs speaking against each: {worst}{more}; "
                "`rankgauge gold check DATA --corpus CORPUS` looks closer"
            )

    def of_signs(self) -> Iterator[str]:
        """Yield how many labels each sign speaks against, doubtful ones included."""
        for kind, number in self.counts.items():
            if number:
                system = "no compared system" if self.systems > 1 else "the system never"
                said = _COUNTED[kind].format(n=counted(number, "gold label"), depth=self.depth, system=system)
                examples = self.examples.get(kind, ())
                yield f"{said}{f' (such as {listed(list(examples), _SHOWN)})' if examples else ''}"

    def lines(self) -> Iterator[str]:
        """Yield all that is known: a heading, every doubtful label, and how many labels each sign speaks against."""
        among = f"{counted(self.labels, 'label')} of {counted(self.samples, 'sample')}"
        yield f"doubtful labels: {len(self.doubts):,} of {among}, two signs speaking against each"
        yield from map(str, self.doubts)
        yield from self.of_signs()

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Self:
        """Return what `to_dict` has returned; `counted` is not in it."""
        return cls(
            **{name: entry[name] for name in ("systems", "samples", "labels", "depth", "counts")},
            doubts=tuple(LabelDoubt(**doubt) for doubt in entry["doubts"]),
            examples={kind: tuple(names) for kind, names in entry["examples"].items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        doubts = [{name: getattr(doubt, name) for name in doubt.__slots__} for doubt in self.doubts]
        return {
            "systems": self.systems,
            "samples": self.samples,
            "labels": self.labels,
            "depth": self.depth,
            "doubts": [{**doubt, "signs": dict(doubt["signs"])} for doubt in doubts],
            "counts": dict(self.counts),
            "examples": {kind: list(examples) for kind, examples in self.examples.items()},
        }
