"""What stands above the headline of a report, and what the pickers exchange: gates, completeness, blocks."""

from __future__ import annotations

import html
import re

import pytest

import rankgauge
from packed_reports import payload
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.features.html.html_report import gather
from rankgauge.features.html.page import lay_out
from rankgauge.features.html.words import trouble

CATALOG = Catalog.discover(own_only=True)
QRELS = {f"q{n}": {"a": 2, "b": 1} for n in range(12)}
RUNS = {
    "base": {query: {"x": 3.0, "a": 2.0} for query in QRELS},
    "low": {query: {"x": 3.0, "y": 2.0, "a": 1.0} for query in QRELS},
    "high": {query: {"a": 3.0, "x": 2.0} if n else {"x": 1.0} for n, query in enumerate(QRELS)},
}


def plain(text):
    words = re.sub(r"<[^>]+>", " ", re.sub(r"<(style|script).*?</\1>", "", text, flags=re.DOTALL))
    return " ".join(html.unescape(words).split())


def samples(missing=0, failed=0, n=10, options=None):
    rows = [{"id": f"q{n}", "expected_output": ["a"], "actual_output": ["a"]} for n in range(n)]
    for row in rows[:missing]:
        del row["actual_output"]
    for row in rows[missing : missing + failed]:
        row["actual_output"] = {"error": "timed out"}
    evaluation = Engine(catalog=CATALOG).dataset(rows).with_metrics(["RR"])
    return evaluation.with_profile(None, **options).run() if options else evaluation.run()


@pytest.mark.parametrize(
    ("missing", "failed", "options", "told"),
    [
        (0, 0, {}, []),
        (1, 0, {}, ["Incomplete: 1 of 10 samples has no output. They count as 0."]),
        (3, 2, {}, ["Incomplete: 3 of 10 samples have no output, 2 failed. They count as 0."]),
        (0, 2, {}, ["Incomplete: 2 of 10 samples failed. They count as 0."]),
        (
            2,
            0,
            {"missing_output": "exclude"},
            ["Incomplete: 2 of 10 samples have no output. They are left out of the mean."],
        ),
    ],
)
def test_samples_without_output_are_counted_with_what_they_count_as(missing, failed, options, told):
    data = gather(samples(missing, failed, options=options))

    assert [text for text, _ in trouble(data)] == told
    assert ("How sure is it?" in plain(lay_out(data))) == (not told)


def test_an_interrupted_run_is_incomplete():
    ((text, link),) = trouble(gather(samples().with_manifest({"interrupted": True})))
    assert (text, link) == ("Incomplete: The run was interrupted; the samples that it did not reach are not in it.", "")


def test_gates_are_a_table_and_those_that_failed_stand_above_the_headline():
    result = samples(4)
    gates = result.with_manifest({"policy": {**result.manifest["policy"], "max_failed": 1}}).gate(
        ["RR >= 0.7", "RR >= 0.5"]
    )
    text = plain(rankgauge.html_report(result, gates=gates))

    assert text.index("1 of 2 gates failed.") < text.index("Incomplete: 4 of 10") < text.index("rankgauge ·")
    assert "rr >= 0.7 failed 0.600 n=10, 4 missing" in text
    assert "rr >= 0.5 passed 0.600" in text
    assert "gates" not in plain(rankgauge.html_report(result)).lower()


def test_every_metric_and_run_has_its_finding_answers_cohorts_and_leaderboard():
    data = gather(rankgauge.evaluate(QRELS, runs=RUNS, metrics=["RR", "P@1"]))
    blocks = payload(lay_out(data))["blocks"]
    said = dict(zip(map(tuple, blocks["places"]), blocks["texts"], strict=True))

    assert {place for place, _ in said} == {"finding", "answers", "board"}  # no sample has a tag
    assert {key for place, key in said if place == "finding"} == {"1/0", "1/1", "2/0", "2/1"}
    # 1/2 in the baseline; 1/3 in low; 1 for eleven queries of twelve in high.
    assert "low" in said["finding", "1/0"]
    assert "falls from 0.500 to 0.333" in said["finding", "1/0"]
    assert "rises from 0.500 to 0.917" in said["finding", "2/0"]
    assert re.findall(r'<th scope="row">(\w+)', said["board", "0"]) == ["high", "base", "low"]
    assert "<h2>high has the highest rr, and is better than base</h2>" in said["board", "0"]


def test_a_definition_says_what_a_metric_measures_and_against_what():
    data = gather(rankgauge.evaluate(QRELS, RUNS["base"], [{"metric": "RR", "as": "mine"}]))

    assert data.definitions["mine"].startswith("One over the rank of the first relevant item")
    assert "Judged: relevant by id." in plain(lay_out(data))


def test_names_from_right_to_left_are_elements_of_their_own():
    name = "\u05e9\u05dc\u05d5\u05dd"
    runs = {name: RUNS["base"], "new": RUNS["high"]}
    text = lay_out(gather(rankgauge.evaluate(QRELS, runs=runs, metrics=["RR"])))

    title = re.search("<title>(.*?)</title>", text)[1]
    assert title.startswith(f"new is better than {name}.")
    assert f'<b class="a"><bdi>{name}</bdi></b>' in text
    assert "\u2068" not in text
    assert "<bdi>new" not in text


def test_reasons_are_those_of_each_metric():
    rows = [{"id": "q", "expected_output": {"relevant": ["a"]}, "actual_output": {"retrieved": ["a"], "answer": "x"}}]
    rows.append(
        {
            "id": "r",
            "expected_output": {"relevant": ["a"], "answer": "x"},
            "actual_output": {"retrieved": ["a"], "answer": "x"},
        }
    )
    result = Engine(catalog=CATALOG).dataset(rows).with_metrics(["RR", "exact_match"]).run()
    found = payload(lay_out(gather(result)))
    (reasons,), (codes,) = found["reasons"], found["codes"]

    assert codes[0] is None
    assert (reasons["which"][0], codes[1], reasons["which"][1]) == (None, [1, 0], [1, 0])


@pytest.mark.parametrize(
    ("third", "told"),
    [
        (lambda n: {"x": 3.0, "y": 2.0, "a": 1.0}, "No run is ahead of base by rr"),
        (
            lambda n: {"a": 3.0} if n == 0 else {"x": 3.0, "a": 2.0},
            "but these samples do not show a difference from base",
        ),
    ],
)
def test_a_leaderboard_says_only_what_was_tested(third, told):
    runs = {"base": RUNS["base"], "low": RUNS["low"], "third": {f"q{n}": third(n) for n in range(12)}}
    blocks = payload(lay_out(gather(rankgauge.evaluate(QRELS, runs=runs, metrics=["RR"]))))["blocks"]

    assert f"{told}</h2>" in blocks["texts"][blocks["places"].index(["board", "0"])]
