"""Which matcher judges: the one of the metric, of the evaluation, of the profile, or the metric's usual one."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from rankgauge import Catalog, Engine
from rankgauge.errors import PlanError
from rankgauge.plugin import comparer, hookimpl
from tables import rows

ENGINE = Engine(catalog=Catalog.discover(own_only=True))
SAMPLE = {
    "id": "s",
    "expected_output": {"passages": ["the quick brown fox jumps over the lazy dog"]},
    "actual_output": [{"id": "c", "text": "quick brown fix jumps"}],
}


def hit(metric="hit@1", matchers=None, profile="default"):
    evaluation = ENGINE.dataset([SAMPLE]).with_metrics(metric).with_profile(profile)
    if matchers is not None:
        evaluation = evaluation.with_matchers(matchers)
    (column,) = evaluation.run().metrics.values()
    return column.mean, column.info.matcher.partition(" ")[0]


def test_passages_are_judged_by_passage_unless_something_else_is_said():
    # One letter of 21 differs, which leaves no three words in a row, and is within a tenth for fuzzy matching.
    assert hit() == (0.0, "passage")


@rows(
    ("profile", "matcher"),
    [
        *((name, "passage") for name in ("default", "trec9", "trec10")),
        *((name, "chunk") for name in ("remem", "eval-harness", "classic", "keyword")),
        ("haystack", "exact"),
    ],
)
def test_profiles_of_other_systems_keep_their_matcher(profile, matcher):
    assert hit("hit@1", profile=profile)[1] == matcher


def test_an_evaluation_may_say_another_matcher():
    assert hit(matchers={"passages": "fuzzy-chunk"}) == (1.0, "fuzzy-chunk")


def test_a_metric_knows_better_than_its_evaluation():
    assert hit("hit(matcher=exact)@1", {"passages": "fuzzy-chunk"}) == (0.0, "exact")


def test_an_evaluation_knows_better_than_its_profile():
    assert hit("recall@1", profile="remem") == (0.0, "exact")
    assert hit("recall@1", {"passages": "fuzzy-chunk"}, "remem") == (1.0, "fuzzy-chunk")


def test_other_kinds_of_gold_keep_their_matcher():
    assert hit(matchers={"keywords": "fuzzy-chunk"}) == (0.0, "passage")


@pytest.mark.parametrize("matchers", [{"relevant": "exact"}, {"passages": "no-such"}])
def test_what_cannot_be_used_is_a_problem_of_the_plan(matchers):
    with pytest.raises(PlanError):
        hit(matchers=matchers)


def refuse(*, model="small"):
    """Refuse every model but one."""
    if model != "large":
        raise RuntimeError(f"the model {model!r} is not here; pip install it")


class TestCheck:
    @pytest.fixture
    def checked(self):
        @comparer("checked", check=refuse)
        def compare(retrieved, gold, *, model: str = "small"):
            """Match everything."""
            return np.ones((len(retrieved), len(gold)))

        plugin = SimpleNamespace(rankgauge_comparers=hookimpl(lambda: [compare]))
        return Engine(catalog=Catalog.discover(own_only=True, plugins={"test": plugin}))

    def test_a_comparer_that_cannot_work_stops_the_evaluation_before_data_is_read(self, checked):
        evaluation = checked.dataset([]).with_metrics(["EM(matcher='checked >= 1')", "ndgc@5"])
        with pytest.raises(PlanError) as caught:
            evaluation.run()
        ours, other = (problem.message for problem in caught.value.problems)
        assert "matcher checked >= 1 cannot be used (comparer 'checked' by this process (plugin test)" in ours
        assert ours.endswith("the model 'small' is not here; pip install it")
        assert "ndgc" in other

    def test_its_parameters_decide(self, checked):
        sample = {"id": "s", "expected_output": "x", "actual_output": {"answer": "y"}}
        evaluation = checked.dataset([sample]).with_metrics(["EM(matcher='checked(model=large) >= 1')"])
        assert [1.0] == [column.mean for column in evaluation.run().metrics.values()]

    def test_a_matcher_can_be_looked_at_all_the_same(self, checked):
        assert str(checked.catalog.matcher("casefold > checked >= 1")) == "casefold > checked >= 1"
