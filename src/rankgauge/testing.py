"""Checks for plugin authors: hold metrics, matchers, their parts and tokenizers to the laws of rankgauge's own."""

from rankgauge.errors import BrokenLawError
from rankgauge.features.testing.law import Law
from rankgauge.features.testing.law_report import PluginReport, Report, Verdict
from rankgauge.features.testing.metric_checks import check_metric
from rankgauge.features.testing.plugin_checks import check_plugin, laws_of
from rankgauge.features.testing.text_checks import check_comparer, check_matcher, check_normalizer, check_tokenizer

__all__ = [
    "BrokenLawError",
    "Law",
    "PluginReport",
    "Report",
    "Verdict",
    "check_comparer",
    "check_matcher",
    "check_metric",
    "check_normalizer",
    "check_plugin",
    "check_tokenizer",
    "laws_of",
]
