"""
What several commands share: the environment's say about plugins, and engines from what was typed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankgauge.catalog import Catalog
    from rankgauge.engine.engine import Engine

__all__ = ["make_catalog", "make_engine", "policy_options"]


def make_catalog(own: Collection[str] | None = None) -> Catalog:
    """
    Return a catalog of everything installed that the environment does not disable.

    Args:
        own: Which of rankgauge's own plugins are needed, such as `metrics`; None for all of them.

    Returns:
        The catalog.
    """
    from rankgauge.catalog import Catalog
    from rankgauge.catalog.environment import disabled_plugins, no_plugins

    return Catalog.discover(disable=disabled_plugins(), own_only=no_plugins(), own=own)


def make_engine(config: Path | None) -> Engine:
    """Return an engine, from a config file if one is given."""
    from rankgauge.catalog.environment import disabled_plugins, no_plugins
    from rankgauge.engine.engine import Engine

    if config is None:
        return Engine(catalog=make_catalog())
    return Engine.from_config(config, disable=disabled_plugins(), own_only=no_plugins())


def policy_options(written: Sequence[str] | None, **others: object) -> dict[str, Any]:
    """
    Return the policy options that were typed, read as a config would read them.

    Args:
        written: Such as ``order=score``.

        **others: Options that have a letter or a word of their own on the command line; None where not given.

    Returns:
        Values by name.
    """
    options: dict[str, Any] = {}
    for option in written or ():
        name, equals, value = option.partition("=")
        if not equals:
            from rankgauge.errors import ParameterError

            msg = f"--policy is NAME=VALUE, such as order=score, not {option!r}"
            raise ParameterError(msg)
        from rankgauge.io.documents import read_yaml

        options[name.strip()] = read_yaml(value.strip(), "--policy").value
    return {**options, **{name: value for name, value in others.items() if value is not None}}
