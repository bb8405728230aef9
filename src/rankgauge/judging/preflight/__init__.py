"""Preflight: what can be seen of a run and its judgments before a number is computed, and what to do about it."""

from rankgauge.judging.preflight.findings import About, Finding, Preflight, Severity, counted
from rankgauge.judging.preflight.judgments import check_judgments, judgment_facts
from rankgauge.judging.preflight.overlap import check_overlap, overlap_facts
from rankgauge.judging.preflight.ranking import check_ranking, run_facts
from rankgauge.judging.preflight.scan import RunScan, ScannedRun, merged

__all__ = [
    "About",
    "Finding",
    "Preflight",
    "RunScan",
    "ScannedRun",
    "Severity",
    "check_judgments",
    "check_overlap",
    "check_ranking",
    "counted",
    "judgment_facts",
    "merged",
    "overlap_facts",
    "run_facts",
]
