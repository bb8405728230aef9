# the expected value stands first
import dataclasses

import pytest

from rankgauge.catalog import Catalog
from rankgauge.errors import PlanError
from rankgauge.expression import parse
from rankgauge.judging import Target
from rankgauge.planning.cutoffs import Conventions, Cut, DefaultK
from rankgauge.planning.plan import make_plan
from rankgauge.planning.requests import Located
from rankgauge.plugin import Cutoff, Judged, JudgedSample, Scores, hookimpl, metric
from rankgauge.policy import PROFILES, Policy

DEFAULT = PROFILES["default"]


class Templates:
    """A plugin given in Python: one metric whose first short name pins the cutoff, one that has no other."""

    @hookimpl
    def rankgauge_metrics(self):
        return [templated, only_templated]


@metric("templated-at-k", short=("tpl_cut_{k}", "Tpl"))
def templated(judged: Judged, *, k: Cutoff) -> Scores:
    """Score one."""


@metric("only-templated-at-k", short=("only_{k}",))
def only_templated(judged: Judged, *, k: Cutoff) -> Scores:
    """Score one."""


@metric("given-at-k", short=("given",))
def given_metric(judged: Judged, *, k: Cutoff, weight: float = 1.0) -> Scores:
    """Score one."""


@pytest.fixture(scope="module")
def catalog():
    return Catalog.discover(own_only=True, plugins={"templates": Templates()})


@pytest.fixture
def plan(catalog):
    def make(*specs, profile=DEFAULT, dataset="", **options):
        return make_plan(specs, Conventions(catalog=catalog, profile=profile, **options), dataset=dataset)

    return make


@pytest.fixture
def one(plan):
    """Plans one metric and returns its only column."""

    def make(spec, **options):
        (column,) = plan(spec, **options).metrics
        return column

    return make


@pytest.fixture
def refusal(plan):
    """Plans what cannot be planned and returns the problems' messages."""

    def make(*specs, **options):
        with pytest.raises(PlanError) as caught:
            plan(*specs, **options)
        return [problem.message for problem in caught.value.problems]

    return make


class TestNames:
    @pytest.mark.parametrize(
        ("spelling", "name", "safe"),
        [
            ("ndcg@10", "ndcg@10", "ndcg_at_10"),
            ("nDCG@10", "ndcg@10", "ndcg_at_10"),
            ("NDCG@10", "ndcg@10", "ndcg_at_10"),
            ("ndcg_cut_10", "ndcg@10", "ndcg_at_10"),
            ("ndcg_at_10", "ndcg@10", "ndcg_at_10"),
            ("retrieval-ndcg-at-10", "ndcg@10", "ndcg_at_10"),
            ("retrieval-ndcg-at-k@10", "ndcg@10", "ndcg_at_10"),
            ("retrieval-ndcg-at-k", "retrieval-ndcg-at-k", "retrieval_ndcg_at_k"),
            ("ndcg", "ndcg", "ndcg"),
            ("P@5", "p@5", "p_at_5"),
            ("P_5", "p@5", "p_at_5"),
            ("precision@5", "precision@5", "precision_at_5"),
            ("P(rel=2)@5", "p(rel=2)@5", "p_rel2_at_5"),
            ("R@5", "r@5", "r_at_5"),
            ("recall_100", "recall@100", "recall_at_100"),
            ("success_1", "hit@1", "hit_at_1"),
            ("Success@5", "success@5", "success_at_5"),
            ("RR", "rr", "rr"),
            ("RR(rel=2)", "rr(rel=2)", "rr_rel2"),
            ("retrieval-mrr", "retrieval-mrr", "retrieval_mrr"),
            ("recip_rank", "recip_rank", "recip_rank"),
            ("MRR@3", "mrr@3", "mrr_at_3"),
            ("map", "map", "map"),
            ("AP", "ap", "ap"),
            ("AP@10", "ap@10", "ap_at_10"),
            ("map_cut_5", "map@5", "map_at_5"),
            ("answer-containment-at-k", "answer-containment-at-k", "answer_containment_at_k"),
            ("EM", "em", "em"),
            ("EM(matcher=folded)", "em(matcher=folded)", "em_folded"),
            ("recall(matcher=chunk)@10", "recall(matcher=chunk)@10", "recall_chunk_at_10"),
            ("ndcg(gain=exponential)@10", "ndcg(gain=exponential)@10", "ndcg_exponential_at_10"),
            ("tpl_cut_5", "tpl@5", "tpl_at_5"),
            ("templated-at-5", "tpl@5", "tpl_at_5"),
            ("only_5", "only-templated-at-k@5", "only_templated_at_k_at_5"),
        ],
    )
    def test_a_column_is_called_by_the_short_name_it_was_asked_for_by_else_by_the_first_or_the_alias(
        self, one, spelling, name, safe
    ):
        column = one(spelling)
        assert (name, safe, (spelling,)) == (column.name, column.safe_name, column.spellings)

    def test_parameters_stand_in_the_name_in_canonical_order(self, one):
        assert "ndcg(clamp=true, gain=exponential)@5" == one("ndcg( gain=exponential,clamp=true )@5").name

    def test_parameters_at_their_defaults_are_no_part_of_the_name(self, plan):
        (column,) = plan("ndcg@5", "ndcg(gain=linear)@5").metrics
        assert ("ndcg@5", ("ndcg@5", "ndcg(gain=linear)@5")) == (column.name, column.spellings)

    def test_as_names_the_column(self, one):
        column = one({"metric": "ndcg@10", "as": "Top ten"})
        assert ("Top ten", "top_ten") == (column.name, column.safe_name)
        assert "mine" == one("ndcg(as=mine)@10").name

    @pytest.mark.parametrize("name", ["", "  ", 5, True])
    def test_as_must_be_a_name(self, refusal, name):
        assert [f"'as' is a column name, not {name!r}"] == refusal({"metric": "ndcg@10", "as": name})

    def test_as_null_is_as_left_out(self, one):
        assert "ndcg@10" == one({"metric": "ndcg@10", "as": None}).name

    def test_columns_whose_safe_names_are_alike_are_told_apart(self, plan):
        columns = plan({"metric": "P@5", "as": "a b"}, {"metric": "P@6", "as": "a-b"}, {"metric": "P@7", "as": "A B"})
        assert ["a_b", "a_b_2", "a_b_3"] == [column.safe_name for column in columns.metrics]

    @pytest.mark.parametrize(
        ("names", "safe"),
        [
            (["a", "a status"], ["a", "a_status_2"]),
            (["a status", "a"], ["a_status", "a_2"]),
            (["a", "a status", "a status 2"], ["a", "a_status_2", "a_status_2_2"]),
        ],
    )
    def test_no_column_has_the_name_of_another_ones_status(self, plan, names, safe):
        """A table of scores has a column `a`, and beside it `a_status`."""
        columns = plan(*({"metric": f"P@{k}", "as": name} for k, name in enumerate(names, start=5)))
        assert safe == [column.safe_name for column in columns.metrics]

    def test_the_expression_is_expanded_to_the_alias_and_what_is_not_at_its_default(self, one):
        column = one("nDCG(gain=linear, clamp=true, ideal=gold)@10")
        assert parse("retrieval-ndcg-at-k(clamp=true, ideal=gold)@10") == column.expression

    def test_the_expression_keeps_what_the_engine_was_told(self, one):
        assert parse("retrieval-precision-at-k(rel=2)@5") == one("P(rel=2)@5").expression

    def test_parameters_of_a_profile_stand_in_the_expression_and_not_in_the_name(self, one):
        column = one("ndcg@5", profile=PROFILES["eval-harness"])
        assert ("ndcg@5", parse("retrieval-ndcg-at-k(clamp=true)@5")) == (column.name, column.expression)
        assert {"clamp": True} == dict(column.params)

    @pytest.mark.parametrize(
        ("spelling", "name"),
        [
            ("ndcg(clamp=true)@5", "ndcg@5"),  # what the profile says anyway
            ("ndcg(clamp=false)@5", "ndcg(clamp=false)@5"),  # the metric's own default, which the profile changed
            ("ndcg(gain=linear)@5", "ndcg@5"),
        ],
    )
    def test_a_name_holds_the_parameters_that_differ_from_what_the_profile_says(self, one, spelling, name):
        assert name == one(spelling, profile=PROFILES["eval-harness"]).name

    def test_what_is_written_beats_a_profile(self, one):
        assert {"clamp": False} == dict(one("ndcg(clamp=false)@5", profile=PROFILES["eval-harness"]).params)

    @pytest.mark.parametrize("spelling", ["ndcg@10", "ndcg", "P(rel=2)@5", "MRR@3", "answer-exact-match"])
    def test_the_expanded_expression_plans_the_same_column(self, one, spelling):
        column = one(spelling)
        again = one(str(column.expression))
        assert (column.name, column.fingerprint) == (again.name, again.fingerprint)


class TestFolding:
    def test_one_column_asked_for_in_several_spellings_is_planned_once_and_keeps_them(self, plan):
        (column,) = plan("ndcg@10", "ndcg_cut_10", "retrieval-ndcg-at-10", "ndcg@10").metrics
        assert ("ndcg@10", ("ndcg@10", "ndcg_cut_10", "retrieval-ndcg-at-10")) == (column.name, column.spellings)

    @pytest.mark.parametrize(
        ("spellings", "name"),
        [
            (("AP", "map", "retrieval-map"), "ap"),
            (("retrieval-map", "AP"), "retrieval-map"),
            (("R@5", "recall@5", "recall_5"), "r@5"),
            (("P_5", "precision@5"), "p@5"),
        ],
    )
    def test_a_column_has_the_name_it_was_first_asked_for_by(self, plan, spellings, name):
        (column,) = plan(*spellings).metrics
        assert (name, spellings) == (column.name, column.spellings)

    def test_an_own_cutoff_is_not_what_the_short_name_means(self, plan):
        """`MRR` has no cutoff, so a column with one that is not pinned goes by the alias."""
        columns = plan("MRR", {"metric": "MRR", "k": 3}).metrics
        assert ["mrr", "retrieval-mrr"] == [column.name for column in columns]

    def test_a_name_that_another_metric_was_given_is_refused(self, refusal):
        (message,) = refusal({"metric": "P@5", "as": "mrr"}, "MRR")
        assert "two columns are called 'mrr'" in message

    def test_columns_stay_in_the_order_asked_for(self, plan):
        names = [column.name for column in plan("P@5", "ndcg@10", "P_5", "retrieval-mrr").metrics]
        assert ["p@5", "ndcg@10", "retrieval-mrr"] == names

    def test_one_name_for_two_things_is_refused(self, refusal):
        (message,) = refusal({"metric": "P@5", "as": "mine"}, {"metric": "P@6", "as": "mine"})
        expected = (
            "two columns are called 'mine': 'P(as=mine)@5' (retrieval-precision-at-k@5) and 'P(as=mine)@6' "
            "(retrieval-precision-at-k@6); rename one with `as`"
        )
        assert expected == message

    def test_two_cutoffs_given_without_pinning_need_names_of_their_own(self, refusal, plan):
        (message,) = refusal({"metric": "retrieval-recall-at-k", "k": 3}, {"metric": "retrieval-recall-at-k", "k": 5})
        assert "two columns are called 'retrieval-recall-at-k'" in message
        assert "rename one with `as`" in message
        named = plan({"metric": "recall", "k": 3}, {"metric": "recall", "k": 5, "as": "deep"})
        assert ["retrieval-recall-at-k", "deep"] == [column.name for column in named.metrics]

    def test_the_same_function_given_twice_is_one_column(self, plan):
        assert 1 == len(plan(given_metric, given_metric).metrics)


class TestCutoffs:
    @pytest.mark.parametrize(
        ("spec", "cut"),
        [
            ("ndcg@10", Cut("pinned", 10)),
            ("ndcg_cut_10", Cut("pinned", 10)),
            ("retrieval-ndcg-at-10", Cut("pinned", 10)),
            ("retrieval-ndcg-at-k", Cut("free")),
            ("ndcg", Cut("none")),
            ({"metric": "ndcg", "k": 3}, Cut("free", 3)),
            ("ndcg(k=3)", Cut("free", 3)),
            ({"metric": "P", "k": 3}, Cut("free", 3)),
            ("retrieval-precision-at-k", Cut("free")),
            ("retrieval-mrr", Cut("none")),
            ("RR", Cut("none")),
            ("RR@3", Cut("pinned", 3)),
            ({"metric": "RR", "k": 3}, Cut("own", 3)),
            ("Rprec", Cut("none")),
        ],
    )
    def test_the_spelling_decides_the_rule(self, one, spec, cut):
        assert cut == one(spec).cut

    @pytest.mark.parametrize(
        ("spelling", "alias", "uncut"),
        [
            ("P", "retrieval-precision-at-k", "; over whole rankings it is set_P"),
            ("R", "retrieval-recall-at-k", "; over whole rankings it is set_recall"),
            ("Success", "retrieval-hit-at-k", ""),
        ],
    )
    def test_a_short_name_that_needs_a_cutoff_says_how_to_give_it(self, refusal, spelling, alias, uncut):
        expected = f"{spelling!r} needs a cutoff: {spelling}@5, or {alias} for the default{uncut}"
        assert [expected] == refusal(spelling)

    @pytest.mark.parametrize(("written", "k"), [("ndcg@0", "0"), ("ndcg@-1", "-1"), ("ndcg@-1.5", "-1.5")])
    def test_a_cutoff_below_1_is_refused_in_the_same_words_whatever_its_sign(self, refusal, written, k):
        assert refusal(written) == [f"the cutoff of '{written}' must be an integer of 1 or more, not {k}"]

    @pytest.mark.parametrize("spec", ["set_P@5", "answer-exact-match@3", {"metric": "EM", "k": 3}])
    def test_a_metric_without_cutoff_takes_none(self, refusal, spec):
        (message,) = refusal(spec)
        assert "has no cutoff; leave it out of" in message

    @pytest.mark.parametrize(
        "spec",
        [
            {"metric": "ndcg@10", "k": 5},
            {"metric": "ndcg_cut_10", "k": 5},
            {"metric": "retrieval-ndcg-at-10", "k": 5},
            {"metric": "ndcg(k=3)", "k": 5},
            "ndcg(k=3)@5",
            {"metric": "recall@1,5", "k": 3},
        ],
    )
    def test_a_cutoff_given_twice_is_refused(self, refusal, spec):
        (message,) = refusal(spec)
        assert "cutoff" in message

    def test_a_list_of_cutoffs_makes_a_pinned_column_each(self, plan):
        expected = [("recall@1", 1), ("recall@5", 5), ("recall@10", 10)]
        for spec in ("recall@1,5,10", {"metric": "recall", "k": [1, 5, 10]}, {"metric": "recall@1,5,10"}):
            assert expected == [(column.name, column.cut.k) for column in plan(spec).metrics]

    def test_columns_of_a_list_keep_the_parameters(self, plan):
        columns = plan({"metric": "P", "rel": 2, "k": (1, 3)}).metrics
        assert [("p(rel=2)@1", 2.0), ("p(rel=2)@3", 2.0)] == [(column.name, column.rel) for column in columns]

    def test_an_empty_list_is_refused(self, refusal):
        (message,) = refusal({"metric": "recall", "k": []})
        assert "'recall' needs either one pinned cutoff or a list of them, not []" == message

    def test_a_list_cannot_have_one_name_for_all(self, refusal):
        (message,) = refusal({"metric": "recall", "k": [1, 5], "as": "mine"})
        assert "'as' names one column, and 'recall' makes 2; list them separately" == message

    def test_a_list_of_one_may_have_a_name(self, one):
        column = one({"metric": "recall", "k": [5], "as": "mine"})
        assert ("mine", Cut("pinned", 5)) == (column.name, column.cut)

    def test_a_default_that_is_no_cutoff_is_refused_with_its_source(self, refusal):
        expected = "the cutoff of --k must be an integer of 1 or more, not 0"
        assert [expected] == refusal("ndcg@10", default_k=DefaultK(0, "--k"))

    def test_the_default_is_5_unless_one_is_given(self, plan):
        assert (5, "built-in default") == plan("ndcg@10").default_k
        assert (7, "--k") == plan("ndcg@10", default_k=DefaultK(7, "--k")).default_k


class TestParameters:
    def test_they_are_checked_and_passed_on(self, one):
        column = one("err(max_grade=3)@10")
        assert ({"max_grade": 3}, False) == (dict(column.params), column.infers_max_grade)

    def test_a_highest_grade_that_is_not_given_is_inferred(self, one):
        assert one("err@10").infers_max_grade
        assert not one("ndcg@10").infers_max_grade

    def test_an_unknown_one_is_refused_with_a_suggestion_and_the_known_ones(self, refusal):
        expected = (
            "metric 'retrieval-ndcg-at-k' has no parameter 'gian' (did you mean 'gain'?); "
            "known are gain, discount, ideal, clamp, gains"
        )
        assert [expected] == refusal("ndcg(gian=linear)@10")

    def test_a_metric_without_parameters_says_so(self, refusal):
        expected = "metric 'retrieval-recall-at-k' has no parameter 'gain'; it has no parameters"
        assert [expected] == refusal("recall(gain=linear)@5")

    def test_a_value_that_is_no_choice_is_refused_with_the_choices(self, refusal):
        expected = "parameter 'gain' of metric 'retrieval-ndcg-at-k' cannot be 'cubic': choose from linear, "
        expected += "exponential, binary"
        assert [expected] == refusal("ndcg(gain=cubic)@10")

    @pytest.mark.parametrize("value", ["1", "yes", '"true"'])
    def test_nothing_is_coerced_to_a_boolean(self, refusal, value):
        (message,) = refusal(f"ndcg(clamp={value})@10")
        assert "parameter 'clamp' of metric 'retrieval-ndcg-at-k' cannot be" in message

    def test_parameters_that_choose_the_matcher_are_not_passed_to_the_function(self, one):
        column = one("answer-containment-at-k(case_sensitive=true)")
        assert {} == dict(column.params)
        assert "contains-cased" == column.targets[0].matcher

    def test_a_value_that_is_none_is_refused(self, refusal):
        (message,) = refusal({"metric": "ndcg@10", "gain": None})
        assert "parameter 'gain' of 'ndcg' cannot be None" in message

    def test_a_parameter_said_twice_is_refused(self, refusal):
        (message,) = refusal({"metric": "ndcg(gain=linear)@10", "gain": "exponential"})
        assert "already sets 'gain'; give it once" in message


class TestEngineParameters:
    def test_rel_is_the_grade_from_which_on_an_item_is_relevant(self, one):
        assert [2.0, 0.5, None] == [one(spec).rel for spec in ("P(rel=2)@5", "P(rel=0.5)@5", "P@5")]

    @pytest.mark.parametrize("value", ["true", "high", '"2"'])
    def test_rel_must_be_a_number(self, refusal, value):
        (message,) = refusal(f"P(rel={value})@5")
        assert "is the lowest grade of a relevant item, not" in message

    def test_rel_is_refused_where_it_has_no_effect(self, refusal):
        expected = "rel has no effect on 'retrieval-ndcg-at-k'; leave it out of 'ndcg(rel=2)@5'"
        assert [expected] == refusal("ndcg(rel=2)@5")

    def test_gold_must_be_a_kind_that_the_metric_can_be_judged_against(self, one, refusal):
        assert (Target("relevant"),) == one("P(gold=relevant)@5").targets
        (message,) = refusal("P(gold=answer)@5")
        assert (
            "'retrieval-precision-at-k' can be judged against relevant or passages or spans, not against gold='answer'"
            == message
        )

    def test_metrics_are_judged_against_their_own_kind_with_their_own_matcher(self, one):
        by_id, by_text = Target("relevant", "retrieved", None), Target("passages", "retrieved", "passage", joint=True)
        assert (by_id, by_text, Target("spans", joint=True)) == one("ndcg@10").targets
        assert (Target("answer", "retrieved", "contains"),) == one("containment@5").targets
        assert (Target("answer", "answer", "exact"),) == one("EM").targets

    @pytest.mark.parametrize(
        ("written", "matcher"),
        [
            ("answer-exact-match(matcher=folded)", "collapse-whitespace | casefold > equal >= 1"),
            ('answer-exact-match(matcher="casefold > equal")', "casefold > equal >= 1"),
        ],
    )
    def test_another_matcher_may_be_given_by_name_or_as_a_composition(self, one, written, matcher):
        column = one(written)
        assert [matcher] == [str(each.matcher) for each in column.matchers.values()]

    def test_an_unknown_matcher_is_refused_with_a_suggestion(self, refusal):
        (message,) = refusal("answer-exact-match(matcher=foldde)")
        assert message.startswith("unknown matcher 'foldde' (did you mean 'folded'?)")

    @pytest.mark.parametrize("value", [5, True, ""])
    def test_a_matcher_must_be_a_name_or_a_composition(self, refusal, value):
        (message,) = refusal({"metric": "answer-exact-match", "matcher": value})
        assert f"is a name or a composition, not {value!r}" in message

    def test_a_matcher_is_refused_where_ids_are_joined(self, refusal):
        (message,) = refusal("P(gold=relevant, matcher=exact)@5")
        assert "'retrieval-precision-at-k' is judged by id here, where a matcher has no effect" in message

    def test_what_has_to_be_judged_is_listed_once(self, plan):
        found = plan("ndcg@10", "P@5", "containment@5", "containment@10", "EM")
        assert [
            Target("relevant"),
            Target("passages", "retrieved", "passage", joint=True),
            Target("spans", joint=True),
            Target("answer", "retrieved", "contains"),
            Target("answer", "answer", "exact"),
        ] == list(found.targets)
        assert [None, "passage", None, "contains", "exact"] == [each and each.name for each in found.targets.values()]


class TestFunctions:
    def test_a_declared_function_is_planned_under_its_alias(self, one):
        column = one(given_metric)
        assert ("given-at-k", Cut("free"), given_metric) == (column.name, column.cut, column.metric.source)

    @pytest.mark.parametrize(
        ("function", "name", "cut"),
        [
            (lambda ranking: 1.0, "lambda", Cut("none")),
            (lambda ranking, *, k: 1.0, "lambda-at-k", Cut("free")),
        ],
    )
    def test_a_bare_function_over_one_ranking_is_planned_under_its_own_name(self, one, function, name, cut):
        column = one(function)
        assert (name, cut) == (column.name, column.cut)

    def test_the_annotation_of_a_bare_functions_k_is_heeded(self, one):
        def my_score(ranking: JudgedSample, *, k: int | None = None) -> float:
            return 1.0

        def my_cut_score(ranking: JudgedSample, *, k: int) -> float:
            return 1.0

        def my_ready_score(ranking: JudgedSample, *, k: int = 3) -> float:
            return 1.0

        assert ("my-score", Cut("none")) == (one(my_score).name, one(my_score).cut)
        assert ("my-cut-score-at-k", Cut("free")) == (one(my_cut_score).name, one(my_cut_score).cut)
        assert "free" == one(my_ready_score).cut.rule

    def test_a_bare_functions_own_parameters_are_read(self, one):
        def my_score(ranking: JudgedSample, *, weight: float = 1.0) -> float:
            return weight

        assert ["weight"] == [parameter.name for parameter in one(my_score).metric.parameters]

    def test_an_object_that_can_be_called_is_a_function_too(self, one):
        class MyScore:
            def __call__(self, ranking: JudgedSample) -> float:
                return 1.0

        assert "myscore" == one(MyScore()).name

    def test_a_bare_function_says_where_it_stands(self, one):
        def my_score(ranking):
            return 1.0

        provider = one(my_score).provider
        assert (__file__, my_score.__code__.co_firstlineno) == (provider.file, provider.line)
        assert f"this process (plugin given in Python), {__file__}:{provider.line}" == str(provider)

    def test_the_same_bare_function_given_twice_is_one_column(self, plan):
        def my_score(ranking):
            return 1.0

        assert 1 == len(plan(my_score, my_score).metrics)

    def test_two_functions_of_one_name_are_refused(self, refusal):
        (message,) = refusal(lambda ranking: 1.0, lambda ranking: 0.0)
        assert "two columns are called 'lambda'" in message


class TestProblems:
    def test_all_of_them_are_reported_at_once(self, refusal):
        messages = refusal("ndgc@10", "P", "ndcg(gian=linear)@5", "recall@", default_k=DefaultK(0, "--k"))
        beginnings = ["the cutoff of --k", "unknown metric 'ndgc'", "'P' needs", "metric 'retrieval-ndcg-at-k' has no"]
        assert 5 == len(messages)
        for beginning, message in zip([*beginnings, "cannot read"], messages, strict=True):
            assert message.startswith(beginning)

    def test_the_error_says_how_many_there_are(self, plan):
        with pytest.raises(PlanError, match=r"the evaluation cannot be planned \(2 problems\):\n  unknown"):
            plan("ndgc@10", "ndcg@10", "P")
        with pytest.raises(PlanError, match=r"the evaluation cannot be planned \(1 problem\):"):
            plan("P")

    def test_a_metric_of_a_file_is_reported_with_its_line(self, plan):
        with pytest.raises(PlanError) as caught:
            plan(Located("ndgc@10", "rankgauge.yaml", 12), "P")
        first, second = caught.value.problems
        assert (("rankgauge.yaml", 12), ("", None)) == ((first.file, first.line), (second.file, second.line))
        assert "rankgauge.yaml:12: unknown metric 'ndgc'" in str(caught.value)

    def test_no_metric_at_all_is_a_problem(self, refusal):
        (message,) = refusal()
        assert message.startswith("no metrics given; give some")

    @pytest.mark.parametrize("spec", [None, 5, ["ndcg@10"]])
    def test_what_is_no_metric_is_a_problem(self, refusal, spec):
        expected = f"a metric is an expression, a mapping with 'metric', or a function; not {spec!r}"
        assert [expected] == refusal(spec)

    @pytest.mark.parametrize("spec", [{}, {"k": 3}, {"metric": None}, {"metric": ["ndcg"]}])
    def test_a_mapping_without_a_metric_is_a_problem(self, refusal, spec):
        assert [f"a metric given as a mapping needs its name under 'metric'; found {spec!r}"] == refusal(spec)


class TestDescribe:
    def test_it_says_what_each_column_is(self, plan):
        text = plan("P(rel=2)@5", "retrieval-ndcg-at-k", "EM", dataset="rag.retrieval").describe()
        lines = text.splitlines()
        assert ["dataset: rag.retrieval", "metrics:", "  p(rel=2)@5"] == lines[:3]
        for line in (
            "    is        retrieval-precision-at-k(rel=2)@5",
            (
                "    judged    relevant by id, else passages by text, matcher passage, several results together, "
                "else spans by offsets, else by text, several results together"
            ),
            "    cutoff    5 (pinned)",
            "    relevant  grade 2 or more",
            "    cutoff    the sample's metadata.k, else 5 (built-in default)",
            "    judged    answer of the generated answer by text, matcher exact",
            "    matcher   exact (equal >= 1)",
            "    cutoff    none",
            "profile: default",
            f"policy: {DEFAULT.policy}",
        ):
            assert line in lines
        assert 3 == sum(line.startswith("    provider  rankgauge ") for line in lines)

    def test_it_says_where_cutoffs_come_from(self, plan):
        specs = ({"metric": "recall", "k": 3}, {"metric": "RR", "k": 4})
        lines = plan(*specs, default_k=DefaultK(7, "--k")).describe().splitlines()
        assert "    cutoff    the sample's metadata.k, else 3 (given to the metric), else 7 (--k)" in lines
        assert "    cutoff    4 (given to the metric)" in lines

    def test_it_says_when_there_is_no_dataset_by_name(self, plan):
        assert "dataset: (samples given in Python)" == plan("P@5").describe().splitlines()[0]


class TestFingerprints:
    @pytest.mark.parametrize(
        ("one_spelling", "other"),
        [
            ("ndcg@10", "ndcg_cut_10"),
            ("ndcg@10", "retrieval-ndcg-at-10"),
            ("ndcg@10", "ndcg(gain=linear)@10"),
            ("ndcg@10", {"metric": "ndcg", "k": [10], "as": "mine"}),
            ("err(max_grade=3)@10", "err(max_grade=3.0)@10"),
            ("P(rel=2)@5", "P(rel=2.0)@5"),
            ("EM", "answer-exact-match(matcher=exact)"),
            ("EM(matcher='contained >= 1')", "EM(matcher='contained(direction=gold-in-retrieved) >= 1')"),
        ],
    )
    def test_spelling_name_and_stated_defaults_do_not_matter(self, one, one_spelling, other):
        fingerprint = one(one_spelling).fingerprint
        assert (fingerprint, 16) == (one(other).fingerprint, len(fingerprint))

    @pytest.mark.parametrize(
        ("one_spelling", "other"),
        [
            ("ndcg@10", "ndcg@5"),
            ("ndcg@10", "ndcg"),
            ("ndcg@10", "retrieval-ndcg-at-k"),
            ("ndcg@10", "ndcg_any@10"),
            ("ndcg@10", "ndcg(gain=exponential)@10"),
            ("P@5", "P(rel=2)@5"),
            ("P@5", {"metric": "P", "k": 5}),
            ("RR", {"metric": "RR", "k": 3}),
            ("EM", "EM(matcher=folded)"),
            ("containment@5", "containment(case_sensitive=true)@5"),
            ("EM(matcher='contained >= 0.9')", "EM(matcher='contained >= 0.90000001')"),
        ],
    )
    def test_cutoff_parameters_threshold_of_relevance_and_matcher_matter(self, one, one_spelling, other):
        assert one(one_spelling).fingerprint != one(other).fingerprint

    @pytest.mark.parametrize(
        "change",
        [
            {"policy": Policy(no_gold="zero")},
            {"policy": Policy(duplicates="keep")},
            {"relevance": "listed"},
            {"duplicate_texts": "id"},
            {"missing_texts": "empty"},
            {"contract": DEFAULT.contract._replace(coerce=True)},
        ],
    )
    def test_policy_and_conventions_matter(self, one, change):
        other = dataclasses.replace(DEFAULT, **change)
        assert one("P@5").fingerprint != one("P@5", profile=other).fingerprint

    @pytest.mark.parametrize(
        ("spec", "before"),
        [("recall@3", "56424f0a2a2fbf13"), ("ndcg@3", "9f2931bd1653c9dd"), ("RR", "5c71906ab3cd0c45")],
    )
    def test_scores_by_id_mean_what_they_meant_before_passages_were_found_together(self, one, spec, before):
        """The fingerprints that results by id, saved at commit 8d6f8a2b, have in their manifests."""
        column = one(spec)
        by_id, by_text, *_ = column.targets
        assert (by_id.by_text, by_text.by_text) == (False, True)
        assert column.fingerprint_against(by_id) == before
        assert column.fingerprint_against(by_text) != before

    def test_scores_by_text_do_not_mean_what_they_meant_before_passages_were_found_together(self, one):
        column = one("recall(joint=false, gold=passages)@3")
        assert column.fingerprint_against(column.targets[0]) != "de2c068f150412dd"

    def test_what_places_are_worth_matters_to_spans(self, one):
        other = dataclasses.replace(DEFAULT, places="given")
        assert one("span-recall@5").fingerprint != one("span-recall@5", profile=other).fingerprint
        assert one("P@5").fingerprint == one("P@5", profile=other).fingerprint

    def test_the_name_of_the_profile_does_not_matter(self, one):
        other = dataclasses.replace(DEFAULT, name="mine")
        assert one("P@5").fingerprint == one("P@5", profile=other).fingerprint

    def test_the_default_cutoff_matters_where_it_is_used(self, one):
        three, seven = DefaultK(3, "--k"), DefaultK(7, "--k")
        spelling = "retrieval-recall-at-k"
        assert one(spelling, default_k=three).fingerprint != one(spelling, default_k=seven).fingerprint

    @pytest.mark.parametrize("spec", ["recall@5", "ndcg", "retrieval-mrr", {"metric": "recall", "k": 4}])
    def test_the_default_cutoff_does_not_matter_where_it_is_not_used(self, one, spec):
        three, seven = DefaultK(3, "--k"), DefaultK(7, "--k")
        assert one(spec, default_k=three).fingerprint == one(spec, default_k=seven).fingerprint

    def test_where_the_default_cutoff_was_given_does_not_matter(self, one):
        spelling = "retrieval-recall-at-k"
        given = one(spelling, default_k=DefaultK(5, "--k"))
        assert one(spelling).fingerprint == given.fingerprint

    @pytest.mark.parametrize(
        "changed", [{"aggregate": "sum"}, {"higher_is_better": False}, {"range": (0.0, None)}, {"range": (-1.0, 1.0)}]
    )
    def test_aggregate_direction_and_range_matter(self, one, changed):
        """A metric that is changed so, without another version, must not be merged with what it was."""

        def declared_with(**declaration):
            @metric("depth", **declaration)
            def depth(judged: Judged) -> Scores:
                """Count what was retrieved."""
                return judged.depth.astype(float)

            return depth

        assert one(declared_with()).fingerprint == one(declared_with()).fingerprint
        assert one(declared_with()).fingerprint == one(declared_with(range=(0, 1))).fingerprint
        assert one(declared_with()).fingerprint != one(declared_with(**changed)).fingerprint
