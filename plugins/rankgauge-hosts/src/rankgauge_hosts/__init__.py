"""
rankgauge inside the harness that a team already runs, with the same numbers.

Each host has a module of its own, which imports that host: `inspect_ai`, `deepeval`, `haystack`, `ir_measures`,
`mlflow`, `ragas`, `sentence_transformers`; `promptfoo`, `mteb` and `beir` need none. Harnesses run on
`rankgauge.HostScorer`, as a module for any other can.
"""

from rankgauge.plugin import Deprecated, deprecated_names
from rankgauge_hosts.shared import MetricArgument

__all__ = ["MetricArgument"]

__getattr__ = deprecated_names(
    __name__,
    {
        "Column": Deprecated("rankgauge.typing:HostColumn", "rankgauge-hosts 0.3"),
        "Suite": Deprecated("rankgauge:HostScorer", "rankgauge-hosts 0.3"),
    },
)
