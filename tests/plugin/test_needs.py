# the expected value stands first
"""Plugins that see what they ask for: three written as the tutorial says, on every road."""

import json
from argparse import Namespace

import numpy as np
import pytest

from draws import draws, in_thorough_suite
from rankgauge import Catalog, Engine, evaluate
from rankgauge.cli.metrics_command import execute_show
from rankgauge.errors import DeclarationError, PlanError
from rankgauge.judging import Keep, Target, judge
from rankgauge.plugin import Cutoff, Judged, JudgedSample, Scores, Seen, hookimpl, metric, sample_metric
from rankgauge.policy import PROFILES, Policy
from rankgauge.samples import read_sample
from rankgauge.testing import check_metric


@sample_metric("retrieval-budget-recall", short=("budget_recall",), needs=("texts",), laws=("bounded",))
def budget_recall(ranking: JudgedSample, *, words: int = 5) -> float | None:
    """Share of the relevant items among the results that fit into a number of words."""
    if ranking.n_gold == 0:
        return None
    used = found = 0
    for text, gain in zip(ranking.seen.texts, ranking.gains, strict=True):
        used += len(text.split())
        if used > words:
            break
        found += gain > 0
    return found / ranking.n_gold


@metric("retrieval-score-gap", short=("score_gap",), needs=("scores",), range=(0.0, None))
def score_gap(judged: Judged) -> Scores:
    """How far the score of the first relevant result is below the top score."""
    ranks = judged.first_rank().tolist()
    pairs = zip(judged.seen, ranks, strict=True)
    return np.array([seen.scores[0] - seen.scores[rank - 1] if rank else np.nan for seen, rank in pairs])


@sample_metric(
    "answer-support-at-k",
    short=("support",),
    needs=("texts", "answer"),
    defined=lambda judged: np.ones(judged.n, dtype=bool),
    laws=("bounded", "monotone-in-k"),
)
def support(ranking: JudgedSample, *, k: int) -> float | None:
    """Share of the words of the answer that are in the first *k* texts."""
    known = {word for text in ranking.seen.texts[:k] for word in text.casefold().split()}
    words = ranking.seen.answer.casefold().split()
    return sum(word in known for word in words) / len(words) if words else 0.0


@metric("retrieval-known-ids-at-k", needs=("ids", "input", "metadata"))
def known_ids(judged: Judged, *, k: Cutoff) -> Scores:
    """Share of the ids in the metadata's list, or in the input, of the first ids."""
    cutoffs = np.broadcast_to(k, judged.n).tolist()
    return np.array(
        [
            np.mean([name in (*seen.metadata.get("known", ()), seen.input) for name in seen.ids[:own]] or [0.0])
            for seen, own in zip(judged.seen, cutoffs, strict=True)
        ]
    )


@sample_metric("retrieval-from-source-at-k", short=("from_source",), gold=(), needs=("result_metadata",))
def from_source(ranking: JudgedSample, *, k: int, source: str = "wiki") -> float | None:
    """Share of the first *k* results that are from one source."""
    known = ranking.seen.result_metadata[:k]
    return sum(each.get("source") == source for each in known) / len(known) if known else None


class Plugin:
    @hookimpl
    def rankgauge_metrics(self):
        return [budget_recall, score_gap, support, known_ids, from_source]


@pytest.fixture(scope="module")
def engine():
    return Engine(catalog=Catalog.discover(own_only=True, plugins={"needs": Plugin()}))


SAMPLE = {
    "id": "q",
    "input": "c",
    "expected_output": {"relevant": ["b", "c"], "answer": "red fox"},
    "actual_output": {
        "retrieved": [
            {"id": "a", "text": "one two three", "score": 9.5},
            {"id": "b", "text": "A red fox", "score": 7.0},
            {"id": "c", "text": "four", "score": 1.0},
        ],
        "answer": "The red fox",
    },
    "metadata": {"known": ["a"]},
}


def scored(engine, metric, sample=SAMPLE, **options):
    (only,) = engine.dataset([]).with_metrics([metric]).with_profile(Policy(**options)).score(sample).values()
    return only


def with_output(*retrieved, answer="x"):
    return {**SAMPLE, "actual_output": {"retrieved": list(retrieved), "answer": answer}}


class TestWhatIsSeen:
    def test_texts_of_a_sample(self, engine):
        assert 0.0 == scored(engine, "budget_recall").value  # a has 3 words, a and b have 6
        assert 0.5 == scored(engine, "budget_recall(words=6)").value
        assert 1.0 == scored(engine, "budget_recall(words=7)").value

    def test_scores_of_a_batch(self, engine):
        assert 2.5 == scored(engine, "score_gap").value

    def test_answer_and_texts(self, engine):
        assert 2 / 3 == scored(engine, "support@2").value  # `the` is in no text
        assert 0.0 == scored(engine, "support@1").value

    def test_ids_input_and_metadata(self, engine):
        assert 2 / 3 == scored(engine, {"metric": "retrieval-known-ids-at-k", "k": 3}).value
        assert 1.0 == scored(engine, {"metric": "retrieval-known-ids-at-k", "k": 1}).value

    def test_ranks_are_those_after_policy(self, engine):
        """By score c comes first; the second b is dropped with its text and score."""
        retrieved = SAMPLE["actual_output"]["retrieved"]
        sample = with_output(
            *({**each, "score": -each["score"]} for each in (*retrieved, {**retrieved[1], "score": 8.0}))
        )
        assert 1.0 == scored(engine, "budget_recall(words=4)", sample, order="score").value
        assert 0.0 == scored(engine, "score_gap", sample, order="score").value

    def test_batches_and_streams_see_the_same(self, engine):
        samples = [
            {
                **SAMPLE,
                "id": f"q{n}",
                "actual_output": {"retrieved": SAMPLE["actual_output"]["retrieved"][n % 3 :], "answer": "fox"},
            }
            for n in range(7)
        ]
        evaluation = engine.dataset(samples).with_metrics(["budget_recall", "score_gap", "support@2", "recall@2"])
        whole = evaluation.run()
        for name in whole.metrics:
            cut = np.concatenate([part[name].values for part in evaluation.stream(batch_size=2)])
            assert whole[name].values.tobytes() == cut.tobytes()
        assert [0.0, 1.0, 0.5] == whole["budget_recall"].values[:3].tolist()

    def test_a_metric_sees_only_what_it_asked_for(self, engine):
        """Another metric of the run asks for texts; this one fails with what it has to declare."""

        @sample_metric("greedy", needs=("ids",))
        def greedy(ranking: JudgedSample) -> float | None:
            """Read texts."""
            return float(len(ranking.seen.texts))

        @metric("greedier")
        def greedier(judged: Judged) -> Scores:
            """Read anything."""
            return np.array([len(seen.ids) for seen in judged.seen], dtype=float)

        result = engine.dataset([SAMPLE]).with_metrics([greedy, greedier, "budget_recall"]).run()
        assert "needs=('texts',)" in result["greedy"].reasons[0]
        assert "only if it asks for it" in result["greedier"].reasons[0]

    def test_what_nobody_asks_for_is_not_built(self):
        sample = read_sample(SAMPLE, problems=[])
        assert judge([sample], Target("relevant"), PROFILES["default"]).judged.shown is None
        seen = judge([sample], Target("relevant"), PROFILES["default"], keep=Keep(needs=frozenset({"ids"}))).judged.seen
        assert [Seen({"ids": ("a", "b", "c")})] == list(seen)


def from_sources(*sources, **more):
    items = [{"id": f"d{n}", "metadata": {"source": source}, **more} for n, source in enumerate(sources)]
    return {"id": "q", "actual_output": {"retrieved": items}}


class TestMetadataOfResults:
    def test_each_rank_has_its_own(self, engine):
        sample = from_sources("wiki", "blog", "wiki", "blog")
        assert [1.0, 0.5, 2 / 3] == [scored(engine, f"from_source@{k}", sample).value for k in (1, 2, 3)]
        assert 0.5 == scored(engine, "from_source(source=blog)@4", sample).value

    def test_it_goes_with_its_result_through_the_policy(self, engine):
        """By score: the second d1 from wiki, which is dropped, then d2, d1, d0."""
        listed = from_sources("wiki", "blog", "wiki")["actual_output"]["retrieved"]
        repeated = {**listed[1], "metadata": {"source": "wiki"}}
        items = [{**each, "score": score} for score, each in enumerate([*listed, repeated])]
        sample = {"id": "q", "actual_output": {"retrieved": items}}
        shares = [scored(engine, f"from_source@{k}", sample, order="score").value for k in (1, 2, 3, 4)]
        assert [1.0, 0.5, 2 / 3, 2 / 3] == shares

    def test_it_is_the_same_from_a_file_and_in_batches(self, engine, tmp_path):
        samples = [{**from_sources(*sources), "id": f"q-{sources}"} for sources in ("wb", "ww", "bb", "bwww", "")]
        path = tmp_path / "data.jsonl"
        path.write_text("\n".join(map(json.dumps, samples)))
        whole = engine.dataset(samples).with_metrics(["from_source(source=w)@2"]).run()
        (column,) = whole.metrics.values()
        assert [0.5, 1.0, 0.0, 0.5] == column.values[:4].tolist()
        assert "undefined" == column.status(4)
        read = engine.dataset(path).with_metrics(["from_source(source=w)@2"])
        parts = [next(iter(part.metrics.values())) for part in read.stream(batch_size=2)]
        assert column.values.tobytes() == np.concatenate([part.values for part in parts]).tobytes()

    def test_it_is_read_only(self, engine):
        @sample_metric("writes", gold=(), needs="result_metadata")
        def writes(ranking: JudgedSample) -> float | None:
            """Write into what is the caller's."""
            ranking.seen.result_metadata[0]["source"] = "mine"
            return 1.0

        sample = from_sources("wiki")
        assert "cannot be changed" in scored(engine, writes, sample).reason
        assert from_sources("wiki") == sample

    def test_a_result_without_metadata_fails_the_sample_within_the_cutoff_only(self, engine):
        sample = with_output({"id": "b", "metadata": {}}, "c")
        assert 0.0 == scored(engine, "from_source@1", sample).value
        assert (
            "metric 'from_source@2' needs the metadata of every retrieved item; the item at rank 2 has none"
            == scored(engine, "from_source@2", sample).reason
        )

    def test_a_key_beside_the_metadata_is_named(self, engine):
        """As flat items of JSON often have it."""
        reason = scored(engine, "from_source@2", with_output({"id": "b", "source": "wiki", "year": 1999})).reason
        assert reason.endswith("has none; nothing reads 'source', 'year' of results, which metadata may hold")

    def test_a_run_has_none(self, engine):
        with pytest.raises(PlanError, match=r"needs the metadata of results .* a run has only ids and scores"):
            evaluate(QRELS, RUN, ["from_source@2"], catalog=engine.catalog)

    def test_metadata_of_the_sample_taken_for_that_of_results_says_which_need_it_is(self, engine):
        @sample_metric("guessed", gold=(), needs="metadata")
        def guessed(ranking: JudgedSample) -> float | None:
            """Take the metadata of the sample for a list."""
            return float(len(ranking.seen.metadata[:3]))

        assert "needs=('result_metadata',)" in scored(engine, guessed).reason


class TestWhatIsMissing:
    def test_a_missing_text_fails_the_sample_within_the_cutoff_only(self, engine):
        sample = with_output({"id": "b", "text": "fox"}, "c", answer="fox")
        assert 1.0 == scored(engine, "support@1", sample).value
        failed = scored(engine, "support@2", sample)
        assert (0.0, "failed") == (failed.value, failed.status)
        assert "metric 'support@2' needs a text for every retrieved item; the item at rank 2 has none" == failed.reason

    def test_a_missing_score_fails_the_sample(self, engine):
        failed = scored(engine, "score_gap", with_output({"id": "b", "text": "fox"}))
        assert "metric 'score_gap' needs a score for every retrieved item; the item at rank 1 has none" == failed.reason

    def test_a_missing_answer_fails_the_sample(self, engine):
        failed = scored(engine, "support@2", with_output({"id": "b", "text": "fox"}, answer=None))
        assert "metric 'support@2' needs the generated answer, and the output has none" == failed.reason

    def test_other_metrics_of_the_sample_are_scored(self, engine):
        result = engine.dataset([with_output("b", "c")]).with_metrics(["score_gap", "recall@1"]).run()
        assert ("failed", "scored") == (result["score_gap"].status(0), result["recall@1"].status(0))
        assert 0.5 == result["recall@1"].mean

    def test_no_output_is_missing_as_for_every_metric(self, engine):
        result = engine.dataset([{**SAMPLE, "actual_output": None}]).with_metrics(["budget_recall", "support@1"]).run()
        assert ["missing", "missing"] == [column.status(0) for column in result.metrics.values()]


QRELS = {"q": {"b": 1, "c": 1}}
RUN = {"q": {"a": 9.5, "b": 7.0, "c": 1.0}}


class TestRuns:
    def test_a_dictionary_has_ids_and_scores(self, engine):
        assert 2.5 == evaluate(QRELS, RUN, ["score_gap"], catalog=engine.catalog)["score_gap"].mean

    def test_a_trec_run_has_them_too(self, engine, tmp_path):
        """The lines of q are scattered, and a query that the run lacks is missing."""
        (tmp_path / "qrels").write_text("q 0 b 1\nq 0 c 1\nlost 0 x 1\nz 0 x 1\n")
        (tmp_path / "run").write_text("q Q0 b 1 7.0 t\nz Q0 x 1 3 t\nq Q0 a 2 9.5 t\nq Q0 c 3 1.0 t\n")
        result = evaluate(str(tmp_path / "qrels"), str(tmp_path / "run"), ["score_gap", "AP"], catalog=engine.catalog)
        by_query = dict(zip(result.sample_ids, result["score_gap"].values.tolist(), strict=True))
        assert {"q": 2.5, "z": 0.0, "lost": 0.0} == by_query
        assert "missing" == result["score_gap"].status(result.sample_ids.index("lost"))

    def test_ranks_of_a_run_are_those_after_policy(self, engine):
        result = evaluate(QRELS, RUN, ["score_gap"], policy={"judged_only": True}, catalog=engine.catalog)
        assert 0.0 == result["score_gap"].mean

    def test_what_a_run_lacks_is_refused_before_anything_is_read(self, engine):
        with pytest.raises(PlanError) as caught:
            evaluate(
                "no such file",
                "nor this",
                ["budget_recall", "retrieval-known-ids-at-k@3", "support@2", "ndcg@3"],
                catalog=engine.catalog,
            )
        told = str(caught.value)
        assert (
            "'budget_recall' needs texts (metric 'retrieval-budget-recall'), and a run has only ids and scores" in told
        )
        assert "'support@2' needs texts and the answer (metric 'answer-support-at-k')" in told
        assert "needs the input and the metadata (metric 'retrieval-known-ids-at-k')" in told


def test_a_plan_and_a_listing_name_what_is_needed(engine, capsys, monkeypatch):
    described = engine.dataset([SAMPLE]).with_metrics(["support@2", "recall@2"]).plan().describe()
    assert ["    sees      texts, answer"] == [line for line in described.splitlines() if "sees" in line]
    monkeypatch.setattr("rankgauge.cli.metrics_command.make_catalog", lambda: engine.catalog)
    assert execute_show(Namespace(name="support", as_json=False, tool=None)) == 0
    assert "sees        texts, answer, besides judgments" in capsys.readouterr().out.splitlines()


class TestExplain:
    def test_trials_show_the_metric_the_changed_ranking(self, engine):
        """Without a, the words of b and c fit; without b, those of a and c do."""
        explanation = engine.dataset([SAMPLE]).with_metrics(["budget_recall"]).run().explain("q")
        assert 0.0 == explanation.score
        assert [1.0, 0.5, 0.0] == [trial.score for trial in explanation.without]

    def test_a_missing_item_that_was_retrieved_moves_up_with_its_text_and_score(self, engine):
        """The text of b holds two of the three words of the answer, that of c none."""
        result = engine.dataset([SAMPLE]).with_metrics(["support@1", "retrieval-recall-at-k@1"]).run()
        tops = result.explain("q", "support@1").with_missing_on_top
        assert {"b": 2 / 3, "c": 0.0} == {trial.id: trial.score for trial in tops}

    def test_scores_of_a_run(self, engine):
        result = evaluate(QRELS, RUN, ["score_gap"], catalog=engine.catalog)
        assert [0.0, 6.0 + 2.5, 2.5] == [trial.score for trial in result.explain("q").without]


class TestDeclaration:
    def test_an_unknown_need_is_refused(self):
        with pytest.raises(DeclarationError, match="needs 'documents', and can only see answer, cover, ids, input"):
            sample_metric("x", needs=("documents",))(lambda ranking: 0.0)

    def test_a_misspelled_need_is_named_with_the_one_that_was_meant(self):
        with pytest.raises(DeclarationError, match=r"needs 'text', and .* \(did you mean 'texts'\?\)"):
            sample_metric("x", needs=("ids", "text"))(lambda ranking: 0.0)

    def test_one_need_may_be_written_without_brackets(self):
        @sample_metric("one-need", needs="texts")
        def one(ranking: JudgedSample) -> float | None:
            """Count texts."""
            return float(len(ranking.seen.texts))

        assert ("texts",) == one.__rankgauge__.judging.needs

    @pytest.mark.parametrize("function", [budget_recall, score_gap, support, from_source], ids=lambda f: f.__name__)
    @in_thorough_suite()
    def test_the_laws_show_metrics_what_they_ask_for(self, function):
        check_metric(function, cases=draws(15)).raise_if_broken()
