"""The pytest plugin by its public name, under which pytest loads it, and for annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankgauge.features.pytest_plugin import RankgaugeEval

__all__ = ["RankgaugeEval"]

pytest_plugins = ("rankgauge.features.pytest_plugin",)


def __getattr__(name: str) -> Any:  # noqa: ANN401  # the one name above
    # pytest loads what it names itself, and warns of a plugin that was imported before.
    if name in __all__:
        from rankgauge.features.pytest_plugin import RankgaugeEval

        return RankgaugeEval
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
