"""The chart of cohorts: where each stands, in numbers worked out by hand."""

from __future__ import annotations

import re

import pytest

from draws import in_thorough_suite
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.features.html.blocks import Dot, dots
from rankgauge.features.html.html_report import gather
from rankgauge.features.html.page import lay_out

CATALOG = Catalog.discover(own_only=True)
SMALL, LARGE = Dot("small", 3, 0.25, (0.0, 0.5), "0.250"), Dot("large <b>", 9, 0.75, None, "0.750")
WHOLE = Dot("All samples", 12, 0.625, (0.5, 0.7), "0.625")


def test_the_largest_cohort_is_first_and_places_are_those_of_the_axis():
    drawn = dots([SMALL, LARGE], WHOLE, 620, compared=False)

    assert re.findall(r"<text[^>]*>(?:<tspan>)?([^<]*)", drawn)[-4:] == ["large &lt;b&gt;", "9", "small", "3"]
    # From 0 to .75 with 6 % on each side, between 150 and 620 - 56: a unit is 414 / (.75 * 1.12).
    unit, low = 414 / (0.75 * 1.12), -0.06 * 0.75
    places = [float(each) for each in re.findall(r'cx="([\d.]+)"', drawn)]
    assert places == pytest.approx([150 + (0.75 - low) * unit, 150 + (0.25 - low) * unit], abs=0.06)
    (dashed,) = re.findall(r'class="at" x1="([\d.]+)"', drawn)
    assert float(dashed) == pytest.approx(150 + (0.625 - low) * unit, abs=0.06)
    assert drawn.count('class="ci"') == 1
    assert 'class="zero"' not in drawn
    assert 'aria-label="small 0.250; large &lt;b&gt; 0.750; All samples 0.625"' in drawn


def test_differences_have_a_line_at_zero_even_where_all_are_on_one_side():
    assert dots([SMALL], WHOLE, 340, compared=True).count('class="zero"') == 1


def result(*, tagged, hit=1):
    samples = [
        {
            "id": f"q{number}",
            "expected_output": ["a"],
            "actual_output": {"retrieved": ["a"] if number % 4 < hit else ["x", "a"]},
            "metadata": {"tags": ["odd" if number % 2 else "even"]} if tagged else {},
        }
        for number in range(8)
    ]
    return Engine(catalog=CATALOG).dataset(samples).with_metrics(["RR", "P@1"]).run()


def charts(results):
    text = lay_out(gather(results, catalog=CATALOG))
    return re.findall(r'<div id="dots">.*?aria-label="([^"]*)"', text, re.DOTALL)


@in_thorough_suite()
def test_a_report_draws_the_means_or_differences_of_its_first_metric():
    # Hits at 0 and 4 of 0, 2, 4, 6: means .75 and .5; with hits at 1 and 5, too, odd numbers gain .25 of .5.
    assert charts(result(tagged=True)) == ["even 0.750; odd 0.500; All samples 0.625"]
    both = {"old": result(tagged=True), "new": result(tagged=True, hit=2)}
    assert charts(both) == ["even 0.000; odd +0.250; All samples +0.125"]
    assert charts(result(tagged=False)) == []
