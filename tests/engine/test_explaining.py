"""Explaining scores of results: of samples, runs and folders, the worst ones, and what cannot be explained."""

import dataclasses
import json
import pickle

import numpy as np
import pytest

from rankgauge import Engine, Result, evaluate
from rankgauge.catalog import Catalog
from rankgauge.engine.explaining import explain_query
from rankgauge.engine.runs import RunOrigin, plan_run
from rankgauge.errors import ParameterError, ResultError
from rankgauge.io.open_sources import open_qrels, open_run
from rankgauge.report.json import per_sample_jsonl, summary
from rankgauge.report.markdown import markdown_report
from rankgauge.report.terminal import terminal_report

ENGINE = Engine(catalog=Catalog.discover(own_only=True))
ROWS = [
    {"id": "good", "input": "easy", "expected_output": ["a"], "actual_output": ["a"]},
    {"id": "half", "expected_output": {"a": 1, "b": 2}, "actual_output": ["x", "a"]},
    {"id": "none", "input": {"question": "hard?"}, "expected_output": ["a"]},
    {"id": "undefined", "expected_output": {"a": 0}, "actual_output": ["a"]},
]


def scored(rows=ROWS, metrics=("MRR", "recall@2", "unj@1")):
    return ENGINE.dataset(rows).with_metrics(list(metrics)).run()


def test_a_sample_is_explained_by_the_first_metric_or_any_spelling():
    result = scored()

    assert result.explain("half").score == 0.5
    assert result.explain("half", "recall_2").score == 0.5
    assert [gold.id for gold in result.explain("half", "recall@2").missing] == ["b"]


def test_every_saved_score_is_the_one_that_is_explained():
    metrics = ("MRR", "ndcg@2", "err@3", "f1@1", "unj@1")
    result = scored(metrics=metrics)
    for name, column in result.metrics.items():
        for sample_id, value in zip(result.sample_ids, column.values.tolist(), strict=True):
            explained = result.explain(sample_id, name)
            assert explained.score == value or (explained.score is None and np.isnan(value))
            assert explained.status == column.status(result.sample_ids.index(sample_id))


def test_a_kind_of_gold_that_other_samples_have_decides():
    """By passages alone the second sample would be judged; the data have relevant ids, so it has no score."""
    rows = [ROWS[0], {"id": "texts", "expected_output": {"passages": ["t"]}, "actual_output": [{"text": "t"}]}]
    explanation = scored(rows, ["recall@1"]).explain("texts")

    assert (explanation.status, explanation.score) == ("undefined", None)


def test_a_query_of_a_run_is_explained_with_the_highest_grade_of_all():
    qrels = {"q1": {"a": 1}, "q2": {"a": 3}}
    result = evaluate(qrels, {"q1": {"a": 1.0}, "q2": {"x": 1.0}}, ["err@2"])
    explanation = result.explain("q1")

    assert explanation.score == 1 / 8  # (2 ** 1 - 1) / 2 ** 3
    assert explanation.score == result["err@2"].values[0]


@pytest.mark.parametrize(("queries", "score"), [("judged", 1 / 8), ("intersection", 1 / 2)])
def test_the_highest_grade_is_that_of_the_queries_that_are_evaluated(queries, score):
    """ERR of a grade of 1 on top is (2 ** 1 - 1) / 2 ** highest: 3 with q2, which the run lacks, and 1 without."""
    plan = plan_run(["err@2"], policy={"queries": queries})
    judged, run = open_qrels({"q1": {"a": 1}, "q2": {"a": 3}}), open_run({"q1": {"a": 1.0}})

    assert explain_query(RunOrigin(plan, judged, run), "q1").score == score


def test_scores_of_a_run_with_ties_and_depth_are_those_of_its_queries():
    ranking = dict(zip("abcdef", (2.0, 2.0, 2.0, 1.0, 1.0, 0.5), strict=True))
    options = {"depth": 5}
    result = evaluate({"q": {"a": 2, "e": 1, "z": 1}}, {"q": ranking}, ["ndcg", "AP", "P@3"], policy=options)
    for name, column in result.metrics.items():
        assert result.explain("q", name).score == column.values[0]
    assert [rank.id for rank in result.explain("q").ranks] == ["c", "b", "a", "e", "d"]


def test_unknown_samples_and_columns_are_refused():
    result = scored()
    with pytest.raises(ResultError, match=r"no sample 'god' \(did you mean 'good'\?\); the result has 4 samples"):
        result.explain("god")
    with pytest.raises(ResultError, match="no column 'ndcg@9'"):
        result.explain("good", "ndcg@9")
    with pytest.raises(ResultError, match="no column 'ndcg@9'"):
        result.worst("ndcg@9")


def test_a_result_of_another_process_has_no_data_to_explain_from():
    with pytest.raises(ResultError, match="not known from which data"):
        pickle.loads(pickle.dumps(scored())).explain("good")  # noqa: S301  # our own


def test_the_worst_are_the_lowest_without_those_that_do_not_count():
    result = scored()

    assert [each.sample for each in result.worst("MRR", 2)] == ["none", "half"]
    assert [each.sample for each in result.worst(n=10)] == ["none", "half", "good"]
    assert result.worst("MRR", 1)[0].without == ()


def test_where_less_is_better_the_worst_are_the_highest():
    assert [each.score for each in scored().worst("unj@1", 2)] == sorted(
        [each.score for each in scored().worst("unj@1", 10)], reverse=True
    )[:2]
    assert scored().worst("unj@1", 1)[0].sample == "half"


def test_a_number_of_samples_is_asked_for():
    with pytest.raises(ParameterError, match="must be an integer of 1 or more, not 0"):
        scored().worst("MRR", 0)


def test_reports_list_the_worst_samples_that_were_asked_for(tmp_path):
    result = scored()
    listing = result.with_worst("MRR", 2)
    lines = [
        "2 samples with the lowest mrr:",
        "  none: 0.0000 (missing)  'hard?'",
        "    because    there is no output for this sample",
        "    expected   a (not retrieved)",
        "  half: 0.5000",
        "    retrieved  x, a",
        "    expected   b (gain 2, not retrieved), a (gain 1, rank 2)",
    ]

    assert "\n".join(lines) in terminal_report(listing)
    assert "## 2 samples with the lowest mrr\n\n```text\n" + "\n".join(lines[1:]) in markdown_report(listing)
    assert [each["sample"] for each in summary(listing)["worst"]] == ["none", "half"]
    assert "lowest" in (listing.save(tmp_path / "out") / "report.md").read_text(encoding="utf-8")
    assert result.listed == ()
    assert "worst" not in summary(result)
    assert "lowest" not in terminal_report(result) + markdown_report(result)


def test_hostile_texts_cannot_leave_the_fence_of_a_markdown_report():
    evil = {"id": "```\n# big", "input": "````", "expected_output": ["<b>`````"], "actual_output": ["\x1b[1m"]}
    text = markdown_report(scored([evil], ["MRR"]).with_worst())

    (opened,) = [line for line in text.splitlines() if line.endswith("`text") and line.startswith("``````")]
    assert opened.removesuffix("text") in text.splitlines()
    assert "\x1b" not in text


def test_data_that_give_another_score_are_refused(tmp_path):
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    result = ENGINE.dataset(path).with_metrics(["MRR"]).run()
    column = dataclasses.replace(result["MRR"], values=result["MRR"].values + 0.25)
    changed = Result.load(result.save(tmp_path / "out")).with_columns([column])

    assert Result.load(tmp_path / "out").explain("half").score == 0.5
    with pytest.raises(ResultError, match=r"'mrr' of sample 'half' is 0.5 now, and the result has 0.75"):
        changed.explain("half")


def test_what_a_policy_refuses_is_explained_as_failed():
    rows = [{"id": "q", "expected_output": ["a"], "actual_output": ["a", "a"]}]
    refusing = ENGINE.dataset(rows).with_metrics(["MRR"]).with_profile(duplicates="error", max_failed=1.0)
    explanation = refusing.run().explain("q")

    assert explanation.status == "failed"
    assert "'a'" in explanation.reason


def test_details_hold_the_facts_of_explanations_for_every_metric():
    kept = ENGINE.dataset(ROWS).with_metrics(["MRR", "ndcg@2", "f1@2"]).run(details=True)
    for name, column in kept.metrics.items():
        assert column.details is not None
        for sample_id, details in zip(kept.sample_ids, column.details, strict=True):
            told, explained = details["explanation"], kept.explain(sample_id, name).to_dict()
            dropped = {"retrieved_rank": None, "dropped_by": "", "nearest": ""}  # which only explanations look for
            assert [{**gold, **dropped} for gold in told["missing"]] == explained["missing"]
            assert told["arithmetic"] == explained["arithmetic"]
            held = [
                {key: rank[key] for key in rank if key not in {"text", "matched", "covers"}}
                for rank in explained["ranks"]
            ]
            assert told["ranks"] == [rank for rank in held if rank["gold"]]


def test_details_of_a_batch_are_those_of_each_sample_alone():
    """Rows and gold of the samples must not mix: each has other numbers of both."""
    rows = [
        {"id": f"q{place}", "expected_output": names[: place % 3 + 1], "actual_output": names[place % 4 :]}
        for place, names in enumerate([["a", "b", "c", "d"], ["c", "a"], ["b", "x", "a"], ["d"], ["x", "a", "b"]])
    ]
    metrics = ["ndcg@3", "AP", "recall@2"]
    together = ENGINE.dataset(rows).with_metrics(metrics).run(details=True)
    for place, row in enumerate(rows):
        alone = ENGINE.dataset([row]).with_metrics(metrics).run(details=True)
        for name in together.metrics:
            assert together[name].details[place] == alone[name].details[0]


def test_frames_of_samples_have_the_tags():
    rows = [{**ROWS[0], "metadata": {"tags": ["x", "y"]}}, ROWS[1]]
    assert scored(rows).per_sample["tags"].to_list() == [["x", "y"], []]


TEXTS = [
    {
        "id": "q1",
        "input": {"question": "what?", "lang": "en"},
        "expected_output": {"passages": ["t2"]},
        "actual_output": [
            {"id": "a", "text": "t1"},
            {"text": "t2"},
            {"id": "a", "text": "t1"},
            {"id": "c", "text": "t3"},
        ],
    },
    {"id": "q2", "input": "plain", "expected_output": {"passages": ["t"]}},
]


def test_texts_are_the_question_and_the_first_results_after_policy():
    told = scored(TEXTS, ["recall@2"]).with_texts(top=2)

    assert told.texts is not None
    assert [text.input for text in told.texts] == [{"question": "what?", "lang": "en"}, "plain"]
    assert [text.retrieved for text in told.texts] == [(("a", "t1"), (None, "t2")), ()]
    assert [text.retrieved for text in scored(TEXTS, ["recall@2"]).with_texts().texts or ()] == [
        (("a", "t1"), (None, "t2"), ("c", "t3")),
        (),
    ]


def test_texts_stand_in_frames_lines_and_folders(tmp_path):
    result = scored(TEXTS, ["recall@2", {"metric": "MRR", "as": "input"}])
    assert "retrieved" not in result.per_sample.columns
    told = result.with_texts()

    frame = told.per_sample
    assert frame["input"].to_list() == ['{"question": "what?", "lang": "en"}', "plain"]
    assert frame["retrieved"].to_list()[0][1] == {"id": None, "text": "t2"}
    assert frame[told["input"].info.safe_name].to_list() == [0.5, 0.0]
    first = json.loads(per_sample_jsonl(told).splitlines()[0])
    assert first["input"] == {"question": "what?", "lang": "en"}
    assert [each["id"] for each in first["retrieved"]] == ["a", None, "c"]
    loaded = Result.load(told.save(tmp_path / "out"))
    assert loaded["recall@2"].values.tolist() == told["recall@2"].values.tolist()
    assert "t2" in (tmp_path / "out" / "per_sample.jsonl").read_text(encoding="utf-8")


def test_texts_of_a_run_are_its_ids():
    result = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 2.0}}, ["AP"]).with_texts()
    assert result.texts is not None
    assert result.texts[0].retrieved == (("b", None), ("a", None))


def test_listing_samples_loses_neither_the_outputs_nor_the_way_back(tmp_path):
    """A system that was called is called once: its outputs are saved whatever the reports list."""
    called = []

    def system(given):
        called.append(given)
        return ["x", "a"]

    result = ENGINE.dataset(ROWS[:2]).with_metrics(["MRR"]).run(sut=system)
    told = result.with_worst("MRR", 1).with_texts(1)

    assert len(called) == 2
    assert told.outputs == result.outputs
    assert told.explain("good").score == 0.5
    loaded = Result.load(told.save(tmp_path / "out"))
    assert set(loaded.outputs) == {"good", "half"}
    assert [each.sample for each in told.listed] == ["good"]


def test_a_score_that_differs_by_more_than_rounding_is_refused(tmp_path):
    """The relevant document moves from rank 1000 to 1001, which changes its reciprocal rank by a millionth."""

    def write(rank):
        names = [f"x{number}" for number in range(1001)]
        names[rank - 1] = "a"
        path.write_text("".join(f"q Q0 {name} 0 {-at} t\n" for at, name in enumerate(names)), encoding="utf-8")

    path = tmp_path / "run"
    write(1000)
    result = evaluate({"q": {"a": 1}}, path, ["RR"])
    assert result.explain("q").score == 1 / 1000
    write(1001)
    with pytest.raises(ResultError, match="the data have changed"):
        result.explain("q")
