"""The columns that every metric reads, and their views."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.columns import ANY_GRADE, POSITIVE, Judged, JudgedSample, Relevance, Rows
from tables import rows

Pair = tuple[int, int]
"""A rank from 1, and the place of a gold item in its sample, from 0."""

HUGE = 10**9


def build(
    *samples: tuple[int, list[float], list[Pair]],
    relevance: Relevance = POSITIVE,
    counts_repeats: bool = False,
    graded: bool = True,
) -> Judged:
    """Return a batch of samples, each given as its depth, the grades of its gold and its judged rows."""
    rows: list[tuple[int, int, float, int]] = []
    first: list[bool] = []
    gold: list[tuple[int, int, float, int]] = []
    for sample, (_, grades, found) in enumerate(samples):
        start, seen = len(gold), set()
        gold += [(sample, place + 1, grade, start + place) for place, grade in enumerate(grades)]
        for rank, item in sorted(found):
            rows.append((sample, rank, grades[item], start + item))
            first.append(item not in seen)
            seen.add(item)

    def columns(table: list[tuple[int, int, float, int]]) -> Rows:
        sample, rank, grade, item = zip(*table, strict=True) if table else ((), (), (), ())
        ints = [np.array(column, dtype=np.int64) for column in (sample, rank, item)]
        return Rows(ints[0], ints[1], np.array(grade, dtype=np.float64), ints[2])

    return Judged(
        n=len(samples),
        depth=np.array([depth for depth, _, _ in samples], dtype=np.int64),
        rows=columns(rows),
        first=np.array(first, dtype=np.bool_),
        earns=np.ones(len(rows), dtype=np.bool_),
        score=np.ones(len(rows)),
        gold=columns(gold),
        times=np.ones(len(gold), dtype=np.int64),
        graded=np.full(len(samples), graded),
        relevance=relevance,
        counts_repeats=counts_repeats,
    )


def plain(rows: Rows) -> list[tuple[int, int, float, int]]:
    return list(zip(*(column.tolist() for column in rows), strict=True))


def ranks_and_grades(rows: Rows) -> list[tuple[int, float]]:
    return list(zip(rows.rank.tolist(), rows.grade.tolist(), strict=True))


SIMPLE = build(
    (5, [3.0, 1.0, 0.0, -1.0], [(1, 2), (2, 1), (4, 0)]),  # nil, 1, -, 3, -
    (0, [1.0], []),  # nothing retrieved
    (2, [], []),  # no gold
    (3, [0.0, -1.0], [(3, 1)]),  # nothing relevant
)
TWO_IN_ONE = build((3, [1.0, 2.0, 2.0], [(1, 0), (1, 1), (3, 2)]))
"""Rank 1 holds two gold items."""
CHUNKS = build((4, [2.0, 1.0], [(1, 0), (2, 0), (4, 0)]))
"""Ranks 1, 2 and 4 hold pieces of one gold item."""


@rows(
    ("relevance", "grade", "expected"),
    [
        (POSITIVE, 0.5, True),
        (POSITIVE, 0.0, False),
        (POSITIVE, -1.0, False),
        (Relevance(2.0, strict=False), 2.0, True),
        (Relevance(2.0, strict=False), 1.9, False),
        (Relevance(2.0, strict=True), 2.0, False),
        (ANY_GRADE, -1.0, True),
        (ANY_GRADE, 0.0, True),
    ],
)
def test_relevance_of_one_grade_and_of_many_is_the_same(relevance, grade, expected):
    assert expected == relevance.holds(grade)
    assert [expected] == relevance.of(np.array([grade])).tolist()


def test_n_gold_counts_the_relevant_gold_of_each_sample():
    assert SIMPLE.n_gold().tolist() == [2, 1, 0, 0]
    assert dataclasses.replace(SIMPLE, relevance=ANY_GRADE).n_gold().tolist() == [4, 1, 0, 2]


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (1, [0, 0, 0, 0]),
        (2, [1, 0, 0, 0]),
        (4, [2, 0, 0, 0]),
        (HUGE, [2, 0, 0, 0]),
        (None, [2, 0, 0, 0]),
        (np.array([3, 1, 1, HUGE]), [1, 0, 0, 0]),
    ],
)
def test_found_counts_distinct_relevant_gold_within_the_cutoff(k, expected):
    assert expected == SIMPLE.found(k).tolist()
    assert expected == SIMPLE.relevant_ranks(k).tolist()  # one gold item a rank, each once


@pytest.mark.parametrize(
    ("k", "expected"), [(1, [1, 0, 0, 0]), (3, [2, 0, 0, 1]), (None, [3, 0, 0, 1]), (HUGE, [3, 0, 0, 1])]
)
def test_judged_ranks_count_grades_of_zero_and_below_too(k, expected):
    assert expected == SIMPLE.judged_ranks(k).tolist()


@pytest.mark.parametrize(
    ("k", "expected"),
    [(None, [2, 0, 0, 0]), (1, [0, 0, 0, 0]), (2, [2, 0, 0, 0]), (np.array([2, 2, 2, 3]), [2, 0, 0, 0])],
)
def test_first_rank_is_that_of_the_first_relevant_row_or_zero(k, expected):
    assert expected == SIMPLE.first_rank(k).tolist()


def test_credits_are_the_relevant_rows():
    assert plain(SIMPLE.credits()) == [(0, 2, 1.0, 1), (0, 4, 3.0, 0)]
    assert plain(SIMPLE.credits(3)) == [(0, 2, 1.0, 1)]
    assert plain(SIMPLE.credits(np.array([4, 1, 1, 1]))) == [(0, 2, 1.0, 1), (0, 4, 3.0, 0)]


def test_ideal_is_the_relevant_gold_best_first():
    batch = build((0, [1.0, 3.0, 0.0, 2.0], []), (0, [-1.0], []), (0, [1.0, 1.0], []))

    assert plain(batch.ideal()) == [(0, 1, 3.0, 1), (0, 2, 2.0, 3), (0, 3, 1.0, 0), (2, 1, 1.0, 4 + 1), (2, 2, 1.0, 6)]
    assert ranks_and_grades(batch.ideal(1)) == [(1, 3.0), (1, 1.0)]
    assert ranks_and_grades(batch.ideal(np.array([2, 5, 1]))) == [(1, 3.0), (2, 2.0), (1, 1.0)]


def test_result_that_holds_two_gold_items_finds_both_at_one_rank_for_one_gain():
    assert TWO_IN_ONE.found(1).tolist() == [2]
    assert TWO_IN_ONE.relevant_ranks(1).tolist() == [1]
    assert TWO_IN_ONE.judged_ranks(1).tolist() == [1]
    # Rank 1 earns the better of 1 and 2.
    assert plain(TWO_IN_ONE.credits()) == [(0, 1, 2.0, 1), (0, 3, 2.0, 2)]


def test_gold_item_that_lost_its_rank_may_earn_at_a_later_one():
    # Rank 1 holds items of 1 and 2 and earns 2; rank 2 holds the one of 1 again and earns it there.
    batch = build((2, [1.0, 2.0], [(1, 0), (1, 1), (2, 0)]))

    assert plain(batch.credits()) == [(0, 1, 2.0, 1), (0, 2, 1.0, 0)]
    assert batch.found().tolist() == [2]
    assert batch.relevant_ranks().tolist() == [2]


def test_rank_earns_the_best_that_is_still_to_be_had():
    # Rank 1 earns item 1 (of 3); rank 2 holds items 1 and 0, and 1 is taken; rank 3 has nothing left.
    batch = build((3, [1.0, 3.0], [(1, 1), (2, 0), (2, 1), (3, 0), (3, 1)]))

    assert plain(batch.credits()) == [(0, 1, 3.0, 1), (0, 2, 1.0, 0)]


def test_several_chunks_of_one_gold_item_are_found_once_at_several_ranks_for_one_gain():
    assert CHUNKS.found().tolist() == [1]
    assert CHUNKS.relevant_ranks().tolist() == [3]
    assert CHUNKS.relevant_ranks(2).tolist() == [2]
    assert CHUNKS.judged_ranks().tolist() == [3]
    assert plain(CHUNKS.credits()) == [(0, 1, 2.0, 0)]


def test_kept_repeats_earn_wherever_they_stand():
    kept = dataclasses.replace(CHUNKS, counts_repeats=True)

    assert ranks_and_grades(kept.credits()) == [(1, 2.0), (2, 2.0), (4, 2.0)]
    assert ranks_and_grades(kept.credits(2)) == [(1, 2.0), (2, 2.0)]
    assert kept.found().tolist() == [1]


def test_kept_repeats_earn_one_gain_a_rank_where_a_result_holds_several():
    kept = build((2, [1.0, 2.0], [(1, 0), (1, 1), (2, 0), (2, 1)]), counts_repeats=True)

    assert ranks_and_grades(kept.credits()) == [(1, 2.0), (2, 2.0)]


def test_crowded_rank_in_one_sample_leaves_the_others_as_they_are():
    alone = build((4, [2.0, 1.0], [(1, 0), (2, 0), (4, 1)]))
    together = build((4, [2.0, 1.0], [(1, 0), (2, 0), (4, 1)]), (1, [1.0, 2.0], [(1, 0), (1, 1)]))

    assert ranks_and_grades(alone.credits()) == [(1, 2.0), (4, 1.0)]
    assert plain(together.credits())[:2] == plain(alone.credits())


def test_cutoff_comes_after_the_credits_are_given():
    # Item 0 earns at rank 1 or not at all, whatever the cutoff.
    assert ranks_and_grades(TWO_IN_ONE.credits(1)) == [(1, 2.0)]
    assert plain(TWO_IN_ONE.credits(2)) == [(0, 1, 2.0, 1)]


def test_at_least_moves_the_threshold_on_both_sides():
    from_two = SIMPLE.at_least(2)

    assert from_two.n_gold().tolist() == [1, 0, 0, 0]
    assert from_two.first_rank().tolist() == [4, 0, 0, 0]
    assert plain(from_two.credits()) == [(0, 4, 3.0, 0)]
    assert plain(from_two.ideal()) == [(0, 1, 3.0, 0)]
    assert SIMPLE.at_least(-1).n_gold().tolist() == [4, 1, 0, 2]
    assert SIMPLE.at_least(0).first_rank().tolist() == [1, 0, 0, 0]
    assert SIMPLE.n_gold().tolist() == [2, 1, 0, 0]  # the batch itself stays as it is


def test_with_grades_replaces_both_sides_and_copies_nothing_else():
    flat = TWO_IN_ONE.with_grades(np.array([5.0, 1.0, 0.0]), np.array([5.0, 1.0, 0.0]))

    assert plain(flat.credits()) == [(0, 1, 5.0, 0)]
    assert flat.n_gold().tolist() == [2]
    assert flat.rows.rank is TWO_IN_ONE.rows.rank
    assert TWO_IN_ONE.rows.grade.tolist() == [1.0, 2.0, 2.0]


def test_new_grades_above_zero_are_relevant_whatever_the_threshold_was():
    from_two = TWO_IN_ONE.at_least(2).with_grades(np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0]))

    assert from_two.n_gold().tolist() == [2]
    assert plain(from_two.credits()) == [(0, 1, 1.0, 1), (0, 3, 1.0, 2)]


def test_sum_adds_values_by_sample_with_zero_for_samples_without_rows():
    rows = SIMPLE.credits()

    assert SIMPLE.sum(rows, rows.grade / rows.rank).tolist() == [1 / 2 + 3 / 4, 0.0, 0.0, 0.0]
    assert SIMPLE.sum(rows, np.array([1.0, 2.0])).dtype == np.float64


def test_sum_of_nothing_is_zero_for_every_sample():
    empty = build((0, [], []), (0, [], []))

    found = empty.sum(empty.credits(), np.empty(0))

    assert (found.tolist(), found.dtype) == ([0.0, 0.0], np.float64)


def test_rows_until_takes_one_cutoff_or_one_a_sample_or_none():
    batch = build((3, [1.0] * 3, [(1, 0), (2, 1), (3, 2)]), (3, [1.0] * 3, [(1, 0), (2, 1), (3, 2)]))

    assert batch.rows.until(2).rank.tolist() == [1, 2, 1, 2]
    assert batch.rows.until(np.array([1, 3])).rank.tolist() == [1, 1, 2, 3]
    assert batch.rows.until(HUGE).rank.tolist() == [1, 2, 3, 1, 2, 3]
    assert batch.rows.until(None) is batch.rows


def test_nth_counts_the_rows_of_each_sample_from_one():
    assert SIMPLE.rows.nth().tolist() == [1, 2, 3, 1]
    assert build((0, [], [])).rows.nth().tolist() == []


def test_best_first_orders_by_grade_within_each_sample_and_ranks_anew():
    batch = build((9, [1.0, 3.0, 2.0], [(2, 0), (5, 1), (9, 2)]), (2, [1.0], [(2, 0)]))

    assert plain(batch.rows.best_first()) == [(0, 1, 3.0, 1), (0, 2, 2.0, 2), (0, 3, 1.0, 0), (1, 1, 1.0, 3)]


def test_best_first_keeps_the_order_of_equal_grades():
    batch = build((3, [1.0, 2.0, 1.0], [(1, 2), (2, 0), (3, 1)]))

    assert batch.rows.best_first().gold.tolist() == [1, 2, 0]


def test_gain_matrix_holds_the_gain_earned_at_each_rank():
    assert SIMPLE.gain_matrix().tolist() == [
        [0.0, 1.0, 0.0, 3.0, 0.0],
        [0.0] * 5,
        [0.0] * 5,
        [0.0] * 5,
    ]
    assert SIMPLE.gain_matrix(2).tolist() == [[0.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]


def test_gain_matrix_leaves_zeros_beyond_the_cutoff_of_a_sample():
    batch = build(*[(3, [1.0, 1.0, 1.0], [(1, 0), (2, 1), (3, 2)])] * 2)

    assert batch.gain_matrix(np.array([1, 3])).tolist() == [[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]


def test_matrices_follow_the_data_and_not_the_cutoff():
    assert SIMPLE.gain_matrix(HUGE).shape == (4, 5)
    assert SIMPLE.gain_matrix(np.full(4, HUGE)).shape == (4, 5)
    assert SIMPLE.ideal_matrix(HUGE).shape == (4, 2)
    assert build((0, [], [])).gain_matrix(HUGE).shape == (1, 0)
    assert build((0, [], [])).ideal_matrix(HUGE).shape == (1, 0)


def test_ideal_matrix_is_descending_and_cut():
    batch = build((0, [1.0, 3.0, 2.0], []), (0, [1.0], []))

    assert batch.ideal_matrix().tolist() == [[3.0, 2.0, 1.0], [1.0, 0.0, 0.0]]
    assert batch.ideal_matrix(np.array([2, 1])).tolist() == [[3.0, 2.0], [1.0, 0.0]]


def test_take_renumbers_samples_and_gold():
    batch = build((2, [1.0, 2.0], [(1, 1), (2, 0)]), (1, [3.0], [(1, 0)]), (4, [4.0, 5.0], [(2, 0), (4, 1)]))

    taken = batch.take([2, 1])

    assert (taken.n, taken.depth.tolist()) == (2, [4, 1])
    assert plain(taken.rows) == [(0, 2, 4.0, 0), (0, 4, 5.0, 1), (1, 1, 3.0, 2)]
    assert plain(taken.gold) == [(0, 1, 4.0, 0), (0, 2, 5.0, 1), (1, 1, 3.0, 2)]


def test_take_keeps_relevance_repeats_and_match_scores():
    batch = dataclasses.replace(
        build((2, [1.0], [(1, 0), (2, 0)]), (1, [1.0], [(1, 0)]), relevance=ANY_GRADE, counts_repeats=True),
        score=np.array([0.9, 0.8, 0.7]),
        times=np.array([3, 2]),
        graded=np.array([True, False]),
    )

    taken = batch.take([1])

    assert (taken.relevance, taken.counts_repeats) == (ANY_GRADE, True)
    assert (taken.score.tolist(), taken.times.tolist(), taken.graded.tolist()) == ([0.7], [2], [False])
    assert batch.take([0]).first.tolist() == [True, False]


def test_take_of_nothing_is_an_empty_batch():
    taken = SIMPLE.take([])

    assert (taken.n, plain(taken.rows), plain(taken.gold), taken.n_gold().tolist()) == (0, [], [], [])


def test_take_may_repeat_a_sample():
    taken = SIMPLE.take([0, 0])

    assert taken.found().tolist() == [2, 2]
    assert taken.n_gold().tolist() == [2, 2]


def test_sample_gives_plain_python_values():
    assert SIMPLE.sample(0) == JudgedSample(
        depth=5,
        grades=(0.0, 1.0, None, 3.0, None),
        gains=(0.0, 1.0, 0.0, 3.0, 0.0),
        relevant=(False, True, False, True, False),
        gold=(3.0, 1.0, 0.0, -1.0),
        n_gold=2,
    )
    assert SIMPLE.sample(1) == JudgedSample(depth=0, grades=(), gains=(), relevant=(), gold=(1.0,), n_gold=1)


def test_sample_shows_the_best_grade_of_a_rank_and_the_gain_it_earned():
    batch = build((3, [1.0, 3.0], [(1, 1), (2, 0), (2, 1), (3, 0)]))

    only = batch.sample(0)

    assert only.grades == (3.0, 3.0, 1.0)
    assert only.gains == (3.0, 1.0, 0.0)
    assert only.relevant == (True, True, True)


def test_sample_follows_the_threshold_of_relevance():
    assert SIMPLE.at_least(2).sample(0).relevant == (False, False, False, True, False)
    assert SIMPLE.at_least(2).sample(0).gains == (0.0, 0.0, 0.0, 3.0, 0.0)


def test_everything_works_on_a_batch_of_no_samples():
    empty = build()

    assert empty.n_gold().tolist() == empty.found(3).tolist() == empty.first_rank().tolist() == []
    assert empty.gain_matrix(5).shape == (0, 0)
    assert plain(empty.credits()) == plain(empty.ideal(2)) == []


# Laws, on batches in which results hold several gold items and gold items stand in several results.

GRADES = st.sampled_from([1.0, 2.0, 3.0, 0.5, 0.0, -1.0])


@st.composite
def one_sample(draw):
    grades = draw(st.lists(GRADES, max_size=5))
    depth = draw(st.integers(0, 8))
    pairs = st.tuples(st.integers(1, max(depth, 1)), st.integers(0, max(len(grades) - 1, 0)))
    found = draw(st.lists(pairs, unique=True, max_size=10)) if depth and grades else []
    return depth, grades, found


BATCHES = st.lists(one_sample(), min_size=1, max_size=5)
RELEVANCES = st.sampled_from([POSITIVE, ANY_GRADE, Relevance(2.0, strict=False)])
CUTOFFS = st.none() | st.sampled_from([1, 2, 3, 5, 8, HUGE])


@given(samples=BATCHES, k=CUTOFFS, relevance=RELEVANCES)
def test_credits_match_ranks_and_gold_one_to_one(samples, k, relevance):
    earned = build(*samples, relevance=relevance).credits(k)
    places = list(zip(earned.sample.tolist(), earned.rank.tolist(), strict=True))

    assert sorted(set(places)) == places
    assert len(set(earned.gold.tolist())) == len(earned.gold)
    assert relevance.of(earned.grade).all()


@given(samples=BATCHES, k=CUTOFFS)
def test_what_is_earned_never_exceeds_the_ideal_at_any_rank(samples, k):
    batch = build(*samples)
    earned, best = batch.gain_matrix(k), batch.ideal_matrix(k)
    width = max(earned.shape[1], best.shape[1])
    totals = [np.cumsum(np.pad(table, ((0, 0), (0, width - table.shape[1]))), axis=1) for table in (earned, best)]

    assert (totals[0] <= totals[1]).all()  # the grades are halves and whole numbers: nothing rounds


@given(samples=BATCHES, relevance=RELEVANCES)
def test_found_gold_and_relevant_ranks_bound_the_credits(samples, relevance):
    batch = build(*samples, relevance=relevance)
    earned = np.bincount(batch.credits().sample, minlength=batch.n)

    assert (earned <= batch.found()).all()
    assert (earned <= batch.relevant_ranks()).all()
    assert (batch.found() <= batch.n_gold()).all()
    assert (batch.relevant_ranks() <= batch.judged_ranks()).all()
    assert (batch.judged_ranks() <= batch.depth).all()
    assert ((earned > 0) == (batch.found() > 0)).all()


@given(samples=BATCHES, relevance=RELEVANCES, repeats=st.booleans())
def test_take_of_all_samples_is_the_identity(samples, relevance, repeats):
    batch = build(*samples, relevance=relevance, counts_repeats=repeats)
    taken = batch.take(range(batch.n))

    assert (batch.n, batch.relevance, batch.counts_repeats) == (taken.n, taken.relevance, taken.counts_repeats)
    assert plain(batch.rows) == plain(taken.rows)
    assert plain(batch.gold) == plain(taken.gold)
    for name in ("depth", "first", "score", "times", "graded"):
        before, after = getattr(batch, name), getattr(taken, name)
        assert (before.tolist(), before.dtype) == (after.tolist(), after.dtype)


@given(samples=BATCHES, k=CUTOFFS, repeats=st.booleans())
def test_views_of_a_sample_do_not_depend_on_its_batch(samples, k, repeats):
    batch = build(*samples, counts_repeats=repeats)

    for place in range(batch.n):
        alone, taken = build(samples[place], counts_repeats=repeats), batch.take([place])
        for one in (alone, taken):
            assert plain(one.rows) == plain(alone.rows)
            for name in ("found", "relevant_ranks", "judged_ranks", "first_rank"):
                assert getattr(batch, name)(k)[place] == getattr(one, name)(k)[0]
            assert batch.n_gold()[place] == one.n_gold()[0]
            for name in ("credits", "ideal"):
                rows = getattr(batch, name)(k)
                assert ranks_and_grades(rows.where(rows.sample == place)) == ranks_and_grades(getattr(one, name)(k))
        assert batch.sample(place) == alone.sample(0)


@given(samples=BATCHES, k=st.integers(1, 9))
def test_one_cutoff_for_all_equals_the_same_one_for_each(samples, k):
    batch = build(*samples)
    each = np.full(batch.n, k)

    for name in ("found", "relevant_ranks", "judged_ranks", "first_rank"):
        assert getattr(batch, name)(k).tolist() == getattr(batch, name)(each).tolist()
    assert plain(batch.credits(k)) == plain(batch.credits(each))
    assert plain(batch.ideal(k)) == plain(batch.ideal(each))
    assert batch.gain_matrix(k).tolist() == batch.gain_matrix(each).tolist()


@given(samples=BATCHES)
def test_plain_sample_agrees_with_the_columns(samples):
    batch = build(*samples)

    for place in range(batch.n):
        only = batch.sample(place)
        assert len(only.grades) == len(only.gains) == len(only.relevant) == only.depth
        assert batch.relevant_ranks()[place] == sum(only.relevant)
        assert batch.judged_ranks()[place] == sum(grade is not None for grade in only.grades)
        assert batch.gain_matrix()[place].tolist()[: only.depth] == list(only.gains)
        assert sorted(only.gold, reverse=True) == list(only.gold)


@pytest.mark.parametrize("shared", [(0, 1), (1, 0)])
def test_what_is_earned_does_not_depend_on_the_order_of_equal_gold(shared):
    # Rank 1 holds both gold items, rank 2 only one of them: rank 1 takes the other, and both earn.
    first, second = shared
    judged = build((2, [1.0, 1.0], [(1, first), (1, second), (2, first)]))

    assert ranks_and_grades(judged.credits()) == [(1, 1.0), (2, 1.0)]


class TestByGain:
    JUDGED = build((3, [2.0, 1.0, 0.0], [(1, 1), (2, 2), (3, 0)]), relevance=Relevance(2.0, strict=False))

    def test_every_gain_above_0_counts_whatever_the_threshold(self):
        assert [(3, 2.0)] == ranks_and_grades(self.JUDGED.credits())
        assert [(1, 1.0), (3, 2.0)] == ranks_and_grades(self.JUDGED.by_gain().credits())
        assert POSITIVE == self.JUDGED.by_gain().relevance

    def test_it_is_asked_for_once(self):
        assert self.JUDGED.by_gain() is self.JUDGED.by_gain()

    @pytest.mark.parametrize("relevance", [POSITIVE, ANY_GRADE])
    def test_columns_without_a_threshold_stay(self, relevance):
        judged = dataclasses.replace(self.JUDGED, relevance=relevance)
        assert judged is judged.by_gain()


def test_judged_ranks_may_ask_for_a_grade():
    assert [3, 0, 0, 1] == SIMPLE.judged_ranks().tolist()
    assert [3, 0, 0, 0] == SIMPLE.judged_ranks(at_least=0).tolist()
    assert [2, 0, 0, 0] == SIMPLE.judged_ranks(at_least=1).tolist()
    assert [1, 0, 0, 0] == SIMPLE.judged_ranks(2, at_least=1).tolist()


def test_take_takes_the_ranks_of_ties_along():
    low, high = np.array([1, 2, 4, 3]), np.array([1, 3, 4, 3])
    judged = dataclasses.replace(SIMPLE, low=low, high=high).take([3, 0])

    assert ([3, 1, 2, 4], [3, 1, 3, 4]) == (judged.low.tolist(), judged.high.tolist())


def at_own_ranks(judged: Judged, k: int | None = None) -> list[tuple[int, int, float, int, int]]:
    """Return sample, own rank, grade, gold item and the rank at which it was found of each row."""
    rows = judged.at_own_ranks(k)
    return [(*row, found) for row, found in zip(plain(rows), judged.found_at(rows).tolist(), strict=True)]


# Rank 1 holds the grades 1, 2 and 1, rank 2 the grade 3, and the first item again, which earns once.
HELD = [(1, 0), (1, 1), (1, 2), (2, 0), (2, 3)]
SEVERAL = dataclasses.replace(
    build((2, [1.0, 2.0, 1.0, 3.0], HELD), (1, [1.0], []), (3, [1.0, 0.0], [(2, 1), (3, 0)])), own_ranks=True
)


def test_own_ranks_go_to_the_best_grade_that_waits():
    assert at_own_ranks(SEVERAL) == [
        (0, 1, 2.0, 1, 1),
        (0, 2, 3.0, 3, 2),
        (0, 3, 1.0, 0, 1),
        (0, 4, 1.0, 2, 1),
        (2, 3, 1.0, 5, 3),
    ]
    assert at_own_ranks(SEVERAL, 2) == at_own_ranks(SEVERAL)[:2]


def test_by_id_own_ranks_are_credits():
    judged = dataclasses.replace(SEVERAL, own_ranks=False)

    assert plain(judged.at_own_ranks(2)) == plain(judged.credits(2))
    assert judged.found_at(judged.credits()).tolist() == judged.credits().rank.tolist()


def test_own_ranks_are_those_of_the_samples_that_are_taken():
    assert at_own_ranks(SEVERAL.take([2, 0]))[0] == (0, 3, 1.0, 0, 3)
    assert [row[1:3] for row in at_own_ranks(SEVERAL.take([2, 0]))[1:]] == [
        row[1:3] for row in at_own_ranks(SEVERAL)[:4]
    ]


def test_item_that_earns_again_has_an_own_rank_each_time():
    judged = dataclasses.replace(SEVERAL, counts_repeats=True)

    assert at_own_ranks(judged)[:5] == [
        (0, 1, 2.0, 1, 1),
        (0, 2, 3.0, 3, 2),
        (0, 3, 1.0, 0, 1),
        (0, 4, 1.0, 2, 1),
        (0, 5, 1.0, 0, 2),
    ]


def test_budget_leaves_own_ranks_to_what_fits():
    judged = SEVERAL.within(np.array([1, 1, 0]))

    assert at_own_ranks(judged, np.array([1, 1, 1])) == [(0, 1, 2.0, 1, 1), (0, 2, 1.0, 0, 1), (0, 3, 1.0, 2, 1)]
