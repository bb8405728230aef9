"""
`Seen` and `JudgedSample`: what a metric sees of samples besides their judged columns, and one ranking in plain values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rankgauge.base.frozen import FrozenMap, frozen
from rankgauge.errors import DeclarationError

__all__ = ["JudgedSample", "Searched", "Seen"]

_OF_RANKS = {"texts", "ids", "scores", "result_metadata"}


class Searched(NamedTuple):
    """
    The searches behind one ranking.

    Attributes:
        n: How many there were; 1 for a single ranking.

        results: How many results all of them returned, repeats included.

        repeated: How many of these an earlier search had returned already.

        characters: The length of all their texts; None if a result has none.

        of_rank: The number of the search that returned the result at each rank, from 1.
    """

    n: int = 0
    results: int = 0
    repeated: int = 0
    characters: int | None = 0
    of_rank: tuple[int, ...] = ()


class _OfSample(FrozenMap[Any, Any]):
    """The metadata of a sample, which says what to ask for if it is taken for a list of those of results."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:  # noqa: ANN401  # as of any mapping
        if isinstance(key, slice) or (isinstance(key, int) and key not in self):
            raise TypeError(f"seen.metadata is the sample's; for the results', declare {_declare('result_metadata')}")
        return super().__getitem__(key)


@dataclass(frozen=True, slots=True)
class Seen:
    """
    What a metric asked to see of one sample, with ``needs=("texts", ...)``.

    What it did not ask for is an error that says so: a metric cannot come to depend on what another one asked for.

    Mappings and lists of the input and of metadata are read-only.

    Attributes:
        given: What there is to see, by the name of the need.
    """

    given: Mapping[str, Any] = field(default_factory=FrozenMap)

    def __post_init__(self) -> None:
        if type(self.given) is not FrozenMap:
            object.__setattr__(self, "given", frozen(self.given))  # the class is frozen

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the text of each rank; one without a text fails the sample, unless it is below the cutoff."""
        texts: tuple[str, ...] = self._asked("texts")
        return texts

    @property
    def ids(self) -> tuple[str | None, ...]:
        """Return the id of each rank; None for an item that has only a text."""
        ids: tuple[str | None, ...] = self._asked("ids")
        return ids

    @property
    def scores(self) -> tuple[float, ...]:
        """Return the retriever's score of each rank; one without a score fails the sample, as for `texts`."""
        scores: tuple[float, ...] = self._asked("scores")
        return scores

    @property
    def result_metadata(self) -> tuple[Mapping[str, Any], ...]:
        """Return the metadata of each rank's result; one without metadata fails the sample, as for `texts`."""
        metadata: tuple[Mapping[str, Any], ...] = self._asked("result_metadata")
        return metadata

    @property
    def input(self) -> Any:  # noqa: ANN401  # any JSON value: the system under test defines it
        """Return what the system under test was given, such as the question; any JSON value."""
        return self._asked("input")

    @property
    def answer(self) -> str:
        """Return the generated answer; a sample without one fails."""
        answer: str = self._asked("answer")
        return answer

    @property
    def spent(self) -> Mapping[str, float]:
        """Return what the call took, as far as it is known: `seconds`, `bytes`, `cost`."""
        spent: Mapping[str, float] = self._asked("spent")
        return spent

    @property
    def searches(self) -> Searched:
        """Return the searches behind the ranking; `actual_output.searches`, or the single one."""
        searches: Searched = self._asked("searches")
        return searches

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Return the sample's metadata; empty if it has none. Those of its results are `result_metadata`."""
        return _OfSample(self._asked("metadata"))

    def only(self, needs: Collection[str]) -> Seen:
        """
        Return the same with less to see.

        Args:
            needs: What may be seen.

        Returns:
            What of it there is.
        """
        return Seen(FrozenMap({name: value for name, value in self.given.items() if name in needs}))

    def without_ranks(self) -> Seen:
        """
        Return the same if nothing was retrieved.

        Returns:
            What there is to see, without any rank's text, id, score or metadata.
        """
        return Seen(FrozenMap({name: () if name in _OF_RANKS else value for name, value in self.given.items()}))

    def _asked(self, need: str) -> Any:  # noqa: ANN401  # each need has a type of its own
        if need not in self.given:
            raise unasked(need)
        return self.given[need]


def unasked(need: str) -> DeclarationError:
    """Return the error of a metric that reads what it did not ask for."""
    return DeclarationError(f"a metric sees {need} only if it asks for it; declare it with {_declare(need)}")


def _declare(need: str) -> str:
    return f"needs=({need!r},)"


@dataclass(frozen=True, slots=True)
class JudgedSample:
    """
    One judged ranking in plain Python values.

    Attributes:
        depth: How many items were retrieved, after policy.

        grades: The grade at each rank, None if the ground truth does not name the item; `depth` long.

        gains: The gain earned at each rank, 0.0 if none is; `depth` long.

        relevant: Whether each rank holds a relevant item; `depth` long.

        gold: The grades of all gold items, best first.

        n_gold: How many gold items are relevant.

        seen: What the metric asked to see, with ``needs=("texts", ...)``.

        cuts_ideal: As in `Judged`.
    """

    depth: int
    grades: tuple[float | None, ...]
    gains: tuple[float, ...]
    relevant: tuple[bool, ...]
    gold: tuple[float, ...]
    n_gold: int
    seen: Seen = field(default_factory=Seen)
    cuts_ideal: bool = True

    def ideal(self, k: int | None = None) -> tuple[float, ...]:
        """
        Return the grades of the best possible order of the relevant gold items.

        Args:
            k: The cutoff; None for none. One that stands for a budget cuts the ranking only.

        Returns:
            Descending grades.
        """
        relevant = self.gold[: self.n_gold]
        return relevant[:k] if self.cuts_ideal else relevant
