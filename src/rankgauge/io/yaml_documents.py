"""
YAML documents, read safely, with the line of every value.

Values are built from the parser's events, not by PyYAML's constructors: that makes nothing but plain data, refuses
duplicate keys, bounds nesting and what aliases expand to, and reads scalars as JSON would (``2023-05-20``, ``007``
and ``no`` stay strings).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

import yaml

from rankgauge.io.documents import Path
from rankgauge.io.problems import unreadable

__all__ = ["Document", "read_yaml"]

_MAX_DEPTH = 100
_MAX_EXPANDED = 1_000_000
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+|(?:0|[1-9][0-9]*)(?=[eE]))(?:[eE][-+]?[0-9]+)?")
_SPECIAL = {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf, ".nan": math.nan}
_CONSTANTS: Mapping[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}
_TAG = "tag:yaml.org,2002:"


class Document(NamedTuple):
    """A YAML document as plain data, with the line, from 1, of every value by its path."""

    value: Any  # whatever the document holds
    lines: Mapping[Path, int]


def read_yaml(text: str, name: str) -> Document:
    """Read one YAML document; an `UnreadableError` says what is not valid YAML or not allowed."""
    builder = _Builder(name)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or str(error).partition("\n")[0]
        line = None if mark is None else mark.line + 1
        if line is not None and _has_tab(text.splitlines()[line - 1 : line]):
            what = "the line is indented with a tab; YAML takes spaces only"
        builder.fail(f"not valid YAML: {what}", line)
    return Document(builder.root, builder.lines)


def _has_tab(lines: list[str]) -> bool:
    """Return whether a line, if there is one, is indented with a tab."""
    return any("\t" in line[: len(line) - len(line.lstrip())] for line in lines)


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being read."""

    value: list[Any] | dict[Any, Any]
    path: Path
    anchor: str | None
    size: int = 1
    has_key: bool = False
    key: Any = None
    merged: list[dict[Any, Any]] = field(default_factory=list)


class _Builder:
    """Turns parser events into plain data."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.root: Any = None
        self.lines: dict[Path, int] = {}
        self.documents = 0
        self.stack: list[_Open] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.expanded = 0

    def fail(self, message: str, line: int | None) -> NoReturn:
        raise unreadable(self.name, message, line)

    def take(self, event: yaml.Event) -> None:
        line = 1 if event.start_mark is None else event.start_mark.line + 1
        match event:
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    self.fail("the file holds more than one YAML document; keep one", line)
            case yaml.ScalarEvent():
                value = self.scalar(event, line)
                if event.anchor:
                    self.anchors[event.anchor] = (value, 1)
                self.put(value, 1, line, is_merge=event.value == "<<" and event.implicit[0])
            case yaml.AliasEvent():
                self.put(*self.alias(str(event.anchor), line), line)
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                self.open(event, line)
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self.close(line)

    def alias(self, anchor: str, line: int) -> tuple[Any, int]:
        if anchor not in self.anchors:
            self.fail(f"alias *{anchor} refers to nothing that is complete before it", line)
        value, size = self.anchors[anchor]
        self.expanded += size
        if self.expanded > _MAX_EXPANDED:
            self.fail(f"the aliases expand to more than {_MAX_EXPANDED:,} values; write them out", line)
        return value, size

    def open(self, event: yaml.SequenceStartEvent | yaml.MappingStartEvent, line: int) -> None:
        if event.tag not in {None, "!", f"{_TAG}seq", f"{_TAG}map"}:
            self.fail(f"the tag {event.tag!r} is not allowed: only plain data is read", line)
        if len(self.stack) >= _MAX_DEPTH:
            self.fail(f"the nesting is deeper than {_MAX_DEPTH}", line)
        path = self.path()
        self.lines.setdefault(path, line)
        self.stack.append(_Open([] if isinstance(event, yaml.SequenceStartEvent) else {}, path, event.anchor))

    def close(self, line: int) -> None:
        done = self.stack.pop()
        for extra in done.merged:
            for key, value in extra.items():
                done.value.setdefault(key, value)  # type: ignore[union-attr]  # only mappings merge
        if done.anchor:
            self.anchors[done.anchor] = (done.value, done.size)
        self.put(done.value, done.size, line)

    def path(self) -> Path:
        if not self.stack:
            return ()
        top = self.stack[-1]
        return (*top.path, len(top.value) if isinstance(top.value, list) else top.key)

    def put(self, value: Any, size: int, line: int, *, is_merge: bool = False) -> None:  # noqa: ANN401  # plain data
        if not self.stack:
            self.root = value
            self.lines.setdefault((), line)
            return
        top = self.stack[-1]
        top.size += size
        if isinstance(top.value, list):
            self.lines.setdefault((*top.path, len(top.value)), line)
            top.value.append(value)
        elif not top.has_key:
            if isinstance(value, list | dict):
                self.fail("a list or mapping cannot be a key", line)
            if not is_merge and value in top.value:
                first = self.lines.get((*top.path, value))
                self.fail(f"duplicate key {value!r}" + (f"; it is also in line {first}" if first else ""), line)
            top.has_key, top.key = True, _MERGE if is_merge else value
            if not is_merge:
                self.lines.setdefault((*top.path, value), line)
        else:
            top.has_key = False
            if top.key is _MERGE:
                self.merge(top, value, line)
            else:
                top.value[top.key] = value

    def merge(self, top: _Open, value: Any, line: int) -> None:  # noqa: ANN401  # plain data
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, dict) for part in parts):
            self.fail("<< merges mappings only", line)
        top.merged += parts

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


_MERGE = object()
