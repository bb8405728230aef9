"""The ranking policy over columns: what it drops, where rows stand then, and which ties matter."""

import numpy as np
import pytest

from rankgauge.columns import ANY_GRADE, POSITIVE, RankingBatch, Relevance, Slices
from rankgauge.judging.ranking import BlockJudge, earned, mixed_ties, settle, stand
from rankgauge.judging.ranks import Ranks, RepeatFinder, ranks_of
from rankgauge.policy import PROFILES, Policy
from rankgauge.samples import read_block

NAN = float("nan")


def batch_of(*rankings, scores=None):
    """Return rankings of the queries q0, q1 and so on; each document is a letter or bytes."""
    documents = Slices.of(
        [letter if isinstance(letter, bytes) else letter.encode() for ranking in rankings for letter in ranking]
    )
    names = Slices.of([f"q{number}".encode() for number in range(len(rankings))])
    values = np.zeros(len(documents.start)) if scores is None else np.array(scores, dtype=float)
    return RankingBatch(names, np.array(list(map(len, rankings))), documents, documents.keys(), values)


def settled(batch, **options):
    pairs = batch.keys + batch.owners().astype(np.uint64)
    return settle(batch, pairs, Policy(**options), RepeatFinder().find)


def columns(ranks):
    return [column.tolist() for column in ranks]


class TestSettle:
    def test_rows_left_are_those_of_the_batch_as_given(self):
        """Rows 0 to 6 are a b a, c, d d e: rows 2 and 5 repeat, and rows 0 and 4 where the last one counts."""
        batch = batch_of("aba", "c", "dde")
        for duplicates, rows in (("first", [0, 1, 3, 4, 6]), ("last", [1, 2, 3, 5, 6])):
            found = settled(batch, duplicates=duplicates)
            assert found.rows.tolist() == rows
            assert found.batch.lengths.tolist() == [2, 1, 2]
            assert (found.n_dropped, found.refused) == (2, None)
            assert found.batch.scores.tolist() == [0, -1, -2, -3, -4]

    def test_what_has_no_duplicates_stays(self):
        found = settled(batch_of("ab", "ab"))
        assert (found.rows, found.n_dropped, found.refused) == (slice(None), 0, None)

    def test_own_documents_are_no_duplicates(self):
        """Rows 0 to 5 are q0 a q0 b a, then q0 of another query."""
        documents = Slices.of([b"q0", b"a", b"q0", b"b", b"a", b"q0"])
        batch = RankingBatch(
            Slices.of([b"q0", b"q1"]), np.array([5, 1]), documents, documents.keys(), np.zeros(6, dtype=float)
        )
        found = settled(batch, exclude_self=True)
        assert (found.rows.tolist(), found.n_dropped) == ([1, 3, 5], 1)

    def test_only_the_best_duplicate_needs_scores(self):
        """Of query 0 only the duplicates of b have none, of query 1 a single row."""
        batch = batch_of("abab", "caa", scores=[1, NAN, 2, 3, NAN, 1, 1])
        assert settled(batch, duplicates="first").refused is None
        reason = "policy duplicates=best needs a score for every repeated item; document 'b' has none"
        assert list(settled(batch, duplicates="best").refused) == [(0, reason)]

    def test_an_error_names_each_duplicate_and_its_ranks(self):
        """Eleven times x shows ten ranks; an id is escaped where it is no text."""
        batch = batch_of("aba", "y" + "x" * 11 + "y", [b"\xff", b"\xff"])
        found = dict[tuple[int, str], str]()
        for query, reason in settled(batch, duplicates="error").refused:
            document, _, rest = reason.removeprefix("document ").partition(" is retrieved ")
            found[query, document] = rest.partition(", and policy says duplicates=error;")[0]
        assert found == {
            (0, "'a'"): "2 times (ranks 1, 3)",
            (1, "'y'"): "2 times (ranks 1, 13)",
            (1, "'x'"): "11 times (ranks 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 1 more)",
            (2, r"'\\xff'"): "2 times (ranks 1, 2)",
        }


class TestRanks:
    @pytest.mark.parametrize(
        ("by_id", "ranks"), [(True, [2, 1, 3, 2, 1, 1, 2, 3, 1]), (False, [2, 1, 2, 3, 1, 1, 2, 3, 1])]
    )
    def test_rows_are_ranked_in_their_own_query(self, by_id, ranks):
        """
        By score, descending: q0 is b a, q1 is empty, q2 is e and then c and d, tied at 2 and 3, of which d has the
        higher id. q3 is in order and its last two are tied, of which it has the higher id first; q4 is a single row.
        """
        batch = batch_of("ab", "", "cde", "fhg", "i", scores=[1, 3, 5, 5, 7, 9, 4, 4, 1])
        found = ranks_of(batch, np.arange(9), by_id=by_id)
        assert columns(found) == [ranks, [2, 1, 2, 2, 1, 1, 2, 2, 1], [2, 1, 3, 3, 1, 1, 3, 3, 1]]
        assert columns(ranks_of(batch, np.array([3, 0]), by_id=by_id)) == [[ranks[3], 2], [2, 2], [3, 2]]


class TestStand:
    OWNERS = np.array([0, 0, 0, 1, 1, 1])
    RANKS = Ranks(np.array([3, 1, 2, 1, 2, 3]), np.array([2, 1, 2, 1, 1, 3]), np.array([3, 1, 3, 2, 2, 3]))
    """Query 0 has its rows at ranks 3, 1 and 2, of which 2 and 3 are tied; query 1 in order, tied at 1 and 2."""

    def stood(self, lengths, judged, **options):
        found = stand(Policy(**options), self.OWNERS, self.RANKS, np.array(lengths), lambda: np.array(judged))
        kept = found.kept if isinstance(found.kept, slice) else found.kept.tolist()
        return kept, columns(found.ranks), found.depth.tolist()

    def test_neither_depth_nor_judged_only_changes_nothing(self):
        assert self.stood([5, 3], None) == (slice(None), columns(self.RANKS), [5, 3])

    def test_depth_cuts_rows_and_not_their_ties(self):
        assert self.stood([5, 1], None, depth=2) == ([1, 2, 3, 4], [[1, 2, 1, 2], [1, 2, 1, 1], [1, 3, 2, 2]], [2, 1])

    def test_judged_rows_are_ranked_anew_and_their_ties_have_fewer_rows(self):
        """Left are ranks 1, 3 of query 0, of whose tie one row is left, and 1, 2, 3 of query 1."""
        kept, ranks, depth = self.stood([3, 3], [True, True, False, True, True, True], judged_only=True)
        assert kept == [1, 0, 3, 4, 5]
        assert ranks == [[1, 2, 1, 2, 3], [1, 2, 1, 1, 3], [1, 2, 2, 2, 3]]
        assert depth == [2, 3]

    def test_the_cut_comes_before_judged_only(self):
        """Within 2 are the second and third row of query 0, of which the third is judged, and nothing judged else."""
        found = self.stood([3, 3], [True, False, True, False, False, True], depth=2, judged_only=True)
        assert found == ([2], [[1], [1], [1]], [1, 0])


class TestTies:
    def test_grades_earn_where_they_are_relevant_or_above_0(self):
        grades, nothing = np.array([-1.0, 0.0, 0.5, 1.0, 2.0]), -np.inf
        assert earned(grades, POSITIVE).tolist() == [nothing, nothing, 0.5, 1, 2]
        assert earned(grades, Relevance.from_grade(2)).tolist() == [nothing, nothing, 0.5, 1, 2]
        assert earned(grades, Relevance.from_grade(0)).tolist() == [nothing, 0, 0.5, 1, 2]
        assert earned(grades, ANY_GRADE).tolist() == [-1, 0, 0.5, 1, 2]

    # Ties by query and ranks, with what their judged rows earn: 0: 1-2 (1, 1), 3-5 (1, 1 and an unjudged row),
    # 6 (1); 1: 1-2 (1, 2), 3-4 (nothing, twice); 2: 1-2 (2, unjudged).
    OWNERS = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 2])
    FIRST = np.array([1, 1, 3, 3, 6, 1, 1, 3, 3, 1])
    LAST = np.array([2, 2, 5, 5, 6, 2, 2, 4, 4, 2])
    EARNS = np.array([1, 1, 1, 1, 1, 1, 2, -np.inf, -np.inf, 2])

    def mixed(self, depth=None, *, known=True):
        ranks = Ranks(self.FIRST, self.FIRST, self.LAST)
        return mixed_ties(self.OWNERS, ranks, self.EARNS if known else None, depth).tolist()

    def test_ties_are_mixed_where_rows_earn_differently(self):
        assert self.mixed() == [2, 6, 9]
        assert self.mixed(3) == [2, 6, 9]
        assert self.mixed(2) == [6, 9]
        assert self.mixed(0) == []

    def test_every_tie_is_mixed_where_nobody_knows_what_rows_earn(self):
        assert self.mixed(known=False) == [0, 2, 5, 7, 9]
        assert self.mixed(1, known=False) == [0, 5, 9]


class TestPlainBlocks:
    GOLD_AND_RETRIEVED = (([], "x"), (["a"], ""), (["c"], "z"), ({"a": 2, "b": 0.5}, "ybya"), (["c"], "c"))

    def judged(self, pairs=GOLD_AND_RETRIEVED):
        samples = [
            {"id": str(number), "expected_output": gold, "actual_output": list(retrieved)}
            for number, (gold, retrieved) in enumerate(pairs)
        ]
        return BlockJudge(PROFILES["default"]).judge(read_block(samples))

    def test_samples_are_joined_with_their_own_gold(self):
        """Gold items are a, c, a b, c. Sample 3 retrieves y b a: b at 2, a at 3, without the second y."""
        found = self.judged()
        assert found.depth.tolist() == [1, 0, 1, 3, 1]
        assert [column.tolist() for column in found.found[:4]] == [[3, 3, 4], [2, 3, 1], [0.5, 2, 1], [3, 2, 4]]
        assert self.judged([(["a"], "ba")]).found.grade.tolist() == [1]

    def test_ids_are_shown_of_samples_that_have_both(self):
        found = self.judged()
        assert found.looks == ("z", "c")
        assert self.judged(self.GOLD_AND_RETRIEVED[3:]).looks == ("y", "a")
        assert self.judged(self.GOLD_AND_RETRIEVED[:2]).looks is None
        both = [(["z"], ["c"]), (["y", "b", "y", "a"], ["a", "b"]), (["c"], ["c"])]
        assert [list(found.both(limit)) for limit in (2, 3, 4, 9)] == [[], both[:1], both[:2], both]
