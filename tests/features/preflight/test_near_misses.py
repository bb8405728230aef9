"""Near misses: which difference is named for which ids."""

import pytest

from rankgauge.features.preflight.id_overlap import find_near_miss
from tables import rows


@rows(
    ("run", "judged", "words", "count"),
    [
        (["Q1", "Q2"], ["q1", "q2", "q3"], "upper and lower case", 2),
        (["q1 ", " q2"], ["q1", "q2"], "white space", 2),
        (["1", "02", "3"], ["001", "002", "4"], "leading zeros", 2),
        (["q-1", "q-2"], ["q-01", "q-02"], "leading zeros", 2),
        (["1.0", "2.0"], ["1", "2"], "a fraction", 2),
        (["'q1'", '"q2"', "b'q3'"], ["q1", "q2", "q3"], "quotes", 3),
        (["e\u0301t\u00e9"], ["\u00e9te\u0301"], "Unicode", 1),
        (
            ["topic-7", "topic-12"],
            ["7", "12"],
            "the run's ids begin with 'topic-', the judgments' with no common prefix",
            2,
        ),
        (["7", "12"], ["MB7", "MB12"], "the run's ids begin with no common prefix, the judgments' with 'MB'", 2),
        (["a.txt", "b.txt"], ["a", "b"], "the run's ids end with '.txt', the judgments' with no common suffix", 2),
        (["x9#0", "x9#1", "y4#0"], ["x9", "y4", "z"], "the run's ids name parts of documents", 3),
        (["x9", "y4"], ["x9_chunk_3", "y4_chunk_0"], "the judgments' ids name parts of documents", 2),
        (["TOPIC-07", "TOPIC-12"], ["7", "12"], "several ways at once", 2),
    ],
)
def test_the_difference_is_named_and_counted(run, judged, words, count):
    found = find_near_miss([name.encode() for name in run], [name.encode() for name in judged])
    assert words in found.what
    assert found.n_met == count
    assert found.of_run in run
    assert found.of_qrels in judged


@pytest.mark.parametrize(
    ("run", "judged"),
    [
        (["alpha", "beta"], ["q1", "q2"]),
        (["alpha"], ["beta"]),
        ([], ["q1"]),
        (["q1"], []),
        (["", "a"], ["", "b"]),
    ],
)
def test_ids_with_nothing_in_common_have_no_near_miss(run, judged):
    assert find_near_miss([name.encode() for name in run], [name.encode() for name in judged]).n_met == 0


def test_one_coincidence_among_many_explains_nothing():
    run = [b"X1", *(b"run-%d-x" % number for number in range(40))]
    judged = [b"x1", *(b"topic%dt" % number for number in range(100, 140))]
    found = find_near_miss(run, judged)
    assert (found.what, found.n_met, found.examples) == ("", 0, ())


def test_bytes_that_are_no_text_are_shown_escaped():
    assert find_near_miss([b"\xffA"], [b"\xffa"]).of_run == "\\xffA"
