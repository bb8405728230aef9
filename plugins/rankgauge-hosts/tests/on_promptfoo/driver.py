"""How promptfoo's users hand samples over: the output is what was retrieved, variables hold the ground truth."""

from __future__ import annotations

import json
from typing import NamedTuple

from rankgauge.expression import safe_name
from rankgauge_hosts.promptfoo import get_assert


class Promptfoo(NamedTuple):
    cannot_say: frozenset[str] = frozenset()

    def scores(self, samples, metrics, arguments, folder):
        found = {}
        for sample in samples:
            variables = {"gold": sample["expected_output"], **sample.get("metadata", {})}
            context = {"vars": variables, "config": {"metrics": metrics, **arguments}}
            graded = get_assert(json.dumps(sample.get("actual_output")), json.loads(json.dumps(context)))
            named = graded["namedScores"]
            found[sample["id"]] = {safe_name(part): None for part in metrics} | {
                safe_name(name): value for name, value in named.items()
            }
        return found


DRIVERS = {"promptfoo": Promptfoo()}
