"""Preflight: what can be seen of a run and its judgments before a number is computed, and what to do about it."""

from rankgauge.preflight_checks.check import preflight, preflight_runs
from rankgauge.preflight_checks.findings import Finding, Preflight, Severity

__all__ = ["Finding", "Preflight", "Severity", "preflight", "preflight_runs"]
