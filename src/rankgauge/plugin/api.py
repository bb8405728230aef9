"""
The version of the plugin API, and whether a plugin that was written for another one can be used.
"""

from __future__ import annotations

__all__ = ["API", "ATTRIBUTE", "why_unusable"]

API = (1, 0)
"""
The version of everything that `rankgauge.plugin` offers: MAJOR goes up when something goes or changes, MINOR when
something is added. A plugin that needs at least some version says so: ``RANKGAUGE_API = (1, 0)``.
"""

ATTRIBUTE = "RANKGAUGE_API"


def why_unusable(wanted: object) -> str:
    """Return why a plugin that asks for a version of the API cannot be used, and what to do; empty if it can."""
    ours = _written(API)
    is_version = isinstance(wanted, tuple) and len(wanted) == len(API) and all(type(part) is int for part in wanted)
    if not is_version:
        return f"{ATTRIBUTE} is the plugin API that it was written for, such as {API!r}, not {wanted!r}"
    if wanted > API:  # type: ignore[operator]  # a tuple of two numbers
        return f"it needs plugin API {_written(wanted)}, and this rankgauge has {ours}; `pip install -U rankgauge`"
    if wanted[0] < API[0]:  # type: ignore[index]  # as above
        return f"it was written for plugin API {_written(wanted)}, and this rankgauge has {ours}; update the plugin"
    return ""


def _written(version: object) -> str:
    return ".".join(map(str, version)) if isinstance(version, tuple) else str(version)
