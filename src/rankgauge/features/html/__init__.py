"""The HTML report: one file that opens by double-click, loads nothing, and runs no script but its own."""

from rankgauge.features.html.page import lay_out
from rankgauge.features.html.report_data import DepthCurve, ReportData, Section

__all__ = ["DepthCurve", "ReportData", "Section", "lay_out"]
