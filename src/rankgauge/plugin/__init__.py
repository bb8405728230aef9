"""
Everything that a plugin author imports, and nothing else.

    from rankgauge.plugin import Cutoff, Judged, Scores, hookimpl, metric


    @metric("retrieval-my-precision-at-k")
    def my_precision(judged: Judged, *, k: Cutoff) -> Scores:
        \"\"\"Share of the first *k* ranks that hold a relevant item.\"\"\"
        return judged.relevant_ranks(k) / k


    @hookimpl
    def rankgauge_metrics():
        return [my_precision]
"""

from rankgauge.base.deprecation import Deprecated, deprecated_names
from rankgauge.columns import Cutoff, Judged, JudgedSample, Rows, Scores, Searched, Seen
from rankgauge.errors import DataError, Problem
from rankgauge.plugin.console import Console
from rankgauge.plugin.declarations import (
    Record,
    Source,
    TokenizerLaw,
    aggregate,
    reader,
    reporter,
    run_metric,
    tokenizer,
)
from rankgauge.plugin.gate_kind import GateFinding, gate_kind
from rankgauge.plugin.gold_kinds import GoldItem, RetrievedItem, gold_kind
from rankgauge.plugin.hookspecs import API, FinishedRun, StartedRun, hookimpl
from rankgauge.plugin.matching import ComparerLaw, Covers, Matcher, comparer, named_matcher, normalizer
from rankgauge.plugin.metric import Contributions, Law, Need
from rankgauge.plugin.metric_decorators import metric, sample_metric
from rankgauge.plugin.named_data import metric_set, named_profile, preset
from rankgauge.plugin.paired_test import paired_test
from rankgauge.plugin.programs import command, system
from rankgauge.plugin.ranking_filter import RankedResults, ranking_filter
from rankgauge.plugin.sections import ReportBars, ReportTable, ReportText, report_section

__all__ = [
    "API",
    "ComparerLaw",
    "Console",
    "Contributions",
    "Covers",
    "Cutoff",
    "DataError",
    "Deprecated",
    "FinishedRun",
    "GateFinding",
    "GoldItem",
    "Judged",
    "JudgedSample",
    "Law",
    "Matcher",
    "Need",
    "Problem",
    "RankedResults",
    "Record",
    "ReportBars",
    "ReportTable",
    "ReportText",
    "RetrievedItem",
    "Rows",
    "Scores",
    "Searched",
    "Seen",
    "Source",
    "StartedRun",
    "TokenizerLaw",
    "aggregate",
    "command",
    "comparer",
    "deprecated_names",
    "gate_kind",
    "gold_kind",
    "hookimpl",
    "metric",
    "metric_set",
    "named_matcher",
    "named_profile",
    "normalizer",
    "paired_test",
    "preset",
    "ranking_filter",
    "reader",
    "report_section",
    "reporter",
    "run_metric",
    "sample_metric",
    "system",
    "tokenizer",
]
