"""
Checks for plugin authors: hold metrics, matchers and their parts, and tokenizers to the laws that rankgauge's own obey.

    from rankgauge.testing import check_plugin

    import my_plugin


    def test_the_plugin_obeys_the_laws():
        check_plugin(my_plugin).raise_if_broken()

A report says which law is broken, with the smallest example that breaks it. Needs the extra `testing`.
"""

from rankgauge.errors import BrokenLawError
from rankgauge.testing.laws import LAWS, LawInfo
from rankgauge.testing.metrics import check_metric
from rankgauge.testing.plugins import check_plugin
from rankgauge.testing.report import PluginReport, Report, Verdict
from rankgauge.testing.texts import check_comparer, check_matcher, check_normalizer
from rankgauge.testing.tokenizers import check_tokenizer

__all__ = [
    "LAWS",
    "BrokenLawError",
    "LawInfo",
    "PluginReport",
    "Report",
    "Verdict",
    "check_comparer",
    "check_matcher",
    "check_metric",
    "check_normalizer",
    "check_plugin",
    "check_tokenizer",
]
