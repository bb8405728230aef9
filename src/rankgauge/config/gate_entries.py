"""
Gates in the schema of a config file.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

__all__ = ["GateEntry"]


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
                        "inconclusive": {"enum": ["fail", "warn", "pass"]},
                        "common": {"enum": ["all", "unchanged"], "description": "Which samples are compared."},
                        "require": {"const": "proof", "description": "The same as inconclusive: fail."},
                    },
                    "required": ["metric"],
                    "additionalProperties": False,
                },
            ],
        }
    ),
]
