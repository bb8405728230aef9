"""
What several commands share: the environment's say about plugins, and engines from what was typed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankgauge.catalog import Catalog
    from rankgauge.engine import Engine

__all__ = ["disabled_plugins", "make_catalog", "make_engine", "no_plugins"]


def disabled_plugins() -> list[str]:
    """Return the distributions that RANKGAUGE_DISABLE_PLUGINS lists, separated by commas."""
    return [name.strip() for name in os.environ.get("RANKGAUGE_DISABLE_PLUGINS", "").split(",") if name.strip()]


def no_plugins() -> bool:
    """Return whether RANKGAUGE_NO_PLUGINS switches every plugin but rankgauge's own off."""
    return os.environ.get("RANKGAUGE_NO_PLUGINS", "") not in {"", "0"}


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
