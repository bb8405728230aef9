"""
rankgauge as a Python assertion of promptfoo: `get_assert`, for a file of one line that imports it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rankgauge import HostScorer
from rankgauge.errors import DataError, ParameterError, Problem
from rankgauge.text import did_you_mean
from rankgauge.typing import HostColumn, SampleScore

__all__ = ["get_assert"]

_SUITE = ("metrics", "config", "profile", "k", "policy", "matchers")
_OPTIONS = (*_SUITE, "retrieved", "gold", "gates")


def get_assert(output: object, context: Mapping[str, Any]) -> dict[str, Any]:
    """
    Score one test case of promptfoo.

    The assertion's `config` holds the arguments: `metrics`, `config` (the path of a rankgauge config), `profile`,
    `k`, `policy`, `matchers` as in `rankgauge.HostScorer`; `retrieved`, the variable (or the key of the response's
    metadata) that holds the retrieved items, where they are not the output itself; `gold`, the variable with the
    ground truth (`gold` unless said otherwise); and `gates`, by metric the lowest score that passes (the highest,
    if lower is better).

    Args:
        output: What the provider returned: the retrieved items as JSON, or, with `retrieved`, the answer.

        context: promptfoo's context.

    Returns:
        A grading result. `namedScores` holds every metric that has a value, and `componentResults` what each one says;
        a metric for which nothing counts has no named score, so it is in none of promptfoo's means. `score` is that
        of the first metric; where that has no value it is 0, or 1 in a test case that is declared unanswerable, because
        promptfoo needs a number. A metric that is undefined does not pass its gate, nor does a test case for which no
        metric has a value, unless it is declared unanswerable; a missing or failed output does not pass, unless the
        policy allows that (``max_failed: 1``).

    Raises:
        RankgaugeError: Config or ground truth cannot be used; promptfoo reports it as the assertion's failure.
    """
    config = context.get("config") or {}
    unknown = [key for key in config if key not in _OPTIONS]
    if unknown:
        hint = did_you_mean(unknown[0], _OPTIONS)
        msg = f"unknown key {unknown[0]!r} in the assertion's config{hint}; known are {', '.join(_OPTIONS)}"
        raise ParameterError(msg)
    suite = HostScorer(**{key: config[key] for key in _SUITE if key in config})
    gates = _gates(suite, config.get("gates") or {})
    variables = context.get("vars") or {}
    key = config.get("gold", "gold")
    expected = _decoded(variables.get(key))
    if expected is None and variables.get("answerable") is not False:
        msg = "the test case cannot be scored:"
        raise DataError(msg, [Problem(f"there is no variable {key!r} with its ground truth; `gold` names another")])
    retrieved, answer = output, None
    if (place := config.get("retrieved")) is not None:
        metadata = context.get("metadata") or {}
        retrieved = variables.get(place, metadata.get(place))
        answer = output if isinstance(output, str) else None
    scores = suite.score(expected=expected, retrieved=_decoded(retrieved), answer=answer or None, metadata=variables)
    exempt = variables.get("answerable") is False
    hint = "" if exempt or not isinstance(expected, str) else _expanded(key, expected)
    parts = [
        _component(suite, column, scores[column.name], gates.get(column.name), exempt=exempt, hint=hint)
        for column in suite.columns
    ]
    has_value = any(scores[column.name].value is not None for column in suite.columns)
    passed = all(part["pass"] for part in parts) and (has_value or exempt)
    first = scores[suite.columns[0].name].value
    return {
        "pass": passed,
        "score": float(passed) if first is None else first,
        "reason": "\n".join(part["reason"] for part in parts),
        "namedScores": {name: found.value for name, found in scores.items() if found.value is not None},
        "componentResults": parts,
    }


def _gates(suite: HostScorer, given: Mapping[str, Any]) -> dict[str, float]:
    names = [column.name for column in suite.columns]
    for name, limit in given.items():
        if name not in names:
            hint = did_you_mean(name, names)
            msg = f"there is a gate for {name!r}, which is not computed{hint}; computed are {', '.join(names)}"
            raise ParameterError(msg)
        if isinstance(limit, bool) or not isinstance(limit, int | float):
            raise ParameterError(f"the gate of {name!r} is a number, not {limit!r}")
    return dict(given)


def _component(
    suite: HostScorer, column: HostColumn, score: SampleScore, gate: float | None, *, exempt: bool, hint: str
) -> dict[str, Any]:
    reason = score.described(column.name)
    about = {"metadata": {"status": score.status, **column.provenance}}
    if score.status == "undefined" and score.value is None:
        return {"pass": exempt or gate is None, "score": float(exempt), "reason": f"{reason}{hint}", **about}
    passed = suite.passes(score, gate, column=column.name)
    wanted = "at least" if column.higher_is_better else "at most"
    reason = reason if gate is None else f"{reason}; {wanted} {gate:g} was wanted"
    return {"pass": passed, "score": 0.0 if score.value is None else score.value, "reason": reason, **about}


def _expanded(key: str, text: str) -> str:
    """Say why ground truth may arrive as a text: promptfoo makes a test case of each item of a list."""
    return (
        f"; the variable {key!r} is the text {text!r}, which is read as an answer: promptfoo makes a test case of each "
        "item of a list in `vars`. Write `options: {disableVarExpansion: true}`, or give a map {id: gain} or JSON text"
    )


def _decoded(value: object) -> object:
    """Return what a string holds if that is a JSON array or object, as variables often do."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
