"""Sections that plugins add to reports: data that are checked, and failures that leave a report complete."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

import rankgauge
from rankgauge import Engine, html_report
from rankgauge.catalog import Catalog
from rankgauge.errors import DeclarationError, ParameterError
from rankgauge.features.html.html_report import gather
from rankgauge.plugin import ReportBars, ReportTable, ReportText, hookimpl, report_section
from tables import rows

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}}
RUNS = {"old": {"q1": {"a": 1.0}, "q2": {"x": 1.0}}, "new": {"q1": {"a": 1.0}, "q2": {"b": 1.0}}}


def catalog_of(*functions):
    @hookimpl
    def rankgauge_report_sections():
        return list(functions)

    plugin = SimpleNamespace(rankgauge_report_sections=rankgauge_report_sections)
    return Catalog.discover(own_only=True, plugins={"acme": plugin})


def section(function, name="costs", title="What it costs"):
    return report_section(name, title=title)(function)


def test_a_section_sees_the_results_by_run_with_the_baseline_first():
    seen = {}

    def look(results):
        """Show the means."""
        seen.update(results)
        rows = [(name, result.metrics["rr"].mean) for name, result in results.items()]
        return ReportTable(("System", "Mean"), rows)

    runs = rankgauge.evaluate(QRELS, runs=RUNS, metrics=["RR"])
    data = gather(runs, baseline="new", catalog=catalog_of(section(look)))

    (found,) = data.sections
    assert list(seen) == ["new", "old"]
    assert (found.title, found.summary) == ("What it costs", "Show the means.")
    assert "acme" in found.provider
    assert found.views == (ReportTable(("System", "Mean"), [("new", 1.0), ("old", 0.5)]),)


def test_several_views_stand_in_the_order_returned_and_none_shows_nothing():
    views = [ReportText("a"), ReportBars([("b", 1)])]
    catalog = catalog_of(section(lambda results: views), section(lambda results: None, "empty"))

    assert [
        found.views for found in gather(rankgauge.evaluate(QRELS, RUNS["old"], ["RR"]), catalog=catalog).sections
    ] == [tuple(views)]


@pytest.mark.parametrize("returned", ["<b>text</b>", 3, {"a": 1}, ["text"], [ReportText("a")] * 11])
def test_what_is_no_view_is_left_out_with_a_note(returned):
    data = gather(rankgauge.evaluate(QRELS, RUNS["old"], ["RR"]), catalog=catalog_of(section(lambda results: returned)))

    assert data.sections == []
    (note,) = [note for note in data.notes if "costs" in note]
    assert note.startswith("report section 'costs' (by ")
    assert "is left out, because it failed: " in note


def test_a_section_that_raises_leaves_the_report_complete():
    def fails(results):
        raise SystemExit(3)

    good = section(lambda results: ReportText("fine"), "good", "Good")
    data = gather(rankgauge.evaluate(QRELS, RUNS["old"], ["RR"]), catalog=catalog_of(section(fails), good))

    assert [found.title for found in data.sections] == ["Good"]
    assert any("SystemExit" in note for note in data.notes)


def test_results_of_an_engine_bring_their_plugins_along():
    catalog = catalog_of(section(lambda results: ReportText("here")))
    sample = {"id": "q", "expected_output": ["a"], "actual_output": ["a"]}
    result = Engine(catalog=catalog).dataset([sample]).with_metrics(["RR"]).run()

    assert "What it costs" in html_report(result)
    assert "What it costs" in rankgauge.html_report(rankgauge.evaluate(QRELS, RUNS["old"], ["RR"], catalog=catalog))


@rows(
    ("make", "told"),
    [
        (lambda: ReportTable([], []), "columns of a ReportTable are one text or more"),
        (lambda: ReportTable("ab", []), "must be a list, not 'ab'"),
        (lambda: ReportTable(["a"], [["x"], ["y", "z"]]), "row 2 of a ReportTable has 2 cells for 1 column"),
        (lambda: ReportTable(["a"], [[math.nan]]), "row 1 of a ReportTable has nan; a cell is a text, a finite number"),
        (lambda: ReportTable(["a"], [[{"html": "<b>"}]]), "has {'html': '<b>'}; a cell is a text"),
        (lambda: ReportTable(["a"], [["x"]] * 1001), "at most 1,000, not 1,001"),
        (lambda: ReportBars([("a", math.inf)]), "a bar is a label and a finite number, not ('a', inf)"),
        (lambda: ReportBars([("a", True)]), "a bar is a label and a finite number"),
        (lambda: ReportBars([("a",)]), "a bar is a label and a finite number"),
        (lambda: ReportText(3), "a text of at most 20,000 characters, not 3"),
        (lambda: ReportText("x" * 20_001), "not 20,001 characters"),
    ],
)
def test_views_refuse_what_cannot_be_shown(make, told):
    with pytest.raises(ParameterError) as caught:
        make()
    assert told in str(caught.value)


@pytest.mark.parametrize(("name", "title"), [("What It", "a"), ("costs", ""), ("costs", 3)])
def test_declarations_need_a_plain_name_and_a_title(name, title):
    with pytest.raises(DeclarationError):
        report_section(name, title=title)(lambda results: None)


def test_two_plugins_with_one_name_show_neither_and_the_catalog_says_so():
    one, other = (section(lambda results: ReportText("x")) for _ in range(2))
    catalog = catalog_of(one, other)

    assert gather(rankgauge.evaluate(QRELS, RUNS["old"], ["RR"]), catalog=catalog).sections == []
    assert any("report section 'costs' is claimed by 2" in str(fault) for fault in catalog.faults)


def test_a_function_without_the_decorator_is_a_fault_that_names_it():
    (fault,) = catalog_of(lambda results: None).faults
    assert "which @report_section did not declare" in str(fault)
