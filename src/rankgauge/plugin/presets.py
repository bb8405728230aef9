"""
Preset declarations: where the records of another tool have what a sample consists of, as data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rankgauge.base.frozen import freeze_fields
from rankgauge.errors import DeclarationError, did_you_mean
from rankgauge.plugin.signature import Authored, declaring, plain_name
from rankgauge.samples import FIELDS

__all__ = ["Preset", "Steps", "preset", "read_path"]

RETRIEVED = "actual_output.retrieved"
ITEM_KEYS = ("id", "text", "score")
_TARGETS = (*FIELDS, *(f"{RETRIEVED}.{key}" for key in ITEM_KEYS))

Steps = tuple[tuple[str, tuple[str, ...]], ...]
"""A path as it is followed: names, each with what stands in the brackets behind it."""

_STEP = re.compile(r"([^.\[\]]*)((?:\[[^\[\]]*\])*)")
_SELECTOR = re.compile(r"|-?\d+|[^=]+=.*")


@dataclass(frozen=True, slots=True)
class Preset(Authored):
    """Where the records of a tool have the fields of samples; the fields are the arguments of `preset`."""

    name: str
    function: Callable[[], None]  # its docstring says whose records they are
    fields: Mapping[str, tuple[str, ...]]
    items: Mapping[str, tuple[str, ...]]
    marks: tuple[tuple[str, ...], ...]
    records: tuple[str, ...] = ()
    separator: str = ""

    def __post_init__(self) -> None:
        freeze_fields(self)


Places = str | Sequence[str]


def preset(
    name: str,
    *,
    fields: Mapping[str, Places],
    marks: Sequence[Sequence[str]],
    items: Mapping[str, Places] | None = None,
    records: Places = (),
    separator: str = "",
) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """
    Declare a preset; the decorated function's docstring says whose records it reads.

        @preset(
            "our-search",
            fields={"id": "qid", "expected_output.relevant": "gold[].doc", "actual_output.retrieved": "hits"},
            items={"id": "doc", "text": ("body", "title"), "score": "bm25"},
            marks=[("qid", "hits[].doc")],
        )
        def our_search() -> None:
            \"\"\"The log of our search.\"\"\"

    A path is names joined by dots, and may have brackets behind a name: ``gold[]`` (each of a list), ``messages[-1]``
    (one of it), ``messages[role=tool]`` (a list of those whose field has that value), and ``*`` for any name. A name
    may itself have dots. Of several paths the first counts that leads to a usable value.

    Args:
        name: Lower-case words joined by hyphens; ``--preset NAME`` uses it.

        fields: Where records have a field of samples, such as ``expected_output.passages``; parallel lists of what was
            retrieved are ``actual_output.retrieved.id``, ``.text`` and ``.score``. A record without an id is called by
            its line or its place.

        marks: Sets of paths; a record that has all paths of a set is recognized.

        items: Where an object of `actual_output.retrieved` has its `id`, `text` and `score`. Bare strings are texts.

        records: Where a document has its list of records, or a map of them; none where it is one record.

        separator: What stands between the entries of a list in one text, unless the user names another.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: a name, a field or a path that cannot be used, or no marks.
    """

    def declare(function: Callable[[], None]) -> Preset:
        what = f"preset {name!r}"
        if not marks or isinstance(marks, str) or not all(marks):
            raise DeclarationError(f"{what} needs marks: the paths by which its records are recognized")
        return Preset(
            plain_name(name),
            function,
            _checked(what, fields, _TARGETS),
            _checked(what, items or {}, ITEM_KEYS),
            tuple(_paths(what, mark) for mark in marks),
            _paths(what, records),
            separator,
        )

    return declaring(declare)


def read_path(path: str) -> Steps:
    """Return the steps of a path, none of an empty one; raise `DeclarationError` for brackets that do not close."""
    steps: list[tuple[str, tuple[str, ...]]] = []
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None or step.end() == at or path[step.end() : step.end() + 1] not in {"", "."}:
            raise DeclarationError(f"{path!r} is not a path such as hits[].doc.id or messages[role=tool][].content")
        selectors = tuple(re.findall(r"\[(.*?)\]", step[2]))
        if bad := [selector for selector in selectors if not _SELECTOR.fullmatch(selector)]:
            raise DeclarationError(f"{path!r} cannot be followed: [{bad[0]}] is neither [], a number nor [name=value]")
        steps.append((step[1], selectors))
        at = step.end() + 1
    return tuple(steps)


def _checked(what: str, given: Mapping[str, Places], known: Sequence[str]) -> dict[str, tuple[str, ...]]:
    for key in given:
        if key not in known:
            raise DeclarationError(
                f"{what} has no {key!r}{did_you_mean(str(key), known)}; known are {', '.join(known)}"
            )
    return {key: _paths(what, places) for key, places in given.items()}


def _paths(what: str, given: Places) -> tuple[str, ...]:
    paths = (given,) if isinstance(given, str) else tuple(given)
    for path in paths:
        if not isinstance(path, str):
            raise DeclarationError(f"a path of {what} is a text, not {path!r}")
        read_path(path)
    return paths
