"""
YAML documents, read safely, with the line of every value.

Values are built from the parser's events, not by PyYAML's constructors: that makes nothing but plain data, refuses
duplicate keys, bounds nesting and what aliases expand to, and reads scalars as JSON would (``2023-05-20``, ``007``
and ``no`` stay strings).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

import yaml

from rankgauge.io.documents import Path
from rankgauge.io.problems import unreadable

__all__ = ["Document", "read_yaml"]

_MAX_DEPTH = 100
_MAX_EXPANDED = 1_000_000
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+|(?:0|[1-9][0-9]*)(?=[eE]))(?:[eE][-+]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ].*)?")
_SPECIAL = {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf, ".nan": math.nan}
_CONSTANTS: Mapping[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}
_TAG = "tag:yaml.org,2002:"


class Document(NamedTuple):
    """A YAML document as plain data, with the line, from 1, of every value by its path."""

    value: Any  # whatever the document holds
    lines: Mapping[Path, int]
    dates: Collection[Path] = ()  # of the strings that are dates without quotes


def read_yaml(text: str, name: str) -> Document:
    """Read one YAML document; an `UnreadableError` says what is not valid YAML or not allowed."""
    reader = _Reader(name, yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    try:
        return Document(reader.document(), reader.lines, reader.dates)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or str(error).partition("\n")[0]
        line = None if mark is None else mark.line + 1
        if what == "exceeded maximum nesting depth":  # of libyaml, which looks ahead
            reader.fail_for_depth(line)
        if line is not None and _has_tab(text.splitlines()[line - 1 : line]):
            what = "the line is indented with a tab; YAML takes spaces only"
        reader.fail(f"not valid YAML: {what}", line)


def _has_tab(lines: list[str]) -> bool:
    """Return whether a line, if there is one, is indented with a tab."""
    return any("\t" in line[: len(line) - len(line.lstrip())] for line in lines)


class _Reader:
    """Turns a parser's events into plain data, value by value."""

    def __init__(self, name: str, events: Iterator[yaml.Event]) -> None:
        self.name = name
        self.events = events
        self.lines: dict[Path, int] = {}
        self.dates: list[Path] = []
        self.anchors: dict[str, tuple[Any, int]] = {}  # what is complete, each with the number of values in it
        self.expanded = 0

    def fail(self, message: str, line: int | None) -> NoReturn:
        raise unreadable(self.name, message, line)

    def fail_for_depth(self, line: int | None) -> NoReturn:
        self.fail(f"the nesting is deeper than {_MAX_DEPTH}", line)

    def document(self) -> Any:  # noqa: ANN401  # plain data
        documents, root = 0, None
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self.fail("the file holds more than one YAML document; keep one", _line(event))
                root, _ = self.value(next(self.events), ())
        return root

    def value(self, event: Any, path: Path) -> tuple[Any, int]:  # noqa: ANN401  # of a kind that begins a value
        """Return the value that begins with an event, and how many values are in it, itself included."""
        line = _line(event)
        self.lines.setdefault(path, line)
        if isinstance(event, yaml.AliasEvent):
            return self.alias(str(event.anchor), line)
        if isinstance(event, yaml.ScalarEvent):
            read = self.scalar(event, line), 1
            if event.implicit[0] and not event.tag and _DATE.fullmatch(event.value):
                self.dates.append(path)
        else:
            if event.tag not in {None, "!", f"{_TAG}seq", f"{_TAG}map"}:
                self.fail(f"the tag {event.tag!r} is not allowed: only plain data is read", line)
            if len(path) >= _MAX_DEPTH:
                self.fail_for_depth(line)
            read = self.items(path) if isinstance(event, yaml.SequenceStartEvent) else self.entries(path)
        if event.anchor:
            self.anchors[event.anchor] = read
        return read

    def alias(self, anchor: str, line: int) -> tuple[Any, int]:
        if anchor not in self.anchors:
            self.fail(f"alias *{anchor} refers to nothing that is complete before it", line)
        value, size = self.anchors[anchor]
        self.expanded += size
        if self.expanded > _MAX_EXPANDED:
            self.fail(f"the aliases expand to more than {_MAX_EXPANDED:,} values; write them out", line)
        return value, size

    def items(self, path: Path) -> tuple[list[Any], int]:
        items: list[Any] = []
        total = 1
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            item, size = self.value(event, (*path, len(items)))
            items.append(item)
            total += size
        return items, total

    def entries(self, path: Path) -> tuple[dict[Any, Any], int]:
        entries: dict[Any, Any] = {}
        merged: dict[Any, Any] = {}
        total = 1
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            is_merge = isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0]
            key, key_size = ("<<", 1) if is_merge else self.key(event, entries, path)
            value, size = self.value(following := next(self.events), (*path, key))
            total += key_size + size
            if not is_merge:
                entries[key] = value
                continue
            for part in value if isinstance(value, list) else [value]:
                if not isinstance(part, dict):
                    self.fail("<< merges mappings only", _line(following))
                for name, inner in part.items():
                    merged.setdefault(name, inner)
        for name, inner in merged.items():
            entries.setdefault(name, inner)
        return entries, total

    def key(self, event: yaml.Event, entries: Mapping[Any, Any], path: Path) -> tuple[Any, int]:
        line = _line(event)
        key, size = self.value(event, path)
        if isinstance(key, list | dict):
            self.fail("a list or mapping cannot be a key", line)
        if key in entries:
            first = self.lines.get((*path, key))
            self.fail(f"duplicate key {key!r}" + (f"; it is also in line {first}" if first else ""), line)
        self.lines.setdefault((*path, key), line)
        return key, size

    def scalar(self, event: yaml.ScalarEvent, line: int) -> Any:  # noqa: ANN401  # plain data
        text: str = event.value
        tag = (event.tag or "").removeprefix(_TAG)
        if tag in {"str", "!"} or (not tag and not event.implicit[0]):
            return text
        if tag not in {"", "int", "float", "bool", "null"}:
            self.fail(f"the tag {event.tag!r} is not allowed: only plain data is read", line)
        if text.lower() in _CONSTANTS and (text in {"", "~"} or text in {text.lower(), text.title(), text.upper()}):
            return _CONSTANTS[text.lower()]
        if _INT.fullmatch(text):
            if len(text) > 1000:
                self.fail("an integer of more than 1,000 digits", line)
            return int(text)
        if _FLOAT.fullmatch(text):
            return float(text)
        return _SPECIAL.get(text.lower(), text)


def _line(event: yaml.Event) -> int:
    return 1 if event.start_mark is None else event.start_mark.line + 1
