"""Checks for plugin authors: hold metrics, matchers, their parts and tokenizers to the laws of rankgauge's own."""

from rankgauge.features.testing import (
    BrokenLawError,
    Law,
    PluginReport,
    Report,
    Verdict,
    check_comparer,
    check_matcher,
    check_metric,
    check_normalizer,
    check_plugin,
    check_tokenizer,
    laws_of,
)

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
