"""
Systems: the system under test of a config, made and called from Python, with results that are saved as they arrive.

    engine = Engine.from_config("rankgauge.yaml")
    with closing(engine.system({"k": 50})) as system:
        result = resumable_run(engine.dataset("questions"), system, Path("runs/k-50"))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankgauge.engine.configured_system import ConfiguredSystem
from rankgauge.engine.resumable_runs import resumable_run

__all__ = ["ConfiguredSystem", "import_function", "resumable_run"]


def import_function(name: str, what: str) -> Callable[..., Any]:
    """
    Import a function that an option names, as ``rankgauge run --sut`` does.

        rerank = import_function("rerank.py:by_date", "rerank.by")

    Args:
        name: ``module:function`` or ``file.py:function``; modules are looked up in the working directory first.

        what: What messages call the option.

    Returns:
        The function.

    Raises:
        ParameterError: It is no such name, or cannot be imported, or cannot be called.
    """
    from rankgauge.cli.system_under_test import imported

    return imported(name, what)
