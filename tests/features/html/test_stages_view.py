"""The view of stages: what each keeps of what is relevant, for every run whose outputs tell its stages."""

from __future__ import annotations

import re

from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.features.html.html_report import gather
from rankgauge.features.html.page import lay_out

CATALOG = Catalog.discover(own_only=True)


def samples(loses=2, names=("dense", "rerank")):
    """Return four samples of two relevant documents; dense finds both, and rerank loses b of the first samples."""
    first, second = names
    return [
        {
            "id": f"q{number}",
            "expected_output": {"a": 1, "b": 1},
            "actual_output": {
                "stages": [
                    {"name": first, "retrieved": ["a", "x", "b"]},
                    {"name": second, "from": [first], "retrieved": ["a", "x"] if number < loses else ["a", "b"]},
                ]
            },
        }
        for number in range(4)
    ]


def result(*, metrics=("recall@2",), **drawn):
    return Engine(catalog=CATALOG).dataset(samples(**drawn)).with_metrics(list(metrics)).run()


def section(text):
    """Return the view as words, without what is hidden in the payload; empty where there is none."""
    parts = re.findall(r'<section id="funnel".*?</section>', text, re.DOTALL)
    return parts[0] if parts else ""


def words(markup):
    return " ".join(re.sub(r"<[^>]*>", " ", markup).split())


def test_stages_stand_with_what_they_keep_and_lose():
    told = section(lay_out(gather(result(), catalog=CATALOG)))

    assert "no stage lowers recall@2; ranked below 2 since dense: 2 of 8 relevant items (25.0%), 4 questions" in words(
        told
    )
    assert "dense - 3.0 8 100.0% 8 - 0.5000" in words(told)  # b, at rank 3, does not count
    assert "rerank dense 2.0 6 75.0% 0 2 0.7500" in words(told)
    assert re.findall(r'class="fb" width="([^"]*)"', told) == ["100.00%", "75.00%"]
    assert "found within rank 2 6 75.0%" in words(told)
    assert "rerank after dense: " in words(told)
    assert 'href="#sample=q0&amp;metric=recall%402"' in told
    assert "q0 b: dense 3, ranked below 2 since dense" in words(told)


def test_of_two_runs_both_are_followed_the_baseline_first():
    told = words(section(lay_out(gather({"old": result(), "new": result(loses=1)}, catalog=CATALOG))))

    assert told.index("since dense: 2 of 8") < told.index("since dense: 1 of 8")


def test_the_first_metric_that_can_be_followed_is():
    told = section(lay_out(gather(result(metrics=["recall(stage=dense)@2", "RR"]), catalog=CATALOG)))

    assert "no stage lowers rr; lost in rerank: 2 of 8 relevant items (25.0%), 4 questions" in words(told)


def test_without_stages_there_is_no_such_view():
    plain = [{"id": "q", "expected_output": ["a"], "actual_output": {"retrieved": ["a"]}}]
    data = gather(Engine(catalog=CATALOG).dataset(plain).with_metrics(["RR"]).run(), catalog=CATALOG)

    assert section(lay_out(data)) == ""
    assert 'href="#funnel"' not in lay_out(data)


def test_what_cannot_be_followed_is_said():
    data = gather(result(metrics=["recall(stage=dense)@2"]), catalog=CATALOG)

    assert section(lay_out(data)) == ""
    assert [note for note in data.notes if "its stages cannot be followed" in note]


def test_names_of_stages_are_no_markup():
    told = section(lay_out(gather(result(names=("<b>dense</b>", "</td>")), catalog=CATALOG)))

    assert "<b>dense" not in told
    assert "&lt;b&gt;dense&lt;/b&gt;" in told
