"""
Extensions: what features add to the rooms below them, by the point that they add to.

A room that has such a point asks for it by name and imports no feature; this table is the only place that names them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

__all__ = ["POINTS", "extension"]

POINTS: Mapping[str, str] = MappingProxyType(
    {
        "explanation notes": "rankgauge.features.funnel.funneling:stage_notes",
        "stages of outputs": "rankgauge.features.funnel.funneling:told_stages",
        "html report": "rankgauge.features.html.report_command:write_html",
        "last good result": "rankgauge.features.history.history_command:last_good",
        "results over time": "rankgauge.features.history.history_command:add_results",
        "judgments of people": "rankgauge.features.labels.human_command:compare_human_judged",
        "hashes of gold documents": "rankgauge.features.labels.gold_hashes:hashes_for",
        "rankings of another run": "rankgauge.features.agreement.trec_against:compare_rankings",
        "judgments and runs": "rankgauge.features.preflight.validate_runs:validate_runs",
    }
)
"""
Where what features add is, by the point that it is added to.

- `explanation notes`: notes of an explained score; takes plan, column, target, sample and the ids that were not found.
- `stages of outputs`: the stages that the outputs of an evaluation tell; takes the evaluation.
- `html report`: writes results to a file; takes the file and the results.
- `last good result`: the baseline `last-good`; takes the file of the history.
- `results over time`: keeps saved results; takes the file, folders, results and what became of gates.
- `judgments of people`: `rankgauge compare --human`; takes what was typed.
- `hashes of gold documents`: `--keep-hashes`; takes the corpus, evaluations and what is installed.
- `rankings of another run`: `rankgauge trec --against`; takes what was typed.
- `judgments and runs`: `rankgauge validate QRELS RUN`; takes both and what was typed.
"""


def extension(point: str) -> Callable[..., Any]:
    """Return what a feature adds at a point, imported when it is asked for."""
    module, _, name = POINTS[point].partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found
