"""
Lock files: what `rankgauge plugins lock` writes, and what `plugins.locked` of a config names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from rankgauge.base.frozen import plain
from rankgauge.errors import ConfigError, Problem
from rankgauge.io.documents import decode_text
from rankgauge.io.files import read_bytes, sha256
from rankgauge.io.whole_files import replace_file
from rankgauge.io.yaml_documents import read_yaml
from rankgauge.planning.lock import Lock, Locked, LockedPart

__all__ = ["read_lock", "remedy", "write_lock"]

_HEADER = """\
# Written by `rankgauge plugins lock`: what the metrics and matchers of a config mean, and who provides them; and the
# commands of plugins.
# A config that names this file (plugins: {locked: ...}) refuses to run with anything else.
"""
_SHARED = ("policy", "conventions")  # parts of a definition that all metrics of a config share, written once


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class _Metric(_Model):
    name: str
    alias: str
    distribution: str
    version: str
    fingerprint: str
    names: list[str]
    definition: dict[str, Any]
    source: str = ""
    parts: list[LockedPart] = []


class _Matcher(_Model):
    name: str
    fingerprint: str
    definition: dict[str, Any]
    parts: list[LockedPart]


class _File(_Model):
    schema_version: Literal["rankgauge.lock.v2"]
    metrics: list[_Metric]
    matchers: list[_Matcher]
    policy: dict[str, Any]
    conventions: dict[str, Any]
    commands: list[LockedPart] | None = None  # there are none in locks that were written before they were locked


def remedy(config: Path) -> str:
    """Return what to do about an intended change, for messages."""
    return f"; if the change is intended, write the lock again: `rankgauge plugins lock {config}`"


def read_lock(path: Path, config: Path) -> Lock:
    """Read a lock file; *config*, which it locks, is named in messages."""
    name = str(path)
    again = f"`rankgauge plugins lock {config}` writes it"
    data = read_bytes(path, hint=again)
    document = read_yaml(decode_text(data, name), name)
    try:
        file = _File.model_validate(document.value)
    except ValidationError as error:
        details = [(detail["msg"], detail["loc"]) for detail in error.errors(include_url=False)]
        problems = [Problem(why, name, document.lines.get(at), ".".join(map(str, at))) for why, at in details]
        what = f"{name} is not a lock file this version of rankgauge can read"
        raise ConfigError(f"{what}; {again} again:", problems) from error
    shared = {"policy": file.policy, "conventions": file.conventions}
    entries = []
    for metric in file.metrics:
        provider = LockedPart(metric.alias, metric.distribution, metric.version, "metric", metric.source)
        meaning, parts = {**metric.definition, **shared}, (provider, *metric.parts)
        entries.append(Locked("metric", metric.name, meaning, metric.fingerprint, parts, tuple(metric.names)))
    entries += [Locked("matcher", m.name, m.definition, m.fingerprint, tuple(m.parts)) for m in file.matchers]
    commands = None if file.commands is None else tuple(file.commands)
    return Lock(name, tuple(entries), remedy(config), name, sha256(data), commands)


def write_lock(lock: Lock, path: Path) -> None:
    """Write a lock file; it is complete, or as it was."""
    text = _HEADER + yaml.dump(_document(lock), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    try:
        replace_file(path, text.encode())
    except OSError as error:
        problem = Problem(f"{error.strerror or error}; nothing was written", str(path))
        raise ConfigError(f"cannot write the lock {path}:", [problem]) from error


def _document(lock: Lock) -> dict[str, Any]:
    metrics = [entry for entry in lock.entries if entry.kind == "metric"]
    matchers = [entry for entry in lock.entries if entry.kind == "matcher"]
    shared = {key: plain(metrics[0].definition[key]) if metrics else {} for key in _SHARED}
    written = [(entry, {"fingerprint": entry.fingerprint, "definition": plain(entry.definition)}) for entry in matchers]
    parts = [{"name": entry.name, **meaning, "parts": list(entry.parts)} for entry, meaning in written]
    listed: dict[str, Any] = {"metrics": list(map(_metric, metrics)), "matchers": parts}
    if lock.commands is not None:
        listed["commands"] = list(lock.commands)
    return {"schema_version": "rankgauge.lock.v2", **listed, **shared}


def _metric(entry: Locked) -> dict[str, Any]:
    provider, *parts = entry.parts
    return {
        "name": entry.name,
        "alias": provider.name,
        "distribution": provider.distribution,
        "version": provider.version,
        "fingerprint": entry.fingerprint,
        **({"source": provider.source} if provider.source else {}),
        "names": _Line(entry.names),
        "definition": {key: plain(value) for key, value in entry.definition.items() if key not in _SHARED},
        **({"parts": parts} if parts else {}),
    }


class _Line(tuple[str, ...]):
    """Names that are written on one line."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Writes YAML that `read_yaml` reads back unchanged; unlike PyYAML, that reads ``12e34`` as a number."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    is_plain = re.match(r"[A-Za-z_]", text) is not None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if is_plain else '"')


def _line(dumper: yaml.SafeDumper, items: Iterable[str]) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=True)


def _part(dumper: yaml.SafeDumper, part: LockedPart) -> yaml.MappingNode:
    written = {name: value for name, value in part._asdict().items() if name != "source" or value}
    return dumper.represent_mapping("tag:yaml.org,2002:map", written, flow_style=True)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(_Line, _line)
_Dumper.add_representer(LockedPart, _part)
