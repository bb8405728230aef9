"""
Kinds of gates that plugins declare: looked up by the word in a gate, and called for a finding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import get_args, get_type_hints

from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.catalog import Claim
from rankgauge.columns.judged_rows import Floats
from rankgauge.errors import ResultError
from rankgauge.plugin.gate_kind import GateFinding, GateKind

__all__ = ["found_by"]

_STATES = get_args(get_type_hints(GateFinding)["state"])


def found_by(
    claim: Claim[GateKind],
    values: Floats,
    number: float,
    *,
    baseline: Floats | None = None,
    counts: Mapping[str, int],
    higher_is_better: bool,
) -> GateFinding:
    """Return what a kind of gates says of the scores that count; raise `ResultError` if it fails."""
    kind = claim.declaration
    offered = {
        "baseline": None if baseline is None else _unwritable(baseline),
        "counts": dict(counts),
        "higher_is_better": higher_is_better,
    }
    try:
        with guarded():
            found = kind.function(_unwritable(values), number, **{name: offered[name] for name in kind.takes})
            why = _flaw(found)
    except ForeignError as error:
        why = str(error)
    if why:
        raise ResultError(f"the kind of gates {kind.name} (by {claim.provider}) failed: {why}")
    return found._replace(value=None if found.value is None else float(found.value))


def _flaw(found: object) -> str:
    """Return what is wrong with a finding; empty if nothing is."""
    if type(found) is not GateFinding:
        return f"it returned {shown(found)} where a rankgauge.plugin.GateFinding is needed"
    if found.state not in _STATES:
        return f"the state of its finding is {shown(found.state)}; choose from {', '.join(_STATES)}"
    if type(found.words) is not str or not found.words.strip() or "\n" in found.words:
        return f"the words of its finding are one line of text, not {shown(found.words)}"
    value: object = found.value
    is_number = type(value) is not bool and isinstance(value, Real) and math.isfinite(float(value))
    if value is not None and not is_number:
        return f"the value of its finding is a finite number or None, not {shown(value)}"
    return ""


def _unwritable(values: Floats) -> Floats:
    own = values.copy()
    own.setflags(write=False)
    return own
