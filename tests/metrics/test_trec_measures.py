"""trec_eval's measures by values worked out by hand, and against restatements where pytrec_eval has nothing to say."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import trec
from oracle.strategies import HUGE_CUTOFF
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.errors import PlanError
from rankgauge.policy import PROFILES
from tables import rows

ENGINE = Engine(catalog=Catalog.discover(own_only=True))


@functools.cache
def evaluation(metrics: tuple[str, ...], level: float, policy: tuple[tuple[str, Any], ...]) -> Any:
    profile = PROFILES["trec10"]
    options = {"order": "given", "no_gold": "undefined", **dict(policy)}
    changed = dataclasses.replace(profile, policy=profile.policy.with_options(options), relevance=float(level))
    return ENGINE.dataset([]).with_metrics(list(metrics)).with_profile(changed)


def values(ranking, gold, *metrics, level=1.0, **policy):
    """Return scores under trec10, of a ranking that is best first, by metric as written; None where undefined."""
    planned = evaluation(metrics, level, tuple(policy.items()))
    sample = {"id": "q", "expected_output": {"relevant": dict(gold)}, "actual_output": list(ranking)}
    found = list(planned.score(sample).values())
    assert len(found) == len(metrics)
    for score in found:
        assert score.status in {"scored", "undefined"}, score.reason
    return [score.value for score in found]


def value(ranking, gold, metric, **options):
    (found,) = values(ranking, gold, metric, **options)
    return found


class TestBpref:
    def test_negative_grades_are_left_out_above_and_in_the_bound(self):
        # Above b stand n (judged nonrelevant), m (negative, skipped) and x (unjudged, skipped): 1 of min(N=1, R=2).
        gold = {"a": 1, "b": 1, "n": 0, "m": -1, "o": -1}

        assert value(["a", "n", "m", "x", "b"], gold, "bpref") == pytest.approx((1 + (1 - 1 / 1)) / 2)

    def test_bound_is_the_smaller_of_both_counts(self):
        # R=2, N=3: one above of two that count, and never more than all of them.
        gold = {"a": 1, "b": 2, "n": 0, "o": 0, "p": 0}

        assert value(["n", "a", "b"], gold, "bpref") == pytest.approx((1 / 2 + 1 / 2) / 2)
        assert value(["n", "o", "p", "a", "b"], gold, "bpref") == 0.0

    def test_threshold_turns_lower_grades_into_judged_nonrelevant_ones(self):
        assert value(["n", "a"], {"a": 2, "n": 1}, "bpref", level=2) == 0.0
        assert value(["n", "a"], {"a": 2, "n": 1}, "bpref") == 1.0

    def test_threshold_above_every_grade_is_undefined(self):
        assert value(["n", "a"], {"a": 2, "n": 1}, "bpref", level=9) is None

    def test_nothing_judged_nonrelevant_is_recall(self):
        assert value(["x", "a", "y"], {"a": 1, "b": 1}, "bpref") == 1 / 2


class TestInferredAveragePrecision:
    def test_equals_average_precision_where_all_is_judged(self):
        gold = {"a": 1, "b": 1, "n": 0, "o": 0}
        found = values(["n", "a", "o", "b"], gold, "infAP", "AP")

        assert found[0] == pytest.approx(found[1], abs=1e-4)
        assert found[1] == (1 / 2 + 2 / 4) / 2

    def test_pooled_and_unjudged_items_share_in_the_estimate_and_others_do_not(self):
        # b at rank 4: 1/4 + 3/4 * (pooled above: a, n, m)/3 * (1 + e)/(1 + 1 + 2e), and 1 for a.
        e = 1e-5
        gold = {"a": 1, "b": 1, "n": 0, "m": -1}

        expected = (1 + 1 / 4 + 3 / 4 * 1 * (1 + e) / (2 + 2 * e)) / 2
        assert value(["a", "n", "m", "b"], gold, "infAP") == pytest.approx(expected, rel=1e-12)
        # x is in no pool: two of the three above are.
        expected = (1 + 1 / 4 + 3 / 4 * (2 / 3) * (1 + e) / (2 + 2 * e)) / 2
        assert value(["a", "n", "x", "b"], gold, "infAP") == pytest.approx(expected, rel=1e-12)


class TestInterpolatedPrecision:
    GOLD: ClassVar = {"a": 1, "b": 1, "c": 1, "d": 1}
    RANKING: ClassVar = ["a", "x", "y", "b", "c"]
    # Precision at relevant ranks: 1, 2/4, 3/5; d is never found.

    @pytest.mark.parametrize(
        ("level", "expected"),
        [(0.0, 1.0), (0.25, 1.0), (0.5, 3 / 5), (0.75, 3 / 5), (0.8, 3 / 5), (0.9, 0.0), (1, 0.0)],
    )
    def test_best_precision_from_the_level_on(self, level, expected):
        assert value(self.RANKING, self.GOLD, f"iprec@{level}") == expected

    @pytest.mark.parametrize(("level", "nearest", "up"), [(0.3, 1.0, 3 / 5), (0.51, 3 / 5, 3 / 5), (0.6, 3 / 5, 3 / 5)])
    def test_version_9_rounds_levels_up(self, level, nearest, up):
        # 0.3 of four is 1.2: the first relevant item, or the second.
        found = values(self.RANKING, self.GOLD, f"iprec@{level}", f"iprec(rounding=up)@{level}")

        assert [nearest, up] == found

    @pytest.mark.parametrize(
        ("level", "expected"),
        [(0, 1.0), (0.25, 1.0), (0.26, 3 / 5), (0.3, 3 / 5), (0.75, 3 / 5), (0.76, 0.0), (1, 0.0)],
    )
    def test_the_textbook_asks_for_the_level_itself(self, level, expected):
        # Recall at ranks 1, 4 and 5 is 1/4, 1/2 and 3/4.
        assert value(self.RANKING, self.GOLD, f"iprec(rounding=exact)@{level}") == expected

    def test_a_level_that_no_float_holds_is_reached_exactly(self):
        gold = {f"d{number}": 1 for number in range(10)}  # 0.7 * 10 is 7.000000000000001 as a float

        assert value(list(gold)[:7], gold, "iprec(rounding=exact)@0.7") == 1.0

    def test_halves_are_rounded_up_by_version_10(self):
        # 0.5 of three is 1.5, so the second.
        assert value(["a", "x", "b"], {"a": 1, "b": 1, "c": 1}, "iprec@0.5") == 2 / 3

    def test_mean_over_levels(self):
        expected = (1.0 * 4 + 3 / 5 * 5 + 0.0 * 2) / 11
        # Whole numbers of 0, .4, .8, 1.2 | 1.6, 2, 2.4, 2.8, 3.2 | 3.6, 4 are 0 0 1 1 | 2 2 2 3 3 | 4 4.

        assert value(self.RANKING, self.GOLD, "11pt_avg") == pytest.approx(expected)
        assert value(self.RANKING, self.GOLD, '11pt_avg(recalls="0.25,1")') == 1 / 2

    def test_nothing_relevant_is_undefined_and_counts_as_0_under_the_trec_policy(self):
        assert values(["x"], {"n": 0}, "iprec@0", "iprec@1", "11pt_avg") == [None] * 3
        sample = {"id": "q", "expected_output": {"n": 0}, "actual_output": [{"id": "x", "score": 1}]}
        result = ENGINE.dataset([sample]).with_metrics(["iprec@0", "11pt_avg"]).with_profile("trec10").run()
        assert [column.mean for column in result.metrics.values()] == [0.0, 0.0]

    def test_nothing_retrieved_is_0(self):
        assert values([], self.GOLD, "iprec@0", "iprec@1", "11pt_avg") == [0.0] * 3

    @pytest.mark.parametrize("spec", ["iprec@1.5", "IPrec@10", '11pt_avg(recalls="0,2")', '11pt_avg(recalls="x")'])
    def test_level_that_is_none_is_refused_when_planned(self, spec):
        with pytest.raises(PlanError, match="levels of recall are numbers from 0 to 1") as caught:
            ENGINE.dataset([]).with_metrics([spec]).plan()
        assert spec in str(caught.value)

    def test_short_name_needs_a_number_and_the_alias_has_a_default(self):
        with pytest.raises(PlanError, match=r"needs a number, its recall: IPrec@0\.1"):
            ENGINE.dataset([]).with_metrics(["IPrec"]).plan()
        with pytest.raises(PlanError, match="gives its recall twice"):
            ENGINE.dataset([]).with_metrics(["iprec(recall=0.1)@0.2"]).plan()
        (planned,) = ENGINE.dataset([]).with_metrics(["retrieval-iprec-at-recall"]).plan().metrics
        assert planned.name == "retrieval-iprec-at-recall"
        (planned,) = ENGINE.dataset([]).with_metrics(["retrieval-iprec-at-recall(recall=0.1)"]).plan().metrics
        assert planned.name == "iprec@0.1"


class TestCustomGains:
    def test_gains_need_not_be_in_proportion(self):
        # Gains 9, 3 over the best order of 9, 3, 3.
        gold = {"a": 2, "b": 1, "c": 1, "n": 0}
        expected = (3 + 9 / math.log2(3)) / (9 + 3 / math.log2(3) + 3 / 2)

        assert value(["b", "a", "n"], gold, 'ndcg(gains="1=3,2=9")') == pytest.approx(expected)
        assert value(["b", "a"], gold, 'ndcg(gains="1=3,2=9")@2') == pytest.approx(
            (3 + 9 / math.log2(3)) / (9 + 3 / math.log2(3))
        )

    def test_gains_may_turn_the_order_of_grades_around_and_level_0_may_earn(self):
        gold = {"a": 2, "b": 1, "n": 0}

        assert value(["b", "a"], gold, 'ndcg(gains="1=5,2=1")') == 1.0
        assert value(["n"], {"n": 0}, 'ndcg(gains="0=2")') == 1.0

    def test_grades_that_are_not_named_are_worth_themselves(self):
        assert value(["b", "a"], {"a": 2, "b": 3}, 'ndcg(gains="2=9")') == pytest.approx(
            (3 + 9 / math.log2(3)) / (9 + 3 / math.log2(3))
        )

    def test_all_gains_of_0_are_undefined(self):
        assert value(["a"], {"a": 1}, 'ndcg(gains="1=0")') is None

    @rows("gains", ["1", "1=", "=3", "a=3", "1=-3", "1=nan", "-1=3", "1=3,,2=9", "1=inf", "inf=1", "1=2,1=3"])
    def test_what_is_no_table_is_refused_when_planned(self, gains):
        for name in ("ndcg", "G", "ndcg_rel", "Rndcg"):
            with pytest.raises(PlanError, match="gains are pairs of a grade and what it is worth"):
                ENGINE.dataset([]).with_metrics([f'{name}(gains="{gains}")']).plan()

    def test_gains_and_a_formula_for_them_are_refused_together(self):
        with pytest.raises(PlanError, match="leave out gain=exponential"):
            ENGINE.dataset([]).with_metrics(['ndcg(gain=exponential, gains="1=3")']).plan()


class TestThreshold:
    def test_gains_do_not_follow_it(self):
        gold, ranking = {"a": 1, "b": 3}, ["a", "b"]
        names = ("ndcg", "ndcg@1", "rbp", "ERR(max_grade=3)@2")

        assert values(ranking, gold, *names, level=3) == values(ranking, gold, *names, level=1)
        assert value(["a"], {"a": 1}, "ndcg", level=3) == 1.0
        assert value(["a"], {"a": 1}, "P@1", level=3) is None

    def test_level_0_makes_every_judged_item_relevant_but_negative_ones(self):
        gold = {"a": 1, "n": 0, "m": -1}

        found = values(["n", "m", "x", "a"], gold, "num_rel", "num_rel_ret", "P@2", "RR", "bpref", level=0)
        assert found == [2.0, 2.0, 1 / 2, 1.0, 1.0]

    def test_grades_above_127_are_grades(self):
        gold = {"a": 200, "b": 1000}
        expected = (200 + 1000 / math.log2(3)) / (1000 + 200 / math.log2(3))

        assert value(["a", "b"], gold, "ndcg") == pytest.approx(expected)
        assert value(["a", "b"], gold, "P@2", level=201) == 1 / 2


class TestShortRankings:
    def test_precision_and_unjudged_divide_by_k_and_judged_by_what_is_there(self):
        gold = {"a": 1, "n": 0}
        names = ("P@5", "recall@5", "success@5", "relative_P@5", "unj@5", "judged@5", "map_cut_5", "ndcg@5")

        found = values(["a", "x"], gold, *names)
        assert found == [1 / 5, 1.0, 1.0, 1.0, 1 / 5, 1 / 2, 1.0, 1.0]

    def test_relative_precision_divides_by_what_could_be_found(self):
        gold = {"a": 1, "b": 1, "c": 1}

        assert values(["a", "x", "b"], gold, "relative_P@2", "relative_P@3", "relative_P@9") == [1 / 2, 2 / 3, 2 / 3]

    def test_negative_judgment_is_unjudged_for_unj_and_judged_for_judged(self):
        assert values(["m", "n"], {"m": -1, "n": 0, "a": 1}, "unj@2", "judged@2") == [1 / 2, 1.0]

    def test_topic_that_the_run_lacks_is_0_but_for_num_rel_and_num_q(self):
        gold = {"a": 1, "b": 2, "n": 0}
        names = ["num_ret", "num_rel_ret", "num_nonrel_judged_ret", "map", "gm_map", "Rprec", "bpref", "gm_bpref", "RR"]
        names += ["iprec@0", "11pt_avg", "P@5", "relative_P@5", "recall@5", "success@5", "ndcg", "ndcg@5", "infAP"]
        names += ["set_P", "set_recall", "set_map", "set_F", "set_relative_P", "unj@5", "rbp", "rbp_resid", "ERR@5"]
        missing = {"id": "q", "expected_output": gold, "actual_output": None}
        result = ENGINE.dataset([missing]).with_metrics([*names, "num_rel", "num_q"]).with_profile("trec10").run()

        assert [result[name].values.item() for name in names] == [0.0] * len(names)
        assert [result["num_rel"].values.item(), result["num_q"].values.item()] == [2.0, 1.0]

    def test_topic_with_negative_grades_only_counts_what_it_retrieved(self):
        names = (
            "num_ret",
            "num_rel",
            "num_nonrel_judged_ret",
            "unj@2",
            "map",
            "bpref",
            "infAP",
            "ndcg",
            "rbp",
            "set_P",
        )

        found = values(["m", "x"], {"m": -1, "o": -2}, *names)
        assert found == [2.0, 0.0, 0.0, 1.0, None, None, None, None, None, None]


class TestSetMeasures:
    GOLD: ClassVar = {"a": 1, "b": 1, "c": 1, "d": 1}

    def test_values(self):
        # 2 of 5 retrieved, of 4 relevant.
        names = ("set_P", "set_recall", "set_map", "set_F", "set_F(beta=2)", "set_relative_P")
        p, r = 2 / 5, 2 / 4

        found = values(["x", "a", "y", "b", "z"], self.GOLD, *names)
        assert found == pytest.approx([p, r, p * r, 2 * p * r / (p + r), 5 * p * r / (4 * p + r), 2 / 4])

    def test_depth_cuts_the_set_and_precision_at_k_divides_by_k(self):
        assert values(["a", "x"], self.GOLD, "set_P", "P@5", depth=5) == [1 / 2, 1 / 5]

    @pytest.mark.parametrize("beta", ["-1", "1e400"])
    def test_beta_that_is_none_is_refused(self, beta):
        with pytest.raises(PlanError, match="beta"):
            ENGINE.dataset([]).with_metrics([f"set_F(beta={beta})"]).plan()


class TestRankBiasedPrecision:
    def test_grades_are_divided_by_the_highest_above_1(self):
        assert value(["a", "x", "b"], {"a": 1, "b": 1}, "rbp") == pytest.approx(0.1 * (1 + 0.81))
        assert value(["a", "x", "b"], {"a": 1, "b": 4}, "rbp") == pytest.approx(0.1 * (1 / 4 + 0.81))
        assert value(["a"], {"a": 0.5}, "rbp(p=0.5)") == pytest.approx(0.5 * 0.5)

    def test_residual_is_the_weight_of_what_is_unjudged_and_below(self):
        # Rank 2 is unjudged, rank 3 negative; 0.5 ** 3 is left below.
        gold = {"a": 1, "m": -1}

        assert value(["a", "x", "m"], gold, "rbp_resid(p=0.5)") == pytest.approx(0.25 + 0.125 + 0.125)
        assert value(["a"], gold, "rbp_resid(p=0.5)") == 0.0

    @pytest.mark.parametrize("p", ["0", "1", "1.5", "-0.5"])
    def test_p_that_is_none_is_refused(self, p):
        with pytest.raises(PlanError, match="above 0 and below 1"):
            ENGINE.dataset([]).with_metrics([f"rbp(p={p})"]).plan()


class TestCounts:
    SAMPLES: ClassVar = [
        {"id": "q", "expected_output": {"a": 2, "b": 1, "n": 0, "m": -1}, "actual_output": ["n", "a", "m", "x"]},
        {"id": "r", "expected_output": {"a": 1, "n": 0}, "actual_output": ["n", "o"]},
    ]

    def test_are_summed(self):
        names = ["num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"]
        result = ENGINE.dataset(self.SAMPLES).with_metrics(names).run()

        assert [result[name].mean for name in names] == [2, 6, 3, 1, 2]

    def test_geometric_means_put_a_floor_below_0(self):
        result = ENGINE.dataset(self.SAMPLES).with_metrics(["gm_map", "map", "gm_bpref"]).run()

        assert result["map"].values.tolist() == result["gm_map"].values.tolist() == [1 / 4, 0.0]
        assert result["gm_map"].mean == pytest.approx(math.sqrt(1 / 4 * 1e-5))
        assert result["gm_bpref"].mean == pytest.approx(1e-5)


class TestJudgedOnly:
    GOLD: ClassVar = {"a": 1, "n": 0, "m": -1}

    def test_negative_judgments_are_dropped_with_the_unjudged_under_the_trec_profiles(self):
        found = values(["x", "m", "n", "a"], self.GOLD, "num_ret", "RR", "unj@4", judged_only=True)

        assert found == [2.0, 1 / 2, 0.0]

    def test_they_stay_under_the_default_profile(self):
        sample = {"id": "q", "expected_output": self.GOLD, "actual_output": ["x", "m", "n", "a"]}
        policy = PROFILES["default"].policy.with_options({"judged_only": True})
        (found,) = ENGINE.dataset([]).with_metrics(["RR"]).with_profile(policy).score(sample).values()

        assert found.value == 1 / 3


IDS = st.sampled_from([f"d{number}" for number in range(10)])
RANKINGS = st.lists(IDS, max_size=10, unique=True)
GOLD = st.dictionaries(IDS, st.sampled_from([-2, -1, 0, 1, 2, 3, 0.5]), min_size=1)
P = st.sampled_from([0.1, 0.5, 0.8, 0.95])
K = st.sampled_from([1, 2, 3, 5, 20, HUGE_CUTOFF])


def agrees(expected):
    return None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(ranking=RANKINGS, gold=GOLD, p=P, k=K)
def test_rank_biased_measures_agree_with_the_restatement(ranking, gold, p, k):
    found = values(ranking, gold, f"rbp(p={p})", f"rbp(p={p})@{k}", f"rbp_resid(p={p})", f"unj@{k}")

    expected = [trec.rbp(ranking, gold, p), trec.rbp(ranking, gold, p, k), trec.rbp_residual(ranking, gold, p)]
    assert [agrees(each) for each in [*expected, trec.unjudged(ranking, gold, k)]] == found


@given(
    ranking=RANKINGS,
    gold=GOLD,
    gains=st.dictionaries(st.sampled_from([0, 1, 2, 3]), st.sampled_from([0, 1, 3, 0.5, 9]), min_size=1),
    k=st.none() | K,
)
def test_custom_gains_agree_with_the_restatement(ranking, gold, gains, k):
    written = ",".join(f"{grade}={gain}" for grade, gain in gains.items())
    cut = "" if k is None else f"@{k}"

    assert agrees(trec.ndcg(ranking, gold, gains, k)) == value(ranking, gold, f'ndcg(gains="{written}"){cut}')


@given(ranking=RANKINGS, gold=GOLD, level=st.sampled_from([1, 2, 3, 4]))
def test_bpref_agrees_with_the_restatement_at_every_level(ranking, gold, level):
    assert agrees(trec.bpref(ranking, gold, level)) == value(ranking, gold, "bpref", level=level)
