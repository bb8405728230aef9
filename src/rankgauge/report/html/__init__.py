"""The HTML report: one file that opens by double click, loads nothing, and runs no script but its own."""

from rankgauge.report.html.data import DepthCurve, ReportData, Section
from rankgauge.report.html.page import lay_out

__all__ = ["DepthCurve", "ReportData", "Section", "lay_out"]
