"""
rankgauge inside the harness that a team already runs, with the same numbers.

Each host has a module of its own, which imports that host: `inspect_ai`, `deepeval`, `haystack`, `mlflow`, `ragas`;
`promptfoo` needs none. What they share is `Suite`: metrics and conventions as plain JSON.
"""

from rankgauge_hosts.suite import Column, MetricArgument, Suite, explanation

__all__ = ["Column", "MetricArgument", "Suite", "explanation"]
