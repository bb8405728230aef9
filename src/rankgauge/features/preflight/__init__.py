"""Preflight: problems of a run and its judgments that can be seen before a number is computed."""

from rankgauge.features.preflight.check_runs import preflight
from rankgauge.features.preflight.findings import Finding, Preflight, Severity

__all__ = ["Finding", "Preflight", "Severity", "preflight"]
