"""
Sending: how an evaluation is pickled, and held to what it meant where it comes from.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from rankgauge.errors import RankgaugeError
from rankgauge.evaluation.lock import lock_columns
from rankgauge.pickling import check_picklable, itself

if TYPE_CHECKING:
    from rankgauge.engine.evaluation import Evaluation

__all__ = ["packed", "unpacked"]

_ORIGIN = "of the process that sent this evaluation"
_REMEDY = "; install the same distributions in every process"


def packed(evaluation: Evaluation) -> dict[str, Any]:
    """
    Return what an evaluation is sent as.

    Args:
        evaluation: The evaluation.

    Returns:
        Its fields, with a lock over its metrics as they are here.

    Raises:
        NotPicklableError: A metric that is a function nobody can import.
    """
    for metric in evaluation.metrics:
        if callable(metric):
            check_picklable(metric, f"metric {getattr(metric, '__name__', metric)!r}")
    fields = {each.name: getattr(evaluation, each.name) for each in dataclasses.fields(evaluation)}
    fields["catalog"] = partial(itself, evaluation.catalog())
    fields["data"] = evaluation.data._replace(fields=dict(evaluation.data.fields))
    if evaluation.sender is None:
        with contextlib.suppress(RankgaugeError):  # what cannot be planned here fails there, too
            fields["sender"] = lock_columns(evaluation.plan().metrics, _ORIGIN, _REMEDY)
    return fields


def unpacked(kind: type[Evaluation], fields: Mapping[str, Any]) -> Evaluation:
    """
    Return the evaluation that was sent.

    Args:
        kind: Its class.

        fields: What `packed` has returned.

    Returns:
        An equal evaluation. That this process would compute something else is found when it is planned: an error
        while unpickling would break the pool of processes that this one is part of.
    """
    return kind(**fields)
