"""
Entries of a config file with a check and a schema of their own: gates, and systems under test with their options.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from rankgauge.config.variables import refuse_secrets

__all__ = ["GateEntry", "Parameters", "SystemEntry"]


def _system(value: object) -> object:
    """Check what can be checked without the plugin: the kind, and that no secret is written out."""
    if not isinstance(value, Mapping) or not isinstance(value.get("kind"), str):
        raise ValueError("expected a mapping with `kind`, such as {kind: http}")  # noqa: TRY004  # pydantic's contract
    refuse_secrets(value)
    return value


def _parameters(value: object) -> object:
    """Check parameters to try: a list of values for each option, or a list of options with one value each."""
    points: Sequence[Any] = [value] if isinstance(value, Mapping) else value if isinstance(value, list) else []
    is_grid = isinstance(value, Mapping)
    fits = all(
        isinstance(point, Mapping)
        and point
        and all(
            isinstance(key, str) and (not is_grid or (isinstance(tried, list) and tried))
            for key, tried in point.items()
        )
        for point in points
    )
    if not points or not fits:
        raise ValueError("expected options with a list of values each, such as {ef: [16, 64]}, or a list of {ef: 16}")
    refuse_secrets(value)
    return value


SystemEntry = Annotated[
    dict[str, Any],
    BeforeValidator(_system),
    WithJsonSchema(
        {
            "type": "object",
            "properties": {"kind": {"type": "string", "description": "Which kind, such as http."}},
            "required": ["kind"],
            "description": "The other keys are options of the kind; `${NAME}` stands for environment variables.",
        }
    ),
]

Parameters = Annotated[
    dict[str, list[Any]] | list[dict[str, Any]],
    BeforeValidator(lambda value: value if value == {} else _parameters(value)),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "object", "additionalProperties": {"type": "array", "minItems": 1}},
                {"type": "array", "items": {"type": "object", "minProperties": 1}},
            ],
            "description": "A grid of options, or a list of points; dots lead into options, such as fuse.k.",
        }
    ),
]


def _gate_entry(value: object) -> object:
    from rankgauge.gates.grammar import read_gates  # most configs have no gates

    read_gates(value)
    return value


GateEntry = Annotated[
    Any,
    BeforeValidator(_gate_entry),
    WithJsonSchema(
        {
            "title": "gate",
            "anyOf": [
                {"type": "string", "description": "A gate such as ndcg@10 >= 0.6 or ndcg@10 max_drop 0.01."},
                {
                    "type": "object",
                    "properties": {
                        "metric": {"type": "string", "description": "An expression, or the name of a column."},
                        "min": {"type": "number", "description": "Lowest good mean."},
                        "max": {
                            "anyOf": [{"type": "number"}, {"type": "string", "pattern": "^ *[0-9.]+ *m?s *$"}],
                            "description": "Highest good mean; a time may have a unit, such as 200ms.",
                        },
                        "max_drop": {
                            "anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": "%$"}],
                            "description": "By how much the mean may be worse than the baseline's; 2% is relative.",
                        },
                        "not_worse": {"$comment": "as max_drop, and open is a miss", "type": ["number", "string"]},
                        "where": {"type": "string", "description": "Of which samples, such as tags=legal."},
                        "dataset": {"type": "string", "description": "For this dataset only."},
                        "of": {"type": "array", "items": {"type": "string"}, "description": "Ids of samples."},
                        "per_sample": {"type": "boolean", "description": "Whether each sample has to meet it."},
                        "level": {"enum": ["fail", "warn"], "description": "Whether a miss fails or warns."},
                        "confidence": {"type": "number", "exclusiveMinimum": 0.5, "exclusiveMaximum": 1},
                        "inconclusive": {"enum": ["fell", "fail", "warn", "pass"]},
                        "short_lists": {"enum": ["open", "allow"]},
                        "common": {"enum": ["all", "unchanged"], "description": "Which samples are compared."},
                        "require": {"const": "proof", "description": "The same as inconclusive: fail."},
                    },
                    "required": ["metric"],
                    "additionalProperties": {"type": ["number", "string"], "description": "By a plugin's kind."},
                },
            ],
        }
    ),
]
