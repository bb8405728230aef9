"""
Names of fields and columns: which of a file stands for which of ours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeVar

from rankgauge.base.plain_text import read_number
from rankgauge.errors import ParameterError, Problem, did_you_mean
from rankgauge.io.problems import SUBJECTS, refuse
from rankgauge.samples import FIELDS, Fault, Output, Sample
from rankgauge.samples.sample_records import value_at

__all__ = [
    "LISTS",
    "NESTED",
    "Columns",
    "FieldMap",
    "Kind",
    "check_columns",
    "check_field",
    "field_name",
    "find_columns",
    "is_header",
    "is_unread",
    "letter_grades",
    "own_names",
    "positions",
    "read_field",
    "reader_name",
    "remapped",
    "without_mapped",
]

FieldMap = Mapping[str, str | Mapping[str, str]]
"""For each of our fields where the data has it: a path, or ``{path, strings}``."""

Readable = TypeVar("Readable", Sample, Output | Fault)

_RETRIEVED = ("actual_output", "actual_output.retrieved")
_STRINGS = ("id", "text")
LISTS = (
    *(f"expected_output.{kind}" for kind in ("relevant", "passages", "keywords")),
    *("actual_output.retrieved", "metadata.tags"),
)
"""The fields whose value is a list; if a text is in its place, a separator splits it."""

_MISSING: Final = object()
_FORM = "--field is OURS=THEIRS, such as id=qid, or retrieved=contexts:text for a list of texts"


def field_name(name: str) -> str:
    """Return the full name of a field of samples, which may be given by its last part; raise `ParameterError`."""
    if name in FIELDS:
        return name
    by_part: dict[str, list[str]] = {}
    for known in FIELDS:
        by_part.setdefault(known.rpartition(".")[2], []).append(known)
    several = by_part.get(name, [])
    if len(several) == 1:
        return several[0]
    unique = [part for part, names in by_part.items() if len(names) == 1]
    hint = f" (did you mean {' or '.join(several)}?)" if several else did_you_mean(name, [*FIELDS, *unique])
    raise ParameterError(f"{name!r} is not a field of samples{hint}; known are {', '.join(FIELDS)}")


def check_field(name: str, place: object) -> None:
    """Raise `ParameterError` for a field, or for where the data has it, that cannot be used."""
    full = field_name(name)
    path: object = place
    strings: object = None
    if isinstance(place, Mapping):
        path, strings = place.get("path"), place.get("strings")
        if unknown := [key for key in place if key not in {"path", "strings"}]:
            raise ParameterError(f"unknown key {unknown[0]!r} for the field {name!r}; known are path, strings")
    if not isinstance(path, str) or not path:
        msg = f"the field {name!r} needs your name for it, or {{path: NAME, strings: text}}; found {place!r}"
        raise ParameterError(msg)
    if strings not in {None, *_STRINGS}:
        raise ParameterError(f"strings of {name!r} are id or text, not {strings!r}")
    if strings is not None and full not in _RETRIEVED:
        msg = f"strings says what bare strings in retrieved are, so it has no effect on {name!r}; leave it out"
        raise ParameterError(msg)


def read_field(written: str) -> dict[str, str | dict[str, str]]:
    """Read a field as the command line has it: ``id=qid``, or ``retrieved=contexts:text``."""
    name, equals, path = written.partition("=")
    if not equals or not name.strip() or not path.strip():
        raise ParameterError(f"{_FORM}; not {written!r}")
    name, path = name.strip(), path.strip()
    stem, colon, strings = path.rpartition(":")
    place: str | dict[str, str] = path
    if colon and strings in _STRINGS and field_name(name) in _RETRIEVED:
        place = {"path": stem, "strings": strings}
    check_field(name, place)
    return {name: place}


def remapped(record: Mapping[str, Any], fields: FieldMap, separator: str = "") -> dict[str, Any]:
    """Return a copy of a record with the user's fields mapped onto ours; texts in place of lists are split."""
    mapped: dict[str, Any] = dict(record)
    for head, _, inner in (name.partition(".") for name in LISTS if separator):
        if isinstance(held := mapped.get(head), Mapping) and isinstance(held.get(inner), str):
            mapped[head] = {**held, inner: _split(held[inner], separator)}
    for name, place in fields.items():
        path, strings = (place, None) if isinstance(place, str) else (place["path"], place.get("strings"))
        value = value_at(record, path, _MISSING)
        if value is _MISSING:
            continue
        full = name if name in FIELDS else field_name(name)
        if separator and full in LISTS and isinstance(value, str):
            value = _split(value, separator)
        if strings == "text":
            value = _as_texts(value)
        head, _, inner = full.partition(".")
        if not inner:
            mapped[head] = value
        elif value is not None:
            nested = mapped.get(head)
            mapped[head] = {**(nested if isinstance(nested, Mapping) else {}), inner: value}
    return mapped


def _split(value: str, separator: str) -> list[str]:
    return [part.strip() for part in value.split(separator) if part.strip()]


def without_mapped(read: Readable, fields: FieldMap) -> Readable:
    """Return what was read of a remapped record; what `fields` reads, or what it leaves beside them, is not unread."""
    paths = {place if isinstance(place, str) else place["path"] for place in fields.values()}
    unread = tuple(each for each in read.unread if each.path not in paths and (each.place or each.meant))
    return read._replace(unread=unread) if unread != read.unread else read


def _as_texts(value: Any) -> Any:  # noqa: ANN401  # whatever the record holds
    """Return what was retrieved with its bare strings as texts."""
    if isinstance(value, Mapping):
        return {**value, "retrieved": _as_texts(value.get("retrieved"))}
    if isinstance(value, str) or not isinstance(value, Sequence):
        return value
    return [{"text": entry} if isinstance(entry, str) else entry for entry in value]


Kind = Literal["qrels", "run"]

NESTED = "positive_passages"
"""What Tevatron calls the passages that are relevant to a query, each with an id and a text."""

_ROLES: Mapping[Kind, tuple[str, ...]] = {
    "qrels": ("query", "document", "grade", "intent"),
    "run": ("query", "document", "score", "rank"),
}
_NUMBERS: Mapping[Kind, tuple[str, ...]] = {"qrels": ("grade",), "run": ("score", "rank")}
"""What a table may have a column of numbers for, of which it needs one; the first there is decides."""

_UNREAD = ("-", "_")
"""What a column is called that nothing reads, in the list of those of a file without a header."""

_USUAL: Mapping[str, Sequence[Sequence[str]]] = {
    "query": (("query_id", "qid", "q_id", "topic_id", "topic"), ("query",)),
    "document": (
        ("doc_id", "docno", "corpus_id", "document_id", "d_id", "did", "passage_id", "pid"),
        ("docid",),
        ("doc", "document"),
    ),
    "grade": (("relevance", "rel", "label", "grade", "gain", "rating"), ("score",)),
    "score": (("score", "sim"),),
    "rank": (("rank",),),
    "intent": (("subtopic_id", "subtopic", "intent_id", "intent"),),
}
"""
Usual names of each role, in tiers: a later one counts only if none of an earlier one is there. `query`, `doc` and
`document` are texts in many tables that have ids, too; `docid` is a number of the search engine's own beside `docno`.
"""


class Columns(NamedTuple):
    """The names of the columns that are read."""

    query: str
    document: str
    value: str | None  # the scores of a run, or the grades of judgments; None if the ranks order a run
    intent: str | None = None  # the subtopics that judgments are for
    rank: str | None = None  # the ranks of a run, from the best on
    letters: Mapping[str, float] = MappingProxyType({})  # what grades that are no numbers are worth

    @property
    def by_role(self) -> dict[str, str]:
        """Return the names of the columns that there are, by what frames of rows call them."""
        return {role: name for role, name in self._asdict().items() if name is not None and role != "letters"}


def check_columns(columns: Mapping[str, str] | None) -> None:
    """Raise a `DataError` for roles that do not exist; ``qrels.query`` or ``run.document`` name one table only."""
    known = list(dict.fromkeys(role for roles in _ROLES.values() for role in roles))
    known += [f"{kind}.{role}" for kind, roles in _ROLES.items() for role in roles]
    known += ["letters", "reader", *(f"{kind}.reader" for kind in _ROLES)]
    unknown = [role for role in columns or {} if role not in known and role not in _ROLES]
    hints = [did_you_mean(str(role), known) or f"; it may name {', '.join(known)}" for role in unknown]
    problems = [Problem(f"columns has {role!r}{hint}") for role, hint in zip(unknown, hints, strict=True)]
    letter_grades(columns)
    problems += [Problem(flaw) for kind in _ROLES if (flaw := _position_flaw(positions(columns, kind), kind))]
    refuse("the column names cannot be used:", problems)


def letter_grades(columns: Mapping[str, str] | None) -> dict[str, float]:
    """Return what grades that are no numbers are worth, as ``{"letters": "E=3,S=2,C=1,I=0"}`` says."""
    grades: dict[str, float] = {}
    for part in filter(None, (columns or {}).get("letters", "").split(",")):
        name, equals, number = (each.strip() for each in part.partition("="))
        value = read_number(number.encode())
        if not (name and equals) or math.isnan(value) or name in grades:
            raise ParameterError(f"letters are LETTER=NUMBER, each once, such as E=3,S=2,C=1,I=0; not {part.strip()!r}")
        grades[name] = value
    return grades


def reader_name(columns: Mapping[str, str] | None, kind: Kind) -> str:
    """Return the reader that was named for one kind of table; empty if the file says what it is."""
    given = columns or {}
    return given.get(f"{kind}.reader") or given.get("reader") or ""


def positions(columns: Mapping[str, str] | None, kind: Kind) -> tuple[str, ...]:
    """Return what the columns of files without a header are, as ``{"run": "query,document,rank"}`` lists them."""
    written = (columns or {}).get(kind)
    return tuple(role.strip() for role in written.split(",")) if isinstance(written, str) else ()


def is_unread(role: str) -> bool:
    """Return whether nothing reads a column of a file without a header."""
    return role in _UNREAD


def _position_flaw(roles: Sequence[str], kind: Kind) -> str:
    """Return what is wrong with a list of columns; empty if nothing is, or there is no list."""
    named = [role for role in roles if not is_unread(role)]
    shown = ",".join(roles)
    for role in named:
        if role not in _ROLES[kind]:
            known = f"{', '.join(_ROLES[kind])}, and {_UNREAD[0]} for a column that nothing reads"
            return f"{role!r} in {shown!r} is no column of {SUBJECTS[kind]}; known are {known}"
        if named.count(role) > 1:
            return f"{shown!r} has {role!r} twice"
    if roles and not {"query", "document"} <= set(named):
        return f"{shown!r} has no {'query' if 'query' not in named else 'document'}"
    return f"{shown!r} has no {' or '.join(_NUMBERS[kind])}" if roles and not set(_NUMBERS[kind]) & set(named) else ""


def own_names(columns: Mapping[str, str] | None, kind: Kind) -> dict[str, str]:
    """Return the user's names for one kind of table, by role; ``run.query`` beats ``query``."""
    given = columns or {}
    keys = [(role, key) for role in _ROLES[kind] for key in (role, f"{kind}.{role}")]
    return {role: given[key] for role, key in keys if key in given}


def find_columns(names: Sequence[str], kind: Kind, columns: Mapping[str, str] | None, *, source: str = "") -> Columns:
    """Return the columns of a table; a `DataError` names every column that is missing or ambiguous."""
    given = own_names(columns, kind)
    needed = ["query", "document"]
    numbers = [role for role in _NUMBERS[kind] if role in given or _usual(names, role)]
    needed += numbers or _NUMBERS[kind][:1]
    if kind == "qrels" and ("intent" in given or _usual(names, "intent")):
        needed.append("intent")
    chosen = {role: [n for n in names if n == given[role]] if role in given else _usual(names, role) for role in needed}
    if "score" in chosen and "rank" not in given and len(chosen.get("rank", ())) > 1:
        del chosen["rank"]  # scores order anyway
    problems = [
        Problem(_wrong(names, kind, role, given.get(role), fitting), source)
        for role, fitting in chosen.items()
        if len(fitting) != 1
    ]
    refuse(f"{SUBJECTS[kind]} cannot be read as a table:", problems)
    found: dict[str, str] = {role: name for role, (name,) in chosen.items()}
    value = found.get("grade" if kind == "qrels" else "score")
    letters = letter_grades(columns) if kind == "qrels" else {}
    return Columns(found["query"], found["document"], value, found.get("intent"), found.get("rank"), letters)


def is_header(fields: Sequence[str], kind: Kind, columns: Mapping[str, str] | None) -> bool:
    """Return whether the first line of a file names columns: all of the usual ones, or one that the user named."""
    is_named = any(name in fields for name in own_names(columns, kind).values())
    has_number = any(_usual(fields, role) for role in _NUMBERS[kind])
    return is_named or (has_number and all(_usual(fields, role) for role in ("query", "document")))


def _usual(names: Sequence[str], role: str) -> list[str]:
    folded = {name: name.lower().replace("-", "_").replace(" ", "_") for name in names}
    by_tier = ([name for name in names if folded[name] in tier] for tier in _USUAL[role])
    return next(filter(None, by_tier), [])


def _wrong(names: Sequence[str], kind: Kind, role: str, given: str | None, chosen: Sequence[str]) -> str:
    listed = ", ".join(map(repr, names)) or "none at all"
    if chosen:
        several = " or ".join(map(repr, chosen))
        return f"the {role} could be {several}; say which with columns={{{role!r}: {chosen[0]!r}}}"
    if given is not None:
        both = "" if role not in {"query", "document"} else f" (for the {kind} alone, write {kind + '.' + role!r})"
        return (
            f"there is no column {given!r} for the {role}{did_you_mean(given, names)}; the columns are {listed}{both}"
        )
    usual = ", ".join(name for tier in _USUAL[role] for name in tier)
    usual += ", or rank, which orders ascending" if role == "score" else ""
    return (
        f"no column for the {role}; the columns are {listed}; name one with columns={{{role!r}: ...}}, or rename it to "
        f"one of {usual}"
    )
