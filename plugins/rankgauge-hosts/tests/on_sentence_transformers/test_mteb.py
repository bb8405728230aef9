"""Retrieval tasks of MTEB with metrics of rankgauge, and models compared over tasks by what MTEB keeps of them."""

from __future__ import annotations

import json
import random

import mteb
import pytest
from datasets import Dataset
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import BoW

import rankgauge
from rankgauge.errors import DataError, ParameterError, PlanError
from rankgauge_hosts.mteb import read_predictions, with_metrics

WORDS = [f"w{number}" for number in range(30)]


def made_task(name, seed, *, splits=("test",), **settings):
    """Return a retrieval task with made-up texts and judgments; document q1 is called as a query is."""
    draw = random.Random(seed)
    corpus = {f"d{number}": " ".join(draw.choices(WORDS, k=6)) for number in range(25)}
    queries = {f"q{number}": " ".join(draw.choices(WORDS, k=3)) for number in range(12)}
    corpus["q1"] = queries["q1"]
    judged = {query: {f"d{draw.randrange(25)}": draw.randrange(1, 3) for _ in range(3)} for query in queries}
    judged["q0"] = {}

    class Made(AbsTaskRetrieval):
        metadata = TaskMetadata(
            name=name,
            description="Made-up texts.",
            dataset={"path": "none", "revision": "none"},
            type="Retrieval",
            category="t2t",
            eval_splits=list(splits),
            eval_langs=["eng-Latn"],
            main_score="ndcg_at_10",
        )
        times_loaded = 0

        def load_data(self, num_proc=None, **_):
            self.times_loaded += 1
            parts = {
                "queries": Dataset.from_list([{"id": name, "text": text} for name, text in queries.items()]),
                "corpus": Dataset.from_list([{"id": name, "text": text, "title": ""} for name, text in corpus.items()]),
                "relevant_docs": judged,
                "top_ranked": None,
            }
            self.dataset = {"default": {split: dict(parts) for split in splits}}
            self.data_loaded = True

    for setting, value in settings.items():
        setattr(Made, setting, value)
    return Made()


def run(tasks, words, folder):
    """Let MTEB evaluate a model that knows some words; return the scores of each task's first split."""
    model = SentenceTransformer(modules=[BoW(words)], device="cpu")
    result = mteb.evaluate(model, tasks, prediction_folder=folder, cache=None, show_progress_bar=False)
    return {of_task.task_name: of_task.scores["test"][0] for of_task in result.task_results}


@pytest.mark.parametrize(
    "settings", [{}, {"ignore_identical_ids": True}, {"skip_first_result": True}], ids=["usual", "self", "first"]
)
def test_a_task_has_the_metrics_beside_its_own(settings, tmp_path):
    """They are its own numbers, which MTEB rounds to five places, but for MRR."""
    task = with_metrics(made_task("Made", 1, **settings), ["ndcg@10", "MRR@10", "AP@100", "rbp"])
    scores = run([task], WORDS, tmp_path)["Made"]
    assert scores["rankgauge_ndcg_at_10"] == pytest.approx(scores["ndcg_at_10"], abs=5.1e-6)
    assert scores["rankgauge_ap_at_100"] == pytest.approx(scores["map_at_100"], abs=5.1e-6)
    assert scores["rankgauge_rbp"] > 0
    if "skip_first_result" not in settings:  # which MTEB's own MRR does not follow
        assert scores["rankgauge_mrr_at_10"] == pytest.approx(scores["mrr_at_10"], abs=1e-12)


def test_what_a_task_adds_itself_stays(tmp_path):
    task = made_task("Made", 1, task_specific_scores=lambda self, *_, **__: {"own": 1.0})
    scores = run([with_metrics(with_metrics(task, "RR"), ["hit@1"])], WORDS, tmp_path)["Made"]
    assert scores["own"] == 1.0
    assert {"rankgauge_rr", "rankgauge_hit_at_1"} <= set(scores)


def test_a_metric_that_cannot_be_used_is_refused_before_the_task_runs():
    with pytest.raises(PlanError, match="ndgc"):
        with_metrics(made_task("Made", 1), "ndgc@10")


@pytest.fixture(scope="module")
def over_tasks(tmp_path_factory):
    """Return two tasks, and the folder of the predictions of two models with MTEB's own scores."""
    tasks = [made_task("First", 1, ignore_identical_ids=True), made_task("Second", 2, skip_first_result=True)]
    folders = {name: tmp_path_factory.mktemp(name) for name in ("all", "few")}
    scores = {name: run(tasks, WORDS[: 30 if name == "all" else 20], folder) for name, folder in folders.items()}
    return tasks, folders, scores


def test_predictions_have_the_scores_of_mteb(over_tasks):
    tasks, folders, scores = over_tasks
    results = read_predictions(folders, tasks).evaluate(["ndcg@10", "P@5"])
    for model, result in results.items():
        by_task = result.by_tag()
        assert list(by_task) == ["First", "Second"]
        for name, own in scores[model].items():
            assert by_task[name]["ndcg@10"].mean == pytest.approx(own["ndcg_at_10"], abs=5.1e-6)
            assert by_task[name]["P@5"].mean == pytest.approx(own["precision_at_5"], abs=5.1e-6)
    assert len(results["all"]) == 22  # q0 has no judgments


def test_models_are_compared_over_tasks_as_clusters(over_tasks):
    tasks, folders, _ = over_tasks
    predictions = read_predictions(folders, tasks)
    results = predictions.evaluate("ndcg@10")
    found = rankgauge.compare(results, cluster=predictions.tasks)["few"]["ndcg@10"]
    assert [each.tag for each in found.cohorts] == ["First", "Second"]
    assert found.p == 0.5  # two clusters have four signs, and two of these are as extreme
    (of_first,) = {task for query, task in predictions.tasks.items() if query == "First/default/test/q1"}
    assert of_first == "First"
    wide, narrow = results["all"], rankgauge.evaluate(predictions.qrels, predictions.runs["all"], "ndcg@10")
    assert wide["ndcg@10"].mean == narrow["ndcg@10"].mean
    assert wide["ndcg@10"].interval() != narrow["ndcg@10"].interval()
    assert "few" in rankgauge.html_report(results, comparison=rankgauge.compare(results, cluster=predictions.tasks))


def test_judgments_are_loaded_and_put_away(over_tasks):
    tasks, folders, _ = over_tasks
    before = [task.times_loaded for task in tasks]
    read_predictions(folders, tasks)
    assert [task.times_loaded for task in tasks] == [times + 1 for times in before]
    assert not any(task.data_loaded for task in tasks)
    tasks[0].load_data()
    read_predictions(folders, tasks)
    assert tasks[0].data_loaded


class TestMistakes:
    def test_no_folder(self, over_tasks):
        with pytest.raises(ParameterError, match="takes the folder of each model"):
            read_predictions({}, over_tasks[0])

    def test_a_task_without_predictions(self, over_tasks, tmp_path):
        tasks, folders, _ = over_tasks
        with pytest.raises(DataError, match=r"First_predictions\.json.*: No such file.*prediction_folder"):
            read_predictions({**folders, "third": tmp_path}, tasks)

    def test_other_splits(self, over_tasks, tmp_path):
        tasks, folders, _ = over_tasks
        other = {"mteb_model_meta": {}, "default": {"test": {}, "dev": {}}}
        (tmp_path / "First_predictions.json").write_text(json.dumps(other))
        told = "First: the predictions of third are of default/dev, default/test, those of all of default/test; run"
        with pytest.raises(DataError, match=told):
            read_predictions({**folders, "third": tmp_path}, tasks)
        with pytest.raises(DataError, match="First: predictions are of default/dev, and the task has no judgments"):
            read_predictions({"third": tmp_path}, tasks)

    @pytest.mark.parametrize(
        ("text", "told"), [("{", "is not JSON"), ('{"default": {}}', "these are no predictions of MTEB")]
    )
    def test_another_file(self, over_tasks, tmp_path, text, told):
        (tmp_path / "First_predictions.json").write_text(text)
        with pytest.raises(DataError, match=told):
            read_predictions({"third": tmp_path}, over_tasks[0])
