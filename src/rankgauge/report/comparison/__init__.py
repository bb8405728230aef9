"""Reports of comparisons: the verdict in words first, then tables, for terminals, Markdown, CSV and papers."""

from rankgauge.report.comparison.delimited import comparison_csv
from rankgauge.report.comparison.latex import comparison_latex
from rankgauge.report.comparison.markdown import comparison_markdown
from rankgauge.report.comparison.terminal import comparison_lines

__all__ = ["comparison_csv", "comparison_latex", "comparison_lines", "comparison_markdown"]
