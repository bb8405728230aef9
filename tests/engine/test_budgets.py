# the expected value stands first
"""Cutoffs as budgets: every metric with a cutoff, the columns they make, and where they are refused."""

import itertools
import json
import math
import pickle
from random import Random

import pytest

from draws import some
from rankgauge import Catalog, Engine, Result, compare, evaluate, html_report
from rankgauge.errors import PlanError
from rankgauge.plugin import JudgedSample, hookimpl, sample_metric, tokenizer
from rankgauge.report.json import json_report
from rankgauge.report.markdown import markdown_report
from rankgauge.report.terminal import terminal_report
from tables import rows

CATALOG = Catalog.discover(own_only=True)
ENGINE = Engine(catalog=CATALOG)

CUTS_IDEAL = {
    "retrieval-ndcg-at-k": {"k": 1000},
    "retrieval-ndcg-any-at-k": {"k": 1000},
    "retrieval-alpha-ndcg-at-k": {"k": 1000},
    "retrieval-nerr-ia-at-k": {"k": 1000},
    "retrieval-compatibility": {},  # compares as deep as the cutoff says, or without one as there is something
}
"""Metrics whose cutoff also cuts the best possible order, and the cutoff that leaves it whole, as a budget does."""

WITH_CUTOFF = sorted(
    alias
    for alias, claim in CATALOG.metrics.items()
    if claim.declaration.cutoff.kind != "none" and claim.declaration.judging.judges == "retrieved"
)


def drawn(seed):
    """Return samples with texts of none to six words, and gold of every kind."""
    random = Random(seed)  # noqa: S311  # reproducible
    samples = []
    for number in range(12):
        depth = random.randrange(9)
        names = [f"d{n}" for n in random.sample(range(10), depth)]
        texts = [" ".join(random.choices(["red", "fox", "hen", "owl"], k=random.randrange(7))) for _ in names]
        gold = {f"d{n}": random.choice([1, 1, 2, 3]) for n in random.sample(range(10), random.randrange(1, 6))}
        places = [{"document": "d", "start": 9 * int(name[1:]), "end": 9 * int(name[1:]) + 12} for name in names]
        both = zip(names, texts, places, strict=True)
        known = {"valid_to": "2020-01-01"}
        retrieved = [{"id": name, "text": text, "metadata": known, **place} for name, text, place in both]
        expected = {"relevant": gold, "passages": ["red fox", "owl hen"], "keywords": ["fox", "owl"], "answer": "owl"}
        expected["forbidden"] = [{"text": "hen"}]
        expected["sets"] = [list(gold), {"any_of": list(gold)}]
        expected["spans"] = [{"document": "d", "start": 20, "end": 50}]
        output = {"retrieved": retrieved, "answer": "red"}
        asked = {"asked_at": ["2019-01-01", "2021-01-01"][number % 2]}
        samples.append({"id": f"s{number}", "expected_output": expected, "actual_output": output, "metadata": asked})
    return samples


def fitting(sample, budget):
    """Return how many results fit whole, counted without the package."""
    used = fit = 0
    for item in sample["actual_output"]["retrieved"]:
        used += len(item["text"].split())
        if used > budget:
            break
        fit += 1
    return fit


def truncated(sample, depth):
    output = sample["actual_output"]
    return {**sample, "actual_output": {**output, "retrieved": output["retrieved"][:depth]}}


def scores(metric, samples):
    (column,) = ENGINE.dataset(samples).with_metrics([metric]).run().metrics.values()
    return [(None if math.isnan(value) else value) for value in column.values.tolist()]


def spec(alias, **cutoff):
    metric = CATALOG.metrics[alias].declaration
    return {"metric": alias, **({"max_grade": 3.0} if metric.needs_max_grade else {}), **cutoff}


def test_the_samples_below_vary():
    """Nothing fits, something, and everything."""
    fits = [
        (fitting(sample, budget), len(sample["actual_output"]["retrieved"]))
        for budget in (1, 4, 9)
        for sample in drawn(budget)
    ]
    assert {0, 1, 2, 3} <= {fit for fit, _ in fits}
    assert {True, False} == {0 < fit < depth for fit, depth in fits} == {0 < fit == depth for fit, depth in fits}


@pytest.mark.parametrize(("alias", "budget"), some(list(itertools.product(WITH_CUTOFF, (1, 4, 9))), of=11))
def test_a_budget_is_a_cutoff_of_its_own_for_every_sample(alias, budget):
    """
    It scores as the number of ranks that fit does. Where that would cut the ideal, it scores as the ranking that ends
    there, with a cutoff that cuts nothing. Where nothing fits, it scores as a ranking of nothing.
    """
    samples = drawn(budget)
    fits = [fitting(sample, budget) for sample in samples]
    expected = []
    for sample, fit in zip(samples, fits, strict=True):
        if alias in CUTS_IDEAL:
            expected += scores(spec(alias, **CUTS_IDEAL[alias]), [truncated(sample, fit)])
        elif fit == 0:
            expected += scores(spec(alias, k=1), [truncated(sample, 0)])
        else:
            expected += scores(spec(alias, k=fit), [sample])
    assert expected == scores(spec(alias, budget=f"{budget}tok"), samples)


class TestByHand:
    SAMPLE = {  # noqa: RUF012  # never changed
        "id": "q",
        "expected_output": {"a": 2, "c": 1},
        "actual_output": [
            {"id": "b", "text": "one two three"},
            {"id": "a", "text": "four five"},
            {"id": "c", "text": "six"},
        ],
    }

    @rows(
        ("metric", "value"),
        [
            ("recall@5tok", 1 / 2),  # b and a
            ("recall@4tok", 0),  # b
            ("recall(partial=true)@4tok", 1 / 2),  # a begins inside
            ("recall@2tok", 0),  # nothing
            ("P@5tok", 1 / 2),  # of the two that fit
            ("P@99tok", 2 / 3),
            ("P@2tok", 0),
            ("MRR@5tok", 1 / 2),
            ("MRR@4tok", 0),
            ("AP@5tok", 1 / 4),  # 1/2 for a, over two gold items
            ("ndcg@5tok", (2 / math.log2(3)) / (2 + 1 / math.log2(3))),
            ("ndcg@3tok", 0),
            ("recall@22char", 1 / 2),  # 13 and 9 characters
            ("recall@21char", 0),
            ("recall(tokenizer=chars4)@7tok", 1 / 2),  # 4 and 3
            ("recall(tokenizer=chars4)@6tok", 0),
        ],
    )
    def test_scores(self, metric, value):
        assert [pytest.approx(value, rel=1e-12)] == scores(metric, [self.SAMPLE])

    def test_metadata_k_does_not_override_a_budget(self):
        assert [0.5] == scores("recall@5tok", [{**self.SAMPLE, "metadata": {"k": 1}}])

    def test_rel_and_matchers_go_with_it(self):
        sample = {**self.SAMPLE, "expected_output": {"passages": ["five", "six"]}}
        assert [0.5] == scores("recall(matcher=contains)@5tok", [sample])
        assert [1.0] == scores("recall(rel=2)@5tok", [self.SAMPLE])

    def test_explain_takes_the_budget_of_the_changed_ranking(self):
        """Without b, a and c fit into five words; without a, b and c."""
        explanation = ENGINE.dataset([self.SAMPLE]).with_metrics(["recall@5tok"]).run().explain("q")
        assert (2, 0.5) == (explanation.k, explanation.score)
        assert [1.0, 0.5] == [trial.score for trial in explanation.without]
        assert "5 tokens by words; 2 results fit\n" in str(explanation)

    def test_explain_says_that_one_result_fits(self):
        sample = {"id": "q", "expected_output": ["a"], "actual_output": [{"id": "a", "text": "two words"}]}
        explanation = ENGINE.dataset([sample]).with_metrics(["recall@2tok"]).run().explain("q")
        assert "2 tokens by words; 1 result fits\n" in str(explanation)


class TestColumns:
    def run(self, *metrics, samples=None):
        return ENGINE.dataset(samples or drawn(3)).with_metrics(list(metrics)).run()

    @pytest.mark.parametrize(
        ("written", "name", "safe"),
        [
            ("recall@4tok", "recall@4tok", "recall_at_4tok"),
            ("retrieval-recall-at-4tok", "recall@4tok", "recall_at_4tok"),
            ("R @ 8char", "r@8char", "r_at_8char"),
            ("ndcg(tokenizer=words, partial=false)@4tok", "ndcg@4tok", "ndcg_at_4tok"),
            ("ndcg(tokenizer=chars4)@4tok", "ndcg(tokenizer=chars4)@4tok", "ndcg_chars4_at_4tok"),
            (
                {"metric": "recall", "budget": "4tok", "partial": True},
                "recall(partial=true)@4tok",
                "recall_partialtrue_at_4tok",
            ),
            ({"metric": "recall", "budget": "4tok", "as": "context"}, "context", "context"),
        ],
    )
    def test_names(self, written, name, safe):
        (column,) = self.run(written).metrics.values()
        assert (name, safe) == (column.name, column.info.safe_name)

    def test_every_spelling_finds_it(self):
        result = self.run("recall@4tok")
        for written in (
            "recall@4tok",
            "R@4tok",
            "recall_at_4tok",
            "retrieval-recall-at-4tok",
            "recall(tokenizer=words)@4tok",
        ):
            assert result["recall@4tok"] is result[written]
        for other in (
            "recall@4",
            "recall@4char",
            "recall@5tok",
            "recall(tokenizer=chars4)@4tok",
            "recall(partial=true)@4tok",
        ):
            with pytest.raises(KeyError):
                result[other]

    def test_lists_make_a_column_each(self):
        names = ["recall@1tok", "recall@2", "recall@8char"]
        assert names == list(self.run("recall@1tok,2,8char").metrics)
        assert ["p@1tok", "p@8char"] == list(self.run({"metric": "P", "budget": ["1tok", "8char"]}).metrics)

    def test_the_median_and_the_range_of_what_fits(self):
        """Missing and malformed outputs, and those without texts, have no number."""
        samples = drawn(3)
        ranks = sorted(fitting(sample, 4) for sample in samples)
        samples += [
            {"id": "missing", "expected_output": ["a"]},
            {"id": "failed", "expected_output": ["a"], "actual_output": {"retrieved": 3}},
            {"id": "no text", "expected_output": ["a"], "actual_output": ["a"]},
        ]
        column = self.run("recall@4tok", samples=samples)["recall@4tok"]
        assert (ranks[0], (ranks[5] + ranks[6]) / 2, ranks[-1]) == column.fitted
        assert column.info.k == (ranks[0], ranks[-1])
        assert list(column.info.fitted) == sorted(column.info.fitted, key=int)
        assert self.run("recall@4tok", samples=samples[::-1])["recall@4tok"].info.fitted == column.info.fitted
        assert ["missing", "failed", "failed"] == [column.status(place) for place in (12, 13, 14)]
        assert "a budget counts the text of every result; the item at rank 1 has none" == column.reasons[14]

    def test_a_missing_output_has_no_cutoff(self):
        samples = [TestByHand.SAMPLE, {"id": "missing", "expected_output": ["a"]}]
        assert self.run("recall@4tok", samples=samples)["recall@4tok"].info.k == (1, 1)

    def test_reports_say_what_fits(self):
        result = self.run(
            "recall@4tok", "recall(tokenizer=chars4, partial=true)@4tok", "recall@3", samples=[TestByHand.SAMPLE]
        )
        line = "recall@4tok: a budget of 4 tokens by words; results that fit: median 1, 1 for each sample"
        assert line in terminal_report(result)
        assert "by chars4, with the result that begins inside" in terminal_report(result)
        assert "recall@4tok: a budget of 4 tokens by words" in markdown_report(result)
        assert line in html_report(result)
        columns = json.loads(json_report(result))["metrics"]
        assert "budget" not in columns["recall@3"]
        budget = columns["recall@4tok"]["budget"]
        assert (4, "tok", "words", False) == tuple(budget[key] for key in ("amount", "unit", "tokenizer", "partial"))
        assert {"min": 1, "median": 1.0, "max": 1, "none": 0, "samples": 1} == budget["fitted"]

    def test_parts_merge_to_the_whole(self):
        samples = drawn(5)
        evaluation = ENGINE.dataset(samples).with_metrics(["ndcg@4tok"])
        whole, merged = evaluation.run(), Result.merge(list(evaluation.stream(batch_size=5)))
        assert whole["ndcg@4tok"].values.tobytes() == merged["ndcg@4tok"].values.tobytes()
        assert (whole["ndcg@4tok"].fitted, whole["ndcg@4tok"].info.fitted) == (
            merged["ndcg@4tok"].fitted,
            merged["ndcg@4tok"].info.fitted,
        )

    def test_a_saved_result_explains_and_rescores(self, tmp_path):
        result = self.run("ndcg(tokenizer=chars4)@9tok")
        result.save(tmp_path / "folder", keep_data=True)
        again = Result.load(tmp_path / "folder")
        (own,), (its,) = result.metrics.values(), again.metrics.values()
        assert own.info == its.info
        assert own.fitted == its.fitted
        assert own.values[4] == pytest.approx(again.explain("s4").score)

    def test_a_plan_describes_it_and_can_be_sent(self):
        evaluation = ENGINE.dataset(drawn(3)).with_metrics(["recall(partial=true)@2000tok"])
        told = evaluation.plan().describe()
        assert "cutoff    2,000 tokens by words, with the result that begins inside (tokenizer by rankgauge" in told
        sent = pickle.loads(pickle.dumps(evaluation))  # noqa: S301  # its own
        name = "recall(partial=true)@2000tok"
        assert evaluation.run()[name].values.tobytes() == sent.run()[name].values.tobytes()


class TestComparing:
    def result(self, seed, metric):
        gold = {sample["id"]: sample["expected_output"] for sample in drawn(0)}
        samples = [{**sample, "expected_output": gold[sample["id"]]} for sample in drawn(seed)]
        return ENGINE.dataset(samples).with_metrics([metric]).run()

    def test_results_compare_whatever_number_of_ranks_fits(self):
        one, other = self.result(1, "recall@4tok"), self.result(2, "recall@4tok")
        assert one["recall@4tok"].info.fitted != other["recall@4tok"].info.fitted
        assert ["recall@4tok"] == list(compare({"a": one, "b": other})["b"].metrics)

    @pytest.mark.parametrize(
        "other",
        ["recall@5tok", "recall@4char", "recall(tokenizer=chars4)@4tok", "recall(partial=true)@4tok", "recall@4"],
    )
    def test_other_budgets_are_other_metrics(self, other):
        fingerprints = {metric: self.result(1, metric)[metric].info.fingerprint for metric in ("recall@4tok", other)}
        assert 2 == len(set(fingerprints.values()))


class TestRefusals:
    @rows(
        ("metric", "message"),
        [
            ("bpref@2000tok", "has no cutoff, and so no budget"),
            ("EM@2000tok", "has no cutoff, and so no budget"),
            ("iprec@5tok", "the number after @ is the recall"),
            ("recall@0tok", "must be an integer of 1 or more, not 0"),
            (
                "recall(tokenizer=wrods)@5tok",
                "unknown tokenizer 'wrods' (did you mean 'words'?); known are chars4, unicode, words",
            ),
            ("recall(tokenizer=words)@5", "tokenizer of 'recall(tokenizer=words)@5' has no effect without a budget"),
            ("recall(partial=true)@5", "partial of 'recall(partial=true)@5' has no effect without a budget"),
            ("recall(tokenizer=words)@5char", "tokenizer has no effect on characters"),
            ("recall(partial=1)@5tok", "is true or false, not 1"),
            ("recall(tokenizer=4)@5tok", "the tokenizer of 'recall(tokenizer=4)@5tok' is a name, not 4"),
            ("recall(budget=5tok)@5", "gives both a cutoff and a budget"),
            (
                {"metric": "recall", "budget": 2000},
                "a budget is a whole number and a unit, such as 2000tok or 8000char, not 2000",
            ),
            ({"metric": "recall", "budget": "5tok", "k": 5}, "gives both a cutoff and a budget"),
            ({"metric": "recall", "budget": []}, "has an empty list of budgets"),
            ({"metric": "recall", "budget": ["1tok", "2tok"], "as": "x"}, "'as' names one column"),
            ({"metric": "recall", "k": "5tok"}, "is a number of ranks, not '5tok'; a budget is given as `budget`"),
        ],
    )
    def test_before_anything_is_read(self, metric, message):
        with pytest.raises(PlanError) as caught:
            ENGINE.dataset([]).with_metrics([metric]).plan()
        assert message in str(caught.value)

    def test_runs_have_no_texts(self):
        with pytest.raises(PlanError) as caught:
            evaluate("no such file", "nor this", ["recall@2000tok"])
        assert (
            "'recall@2000tok' is a budget, which counts the texts of results, and a run has only ids and scores"
            in str(caught.value)
        )

    def test_averaged_ties_settle_no_ranks(self):
        evaluation = ENGINE.dataset(drawn(1)).with_metrics(["recall@5tok"]).with_profile(order="score", ties="average")
        with pytest.raises(PlanError, match="policy ties=average settles no ranks"):
            evaluation.plan()


class TestPlugins:
    def test_a_sample_metric_takes_an_ideal_that_is_not_cut(self):
        @sample_metric("retrieval-share-of-gain-at-k")
        def share(ranking: JudgedSample, *, k: int) -> float | None:
            """Share of the most gain there is."""
            best = sum(ranking.ideal(k))
            return sum(ranking.gains[:k]) / best if best else None

        class Plugin:
            @hookimpl
            def rankgauge_metrics(self):
                return [share]

        engine = Engine(catalog=Catalog.discover(own_only=True, plugins={"mine": Plugin()}))
        evaluation = engine.dataset([TestByHand.SAMPLE])
        metrics = ["retrieval-share-of-gain-at-5tok", "retrieval-share-of-gain-at-1", "retrieval-share-of-gain-at-2tok"]
        assert [2 / 3, 0, 0] == [column.mean for column in evaluation.with_metrics(metrics).run().metrics.values()]
        assert (
            2 / 3
            == evaluation.with_metrics(["retrieval-share-of-gain-at-2"]).run()["retrieval-share-of-gain-at-2"].mean
        )

    def test_a_tokenizer_of_a_plugin_counts_and_is_recorded(self):
        @tokenizer("vowels", version="3")
        def vowels(text):
            """Count vowels."""
            return sum(letter in "aeiou" for letter in text)

        class Plugin:
            @hookimpl
            def rankgauge_tokenizers(self):
                return [vowels]

        engine = Engine(catalog=Catalog.discover(own_only=True, plugins={"mine": Plugin()}))
        result = (
            engine.dataset([TestByHand.SAMPLE])
            .with_metrics(["recall(tokenizer=vowels)@9tok", "recall(tokenizer=vowels)@8tok"])
            .run()
        )
        assert [1 / 2, 0] == [column.mean for column in result.metrics.values()]  # 5 vowels, then 4
        info = result["recall(tokenizer=vowels)@9tok"].info
        assert "mine" == info.budget["provider"]["plugin"]

    def test_a_tokenizer_that_fails_fails_its_sample(self):
        @tokenizer("picky")
        def picky(text):
            """Refuse long texts."""
            if len(text) > 10:
                raise ValueError(text)
            return 1

        class Plugin:
            @hookimpl
            def rankgauge_tokenizers(self):
                return [picky]

        engine = Engine(catalog=Catalog.discover(own_only=True, plugins={"mine": Plugin()}))
        short = {"id": "short", "expected_output": ["a"], "actual_output": [{"id": "a", "text": "short"}]}
        result = engine.dataset([TestByHand.SAMPLE, short]).with_metrics(["recall(tokenizer=picky)@9tok"]).run()
        (column,) = result.metrics.values()
        assert ["failed", "scored"] == [column.status(0), column.status(1)]
        assert "tokenizer 'picky' (by this process" in column.reasons[0]
        assert [0.0, 1.0] == column.values.tolist()
