"""
Profiles for the numbers of other tools: one file a tool in `tools`, read when its name is asked for.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rankgauge.base.frozen import FrozenMap
from rankgauge.errors import PolicyError, RankgaugeError
from rankgauge.expression import MetricExpression, parse
from rankgauge.plugin.named_data import ProfileSpec, read_profile
from rankgauge.policy import Profile
from rankgauge.tool_measures import Tool, ToolMeasure

__all__ = ["tool_names", "tool_of", "tool_spec", "with_tool"]

_FOLDER = Path(__file__).parent / "tools"

Alias = Callable[[MetricExpression], str]
"""Returns the alias of the metric that an expression names."""


@functools.cache
def tool_names() -> tuple[str, ...]:
    """Return the tools that have a profile, sorted; no file is read."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


@functools.cache
def _document(name: str) -> Mapping[str, Any]:
    import tomllib  # few ask for a profile of a tool

    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def tool_spec(name: str) -> ProfileSpec:
    """Return what the profile of a tool changes of another."""
    return read_profile(_document(name)["profile"])


def tool_of(name: str) -> Tool:
    """Return what a file says of a tool and its measures, whose names of ours are not resolved."""
    document = _document(name)
    return Tool(
        title=document["title"],
        package=document.get("package", ""),
        version=document["version"],
        held=document["held"],
        notes=tuple(document.get("notes", ())),
        measures=tuple(
            ToolMeasure(
                name=entry.get("name", ""),
                expression=parse(entry.get("is", entry.get("name", ""))),
                written=tuple(entry.get("written", ())),
                says=entry.get("says", ""),
                refused=entry.get("refused", ""),
                differs=entry.get("differs", ""),
            )
            for entry in document["measures"]
        ),
    )


def with_tool(profile: Profile, name: str, alias_of: Alias) -> Profile:
    """Return a profile with the measures of a tool, by the aliases of the metrics that our names for them mean."""
    tool = tool_of(name)
    try:
        aliases = {alias_of(MetricExpression(each.name)): each for each in tool.measures if each.name}
    except RankgaugeError as error:
        raise PolicyError(f"profile {name!r}: {error}") from error
    return dataclasses.replace(profile, tool=dataclasses.replace(tool, aliases=FrozenMap(aliases)))
