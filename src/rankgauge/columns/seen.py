"""
`Seen`: what a metric sees of a sample besides its judged columns, which is what it asked for and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from rankgauge.errors import DeclarationError

__all__ = ["Seen"]

_OF_RANKS = {"texts", "ids", "scores"}
_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Seen:
    """
    What a metric asked to see of one sample, with ``needs=("texts", ...)``.

    What it did not ask for is an error that says so: a metric cannot come to depend on what another one asked for.

    Attributes:
        given: What there is to see, by the name of the need.
    """

    given: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

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
    def input(self) -> Any:  # noqa: ANN401  # any JSON value: the system under test defines it
        """Return what the system under test was given, such as the question; any JSON value."""
        return self._asked("input")

    @property
    def answer(self) -> str:
        """Return the generated answer; a sample without one fails."""
        answer: str = self._asked("answer")
        return answer

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Return the sample's metadata; empty if it has none."""
        metadata: Mapping[str, Any] = self._asked("metadata")
        return metadata

    def only(self, needs: Collection[str]) -> Seen:
        """
        Return the same with less to see.

        Args:
            needs: What may be seen.

        Returns:
            What of it there is.
        """
        return Seen({name: value for name, value in self.given.items() if name in needs})

    def without_ranks(self) -> Seen:
        """
        Return the same where nothing was retrieved.

        Returns:
            What there is to see, without any rank's text, id or score.
        """
        return Seen({name: () if name in _OF_RANKS else value for name, value in self.given.items()})

    def _asked(self, need: str) -> Any:  # noqa: ANN401  # each need has a type of its own
        if need not in self.given:
            raise unasked(need)
        return self.given[need]


def unasked(need: str) -> DeclarationError:
    """Return the error of a metric that reads what it did not ask for."""
    return DeclarationError(f"a metric sees {need} only if it asks for it; declare it with needs=({need!r},)")
