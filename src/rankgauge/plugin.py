"""
Everything that a plugin author imports, and nothing else.

::

    from rankgauge.plugin import Cutoff, Judged, Scores, hookimpl, metric


    @metric("retrieval-my-precision-at-k")
    def my_precision(judged: Judged, *, k: Cutoff) -> Scores:
        \"\"\"Share of the first *k* ranks that hold a relevant item.\"\"\"
        return judged.relevant_ranks(k) / k


    @hookimpl
    def rankgauge_metrics():
        return [my_precision]
"""

from rankgauge.declarations import (
    ComparerLaw,
    Law,
    Matcher,
    Record,
    Source,
    comparer,
    metric,
    named_matcher,
    normalizer,
    reader,
    reporter,
    sample_metric,
)
from rankgauge.errors import DataError, Problem
from rankgauge.hookspecs import hookimpl
from rankgauge.judged import Cutoff, Judged, JudgedSample, Rows, Scores

__all__ = [
    "ComparerLaw",
    "Cutoff",
    "DataError",
    "Judged",
    "JudgedSample",
    "Law",
    "Matcher",
    "Problem",
    "Record",
    "Rows",
    "Scores",
    "Source",
    "comparer",
    "hookimpl",
    "metric",
    "named_matcher",
    "normalizer",
    "reader",
    "reporter",
    "sample_metric",
]
