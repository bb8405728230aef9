"""
`Excluded`: documents that are left out for each query, as BRIGHT's `excluded_ids` are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from rankgauge.errors import PolicyError, counted

__all__ = ["Excluded", "Meeting"]

_FORM = "documents by query, such as {'q1': ['d3', 'd7']}, or a file of them"


class Excluded:
    """
    Documents that are left out for each query, from rankings and from the ground truth.

    Attributes:
        names: All documents that are left out for any query.

        path: The file they were read from; empty if they were given in Python or in a config.

        fingerprint: A hash of what is left out, wherever that is written.
    """

    __slots__ = ("_by_query", "fingerprint", "names", "path")

    def __init__(self, by_query: Mapping[str, Iterable[str]], path: str = "") -> None:
        """Take the documents of each query; a query may have none."""
        self._by_query = {query: frozenset(documents) for query, documents in by_query.items()}
        self.path = path
        self.names: AbstractSet[str] = frozenset().union(*self._by_query.values())
        listed = [[query, sorted(self._by_query[query])] for query in sorted(self._by_query) if self._by_query[query]]
        self.fingerprint = f"sha256:{hashlib.sha256(json.dumps(listed).encode()).hexdigest()}"

    @classmethod
    def of(cls, value: object) -> Excluded:
        """Return what is left out, given as a mapping; raise `PolicyError` for anything else."""
        if isinstance(value, Excluded):
            return value
        if not isinstance(value, Mapping):
            raise PolicyError(f"policy option 'excluded' is {_FORM}; not {value!r:.80}")
        for query, documents in value.items():
            is_list = isinstance(documents, Collection) and not isinstance(documents, str | bytes | Mapping)
            if not is_list or not all(isinstance(name, str) for name in (query, *documents)):
                raise PolicyError(f"policy option 'excluded' is {_FORM}; query {query!r} has {documents!r:.80}")
        return cls(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Excluded) and (self.fingerprint, self.path) == (other.fingerprint, other.path)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[type[Excluded], tuple[dict[str, frozenset[str]], str]]:
        return Excluded, (self._by_query, self.path)

    def __str__(self) -> str:
        return self.path or f"documents of {counted(len(self._by_query), 'query', 'queries')}"

    def __repr__(self) -> str:
        return f"Excluded({self})"

    def of_query(self, query: str) -> AbstractSet[str]:
        """Return the documents that are left out for a query."""
        return self._by_query.get(query, frozenset())

    def plain(self) -> dict[str, Any]:
        """Return it in values that JSON has: the file, or if there is none the documents; and the fingerprint."""
        where: dict[str, Any] = {"path": self.path} if self.path else {"documents": self.documents()}
        return {**where, "queries": len(self._by_query), "fingerprint": self.fingerprint}

    def documents(self) -> dict[str, list[str]]:
        """Return the documents by query, in order of their ids."""
        return {query: sorted(documents) for query, documents in self._by_query.items()}

    def note(self, queries: Collection[str], retrieved: str) -> str:
        """
        Say that it names none of the queries that were evaluated, or else no document that is in any ranking.

        Args:
            queries: The queries that were evaluated.

            retrieved: A document of a ranking if no ranking has one of `names`; empty if one has, or has anything.

        Returns:
            The note; empty if there is nothing to say.
        """
        own = next((query for query, documents in self._by_query.items() if documents), None)
        if own is None or not queries:
            return ""
        if not any(query in self._by_query for query in queries):
            return (
                f"policy excluded={self} leaves out nothing, as none of its queries is evaluated; do both use the same "
                f"ids? Its look like `{own}`, those evaluated like `{next(iter(queries))}`"
            )
        if not retrieved:
            return ""
        return (
            f"no ranking has a document of policy excluded={self}, so nothing that was retrieved is left out; do both "
            f"use the same ids? Its look like `{min(self._by_query[own])}`, retrieved ones like `{retrieved}`"
        )


class Meeting(NamedTuple):
    """
    Whether rankings have any document that is left out.

    Attributes:
        met: Whether one has, of whichever query.

        retrieved: A document of a ranking; empty if there is none.
    """

    met: bool = False
    retrieved: str = ""

    def __or__(self, other: Meeting) -> Meeting:
        return Meeting(self.met or other.met, self.retrieved or other.retrieved)

    @property
    def unmet(self) -> str:
        """Return a retrieved document if no ranking has one that is left out; else nothing."""
        return "" if self.met else self.retrieved
