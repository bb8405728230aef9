"""A compiled kernel for rankgauge, found by its hook and used wherever it is installed."""

from __future__ import annotations

from types import ModuleType

from rankgauge.plugin import hookimpl

__all__ = ["rankgauge_kernel"]

RANKGAUGE_API = (1, 0)


@hookimpl
def rankgauge_kernel() -> ModuleType | None:
    """Return the kernel; None if there was no C compiler when this was installed."""
    try:
        from rankgauge_fast import _kernel  # noqa: PLC0415  # it may be absent
    except ImportError:
        return None
    return _kernel
