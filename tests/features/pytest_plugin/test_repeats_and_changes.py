"""Several calls for one sample, and changes against a baseline."""

import textwrap

import pytest

from draws import in_thorough_suite
from rankgauge.errors import DataError
from rankgauge.features.pytest_plugin.logged_gates import Scoring
from rankgauge.features.pytest_plugin.logged_samples import outputs_of, samples_of

pytest_plugins = ["pytester"]

CALLS = """
    import pytest

    CALLS = {"steady": [["a"], ["a"]], "flips": [["x"], ["a"]], "breaks": [["a"], None]}

    def log(rankgauge_eval):
        for repeat in (1, 2):
            for sample, calls in CALLS.items():
                rankgauge_eval.log(sample, retrieved=calls[repeat - 1], expected=["a"], repeat=repeat)
"""


def run(project, body, *options):
    project.makepyfile(test_q=textwrap.dedent(CALLS) + textwrap.dedent(body))
    return project.runpytest_inprocess("-rA", *options)


class TestRepeats:
    def test_a_sample_counts_once_with_the_mean_over_its_repeats(self, project):
        """Hits of 1 and 1, 0 and 1, 1 and none: a repeat without an output is a failure, and counts 0."""
        body = """
        def test_it(rankgauge_eval):
            log(rankgauge_eval)
            assert len(rankgauge_eval) == 3
            column = rankgauge_eval.result("hit@1")["hit@1"]
            assert column.values.tolist() == [1.0, 0.5, 0.5]
            assert column.repeats.tolist() == [[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
            assert column.n_failed == 1
            rankgauge_eval.check("hit@1 >= 0.66")
        """
        done = run(project, body)
        done.assert_outcomes(failed=1)
        done.stdout.fnmatch_lines(
            ["*meets the minimum 0.66 (*), but the run is incomplete: 1 of 3 samples is missing or*"]
        )
        (project.path / "rankgauge.yaml").write_text("version: 1\npolicy: {max_failed: 0.5}\n")
        run(project, body, "--rankgauge-config", "rankgauge.yaml").assert_outcomes(passed=1)

    def test_a_missed_gate_shows_the_first_repeat_and_says_so(self, project):
        body = """
        @pytest.mark.rankgauge(gates={"hit@1": 0.9})
        def test_it(rankgauge_eval): log(rankgauge_eval)
        """
        done = run(project, body)
        done.assert_outcomes(failed=1)
        done.stdout.fnmatch_lines(
            [
                "hit@1 is 0.6667 < 0.9 over 3 samples",
                "  MISSED hit@1: 0.6667 is below the minimum 0.9 (mean of n=3, 1 failed)",
                "    flips: 0.0000",
                "      repeats    0.5000 is their mean; this is the first",
                "      retrieved  x",
            ]
        )

    @pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
    @in_thorough_suite()
    def test_the_session_folds_them_by_test(self, project, workers, process):
        """Two tests log the same ids, so there are six samples, of twelve calls."""
        body = """
        @pytest.mark.parametrize("n", [1, 2])
        def test_it(rankgauge_eval, n): log(rankgauge_eval)
        """
        done = run(project, body, "--rankgauge-min", "hit@1=0.7", *workers)
        assert done.ret == 1
        done.stdout.fnmatch_lines(
            ["6 samples logged by 2 tests", "MISSED hit@1: 0.6667 is below the minimum 0.7 (mean of n=6, 2 failed)"]
        )

    def test_a_sample_that_no_repeat_answers_is_missing(self, project):
        body = """
        def test_it(rankgauge_eval):
            for repeat in (1, 2):
                rankgauge_eval.log("q", expected=["a"], repeat=repeat)
                rankgauge_eval.log("r", retrieved=["a"], expected=["a"], repeat=repeat)
            assert rankgauge_eval.result("hit@1")["hit@1"].n_missing == 1
        """
        run(project, body).assert_outcomes(passed=1)

    @pytest.mark.parametrize(
        ("calls", "told"),
        [
            (
                [1, 1],
                "it was logged in this test before; give each query its own id, or number calls for it by repeat=",
            ),
            ([1, 3], "this is repeat 3 after 1 call; number them from 1, without gaps"),
            ([2], "this is repeat 2 after 0 calls"),
            ([1, 2, 2], "this is repeat 2 after 2 calls"),
            ([0], "this is repeat 0 after 0 calls"),
        ],
    )
    def test_calls_are_numbered(self, calls, told):
        with pytest.raises(DataError, match=told):
            log(*[(number, {"retrieved": ["a"], "expected": ["a"]}) for number in calls])

    def test_calls_are_for_one_question(self):
        first, other = {"retrieved": ["a"], "expected": ["a"]}, {"retrieved": ["a"], "expected": ["b"]}
        with pytest.raises(DataError, match="repeat 2 differs from the first call in more than the output"):
            log((1, first), (2, other))

    def test_a_whole_sample_is_a_call_too(self):
        """What it calls a repeat itself is read by nobody."""
        sample = {"id": "q", "expected_output": ["a"], "actual_output": ["a"], "repeat": 7}
        scoring, nothing = Scoring(), dict.fromkeys(("retrieved", "expected", "answer", "input", "metadata"))
        first = scoring.record_of(sample, nothing, {}, 1)
        second = scoring.record_of({**sample, "actual_output": None}, nothing, {"q": [first]}, 2)
        assert outputs_of([first, second]) == [
            {"id": "q", "repeat": 1, "actual_output": ["a"]},
            {"id": "q", "repeat": 2, "error": {"type": "", "message": "there is no output for this repeat"}},
        ]
        assert [sample["id"] for sample in samples_of([first, second])] == ["q"]

    def test_without_repeats_samples_hold_their_outputs(self):
        records = log((1, {"retrieved": ["a"], "expected": ["a"]}))
        assert outputs_of(records) is None
        assert samples_of(records)[0]["actual_output"]["retrieved"] == ["a"]


def log(*calls):
    """Return the records of calls for a sample, each with its number and what is given."""
    nothing = dict.fromkeys(("retrieved", "expected", "answer", "input", "metadata"))
    scoring, logged = Scoring(), {}
    for repeat, given in calls:
        record = scoring.record_of("q", {**nothing, **given}, logged, repeat)
        logged.setdefault("q", []).append(record)
    return logged["q"]


class TestChanges:
    """A baseline of ten samples that all hit, and a run in which some do not."""

    BODY = """
    import rankgauge

    def log(rankgauge_eval, hits):
        for number in range(10):
            found = "a" if number < hits else "x"
            rankgauge_eval.log(f"q{number}", retrieved=[found, "b"], expected=["a"])

    def test_save(rankgauge_eval):
        log(rankgauge_eval, 10)
        rankgauge.save_baseline({"search": rankgauge_eval.result("hit@1")}, "main.json")
        rankgauge_eval.check("hit@1 not_worse 0.1", baseline="main.json")

    def test_it(rankgauge_eval):
        log(rankgauge_eval, HITS)
        rankgauge_eval.check("hit@1 max_drop 0.1", "hit@1 >= 0.1", baseline="main.json")
    """

    def test_a_drop_beyond_the_margin_fails_the_test(self, project):
        done = run(project, self.BODY.replace("HITS", "2"))
        done.assert_outcomes(passed=1, failed=1)
        done.stdout.fnmatch_lines(
            [
                "*MISSED hit@1: 0.2000 against 1.0000, -0.8000, worse by more than the margin 0.1*",
                "*ok     hit@1: 0.2000 meets the minimum 0.1*",
            ]
        )

    def test_what_is_open_does_not(self, project):
        run(project, self.BODY.replace("HITS", "9")).assert_outcomes(passed=2)

    def test_proof_is_asked_of_not_worse(self, project):
        done = run(project, self.BODY.replace("HITS", "9").replace("max_drop", "not_worse"))
        done.assert_outcomes(passed=1, failed=1)

    def test_ids_that_changed_are_no_drop(self, project):
        """Of the ids that are retrieved now, the baseline has none."""
        done = run(project, self.BODY.replace("HITS", "0").replace('found, "b"', 'found if hits else f"new{number}"'))
        done.assert_outcomes(passed=1, failed=1)
        done.stdout.fnmatch_lines(["*ERROR*hit@1: cannot be judged: the ids changed, not the ranking*"])

    def test_a_result_is_a_baseline_too(self, project):
        body = """
        def test_it(rankgauge_eval):
            rankgauge_eval.log("q", retrieved=["a"], expected=["a"])
            rankgauge_eval.check("hit@1 max_drop 0.1", baseline=rankgauge_eval.result("hit@1"))
        """
        run(project, body).assert_outcomes(passed=1)

    @in_thorough_suite()
    def test_a_change_without_a_baseline_says_what_to_give(self, project):
        body = """
        def test_it(rankgauge_eval):
            log(rankgauge_eval)
            rankgauge_eval.check("hit@1 max_drop 0.1")
        """
        done = run(project, body)
        done.assert_outcomes(failed=1)
        done.stdout.fnmatch_lines(["*compares with a baseline, and none is given here*check(..., baseline=PATH)*"])


def test_gold_passages_are_matched_by_passage(project):
    """Chunks longer and shorter than the passage are found; the default matcher looks both ways."""
    body = """
    GOLD = {"passages": ["The lighthouse on the northern cape is 41 metres tall."]}

    @pytest.mark.rankgauge(gates={"recall@1": 1})
    def test_it(rankgauge_eval):
        longer = "Visitors like it. The lighthouse on the northern cape is 41 metres tall. It was built in 1887."
        rankgauge_eval.log("longer", retrieved=[{"text": longer}], expected=GOLD)
        rankgauge_eval.log("shorter", retrieved=[{"text": "on the northern cape is 41 metres tall"}], expected=GOLD)
    """
    run(project, body).assert_outcomes(passed=1)
