"""
The facade: an engine knows datasets and plugins, an evaluation resolves, runs and scores.

Names are loaded when they are first used: evaluating a run needs nothing of what reads samples.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankgauge.engine.engine import Engine
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.engine.runs import evaluate, evaluate_runs
    from rankgauge.engine.values import SampleScore

__all__ = ["Engine", "Evaluation", "SampleScore", "evaluate", "evaluate_runs"]

_HOMES = {
    "Engine": "rankgauge.engine.engine",
    "Evaluation": "rankgauge.engine.evaluation",
    "SampleScore": "rankgauge.engine.values",
    "evaluate": "rankgauge.engine.runs",
    "evaluate_runs": "rankgauge.engine.runs",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever the name stands for
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    msg = f"module 'rankgauge.engine' has no attribute {name!r}"
    raise AttributeError(msg)
