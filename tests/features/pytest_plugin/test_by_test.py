"""Tests that log: the fixture, the marker, and what a missed gate says."""

import textwrap

pytest_plugins = ["pytester"]

THREE = """
    import pytest

    def log(rankgauge_eval):
        rankgauge_eval.log("good", retrieved=["a", "b"], expected=["a"])
        asked = {"question": "Where is a?"}
        rankgauge_eval.log("late", retrieved=["x", "y", "a"], expected={"a": 2, "b": 1}, input=asked)
        rankgauge_eval.log("none", retrieved=["x"], expected=["b"])
"""


def run(project, body, *options):
    project.makepyfile(test_q=textwrap.dedent(THREE) + textwrap.dedent(body))
    return project.runpytest_inprocess("-rA", *options)


def test_logging_alone_passes_and_says_nothing(project):
    done = run(project, "def test_it(rankgauge_eval): log(rankgauge_eval)")
    done.assert_outcomes(passed=1)
    assert "rankgauge" not in done.stdout.str().replace("rankgauge-0.1.0", "").partition("collected")[2]


def test_a_gate_that_is_kept_passes_in_any_spelling_of_its_metric(project):
    """Reciprocal ranks 1, 1/3 and 0; hits within 3: 1, 1, 0."""
    body = """
    @pytest.mark.rankgauge(gates={"MRR": 0.444, "Success_3": 0.666, "hit_at_3": 0.5, "retrieval-hit-at-3": 0.6})
    def test_it(rankgauge_eval): log(rankgauge_eval)
    """
    done = run(project, body.replace("Success_3", "success_3"))
    done.assert_outcomes(passed=1)


def test_a_missed_gate_fails_the_test_and_shows_what_was_retrieved_and_expected(project):
    body = """
    @pytest.mark.rankgauge(metrics=["recall@5"], gates={"MRR": 0.5})
    def test_it(rankgauge_eval): log(rankgauge_eval)
    """
    done = run(project, body)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "mrr is 0.4444 < 0.5 over 3 samples",
            "  MISSED mrr: 0.4444 is below the minimum 0.5 (mean of n=3)",
            "    none: 0.0000",
            "      retrieved  x",
            "      expected   b (not retrieved)",
            "    late: 0.3333  'Where is a?'",
            "      retrieved  x, y, a",
            "      expected   a (gain 2, rank 3), b (gain 1, not retrieved)",
            "FAILED test_q.py::test_it - Failed: mrr is 0.4444 < 0.5 over 3 samples",
        ],
        consecutive=False,
    )
    assert "good" not in done.stdout.str()  # it keeps the bound on its own
    assert "Traceback" not in done.stdout.str()


def test_undefined_missing_and_failed_samples_are_counted_in_the_message(project):
    """Values 1 and, for what is missing or malformed, 0; the unanswerable one is not in the mean."""
    body = """
    @pytest.mark.rankgauge(gates="P@1 >= 0.5")
    def test_it(rankgauge_eval):
        rankgauge_eval.log("a", retrieved=["x"], expected=["x"])
        rankgauge_eval.log("b", expected=["x"])
        rankgauge_eval.log("c", retrieved=[{"url": "x"}], expected=["x"])
        rankgauge_eval.log("d", retrieved=["x"], expected=["y"], metadata={"answerable": False})
    """
    done = run(project, body)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "  MISSED p@1: 0.3333 is below the minimum 0.5 (mean of n=3, 1 undefined, 1 missing, 1 failed)",
            "    b: 0.0000 (missing)",
            "      because    there is no output for this sample",
            "    c: 0.0000 (failed)",
            "      because    retrieved[[]0[]] needs an 'id' or a text*",
        ]
    )


def test_a_metric_without_a_value_misses_its_gate(project):
    body = """
    @pytest.mark.rankgauge(gates={"recall@5": 0})
    def test_undefined(rankgauge_eval):
        rankgauge_eval.log("q", retrieved=["x"], expected={"y": 0})

    @pytest.mark.rankgauge(gates={"containment@5": 0, "MRR": 0.1})
    def test_no_gold(rankgauge_eval): log(rankgauge_eval)

    @pytest.mark.rankgauge(gates={"MRR": 0})
    def test_nothing_logged(rankgauge_eval): pass

    @pytest.mark.rankgauge(gates={"MRR": 0})
    def test_no_fixture(): pass
    """
    done = run(project, body)
    done.assert_outcomes(failed=4)
    done.stdout.fnmatch_lines(
        [
            "recall@5 has no value over 1 sample",
            "  MISSED recall@5: no value for the minimum 0: the only sample has no value: *no relevant item*",
            "containment@5 has no value over 3 samples",
            "  MISSED containment@5: no value for the minimum 0: *needs ground truth of the kind answer*",
            "  ok     mrr: 0.4444 meets the minimum 0.1 (mean of n=3)",
            "  MISSED mrr: no value for the minimum 0: nothing was logged (mean of n=0)",
            "  the test has gates but does not use the fixture rankgauge_eval",
        ]
    )


def test_where_less_is_better_a_number_is_a_maximum(project):
    """Wasted ranks among the first 5, as far as results go: 1/2, 2/3 and 1; in the mean 0.7222."""
    body = """
    from rankgauge.plugin import Cutoff, Judged, Scores, metric

    @metric("waste-at-k", short=("waste",), higher_is_better=False)
    def waste(judged: Judged, *, k: Cutoff) -> Scores:
        '''Share of the first *k* results that is not relevant.'''
        shown = judged.depth.clip(max=k)
        return (shown - judged.relevant_ranks(k)) / shown

    @pytest.mark.rankgauge(metrics=[{"metric": "P@1"}, waste], gates={"waste-at-k": 0.9})
    def test_kept(rankgauge_eval): log(rankgauge_eval)

    @pytest.mark.rankgauge(metrics=waste, gates={"waste-at-k": 0.7})
    def test_missed(rankgauge_eval): log(rankgauge_eval)
    """
    done = run(project, body)
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(
        [
            "waste-at-k is 0.7222 > 0.7 over 3 samples",
            "  MISSED waste-at-k: 0.7222 is above the maximum 0.7 (mean of n=3)",
            "    none: 1.0000",
        ]
    )


def test_the_gate_nearest_to_a_test_wins(project):
    body = """
    @pytest.mark.rankgauge(gates={"MRR": 0.9, "hit@3": 0.9})
    class TestAll:
        @pytest.mark.rankgauge(gates={"recip_rank": 0.4})
        def test_it(self, rankgauge_eval): log(rankgauge_eval)
    """
    done = run(project, body)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["hit@3 is 0.6667 < 0.9 over 3 samples", "  ok     recip_rank: *the minimum 0.4 *"])


def test_a_gate_may_name_a_column_by_what_the_metric_says_as(project):
    body = """
    @pytest.mark.rankgauge(metrics={"metric": "MRR", "as": "quality"}, gates={"quality": 0.5})
    def test_it(rankgauge_eval): log(rankgauge_eval)
    """
    done = run(project, body)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["quality is 0.4444 < 0.5 over 3 samples"])


def test_a_list_of_cutoffs_gates_each(project):
    body = """
    @pytest.mark.rankgauge(gates=["hit@1,3 >= 0.5"])
    def test_it(rankgauge_eval): log(rankgauge_eval)
    """
    done = run(project, body)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["hit@1 is 0.3333 < 0.5 over 3 samples", "  ok     hit@3: *"])


def test_what_is_wrong_with_a_marker_is_said_before_the_system_is_called(project):
    body = """
    @pytest.fixture
    def system():
        raise AssertionError("the system was called")

    @pytest.mark.rankgauge(gates={"ndgc@3": 0.9, "MRR": 42})
    def test_names(rankgauge_eval, system): pass

    @pytest.mark.rankgauge("MRR")
    def test_positional(rankgauge_eval, system): pass

    @pytest.mark.rankgauge(gate={"MRR": 0.5})
    def test_spelling(rankgauge_eval, system): pass
    """
    done = run(project, body)
    done.assert_outcomes(errors=3)
    done.stdout.fnmatch_lines(
        [
            "the gates cannot be used:",
            "  @pytest.mark.rankgauge: unknown metric 'ndgc' (did you mean 'ndcg'*",
            "  @pytest.mark.rankgauge: no value of 'mrr', which ranges from 0 to 1, can keep the bound 42",
            "@pytest.mark.rankgauge takes metrics= and gates=, not 'MRR'; *",
            "@pytest.mark.rankgauge takes metrics= and gates=, not gate=; *",
        ]
    )
    assert "the system was called" not in done.stdout.str()
    assert "During handling" not in done.stdout.str()


def test_a_test_that_fails_otherwise_fails_for_that(project):
    body = """
    @pytest.mark.rankgauge(gates={"MRR": 0.5})
    def test_it(rankgauge_eval):
        log(rankgauge_eval)
        raise RuntimeError("out of memory")
    """
    done = run(project, body)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*RuntimeError: out of memory"])
    assert "MISSED" not in done.stdout.str()


def test_a_known_shortfall_can_be_expected(project):
    body = """
    @pytest.mark.xfail(strict=True)
    @pytest.mark.rankgauge(gates={"MRR": 0.5})
    def test_it(rankgauge_eval): log(rankgauge_eval)
    """
    run(project, body).assert_outcomes(xfailed=1)


def test_check_fails_where_it_stands_and_result_gives_the_scores(project):
    body = """
    def test_it(rankgauge_eval):
        log(rankgauge_eval)
        assert len(rankgauge_eval) == 3
        assert rankgauge_eval.samples[0]["id"] == "good"
        assert rankgauge_eval.result("MRR")["recip_rank"].values.tolist() == [1.0, 1 / 3, 0.0]
        rankgauge_eval.check("MRR >= 0.4", {"hit@3": 0.5})
        rankgauge_eval.check("MRR >= 0.5")  # this line
    """
    done = run(project, body)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(['>*rankgauge_eval.check("MRR >= 0.5")  # this line', "*mrr is 0.4444 < 0.5*"])


def test_a_check_without_a_gate_is_an_error_because_it_could_not_fail(project):
    done = run(project, "def test_it(rankgauge_eval): rankgauge_eval.check()")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*ParameterError: check() was given no gate*"])


def test_logging_an_id_twice_fails_on_that_line(project):
    body = """
    def test_it(rankgauge_eval):
        rankgauge_eval.log("good", expected=["d1"])
        rankgauge_eval.log("good", expected=["d1"])  # this line
    """
    done = run(project, body)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            '>*rankgauge_eval.log("good", expected=*"d1"*)  # this line',
            "E *DataError*",
            "E *sample 'good': it was logged in this test before*",
        ]
    )
    done.stdout.no_fnmatch_line("*pytest_plugin*eval_fixture.py*")


def test_texts_are_shown_where_they_are_what_was_judged(project):
    body = """
    @pytest.mark.rankgauge(gates={"containment@5": 1, "EM": 1})
    def test_it(rankgauge_eval):
        rankgauge_eval.log(
            "q", retrieved=[{"id": "d1", "text": "It is 40 metres  tall."}, {"id": "d2", "text": "x" * 80}],
            expected="41 metres", answer="40 metres",
        )
    """
    done = run(project, body)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "      retrieved  1. d1 'It is 40 metres tall.'",
            "                 2. d2 '" + "x" * 57 + "...'",
            "      expected   '41 metres' (not retrieved)",
            "      answered   '40 metres'",
            "      expected   '41 metres'",
        ]
    )


def test_ids_that_never_meet_are_noted(project):
    body = """
    @pytest.mark.rankgauge(gates={"MRR": 0.1})
    def test_it(rankgauge_eval):
        rankgauge_eval.log("q", retrieved=["doc-1"], expected=["DOC_1"])
    """
    done = run(project, body)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["  note: no retrieved id is ever a relevant id*`doc-1`*`DOC_1`*"])


def test_a_value_next_to_its_bound_is_shown_with_the_digits_that_tell_them_apart(project):
    """1/3 is not 0.3333 nor 0.33333333."""
    body = """
    @pytest.mark.rankgauge(gates={"hit@1": 0.33333334})
    def test_it(rankgauge_eval): log(rankgauge_eval)
    """
    done = run(project, body)
    done.stdout.fnmatch_lines(["hit@1 is 0.3333* < 0.333333* over 3 samples"])
    line = next(line for line in done.stdout.lines if line.startswith("hit@1 is"))
    _, _, value, _, bound, *_ = line.split()
    assert float(value) < float(bound)


def test_scores_are_properties_of_the_test_for_junit(project):
    body = """
    @pytest.mark.rankgauge(metrics=["MRR"])
    def test_it(rankgauge_eval): log(rankgauge_eval)
    """
    run(project, body, "--junitxml=out.xml").assert_outcomes(passed=1)
    assert '<property name="rankgauge mrr" value="0.44444' in (project.path / "out.xml").read_text()


def test_a_gate_may_ask_for_each_sample_and_may_only_warn(project):
    body = """
    @pytest.mark.rankgauge(gates=["hit@3 >= 1 per_sample of good,late", "MRR >= 0.9 level warn"])
    def test_kept(rankgauge_eval): log(rankgauge_eval)

    @pytest.mark.rankgauge(gates=[{"metric": "hit@3", "min": 1, "per_sample": True}])
    def test_missed(rankgauge_eval): log(rankgauge_eval)
    """
    done = run(project, body)
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["  MISSED hit@3: 1 of 3 samples is below the minimum 1: none (0.0000)"])
