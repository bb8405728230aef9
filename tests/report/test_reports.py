import dataclasses
import json
import re

import numpy as np
import pytest

import rankgauge
from rankgauge import MetricSummary, Policy, Result
from rankgauge.base.tables import cell
from rankgauge.policy import PROFILES
from rankgauge.report.json import json_report, per_sample_jsonl
from rankgauge.report.markdown import markdown_report
from rankgauge.report.terminal import band, result_lines, terminal_report
from rankgauge.result.wording import number, policy_line
from tables import rows

REPORTS = (json_report, markdown_report, per_sample_jsonl, terminal_report)

# Reciprocal ranks: 1, 1/2, missing, failed, undefined.
ROWS = (
    {"id": "q1", "expected_output": ["a"], "actual_output": ["a"], "metadata": {"tags": ["x"]}},
    {"id": "q2", "expected_output": ["a"], "actual_output": ["b", "a"], "metadata": {"tags": ["y", "x"]}},
    {"id": "q3", "expected_output": ["a"]},
    {"id": "q4", "expected_output": ["a"], "actual_output": "[oops"},
    {"id": "q5", "expected_output": [], "actual_output": ["a"]},
)

NASTY = "a|b `c` <img src=x onerror=alert(1)> *d* _e_ [f](g) # ~h~ \\ i\n\n| j |"


@pytest.fixture(scope="module")
def result(engine):
    return engine.dataset(ROWS).with_metrics(["MRR", "ndcg@10"]).run()


@pytest.fixture(scope="module")
def nasty(engine):
    rows = [
        {"id": NASTY, "expected_output": ["a"], "actual_output": f"[{NASTY}", "metadata": {"tags": [NASTY]}},
        {"id": "q2", "expected_output": ["a"], "actual_output": ["b"]},
    ]
    evaluation = engine.register(NASTY, rows).dataset(NASTY)
    return evaluation.with_metrics([{"metric": "MRR", "as": NASTY}]).run()


@pytest.fixture(scope="module")
def undefined(engine):
    """Return a result without a single score."""
    rows = [{"id": "q", "expected_output": {"a": 0}, "actual_output": ["a"], "metadata": {"tags": ["x"]}}]
    return engine.dataset(rows).with_metrics(["retrieval-recall-at-k"]).run()


def test_names_between_colons_are_no_emoji(engine):
    """Names and ids such as `a:b:` are text, also where a table or a line has them."""
    rows = [{"id": ":bug:", "expected_output": ["a"], "actual_output": None, "metadata": {"tags": [":fire:"]}}]
    evaluation = engine.register("a:b", rows).dataset("a:b").with_metrics([{"metric": "MRR", "as": ":star:"}])
    report = terminal_report(evaluation.run())
    assert "a:b: 1 sample" in report
    assert all(name in report for name in (":bug:", ":fire:", ":star:"))


def rows_of(text, heading):
    """Return the cells of the table below a heading of a Markdown text."""
    table = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[each.strip() for each in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


class TestAllReports:
    @pytest.mark.parametrize("report", REPORTS)
    def test_nan_never_appears(self, report, result, undefined):
        for each in (result, undefined):
            assert re.search(r"\b(nan|inf|infinity)\b", report(each), re.IGNORECASE) is None

    @pytest.mark.parametrize("report", REPORTS)
    def test_a_result_without_samples_can_be_laid_out(self, report, result):
        assert report(result.take([])) is not None

    @pytest.mark.parametrize("report", REPORTS)
    def test_laying_out_twice_gives_the_same(self, report, result):
        assert report(result) == report(result)

    @pytest.mark.parametrize("report", [json_report, markdown_report])
    def test_the_whole_policy_is_kept(self, report, result):
        text = report(result).replace("\\", "").replace('": "', "=")
        assert "missing_output=zero" in text

    @pytest.mark.parametrize("report", REPORTS)
    def test_hostile_texts_do_not_break_it(self, report, nasty):
        assert report(nasty).endswith("\n")

    def test_they_are_found_by_name(self, catalog):
        declared = {name: claim.declaration.suffix for name, claim in catalog.all("reporter").items()}
        assert declared == {"json": ".json", "markdown": ".md", "jsonl": ".jsonl", "table": ".txt"}


class TestJson:
    def test_keys_stand_in_a_stable_order_behind_the_schema_version(self, result):
        report = json.loads(json_report(result))
        assert list(report) == [
            "schema_version",
            "rankgauge",
            "dataset",
            "outputs",
            "profile",
            "policy",
            "relevance",
            "samples",
            "unhealthy",
            "incomplete",
            "interrupted",
            "metrics",
            "columns",
            "cohorts",
            "notes",
            "errors",
        ]
        assert report["schema_version"] == "rankgauge.report.v1"
        assert list(report["metrics"]) == ["mrr", "ndcg@10"]
        assert list(report["metrics"]["mrr"])[:5] == ["mean", "n", "n_undefined", "n_missing", "n_failed"]

    def test_numbers_come_with_their_counts(self, result):
        report = json.loads(json_report(result))
        column = report["metrics"]["mrr"]
        assert (report["samples"], report["unhealthy"], report["incomplete"]) == (5, 2, True)
        found = [column[key] for key in ("mean", "n", "n_undefined", "n_missing", "n_failed", "min", "p50", "max")]
        # The values that count: 0, 0, 1/2, 1.
        assert found == [0.375, 4, 1, 1, 1, 0.0, 0.25, 1.0]
        assert column["pass_rate"] == 0.5
        assert report["metrics"]["ndcg@10"]["k"] == 10
        assert report["metrics"]["ndcg@10"]["provider"]["distribution"] == "rankgauge"

    def test_every_spelling_leads_to_its_column(self, engine):
        metrics = ["AP", "EM(matcher=folded)", "map", "P_5"]
        row = {"id": "q", "expected_output": {"relevant": ["a"], "answer": "yes"}}
        result = engine.dataset([{**row, "actual_output": {"retrieved": ["a"], "answer": "Yes"}}]).with_metrics(metrics)
        report = json.loads(json_report(result.run()))
        names = {"AP": "ap", "map": "ap", "EM(matcher=folded)": "em(matcher=folded)", "P_5": "p@5"}
        assert (names, list(report["metrics"])) == (report["columns"], ["ap", "em(matcher=folded)", "p@5"])

    def test_there_are_ten_buckets_the_empty_ones_included(self, result, undefined):
        for each, counts in ((result, [2, 0, 0, 0, 0, 1, 0, 0, 0, 1]), (undefined, [0] * 10)):
            (column, *_) = json.loads(json_report(each))["metrics"].values()
            assert [bucket["count"] for bucket in column["histogram"]] == counts
            assert (column["histogram"][0]["min"], column["histogram"][-1]["max"]) == (0.0, 1.0)

    def test_cohorts_come_with_their_counts(self, result):
        cohorts = json.loads(json_report(result))["cohorts"]
        assert [(each["tag"], each["samples"], each["metrics"]["mrr"]["mean"]) for each in cohorts] == [
            ("x", 2, 0.75),
            ("y", 1, 0.5),
            (None, 3, 0.0),
        ]

    def test_without_tags_there_are_no_cohorts(self, engine):
        rows = [{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}]
        assert json.loads(json_report(engine.dataset(rows).with_metrics(["MRR"]).run()))["cohorts"] == []

    def test_errors_come_with_their_reasons(self, result):
        errors = json.loads(json_report(result))["errors"]
        assert [(each["sample_id"], each["metric"], each["status"]) for each in errors] == [
            ("q3", None, "missing"),
            ("q4", None, "failed"),
        ]
        assert "not valid JSON" in errors[1]["reason"]

    def test_what_does_not_exist_is_null(self, undefined):
        (column,) = json.loads(json_report(undefined))["metrics"].values()
        assert [column[key] for key in ("mean", "std", "min", "p50", "p95", "max", "pass_rate")] == [None] * 7


class TestJsonLines:
    def test_there_is_one_line_for_every_sample(self, result):
        found = [json.loads(line) for line in per_sample_jsonl(result).splitlines()]
        assert [(each["sample_id"], each["tags"]) for each in found] == [
            ("q1", ["x"]),
            ("q2", ["y", "x"]),
            ("q3", []),
            ("q4", []),
            ("q5", []),
        ]
        scores = [each["scores"]["mrr"] for each in found]
        assert [(each["score"], each["status"]) for each in scores] == [
            (1.0, "scored"),
            (0.5, "scored"),
            (0.0, "missing"),
            (0.0, "failed"),
            (None, "undefined"),
        ]
        assert ["reason" in each for each in scores] == [False, False, True, True, True]
        assert "details" not in scores[0]

    def test_line_feeds_in_texts_do_not_break_lines(self, nasty):
        first, second = per_sample_jsonl(nasty).rstrip("\n").split("\n")
        assert json.loads(first)["sample_id"] == NASTY
        assert json.loads(second)["sample_id"] == "q2"

    def test_details_are_there_when_they_were_kept(self, engine):
        kept = engine.dataset(ROWS[:1]).with_metrics(["ndcg@10"]).run(details=True)
        (line,) = per_sample_jsonl(kept).splitlines()
        # One relevant item at rank 1.
        details = json.loads(line)["scores"]["ndcg@10"]["details"]
        assert [rank["contribution"] for rank in details.pop("explanation")["ranks"]] == [1.0]
        assert details == {"k": 10, "dcg": 1.0, "idcg": 1.0}

    def test_no_samples_are_no_lines(self, result):
        assert per_sample_jsonl(result.take([])) == ""

    def test_details_of_every_metric_can_be_written(self, engine, catalog):
        row = {
            "id": "q",
            "expected_output": {
                "relevant": {"a": 2, "b": 1},
                **{key: ["x"] for key in ("answer", "passages", "keywords", "nuggets", "forbidden")},
                "spans": [{"document": "d", "start": 3, "end": 8, "text": "x"}],
                "sets": [["a", "b"]],
            },
            "actual_output": {
                "retrieved": [{"id": "b", "text": "x"}, {"id": "a", "text": "y"}],
                "answer": "x",
                "support": {"x": "support"},
            },
            "metadata": {"asked_at": "2024-05-01"},
        }
        kept = engine.dataset([row]).with_metrics(list(catalog.metrics)).run(details=True)
        (line,) = per_sample_jsonl(kept).splitlines()
        assert set(catalog.metrics) == {name for name in json.loads(line)["scores"] if name in catalog.metrics}


class TestMarkdown:
    def test_metrics_come_with_their_counts(self, result):
        header, rule, *rows = rows_of(markdown_report(result), "Metrics")
        assert header[:10] == ["metric", "mean", "se", "low", "high", "n", "k", "undefined", "missing", "failed"]
        assert set(rule) == {"---", "---:"}
        # 0, 0, 1/2, 1: se is sqrt(0.6875 / 3 / 4), half the interval 3.1824 times that, cut at 0 and 1.
        assert rows[0][:10] == ["mrr", "0.3750", "0.2394", "0.0000", "1.0000", "4", "-", "1", "1", "1"]
        assert [row[0] for row in rows] == ["mrr", "ndcg@10"]

    def test_cohorts_and_failures_have_tables(self, result):
        text = markdown_report(result)
        assert [row[:3] for row in rows_of(text, "Cohorts")[2:]] == [
            ["x", "2", "0.7500"],
            ["y", "1", "0.5000"],
            ["(untagged)", "3", "0.0000"],
        ]
        assert [row[:3] for row in rows_of(text, "Missing and failed")[2:]] == [
            ["q3", "(all)", "missing"],
            ["q4", "(all)", "failed"],
        ]

    def test_a_dash_stands_where_there_is_no_number(self, undefined):
        (row,) = rows_of(markdown_report(undefined), "Metrics")[2:]
        assert row == ["retrieval-recall-at-k", "-", "-", "-", "-", "0", "5", "1", "0", "0", "-", "-", "-", "-"]

    def test_every_table_keeps_its_columns_whatever_the_data_holds(self, nasty):
        text = markdown_report(nasty)
        for heading in ("Metrics", "Cohorts", "Missing and failed"):
            widths = {len(row) for row in rows_of(text, heading)}
            assert len(widths) == 1, heading

    def test_html_from_data_never_reaches_the_report(self, nasty):
        assert "<img" not in markdown_report(nasty)

    def test_a_column_name_never_breaks_out_of_its_line(self, nasty):
        # HTML blocks end at a blank line, so a name with one would leave its heading.
        summaries = [line for line in markdown_report(nasty).splitlines() if "<summary>" in line]
        assert all(line.endswith("</summary>") for line in summaries)

    def test_only_the_first_failures_are_listed(self, engine):
        rows = [{"id": f"q{n}", "expected_output": ["a"], "actual_output": None} for n in range(53)]
        text = markdown_report(engine.dataset(rows).with_metrics(["MRR"]).run())
        assert len(rows_of(text, "Missing and failed")) == 52  # fifty, a header and a rule
        assert "and 3 more" in text

    def test_distributions_have_ten_buckets(self, result):
        text = markdown_report(result)
        bars = re.findall(r"^\[\d\.\d\d, \d\.\d\d[)\]] +\d+ ?#*$", text, re.MULTILINE)
        assert len(bars) == 20  # two metrics
        assert bars[0] == "[0.00, 0.10)      2 ########################"
        assert bars[9] == "[0.90, 1.00]      1 ############"

    def test_notes_are_listed(self, engine):
        rows = [{"id": "q", "expected_output": ["Doc 17"], "actual_output": ["chunk_17"]}]
        text = markdown_report(engine.dataset(rows).with_metrics(["MRR"]).run())
        assert "## Notes" in text
        assert "chunk\\_17" in text

    @rows(
        ("text", "expected"),
        [
            ("plain text", "plain text"),
            ("a|b", r"a\|b"),
            ("a\nb\r\n\tc", "a b c"),
            ("`x` *y* _z_", r"\`x\` \*y\* \_z\_"),
            ("[l](u) #h ~s~", r"\[l\](u) \#h \~s\~"),
            ("a\\|b", r"a\\\|b"),
            ("<b> & </b>", "&lt;b&gt; &amp; &lt;/b&gt;"),
            (12, "12"),
        ],
    )
    def test_cells_are_escaped(self, text, expected):
        assert expected == cell(text)

    def test_numbers_have_four_digits(self):
        assert (number(0.5), number(None), number(2 / 3), number(float("nan"))) == ("0.5000", "-", "0.6667", "-")

    def test_every_policy_option_is_there_folded(self, result):
        text = markdown_report(result)
        assert text.splitlines()[2] == "5 samples, profile default, unmodified."
        folded = text.partition("<details><summary>All policy options</summary>")[2].partition("</details>")[0]
        assert re.findall(r"^(\w+)=(.*)$", folded, re.MULTILINE) == [
            ("order", "given"),
            ("ties", "docno"),
            ("score_dtype", "float64"),
            ("duplicates", "first"),
            ("no_gold", "undefined"),
            ("missing_output", "zero"),
            ("failed_output", "zero"),
            ("max_failed", "0"),
            ("queries", "judged"),
            ("depth", "none"),
            ("judged_only", "false"),
            ("exclude_self", "false"),
            ("interval", "standard"),
            ("unverified_judges", "refuse"),
        ]


class TestTerminal:
    def test_it_is_a_plain_table_with_counts(self, result):
        text = terminal_report(result)
        assert "\x1b" not in text
        (line,) = [line for line in text.splitlines() if line.strip().startswith("mrr")]
        assert line.split()[:10] == ["mrr", "0.3750", "0.2394", "0.0000", "1.0000", "4", "-", "1", "1", "1"]
        assert "se: standard error of the mean, std / sqrt(n), where std divides by n - 1" in text

    def test_failures_are_told_with_their_reasons(self, result):
        text = terminal_report(result)
        assert "missing: sample 'q3': there is no output" in text
        assert "failed: sample 'q4'" in text

    def test_more_than_ten_reasons_are_counted(self, engine):
        """Digits do not tell reasons apart, so that these are letters; the last three samples share one reason."""
        rows = [{"id": f"q{n}", "expected_output": ["a"], "actual_output": None} for n in range(15)]
        result = engine.dataset(rows).with_metrics(["MRR"]).run()
        (column,) = result.metrics.values()
        reasons = {n: f"broken by {'abcdefghijklm'[min(n, 12)]}" for n in range(15)}
        result = result.with_columns([dataclasses.replace(column, reasons=reasons)])
        text = terminal_report(result)
        assert text.count("missing: sample") == 10
        assert "... and 5 more for other reasons; a saved result lists them all" in text

    def test_cohorts_have_a_table(self, result):
        text = terminal_report(result)
        assert "means by cohort" in text
        assert "(untagged)" in text

    def test_markup_in_data_is_shown_and_not_followed(self, engine):
        rows = [
            {"id": "[bold]q", "expected_output": ["a"], "actual_output": None, "metadata": {"tags": ["[red]t[/red]"]}}
        ]
        text = terminal_report(engine.dataset(rows).with_metrics([{"metric": "MRR", "as": "[i]m"}]).run())
        for word in ("[bold]q", "[red]t[/red]", "[i]m"):
            assert word in text

    @pytest.mark.parametrize("wanted", [False, True])
    def test_bands_are_an_optional_column(self, engine, wanted):
        rows = [{"id": "q", "expected_output": ["a"], "actual_output": ["b", "a"]}]
        lines = result_lines(engine.dataset(rows).with_metrics(["MRR"]).run(), width=160, bands=wanted)
        assert wanted is any("acceptable" in line.text for line in lines)

    def test_one_sample_is_one_sample(self, engine):
        rows = [{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}]
        one = engine.dataset(rows).with_metrics(["MRR"]).run()
        assert terminal_report(one).startswith("samples given in Python: 1 sample\n")
        assert markdown_report(one).splitlines()[2] == "1 sample, profile default, unmodified."


@pytest.mark.parametrize("report", [markdown_report, terminal_report])
def test_a_measure_that_counts_has_no_digits(report):
    """Five documents are judged relevant in two queries, so that P@2 is (1/2 + 2/2) / 2."""
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1, "d": 1, "e": 1}}
    run = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"c": 2.0, "d": 1.0}}
    words = report(rankgauge.evaluate(qrels, run, ["num_rel", "P@2"])).replace("|", " ").replace("\\", "").split()
    assert words[words.index("num_rel") + 1] == "5"
    assert words[words.index("p@2") + 1] == "0.7500"


class TestPolicyLine:
    """What differs from the profile, and nothing else."""

    ROW = ({"id": "q", "expected_output": ["a"], "actual_output": ["a"]},)

    @pytest.mark.parametrize(
        ("policy", "line"),
        [
            ("default", "profile default, unmodified"),
            ("keyword", "profile keyword, unmodified"),
            (Policy(ties="error", depth=1), "profile default; policy: ties=error depth=1"),
            (PROFILES["remem"].adapted({"judged_only": True}), "profile remem; policy: judged_only=true"),
            (PROFILES["remem"].adapted({"duplicates": "keep"}), "profile remem, unmodified"),
            (
                PROFILES["classic"].adapted({"depth": 3, "duplicates": "first"}),
                "profile classic; policy: duplicates=first depth=3",
            ),
        ],
    )
    def test_of_samples(self, engine, policy, line):
        result = engine.dataset(self.ROW).with_metrics(["MRR"]).with_profile(policy).run()
        assert policy_line(result) == line
        assert terminal_report(result).splitlines()[-1] == line

    def test_all_options_of_a_profile_that_is_not_ours_are_said(self, engine):
        own = dataclasses.replace(PROFILES["default"], name="mine")
        line = policy_line(engine.dataset(self.ROW).with_metrics(["MRR"]).with_profile(own).run())
        assert line.startswith("profile mine; policy: order=given ties=docno ")
        assert line.endswith(" exclude_self=false interval=standard unverified_judges=refuse")

    @pytest.mark.parametrize(
        ("options", "line"),
        [
            ({}, "profile trec10, unmodified"),
            ({"rel": 1}, "profile trec10, unmodified"),
            ({"rel": 2}, "profile trec10; policy: relevance=2"),
            ({"profile": "trec9", "policy": {"depth": 10}, "rel": 2}, "profile trec9; policy: depth=10 relevance=2"),
        ],
    )
    def test_of_a_run(self, options, line):
        assert policy_line(rankgauge.evaluate({"q": {"a": 2}}, {"q": {"a": 1.0}}, "RR", **options)) == line

    def test_a_saved_result_says_the_same(self, tmp_path):
        result = rankgauge.evaluate({"q": {"a": 2}}, {"q": {"a": 1.0}}, "RR", policy={"depth": 7}, rel=2)
        assert policy_line(Result.load(result.save(tmp_path / "kept"))) == policy_line(result)


class TestBands:
    @rows(
        ("alias", "mean", "expected"),
        [
            ("retrieval-mrr", 1.0, "perfect"),
            ("retrieval-mrr", 0.999, "excellent"),
            ("retrieval-mrr", 0.9, "excellent"),
            ("retrieval-mrr", 0.75, "good"),
            ("retrieval-mrr", 0.5, "acceptable"),  # always at rank 2
            ("retrieval-mrr", 1 / 3, "poor"),  # always at rank 3
            ("retrieval-mrr", 0.0, "poor"),
            ("retrieval-ndcg-at-k", 0.8, "good"),
            ("retrieval-recall-at-k", 1.0, "complete"),
            ("retrieval-recall-at-k", 0.74, "acceptable"),
            ("retrieval-recall-at-k", 0.49, "missing much"),
            ("retrieval-mrr", None, ""),
            ("retrieval-precision-at-k", 0.9, ""),
        ],
    )
    def test_a_mean_has_a_word(self, alias, mean, expected):
        assert expected == band(alias, mean)


def test_a_metric_without_upper_bound_has_a_histogram_over_its_values(result):
    info = result["MRR"].info
    values = {name: getattr(info, name) for name in type(info).__slots__} | {"range": (0.0, None)}
    column = MetricSummary(type(info)(**values), np.array([0.0, 5.0, 10.0, float("nan")]), np.zeros(4, dtype=np.uint8))
    report = json.loads(json_report(Result(["a", "b", "c", "d"], [()] * 4, {"x": column}, {})))
    buckets = report["metrics"]["x"]["histogram"]
    assert [bucket["count"] for bucket in buckets] == [1, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    assert (buckets[0]["min"], buckets[-1]["max"]) == (0.0, 10.0)
