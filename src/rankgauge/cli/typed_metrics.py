"""
Metrics as they are typed: expressions, and functions of the user's own as ``file.py:function@10``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from rankgauge.cli.system_under_test import imported
from rankgauge.expression import parse_many
from rankgauge.planning.requests import MetricSpec

__all__ = ["typed_metrics"]

_OF_USER = re.compile(r"(?P<function>[^()@]+:[A-Za-z_][\w.]*)(?P<rest>[(@].*)?", re.DOTALL)


def typed_metrics(written: Iterable[str]) -> list[MetricSpec]:
    """
    Return metrics as an evaluation takes them, functions imported.

    What follows a function is read as behind the name of any metric: ``mine.py:recent(since=2025)@5,10``.

    Raises:
        ParameterError: A function that cannot be imported.

        ExpressionError: What follows a function is no expression of a metric.
    """
    metrics: list[MetricSpec] = []
    for text in written:
        own = _OF_USER.fullmatch(text.strip())
        if own is None:
            metrics.append(text)
            continue
        function: Any = imported(own["function"], "-m")
        for expression in parse_many(f"{own['function'].rpartition(':')[2]}{own['rest'] or ''}"):
            cutoff: dict[str, Any] = {} if expression.k is None else {"k": [expression.k]}  # which names the column
            if expression.unit is not None:
                cutoff = {"budget": f"{expression.k:g}{expression.unit}"}
            metrics.append({"metric": function, **dict(expression.params), **cutoff})
    return metrics
