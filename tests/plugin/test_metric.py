# the expected value stands first
import math
from typing import Literal

import numpy as np
import pytest

from rankgauge.errors import DeclarationError
from rankgauge.judging import Target, judge
from rankgauge.plugin import Cutoff, Judged, JudgedSample, Scores, metric, sample_metric
from rankgauge.plugin.metric import declared
from rankgauge.plugin.signature import ENGINE, RESERVED
from rankgauge.policy import PROFILES
from rankgauge.samples import read_sample
from tables import rows


def judged_of(*rankings):
    """Judge rankings against the gold ``{"a": 2, "b": 1}``."""
    samples = [
        read_sample(
            {"id": str(place), "input": "q", "expected_output": {"a": 2, "b": 1}, "actual_output": list(ranking)},
            problems=[],
        )
        for place, ranking in enumerate(rankings)
    ]
    return judge(samples, Target("relevant"), PROFILES["default"]).judged


def refusal(function, alias="x-metric", **options):
    with pytest.raises(DeclarationError) as caught:
        metric(alias, **options)(function)
    return str(caught.value)


def plain(judged: Judged) -> Scores:
    """Score one."""
    return np.ones(judged.n)


def cut(judged: Judged, *, k: Cutoff) -> Scores:
    """Score the cutoff."""
    return np.ones(judged.n) * k


def droppable(judged: Judged, *, k: Cutoff | None) -> Scores:
    """Score one."""
    return np.ones(judged.n)


def optional(judged: Judged, *, k: Cutoff | None = None) -> Scores:
    """Score one."""
    return np.ones(judged.n)


class TestCutoffKinds:
    @pytest.mark.parametrize(
        ("function", "alias", "kind"),
        [
            (plain, "x-metric", "none"),
            (cut, "x-metric-at-k", "required"),
            (droppable, "x-metric-at-k", "droppable"),
            (optional, "x-metric", "optional"),
        ],
    )
    def test_the_annotation_of_k_says_which_kind_it_is(self, function, alias, kind):
        assert kind == declared(metric(alias)(function)).cutoff.kind

    def test_a_lifted_function_says_it_with_int(self):
        def required(ranking: JudgedSample, *, k: int) -> float:
            """Score one."""
            return 1.0

        def dropped(ranking: JudgedSample, *, k: int | None) -> float:
            """Score one."""
            return 1.0

        def free(ranking: JudgedSample, *, k: int | None = None) -> float:
            """Score one."""
            return 1.0

        kinds = [
            declared(sample_metric(alias)(function)).cutoff.kind
            for alias, function in (("x-at-k", required), ("x-at-k", dropped), ("x", free))
        ]
        assert ["required", "droppable", "optional"] == kinds

    def test_k_is_no_parameter_of_the_metric_itself(self):
        assert () == declared(metric("x-at-k")(cut)).parameters


class TestDeclaration:
    def test_keyword_only_parameters_are_the_metrics_own_with_default_and_choices(self):
        def graded(
            judged: Judged, *, k: Cutoff, gain: Literal["linear", "exponential"] = "linear", top: float | None = None
        ) -> Scores:
            """Score one."""
            return np.ones(judged.n)

        gain, top = declared(metric("x-at-k")(graded)).parameters
        assert ("gain", "linear", ("linear", "exponential")) == (gain.name, gain.default, gain.choices)
        assert ("top", None, ()) == (top.name, top.default, top.choices)

    def test_parameters_of_a_matcher_chooser_are_kept_apart(self):
        def choose(*, cased: bool = False) -> str:
            return "contains-cased" if cased else "contains"

        found = declared(metric("x-metric", gold="answer", matcher=choose)(plain))
        assert ((), ["cased"]) == (found.parameters, [parameter.name for parameter in found.judging.matching])

    def test_names_lists_the_alias_then_further_long_names_then_short_ones(self):
        found = declared(metric("x-at-k", aliases=["y-at-k"], short=["x", "x_cut_{k}"])(cut))
        assert ("x-at-k", "y-at-k", "x", "x_cut_{k}") == found.names

    def test_one_kind_of_gold_may_be_given_as_a_string(self):
        assert ("answer",) == declared(metric("x-metric", gold="answer")(plain)).judging.gold

    def test_several_kinds_of_gold_keep_their_order(self):
        assert ("passages", "relevant") == declared(
            metric("x-metric", gold=["passages", "relevant"])(plain)
        ).judging.gold

    def test_the_summary_is_the_first_line_of_the_docstring(self):
        assert "Score the cutoff." == declared(metric("x-at-k")(cut)).summary

    def test_a_function_without_declaration_declares_nothing(self):
        assert declared(len) is None


class TestDecoratedFunctions:
    def test_metric_leaves_the_function_as_it_is(self):
        assert plain is metric("x-metric")(plain)

    def test_a_decorated_metric_can_be_called(self):
        decorated = metric("x-at-k")(cut)
        assert [3.0, 3.0] == decorated(judged_of("a", "b"), k=3).tolist()

    def test_a_lifted_function_can_be_called_over_a_batch_and_keeps_its_name(self):
        @sample_metric("x-metric")
        def depth(ranking: JudgedSample) -> float:
            """Count what was retrieved."""
            return float(ranking.depth)

        assert [2.0, 1.0, 0.0] == depth(judged_of("ab", "x", "")).tolist()
        assert ("depth", "Count what was retrieved.") == (depth.__name__, depth.__doc__)


class TestLifting:
    def test_none_becomes_nan_which_stands_for_no_value(self):
        @sample_metric("x-metric")
        def best(ranking: JudgedSample) -> float | None:
            """Return the best grade found, None where nothing was."""
            return max((grade for grade in ranking.grades if grade is not None), default=None)

        first, second, third = best(judged_of("ba", "x", "xb")).tolist()
        assert (2.0, 1.0) == (first, third)
        assert math.isnan(second)

    def test_one_cutoff_for_all_reaches_every_sample(self):
        assert [2, 2] == self.cutoffs_seen(2)

    def test_each_sample_gets_its_own_cutoff_as_a_plain_integer(self):
        seen = self.cutoffs_seen(np.array([1, 7], dtype=np.int64))
        assert [1, 7] == seen
        assert [int, int] == [type(k) for k in seen]

    def test_no_cutoff_reaches_every_sample_as_none(self):
        assert [None, None] == self.cutoffs_seen(None)

    @staticmethod
    def cutoffs_seen(k):
        seen = []

        @sample_metric("x-at-k")
        def watch(ranking: JudgedSample, *, k: int | None) -> float:
            """Score nothing."""
            seen.append(k)
            return 0.0

        watch(judged_of("ab", "b"), k=k)
        return seen

    def test_own_parameters_are_passed_on(self):
        @sample_metric("x-metric")
        def scaled(ranking: JudgedSample, *, by: float = 1.0) -> float:
            """Scale the depth."""
            return ranking.depth * by

        assert [6.0] == scaled(judged_of("ab"), by=3.0).tolist()
        assert ["by"] == [parameter.name for parameter in declared(scaled).parameters]

    def test_a_sample_sees_its_own_ranking_in_plain_values(self):
        seen = []

        @sample_metric("x-metric")
        def watch(ranking: JudgedSample) -> float:
            """Score nothing."""
            seen.append(ranking)
            return 0.0

        watch(judged_of("xb"))
        expected = JudgedSample(
            depth=2, grades=(None, 1.0), gains=(0.0, 1.0), relevant=(False, True), gold=(2.0, 1.0), n_gold=2
        )
        assert [expected] == seen


class TestRefusedSignatures:
    def test_an_own_parameter_that_is_not_keyword_only(self):
        def bad(judged: Judged, gain: float = 1.0) -> Scores:
            """Score."""

        assert "parameter 'gain' of metric 'x-metric' must be keyword-only (write it after a *)" == refusal(bad)

    def test_a_cutoff_that_is_not_keyword_only(self):
        def bad(judged: Judged, k: Cutoff) -> Scores:
            """Score."""

        assert "parameter 'k' of metric 'x-at-k' must be keyword-only" in refusal(bad, "x-at-k")

    def test_collected_parameters(self):
        def bad(judged: Judged, **params: float) -> Scores:
            """Score."""

        assert "parameter 'params' of metric 'x-metric' must be keyword-only" in refusal(bad)

    @rows("name", sorted({*RESERVED, *ENGINE} - {"k", "as", "words"}))
    def test_a_parameter_that_the_engine_keeps_for_itself(self, name):
        namespace = {}
        exec(f"def bad(judged, *, {name}: str = ''): 'Score.'", namespace)  # noqa: S102  # the name is the case
        message = refusal(namespace["bad"])
        assert f"cannot have a parameter '{name}'" in message
        listed = "aggregate, as, budget, gold, joint, k, matcher, missing, partial, rel, score_above, stage, ties, "
        assert f"{listed}tokenizer, undefined, unit" in message

    def test_a_parameter_without_annotation(self):
        def bad(judged: Judged, *, gain=1.0) -> Scores:
            """Score."""

        assert "parameter 'gain' of metric 'x-metric' needs an annotation and a default" == refusal(bad)

    def test_a_parameter_without_default(self):
        def bad(judged: Judged, *, gain: float) -> Scores:
            """Score."""

        assert "parameter 'gain' of metric 'x-metric' needs an annotation and a default" == refusal(bad)

    def test_an_annotation_that_names_nothing_at_run_time(self):
        def bad(judged: Judged, *, gain: "OnlyWhileTyping" = 1.0) -> Scores:  # noqa: F821  # the case
            """Score."""

        message = refusal(bad)
        assert "cannot read the annotations of metric 'x-metric'" in message
        assert "OnlyWhileTyping" in message

    def test_a_matcher_chooser_whose_parameters_are_not_keyword_only(self):
        def choose(cased: bool = False) -> str:
            return "exact"

        assert "parameter 'cased' of metric 'x-metric' must be keyword-only" in refusal(plain, matcher=choose)

    def test_the_same_holds_for_a_lifted_function(self):
        with pytest.raises(DeclarationError, match="must be keyword-only"):

            @sample_metric("x-metric")
            def bad(ranking: JudgedSample, gain: float = 1.0) -> float:
                """Score."""


class TestRefusedDeclarations:
    @pytest.mark.parametrize("alias", ["X-Metric", "x@5", "x-at-5"])
    def test_an_alias_that_has_capitals_or_pins_a_cutoff(self, alias):
        assert f"the alias '{alias}' must be lower-case and must not pin a cutoff" == refusal(plain, alias)

    @pytest.mark.parametrize("alias", ["", "two words", "é", "x(gain=linear)", 5])
    def test_an_alias_that_no_expression_can_name(self, alias):
        assert repr(alias) in refusal(plain, alias)

    @rows("field", ["short", "aliases"])
    @rows("name", ["two words", "x@5", "x(gain=linear)", "x-at-5"])
    def test_a_further_name_that_no_expression_can_name(self, field, name):
        assert repr(name) in refusal(plain, **{field: [name]})

    @pytest.mark.parametrize("function", [cut, droppable])
    def test_a_cutoff_without_the_ending_in_the_alias(self, function):
        assert "metric 'x-metric' takes a cutoff, so its alias must end in '-at-k'" == refusal(function)

    @pytest.mark.parametrize("function", [plain, optional])
    def test_the_ending_in_the_alias_without_a_cutoff(self, function):
        message = refusal(function, "x-at-k")
        assert "metric 'x-at-k' does not need a cutoff, so its alias must not end in '-at-k'" == message

    def test_an_unknown_kind_of_gold(self):
        """A plugin may declare kinds, so that only what cannot be the name of one is refused here."""
        message = refusal(plain, gold=["relevant", "Q rels"])
        assert "metric 'x-metric' names 'Q rels', which is neither a gold kind nor a law" == message

    def test_an_unknown_law(self):
        message = refusal(plain, laws=["bounded", "always-right"])
        assert "metric 'x-metric' names 'always-right', which is neither a gold kind nor a law" == message

    def test_no_docstring(self):
        def bad(judged: Judged) -> Scores:
            return np.ones(judged.n)

        assert "metric 'x-metric' needs a docstring: `rankgauge metrics show` prints it" == refusal(bad)


class TestPinnedParameter:
    def test_the_number_behind_at_may_be_a_parameter(self):
        def at_level(judged: Judged, *, level: float = 0.5) -> Scores:
            """Score the level."""
            return np.full(judged.n, level)

        found = declared(metric("x-at-level", short=["X", "x_{level}"], pins="level")(at_level))
        assert "level" == found.cutoff.pins
        assert ("X",) == found.plain_short

    @pytest.mark.parametrize(("function", "alias"), [(plain, "x-metric"), (cut, "x-at-k"), (optional, "x-metric")])
    def test_it_must_be_one_and_there_must_be_no_cutoff(self, function, alias):
        assert "pins 'level'" in refusal(function, alias, pins="level")


class TestExpectation:
    def test_itself_is_the_function(self):
        marked = metric("x-metric", expectation="itself")(plain)
        assert marked is declared(marked).over_ties

    def test_another_function_stands_for_it_and_none_for_none(self):
        assert cut is declared(metric("x-at-k", expectation=cut)(cut)).over_ties
        assert declared(metric("x-metric")(plain)).over_ties is None


def at_k(judged: Judged, *, k: Cutoff, base: float = 2.0, way: Literal["a", "b"] = "a") -> Scores:
    """Score the base."""
    return np.full(judged.n, base)


class TestCompanions:
    """`details`, `check` and `expectation` name only the parameters that they use."""

    def test_each_is_given_what_it_names(self):
        seen = []

        def details(judged, *, base):
            return {"base": [base] * judged.n}

        found = declared(
            metric(
                "x-at-k",
                details=details,
                check=lambda *, way: seen.append(way),
                expectation=lambda judged, *, k: np.full(judged.n, k),
            )(at_k)
        )
        judged = judged_of(["a"], ["b"])
        assert {"base": [3.0, 3.0]} == found.explaining.details(judged, k=5, base=3.0, way="b")
        found.check(base=3.0, way="b")
        assert ["b"] == seen
        assert [5, 5] == found.over_ties(judged, k=5, base=3.0, way="b").tolist()

    def test_a_parameter_that_was_not_given_has_the_metrics_default(self):
        def details(judged, *, k, base):
            return {"both": [(k, base)]}

        assert {"both": [(1, 2.0)]} == declared(metric("x-at-k", details=details)(at_k)).explaining.details(
            judged_of([]), k=1
        )

    def test_one_that_takes_any_is_given_all(self):
        def details(judged, **params):
            return {"all": [params]}

        found = declared(metric("x-at-k", details=details)(at_k)).explaining.details(judged_of([]), k=1, way="b")
        assert {"all": [{"k": 1, "base": 2.0, "way": "b"}]} == found

    def test_one_that_takes_everything_is_called_as_it_is(self):
        def details(judged, *, k, base=2.0, way="a"):
            return {}

        assert details is declared(metric("x-at-k", details=details)(at_k)).explaining.details

    def test_one_that_needs_no_parameter_is_given_none(self):
        found = declared(metric("x-at-k", details=lambda judged: {"n": [judged.n]})(at_k))
        assert {"n": [1]} == found.explaining.details(judged_of([]), k=1, base=3.0)

    @pytest.mark.parametrize(
        ("role", "function", "known"),
        [
            ("details", lambda judged, *, bass: {}, "its parameters are k, base, way"),
            ("expectation", lambda judged, bass: None, "its parameters are k, base, way"),
            ("check", lambda *, bass: None, "its parameters are base, way"),
        ],
    )
    def test_one_that_names_another_parameter_is_refused(self, role, function, known):
        wanted = f"{role} of metric 'x-at-k' takes 'bass', which it cannot be given; {known}"
        assert wanted == refusal(at_k, "x-at-k", **{role: function})
        assert "it has no parameters" in refusal(plain, **{role: function})

    def test_a_parameter_of_its_own_needs_a_default(self):
        found = declared(metric("x-at-k", details=lambda judged, *, most=3: {"most": [most]})(at_k))
        assert {"most": [3]} == found.explaining.details(judged_of([]), k=1, base=3.0)

    def test_a_function_without_a_signature_is_called_as_it_is(self):
        assert max is declared(metric("x-at-k", details=max)(at_k)).explaining.details


@pytest.mark.parametrize(
    ("declaration", "reason"),
    [
        ({"range": (1, 0)}, r"has the range \(1, 0\); write the lowest value first"),
        ({"range": (math.nan, 1.0)}, "write the lowest value first"),
        ({"aggregate": "whole run"}, "has the aggregate 'whole run'; declare it with @run_metric"),
        ({"expectation": "itselff"}, r"has the expectation 'itselff' .did you mean 'itself'"),
    ],
)
def test_values_that_mean_nothing_are_refused_where_they_are_written(declaration, reason):
    def score(judged: Judged) -> Scores:
        """Score."""

    with pytest.raises(DeclarationError, match=reason):
        metric("odd-value", **declaration)(score)
