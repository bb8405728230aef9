# the expected value stands first
import numpy as np
import pytest

from rankgauge import Engine
from rankgauge.errors import DataError, ParameterError, PlanError
from rankgauge.planning.cutoffs import DEFAULT_K, Cut, DefaultK, check_k
from tables import rows

RETRIEVED = ["x", "a", "y", "b", "z", "c"]
"""Relevant items at ranks 2, 4 and 6, so that recall is 0 below 2, then 1/3, 2/3 from 4 on and 1 from 6 on."""


def samples(*ks):
    return [
        {
            "id": str(place),
            "input": "q",
            "expected_output": ["a", "b", "c"],
            "actual_output": RETRIEVED,
            "metadata": {} if k is None else {"k": k},
        }
        for place, k in enumerate(ks)
    ]


def column(metric, *ks, default_k=None):
    """Return the only column of a run over samples with these `metadata.k`."""
    evaluation = Engine().dataset(samples(*ks)).with_metrics([metric])
    if default_k is not None:
        evaluation = evaluation.with_defaults(k=default_k)
    (found,) = evaluation.run().metrics.values()
    return found


class TestCheck:
    @pytest.mark.parametrize("k", [1, 5, 10**9, 2**53])
    def test_an_integer_of_1_or_more_is_taken(self, k):
        assert k == check_k(k, "the test")

    @rows("k", [0, -1, "5", 5.0, 1.5, True, None, [5], float("nan")])
    def test_anything_else_is_refused_with_its_source(self, k):
        with pytest.raises(ParameterError) as caught:
            check_k(k, "the test")
        assert f"the cutoff of the test must be an integer of 1 or more, not {k!r}" == str(caught.value)

    def test_one_beyond_the_integers_of_a_float_is_refused(self):
        with pytest.raises(ParameterError, match=r"of the test must be at most 2\*\*53, not 9007199254740993"):
            check_k(2**53 + 1, "the test")


class TestResolve:
    def test_no_cutoff_is_none_for_every_sample(self):
        assert (None, {"none": 3}) == Cut("none").resolve([None, 7, None], DefaultK(4))

    def test_a_pinned_one_beats_everything(self):
        assert (10, {"pinned": 3}) == Cut("pinned", 10).resolve([None, 7, None], DefaultK(4))

    def test_one_of_the_metric_alone_is_not_moved_by_the_samples(self):
        assert (3, {"metric": 3}) == Cut("own", 3).resolve([None, 7, None], DefaultK(4))

    def test_metadata_beats_what_was_given_to_the_metric(self):
        k, sources = Cut("free", 3).resolve([None, 7, None], DefaultK(4))
        assert ([3, 7, 3], {"sample metadata": 1, "metric": 2}) == (k.tolist(), sources)
        assert np.int64 == k.dtype

    def test_metadata_beats_the_default(self):
        k, sources = Cut("free").resolve([1, None, 2], DefaultK(4))
        assert ([1, 4, 2], {"sample metadata": 2, "default": 1}) == (k.tolist(), sources)

    def test_what_was_given_to_the_metric_beats_the_default(self):
        assert (3, {"metric": 2}) == Cut("free", 3).resolve([None, None], DefaultK(4))

    def test_the_default_is_last(self):
        assert (4, {"default": 2}) == Cut("free").resolve([None, None], DefaultK(4))

    def test_a_source_that_was_not_used_is_not_counted(self):
        k, sources = Cut("free", 3).resolve([2, 2], DefaultK(4))
        assert ([2, 2], {"sample metadata": 2}) == (k.tolist(), sources)

    def test_the_built_in_default_is_5(self):
        assert (5, 5, "built-in default") == (DEFAULT_K, *DefaultK())


class TestPrecedence:
    def test_pinned_beats_metadata(self):
        found = column("recall@2", 6, None, default_k=4)
        assert [1 / 3, 1 / 3] == found.values.tolist()
        assert (2, {"pinned": 2}) == (found.k, found.info.k_sources)

    def test_metadata_beats_the_metrics_own_which_beats_the_default(self):
        found = column({"metric": "retrieval-recall-at-k", "k": 4}, 6, None, default_k=2)
        assert [1.0, 2 / 3] == found.values.tolist()
        assert ((4, 6), {"sample metadata": 1, "metric": 1}) == (found.k, found.info.k_sources)

    def test_k_in_parentheses_is_given_to_the_metric_and_not_pinned(self):
        found = column("recall(k=4)", 6, None, default_k=2)
        assert ([1.0, 2 / 3], "retrieval-recall-at-k") == (found.values.tolist(), found.name)
        assert {"sample metadata": 1, "metric": 1} == found.info.k_sources

    def test_the_default_of_the_evaluation_beats_5(self):
        found = column("retrieval-recall-at-k", None, 6, default_k=2)
        assert [1 / 3, 1.0] == found.values.tolist()
        assert ((2, 6), {"sample metadata": 1, "default": 1}) == (found.k, found.info.k_sources)

    def test_without_any_other_the_cutoff_is_5(self):
        found = column("retrieval-recall-at-k", None)
        assert ([2 / 3], 5, {"default": 1}) == (found.values.tolist(), found.k, found.info.k_sources)

    @pytest.mark.parametrize(("metric", "value"), [("retrieval-mrr", 1 / 2), ("retrieval-map", 1 / 2)])
    def test_mrr_and_map_are_cut_neither_by_metadata_nor_by_the_default(self, metric, value):
        found = column(metric, 1, None, default_k=1)
        assert [value, value] == found.values.tolist()
        assert (None, {"none": 2}) == (found.k, found.info.k_sources)

    @pytest.mark.parametrize("metric", ["retrieval-mrr@1", "MRR@1", "AP@1", "map_cut_1"])
    def test_mrr_and_map_are_cut_by_a_pinned_cutoff(self, metric):
        found = column(metric, 6)
        assert ([0.0], 1, {"pinned": 1}) == (found.values.tolist(), found.k, found.info.k_sources)

    @pytest.mark.parametrize("metric", ["retrieval-mrr", "AP"])
    def test_mrr_and_map_are_cut_by_their_own_k(self, metric):
        found = column({"metric": metric, "k": 1}, 6)
        assert ([0.0], 1, {"metric": 1}) == (found.values.tolist(), found.k, found.info.k_sources)

    def test_an_uncut_short_name_is_not_cut_by_anything(self):
        found = column("ndcg", 1, None, default_k=1)
        assert (None, {"none": 2}) == (found.k, found.info.k_sources)
        assert found.values[0] == found.values[1] > 0


class TestRefusals:
    @pytest.mark.parametrize("k", [0, "5", True])
    def test_one_given_to_the_metric_names_the_metric(self, k):
        with pytest.raises(
            PlanError, match=r"the cutoff of 'ndcg' \(its k\) must be an integer of 1 or more"
        ) as caught:
            column({"metric": "ndcg", "k": k}, None)
        assert f"not {k!r}" in str(caught.value)

    @pytest.mark.parametrize("k", [0, "5", True])
    def test_a_default_names_where_it_was_given(self, k):
        with pytest.raises(PlanError) as caught:
            column("retrieval-recall-at-k", None, default_k=k)
        expected = f"the cutoff of with_defaults(k=) must be an integer of 1 or more, not {k!r}"
        assert expected in str(caught.value)

    @pytest.mark.parametrize("k", [0, "5", True])
    def test_metadata_names_the_sample_and_the_place(self, k):
        with pytest.raises(DataError) as caught:
            column("retrieval-recall-at-k", 3, k)
        (problem,) = caught.value.problems
        assert ("1", "samples[1].metadata.k") == (problem.sample, problem.path)
        assert f"k must be an integer of 1 or more, not {k!r}" == problem.message

    @pytest.mark.parametrize("written", ["ndcg@0", "retrieval-ndcg-at-0", "ndcg_cut_0", "ndcg@1.5"])
    def test_a_pinned_one_names_the_expression(self, written):
        with pytest.raises(PlanError, match="must be an integer of 1 or more") as caught:
            column(written, None)
        assert f"the cutoff of {written!r}" in str(caught.value)

    @pytest.mark.parametrize("k", [0, "5", True])
    def test_one_in_a_list_names_the_metric(self, k):
        with pytest.raises(PlanError, match="integer") as caught:
            column({"metric": "ndcg", "k": [5, k]}, None)
        assert "ndcg" in str(caught.value)
        assert repr(k) in str(caught.value)
