"""What a plugin declares: metrics, normalizers, comparers, matchers, readers and reporters."""

from rankgauge.declarations.formats import Reader, Record, Reporter, Source, reader, reporter
from rankgauge.declarations.matching import (
    Comparer,
    ComparerLaw,
    Matcher,
    NamedMatcher,
    Normalizer,
    comparer,
    named_matcher,
    normalizer,
    parse_matcher,
)
from rankgauge.declarations.metric import Law, Metric, metric, sample_metric
from rankgauge.declarations.signature import Parameter

__all__ = [
    "Comparer",
    "ComparerLaw",
    "Law",
    "Matcher",
    "Metric",
    "NamedMatcher",
    "Normalizer",
    "Parameter",
    "Reader",
    "Record",
    "Reporter",
    "Source",
    "comparer",
    "metric",
    "named_matcher",
    "normalizer",
    "parse_matcher",
    "reader",
    "reporter",
    "sample_metric",
]
