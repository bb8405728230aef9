r"""
A comparison as a LaTeX table for papers, with the rules of `booktabs`.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.comparison.values import Comparison, MetricComparison
from rankgauge.report.comparison.wording import method_line
from rankgauge.visible import visible

__all__ = ["comparison_latex"]

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def comparison_latex(comparison: Comparison) -> str:
    r"""
    Lay a comparison out as a table: a row a run, a column a metric; needs ``\usepackage{booktabs}``.

    The best mean of a column is bold. A dagger marks a run that differs from the baseline by the corrected p.
    """
    return "\n".join(_lines(comparison)) + "\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    pairs = [pair for pair in comparison.comparisons if pair.baseline == comparison.baseline]
    names = list(dict.fromkeys(name for pair in pairs for name in pair.metrics))
    level = 1 - comparison.confidence
    yield f"% {visible(method_line(comparison))}"
    yield f"% dagger: differs from {visible(comparison.baseline)}, corrected p <= {level:.4g}"
    yield rf"\begin{{tabular}}{{l{'r' * len(names)}}}"
    yield r"\toprule"
    yield " & ".join(["run", *map(_plain, names)]) + r" \\"
    yield r"\midrule"
    first: dict[str, MetricComparison] = {}
    for pair in pairs:
        first = {**pair.metrics, **first}
    rows: list[tuple[str, dict[str, tuple[float | None, bool]]]] = [
        (comparison.baseline, {name: (metric.baseline_mean, False) for name, metric in first.items()})
    ]
    for pair in pairs:
        found = {name: (metric.mean, metric.verdict in {"better", "worse"}) for name, metric in pair.metrics.items()}
        rows.append((pair.run, found))
    best = {name: _best([row[name][0] for _, row in rows if name in row], first[name]) for name in names}
    for run, row in rows:
        cells = [_cell(*row[name], best[name]) if name in row else "--" for name in names]
        yield " & ".join([_plain(run), *cells]) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _best(means: list[float | None], metric: MetricComparison) -> str:
    """Return the best mean of a column as it is printed, so that equal digits are all bold."""
    known = [mean for mean in means if mean is not None]
    if not known:
        return ""
    return f"{max(known) if metric.higher_is_better else min(known):.4f}"


def _cell(mean: float | None, is_marked: bool, best: str) -> str:  # noqa: FBT001  # the value and its mark
    if mean is None:
        return "--"
    text = f"{mean:.4f}"
    return (rf"\textbf{{{text}}}" if text == best else text) + (r"$^{\dagger}$" if is_marked else "")


def _plain(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in visible(text))
