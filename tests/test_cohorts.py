"""Cohorts by the values of metadata, from the samples to the tables."""

from __future__ import annotations

import json

import pytest

from rankgauge import Engine
from rankgauge.errors import ParameterError
from rankgauge.report.json import json_report
from rankgauge.report.markdown import markdown_report
from rankgauge.report.terminal import terminal_report
from rankgauge.samples import Sample
from rankgauge.samples.sample_records import check_cohort, with_cohorts

FIELDS = ("metadata.language", "metadata.source.year")


def tags_of(metadata, fields=FIELDS, tags=()):
    return with_cohorts(Sample("q", tags=tags, metadata=metadata), fields).tags


@pytest.mark.parametrize(
    ("metadata", "tags"),
    [
        ({"language": "de", "source": {"year": 2019}}, ("language=de", "source.year=2019")),
        ({"language": ["de", "en", "de"], "source.year": True}, ("language=de", "language=en", "source.year=true")),
        ({"language": None, "source": "web"}, ("language=(none)", "source.year=(none)")),
        ({"language": [], "source": {"year": {"from": 1}}}, ("language=(none)", 'source.year={"from":1}')),
        (None, ("language=(none)", "source.year=(none)")),
    ],
)
def test_every_value_makes_a_cohort_and_so_does_its_absence(metadata, tags):
    assert tags == tags_of(metadata)


def test_tags_stay_and_are_not_repeated():
    assert ("hard", "language=de") == tags_of({"language": "de", "tags": ["hard"]}, FIELDS[:1], ("hard",))
    assert ("hard",) == tags_of({"tags": ["hard"]}, ["metadata.tags"], ("hard",))


@pytest.mark.parametrize("field", ["language", "metadata.", "metadata", "", None, 3])
def test_a_field_that_is_no_metadata_is_refused(field):
    with pytest.raises(ParameterError, match=r"such as metadata\.language"):
        check_cohort(field)


def rows(languages):
    """One sample a language; the first half finds what it looks for."""
    return [
        {
            "id": f"q{place}",
            "expected_output": ["a"],
            "actual_output": ["a" if place < len(languages) / 2 else "x"],
            "metadata": {"language": language},
        }
        for place, language in enumerate(languages)
    ]


def result_of(languages):
    return Engine().dataset(rows(languages)).with_metrics(["hit@1"]).with_cohorts("metadata.language").run()


def test_cohorts_reach_every_report():
    result = result_of(["de", "en", "de", "en"])
    cohorts = json.loads(json_report(result))["cohorts"]
    assert [(each["tag"], each["samples"], each["metrics"]["hit@1"]["mean"]) for each in cohorts] == [
        ("language=de", 2, 0.5),
        ("language=en", 2, 0.5),
    ]
    assert "| language=de | 2 | 0.5000 |" in markdown_report(result)
    assert "language=en" in terminal_report(result)
    assert {"cohorts": ["metadata.language"]}.items() <= result.manifest["config"].items()


@pytest.mark.parametrize("report", [markdown_report, terminal_report])
def test_a_table_lists_the_twenty_largest_and_says_so(report):
    languages = [f"l{place:02}" for place in range(23)] * 2 + ["l00", "l21", "l22"]
    result = result_of(languages)
    text = report(result)
    listed = [f"l{place:02}" for place in range(23) if f"=l{place:02}" in text]
    assert listed == [f"l{place:02}" for place in (*range(18), 21, 22)]
    assert "... and 3 more cohorts of 2 samples or fewer; the JSON report has all 23" in text
    assert len(json.loads(json_report(result))["cohorts"]) == 23


def test_cohorts_of_one_sample_are_left_out_in_so_many_words():
    text = terminal_report(result_of([f"l{place:02}" for place in range(23)]))
    assert "... and 3 more cohorts of 1 sample; the JSON report has all 23" in text


def test_a_field_that_no_sample_has_is_noted():
    evaluation = Engine().dataset(rows(["de", None])).with_metrics(["hit@1"])
    result = evaluation.with_cohorts(["metadata.language", "metadata.langauge"]).run()
    assert result.notes == ("no sample has metadata.langauge, so it makes no cohorts",)


def test_twenty_cohorts_are_all_listed():
    assert "more cohort" not in terminal_report(result_of([f"l{place:02}" for place in range(20)]))


def test_a_system_under_test_has_cohorts_too():
    evaluation = Engine().dataset(rows(["de"])).with_metrics(["hit@1"]).with_cohorts(["metadata.language"])
    assert list(evaluation.run(sut=lambda _: ["a"]).by_tag()) == ["language=de"]
