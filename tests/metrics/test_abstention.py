"""What counts as saying nothing, and of which questions."""

import json
import math

import pytest

from rankgauge import Engine, Result, compare, html_report
from rankgauge.errors import ResultError
from rankgauge.samples import read_sample

METRICS = ["false_answers", "abstention_recall", "false_abstentions", "top_score"]


def sample(name, output, *, answerable, expected=("d1",)):
    row = {"id": name, "expected_output": list(expected), "metadata": {"answerable": answerable}}
    return row if output is None else {**row, "actual_output": output}


def run(*samples, metrics=METRICS, **policy):
    return Engine().dataset(list(samples)).with_metrics(metrics).with_profile("default", **policy).run()


SAYS_NOTHING = [{"retrieved": []}, [], {"retrieved": ["d1"], "answer": " \n"}, {"answer": ""}]
SAYS_SOMETHING = [{"retrieved": ["d1"]}, ["d1"], {"retrieved": [], "answer": "No idea."}, {"answer": "41"}]


@pytest.mark.parametrize("output", SAYS_NOTHING, ids=str)
def test_an_empty_ranking_or_a_blank_answer_says_nothing(output):
    result = run(sample("a", output, answerable=False), sample("b", output, answerable=True))
    assert [result[name].mean for name in METRICS[:3]] == [0, 1, 1]


@pytest.mark.parametrize("output", SAYS_SOMETHING, ids=str)
def test_the_answer_decides_where_there_is_one(output):
    result = run(sample("a", output, answerable=False), sample("b", output, answerable=True))
    assert [result[name].mean for name in METRICS[:3]] == [1, 0, 0]


PHRASES = ["I don't know", "The documents do not say"]
ABSTAINS = {"retrieved": [{"id": "d1", "score": 0.5}], "answer": "I don\u2019t know! The documents do not say."}
ANSWERS = {"retrieved": [{"id": "d1", "score": 0.75}], "answer": "I don't know the date, but it was in 1887."}


def abstaining(folder=None):
    """Return one evaluation of two questions each with and without an answer, and of each one that abstains."""
    samples = [
        sample(f"{kind}-{is_answerable}", output, answerable=is_answerable)
        for kind, output in (("abstains", ABSTAINS), ("answers", ANSWERS))
        for is_answerable in (True, False)
    ]
    if folder is None:
        return Engine().dataset(samples).with_metrics([*METRICS, "hit@1"])
    (folder / "samples.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in samples))
    return Engine().dataset(folder / "samples.jsonl").with_metrics([*METRICS, "hit@1"])


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("is_file", [False, True])
def test_an_answer_of_phrases_that_abstain_says_nothing(is_file, workers, tmp_path):
    evaluation = abstaining(tmp_path if is_file else None)
    plain = evaluation.run(workers=workers)
    assert [plain[name].mean for name in METRICS] == [1, 0, 0, 0.625]
    result = evaluation.with_profile(abstains=PHRASES).run(workers=workers)
    assert [result[name].mean for name in METRICS] == [0.5, 0.5, 0.5, 0.75]
    assert result["hit@1"].mean == plain["hit@1"].mean == 1
    assert result.manifest["policy"]["abstains"] == PHRASES


def test_phrases_are_part_of_what_metrics_of_silence_mean_and_of_no_other():
    evaluation = abstaining()
    plain, with_phrases = evaluation.run(), evaluation.with_profile(abstains=PHRASES).run()
    assert compare({"a": plain, "b": with_phrases}, metrics=["hit@1"]).comparisons[0].metrics["hit@1"].n == 2
    with pytest.raises(ResultError, match=r"no policy abstains in one, policy abstains=.*in the other"):
        compare({"a": plain, "b": with_phrases}, metrics=["false_answers"])


@pytest.mark.parametrize(
    ("name", "said"),
    [("abstains-False", "it consists of phrases of policy abstains"), ("answers-False", "the answer says something")],
)
def test_an_explanation_says_whether_an_answer_abstains(name, said):
    result = abstaining().with_profile(abstains=PHRASES).run()
    (note,) = result.explain(name, "false_answers").notes
    assert said in note


def test_a_saved_result_is_evaluated_again_with_its_phrases(tmp_path):
    abstaining(tmp_path).with_profile(abstains=PHRASES).run().save(tmp_path / "out")
    saved = Result.load(tmp_path / "out")
    assert "consists of phrases" in saved.explain("abstains-True", "false_abstentions").notes[0]
    assert saved.evaluation().run()["false_answers"].mean == 0.5


def test_each_metric_is_of_its_own_questions():
    """Of three unanswerable questions one is answered, of two answerable ones one is not."""
    result = run(
        sample("a", ["d1"], answerable=False),
        sample("b", [], answerable=False),
        sample("c", [], answerable=False),
        sample("d", [], answerable=True),
        sample("e", ["d1"], answerable=True),
    )
    assert [(result[name].n, result[name].mean) for name in METRICS[:3]] == [
        (3, pytest.approx(1 / 3)),
        (3, pytest.approx(2 / 3)),
        (2, 0.5),
    ]
    assert result["false_answers"].reasons[3] == "the sample is answerable"


def test_the_first_score_of_unanswerable_questions_is_one_too():
    scored = {"retrieved": [{"id": "d1", "score": 0.25}, {"id": "d2", "score": 0.5}]}
    result = run(sample("a", scored, answerable=False), sample("b", ["d1"], answerable=True))
    assert result["top_score"].values[0] == 0.25
    assert math.isnan(result["top_score"].values[1])
    assert run(sample("a", scored, answerable=False), order="score")["top_score"].values[0] == 0.5


@pytest.mark.parametrize("no_gold", ["undefined", "zero", "error"])
def test_no_policy_makes_a_false_figure_of_a_question_of_the_other_kind(no_gold):
    result = run(sample("a", [], answerable=False), sample("b", ["d1"], answerable=True), no_gold=no_gold)
    assert [(result[name].n, result[name].mean) for name in METRICS[:3]] == [(1, 0), (1, 1), (1, 0)]


def test_a_missing_output_says_neither_something_nor_nothing():
    result = run(sample("a", None, answerable=False), sample("b", [], answerable=False))
    assert (result["false_answers"].n, result["false_answers"].counts["missing"]) == (1, 1)


def test_an_output_without_either_key_fails():
    result = run(sample("a", {"documents": ["d1"]}, answerable=False), sample("b", [], answerable=False))
    assert result["false_answers"].counts["failed"] == 1


def test_unanswerable_questions_still_count_nowhere_else():
    result = run(
        sample("a", ["d1"], answerable=False), sample("b", ["d1"], answerable=True), metrics=["hit@1", *METRICS]
    )
    assert result["hit@1"].n == 1


def test_one_sample_is_scored_and_explained_as_many_are():
    evaluation = Engine().dataset([]).with_metrics(METRICS)
    row = sample("a", {"retrieved": [{"id": "d1", "score": 0.5}]}, answerable=False)
    scores = evaluation.score(read_sample(row, problems=[]))
    assert [scores[name].value for name in METRICS] == [1, 0, None, 0.5]
    explained = run(row).explain("a", "false_answers")
    assert (explained.score, explained.missing) == (1, ())


def test_all_of_it_is_saved_and_read_again(tmp_path):
    result = run(sample("a", ["d1"], answerable=False), sample("b", ["d1"], answerable=True))
    result.save(tmp_path / "r")
    assert html_report(type(result).load(tmp_path / "r")).count("false_answers") > 0
