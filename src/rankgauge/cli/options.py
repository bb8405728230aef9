"""
What several commands share: the environment's say about plugins, and engines from what was typed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.environment import disabled_plugins, no_plugins

if TYPE_CHECKING:
    from rankgauge.catalog import Catalog
    from rankgauge.engine import Engine

__all__ = ["make_catalog", "make_engine"]


def make_catalog() -> Catalog:
    """Return a catalog of everything installed that the environment does not disable."""
    from rankgauge.catalog import Catalog

    return Catalog.discover(disable=disabled_plugins(), own_only=no_plugins())


def make_engine(config: Path | None) -> Engine:
    """Return an engine, from a config file if one is given."""
    from rankgauge.engine import Engine

    if config is None:
        return Engine(catalog=make_catalog())
    return Engine.from_config(config, disable=disabled_plugins(), own_only=no_plugins())
