"""
Extension of the site's reader of sources (`mkdocs.yml`): classes made by our `dataclass` are shown as dataclasses.

It knows them by the decorator of the standard library, which ours stands for.
"""

from __future__ import annotations

from typing import Any

import griffe

__all__ = ["OwnDataclasses"]

OURS = "rankgauge.base.dataclass.dataclass"


class OwnDataclasses(griffe.Extension):
    """Gives our decorator the name of the one in the standard library, before signatures are made from it."""

    def on_class_instance(self, *, cls: griffe.Class, **_: Any) -> None:  # noqa: ANN401  # of the reader
        """Rename the decorator of a class."""
        for decorator in cls.decorators:
            value = decorator.value
            name = value.function if isinstance(value, griffe.ExprCall) else value
            if isinstance(name, griffe.ExprName) and name.canonical_path == OURS:
                name.parent = griffe.ExprName("dataclasses")
                cls.labels.add("dataclass")
