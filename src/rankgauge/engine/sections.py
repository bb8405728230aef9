"""
Sections: what plugins add to a report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rankgauge.catalog import Catalog
from rankgauge.errors import ParameterError, counted
from rankgauge.guard import ForeignError, guarded, shown
from rankgauge.plugin.sections import ReportBars, ReportTable, ReportText, View
from rankgauge.report.html.data import Section
from rankgauge.result import Result

__all__ = ["sections_of"]

_MOST_VIEWS = 10


def sections_of(catalog: Catalog, results: Mapping[str, Result]) -> tuple[list[Section], list[str]]:
    """Return the sections that plugins make of some results, and what is told of those that failed."""
    found: list[Section] = []
    notes: list[str] = []
    for name, claim in catalog.all("report section").items():
        section = claim.declaration
        try:
            with guarded():
                views = tuple(_views(section.function(dict(results))))
        except ForeignError as error:
            notes.append(f"report section {name!r} (by {claim.provider}) is left out, because it failed: {error}")
            continue
        if views:
            found.append(Section(section.title, section.summary, str(claim.provider), views))
    return found, notes


def _views(returned: object) -> Iterator[View]:
    """Yield what a section's function returned, if it is views."""
    several = returned if isinstance(returned, Sequence) and not isinstance(returned, str) else [returned]
    if len(several) > _MOST_VIEWS:
        msg = f"a report section has at most {_MOST_VIEWS} views, not {counted(len(several), 'view')}"
        raise ParameterError(msg)
    for view in several:
        if view is None:
            continue
        if not isinstance(view, ReportTable | ReportBars | ReportText):
            msg = f"it returned {shown(view)}, which is no ReportTable, ReportBars or ReportText"
            raise ParameterError(msg)
        yield view
