"""
Columns: which columns of a table hold queries, documents, and scores or grades.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from rankgauge.errors import DataError, Problem, did_you_mean

__all__ = ["Columns", "Kind", "check_columns", "find_columns", "is_header", "own_names"]

Kind = Literal["qrels", "run"]

_ROLES: Mapping[Kind, tuple[str, str, str]] = {
    "qrels": ("query", "document", "grade"),
    "run": ("query", "document", "score"),
}

_USUAL: Mapping[str, Sequence[Sequence[str]]] = {
    "query": (("query_id", "qid", "q_id", "topic_id", "topic"), ("query",)),
    "document": (
        ("doc_id", "docno", "corpus_id", "document_id", "d_id", "did", "passage_id", "pid"),
        ("docid",),
        ("doc", "document"),
    ),
    "grade": (("relevance", "rel", "label", "grade", "gain"), ("score",)),
    "score": (("score", "sim"),),
    "intent": (("subtopic_id", "subtopic", "intent_id", "intent"),),
}
"""
Usual names of each role, in tiers: a later one counts only where none of an earlier one is there. `query`, `doc` and
`document` are texts in many tables that have ids, too; `docid` is a number of the search engine's own beside `docno`.
"""


class Columns(NamedTuple):
    """
    The names of the columns that are read.

    Attributes:
        query: Of the query ids.

        document: Of the document ids.

        value: Of the scores of a run, or the grades of judgments.

        intent: Of the intents (subtopics) that judgments are for; None where there is none.
    """

    query: str
    document: str
    value: str
    intent: str | None = None

    @property
    def by_role(self) -> dict[str, str]:
        """Return the names of the columns that there are, by what frames of rows call them."""
        return {role: name for role, name in self._asdict().items() if name is not None}


def check_columns(columns: Mapping[str, str] | None) -> None:
    """Raise a `DataError` for roles that do not exist; ``qrels.query`` or ``run.document`` name one table only."""
    known = ["query", "document", "grade", "score"]
    known += [f"{kind}.{role}" for kind, roles in _ROLES.items() for role in roles]
    known += ["intent", "qrels.intent"]
    problems = [
        Problem(f"columns has {role!r}{did_you_mean(str(role), known) or '; it may name ' + ', '.join(known)}")
        for role in columns or {}
        if role not in known
    ]
    if problems:
        msg = "the column names cannot be used:"
        raise DataError(msg, problems)


def own_names(columns: Mapping[str, str] | None, kind: Kind) -> dict[str, str]:
    """Return the user's names for one kind of table, by role; ``run.query`` beats ``query``."""
    given = columns or {}
    roles = (*_ROLES[kind], "intent") if kind == "qrels" else _ROLES[kind]
    keys = [(role, key) for role in roles for key in (role, f"{kind}.{role}")]
    return {role: given[key] for role, key in keys if key in given}


def find_columns(names: Sequence[str], kind: Kind, columns: Mapping[str, str] | None, *, source: str = "") -> Columns:
    """Return the columns of a table; a `DataError` names every column that is missing or ambiguous."""
    own = own_names(columns, kind)
    found: list[str] = []
    problems = []
    has_intents = kind == "qrels" and ("intent" in own or _usual(names, "intent"))
    for role in (*_ROLES[kind], "intent") if has_intents else _ROLES[kind]:
        chosen = [name for name in names if name == own[role]] if role in own else _usual(names, role)
        if len(chosen) == 1:
            found.append(chosen[0])
        else:
            problems.append(Problem(_wrong(names, kind, role, own.get(role), chosen), source))
    if problems:
        msg = f"{'the judgments' if kind == 'qrels' else 'the run'} cannot be read as a table:"
        raise DataError(msg, problems)
    return Columns(*found)


def is_header(fields: Sequence[str], kind: Kind, columns: Mapping[str, str] | None) -> bool:
    """Return whether the first line of a file names columns: all of the usual ones, or one that the user named."""
    own = own_names(columns, kind)
    if any(name in fields for name in own.values()):
        return True
    return all(_usual(fields, role) for role in _ROLES[kind])


def _usual(names: Sequence[str], role: str) -> list[str]:
    for tier in _USUAL[role]:
        chosen = [name for name in names if _folded(name) in tier]
        if chosen:
            return chosen
    return []


def _folded(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")


def _wrong(names: Sequence[str], kind: Kind, role: str, own: str | None, chosen: Sequence[str]) -> str:
    listed = ", ".join(map(repr, names)) or "none at all"
    if chosen:
        several = " or ".join(map(repr, chosen))
        return f"the {role} could be {several}; say which with columns={{{role!r}: {chosen[0]!r}}}"
    if own is not None:
        both = "" if role in {"grade", "score"} else f" (for the {kind} alone, write {kind + '.' + role!r})"
        return f"there is no column {own!r} for the {role}{did_you_mean(own, names)}; the columns are {listed}{both}"
    usual = ", ".join(name for tier in _USUAL[role] for name in tier)
    return (
        f"no column for the {role}; the columns are {listed}; name one with columns={{{role!r}: ...}}, or rename it to "
        f"one of {usual}"
    )
