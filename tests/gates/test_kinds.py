"""Kinds of gates that plugins declare: how they are written, what they are given, and what is decided for them."""

import copy
import math
from types import SimpleNamespace

import numpy as np
import pytest

from rankgauge import Catalog, Engine, judge_gates
from rankgauge.errors import DeclarationError, ParameterError
from rankgauge.gates.asked import flaw, until_gates
from rankgauge.gates.ci_reports import junit_xml
from rankgauge.gates.grammar import Defaults, read_gates
from rankgauge.gates.outcomes import outcome_line
from rankgauge.plugin import GateFinding, gate_kind, hookimpl
from rankgauge.testing import check_plugin

MEDIAN = """
    from statistics import median

    from rankgauge.plugin import GateFinding, gate_kind, hookimpl

    @gate_kind("median_at_least", version="2")
    def median_at_least(values, number):
        \"\"\"The middle score is at least a number.\"\"\"
        middle = float(median(values))
        if len(values) < 3:
            return GateFinding("open", f"{len(values)} scores are too few for a median")
        if middle >= number:
            return GateFinding("passed", f"the median {middle:.4f} is at least {number:g}", middle)
        return GateFinding("missed", f"the median {middle:.4f} is below {number:g}", middle)

    @gate_kind("losses_at_most")
    def losses_at_most(values, number, *, baseline, higher_is_better):
        \"\"\"No more than a number of samples got worse.\"\"\"
        worse = values < baseline if higher_is_better else values > baseline
        losses = int(worse.sum())
        state = "passed" if losses <= number else "missed"
        return GateFinding(state, f"{losses} of {len(values)} got worse, {number:g} may", losses)

    @hookimpl
    def rankgauge_gate_kinds():
        return [median_at_least, losses_at_most]
"""

# Reciprocal ranks 1, 1/2, 1/4 and 0; one sample has no ground truth. Their median is 0.375, their mean 0.4375.
RANKINGS = {"q1": ["a"], "q2": ["b", "a"], "q3": ["b", "c", "d", "a"], "q4": ["b"]}
ROWS = [
    {
        "id": name,
        "expected_output": ["a"],
        "actual_output": ranking,
        "metadata": {"tags": ["odd" if name in {"q1", "q3"} else "even"]},
    }
    for name, ranking in RANKINGS.items()
] + [{"id": "q5", "expected_output": [], "actual_output": ["a"]}]


def run(rows=ROWS, metrics=("MRR", "first_rank"), **policy):
    return (
        Engine(catalog=Catalog.discover(own_only=True))
        .dataset(rows)
        .with_metrics(list(metrics))
        .with_profile(**policy)
        .run()
    )


@pytest.fixture(scope="module")
def result():
    return run()


@pytest.fixture
def _median(installed):
    installed.add("median-gates", MEDIAN, version="0.3")


def declared(function, name="is_mine"):
    kind = gate_kind(name)(function)

    @hookimpl
    def rankgauge_gate_kinds():
        return [kind]

    return Catalog.discover(plugins={"acme": SimpleNamespace(rankgauge_gate_kinds=rankgauge_gate_kinds)})


def judged(result, gate, **options):
    (outcome,) = judge_gates(result, gate, **options).outcomes
    return outcome


@pytest.mark.usefixtures("_median")
@pytest.mark.parametrize(
    ("gate", "verdict", "line"),
    [
        ("MRR median_at_least 0.375", "pass", "ok     mrr: the median 0.3750 is at least 0.375 (n=4, 1 undefined)"),
        (
            {"metric": "MRR", "median_at_least": 0.4},
            "fail",
            "MISSED mrr: the median 0.3750 is below 0.4 (n=4, 1 undefined)",
        ),
        ("MRR median_at_least 0.4 level warn", "fail", "warn   mrr: the median 0.3750 is below 0.4 (n=4, 1 undefined)"),
        (
            "MRR median_at_least 0.1 where tags=odd",
            "inconclusive",
            "open   mrr where tags=odd: 2 scores are too few for a median (n=2)",
        ),
        (
            "MRR median_at_least 0.1 of q1,q2 inconclusive fail",
            "inconclusive",
            "MISSED mrr of q1, q2: 2 scores are too few for a median (n=2)",
        ),
    ],
)
def test_it_holds_the_scores_that_count_and_says_what_it_found(result, gate, verdict, line):
    outcome = judged(result, gate)
    assert (outcome.verdict, outcome_line(outcome)) == (verdict, line)


@pytest.mark.usefixtures("_median")
def test_its_outcome_in_json_says_whose_kind_it_is(result):
    facts = judged(result, "MRR median_at_least 0.4").to_dict()
    assert facts["median_at_least"] == 0.4
    assert facts["kind"] == {"version": "2", "by": "median-gates 0.3"}
    assert facts["finding"] == "the median 0.3750 is below 0.4"
    assert (facts["value"], facts["status"], facts["n"]) == (0.375, "failed", 4)


@pytest.mark.usefixtures("_median")
def test_a_gate_reads_back_as_it_is_printed():
    for text in (
        "ndcg@10 median_at_least 0.6",
        "ndcg@10 median_at_least 0.6 where tags=legal dataset nq inconclusive fail level warn",
        "ndcg@10 losses_at_most 2 common unchanged",
    ):
        (gate,) = read_gates(text)
        assert (str(gate), read_gates(str(gate))) == (text, [gate])
        assert copy.deepcopy(gate) == gate


@pytest.mark.usefixtures("_median")
def test_a_mapping_may_have_several_rules():
    gates = read_gates({"metric": "MRR", "min": 0.4, "median_at_least": 0.3, "max_drop": 0.1})
    assert list(map(str, gates)) == ["MRR >= 0.4", "MRR max_drop 0.1", "MRR median_at_least 0.3"]


@pytest.mark.usefixtures("_median")
@pytest.mark.parametrize(
    ("default", "status"), [("fell", "warned"), ("warn", "warned"), ("fail", "failed"), ("pass", "passed")]
)
def test_what_open_gates_do_is_chosen_for_all(result, default, status):
    assert judged(result, "MRR median_at_least 0.1 of q1,q2", inconclusive=default).status == status


@pytest.mark.usefixtures("_median")
def test_a_kind_with_a_baseline_gets_the_pairs(result):
    # Before, the ranks of q1 to q4 were 1, 1, 1 and none: q2 and q3 got worse, whichever way the metric is better.
    before = run([{**row, "actual_output": ["a"]} if row["id"] in {"q2", "q3"} else row for row in ROWS])
    for metric, n in (("MRR", 4), ("first_rank", 3)):
        outcome = judged(result, f"{metric} losses_at_most 1", baseline=before)
        assert (outcome.verdict, outcome.finding) == ("fail", f"2 of {n} got worse, 1 may")
        assert judged(result, f"{metric} losses_at_most 2", baseline=before).verdict == "pass"


@pytest.mark.usefixtures("_median")
def test_a_missing_baseline_is_an_error_as_for_changes(result):
    with pytest.raises(ParameterError, match="a change is judged against a baseline, and none is given"):
        judge_gates(result, "MRR losses_at_most 1")
    other = run([{**ROWS[0], "id": "x"}])
    outcome = judged(result, "MRR losses_at_most 1", baseline=other)
    assert (outcome.verdict, outcome.status) == ("error", "error")


def test_a_metric_without_a_score_misses_it_and_the_function_is_not_called():
    def is_mine(values, number):
        raise AssertionError("it was called")

    outcome = judged(run(ROWS[3:4]), "first_rank is_mine 1", catalog=declared(is_mine))
    assert outcome.verdict == "fail"
    assert outcome_line(outcome).startswith("MISSED first_rank: no value for is_mine 1: the only sample has no value")


@pytest.mark.usefixtures("_median")
def test_an_incomplete_run_passes_none():
    incomplete = run([*ROWS, {"id": "q6", "expected_output": ["a"]}])
    outcome = judged(incomplete, "MRR median_at_least 0")
    assert (outcome.verdict, outcome.by_numbers, outcome.status) == ("fail", "pass", "failed")
    assert outcome_line(outcome).startswith(
        "MISSED mrr: the median 0.2500 is at least 0 (n=5, 1 undefined, 1 missing), but"
    )
    open_one = judged(incomplete, "MRR median_at_least 0 of q1,q2 inconclusive pass")
    assert (open_one.verdict, open_one.status) == ("fail", "failed")


def test_it_is_given_what_it_asks_for_and_nothing_that_it_could_change(result):
    seen = []

    def is_mine(values, number, *, counts, higher_is_better, factor=2):
        seen.append((values.tolist(), values.flags.writeable, number, counts, higher_is_better, factor))
        return GateFinding("passed", "fine", None)

    catalog = declared(is_mine)
    assert judged(result, "first_rank is_mine -3", catalog=catalog).value is None
    counts = {"n": 3, "undefined": 2, "missing": 0, "failed": 0}
    assert seen == [([1.0, 2.0, 4.0], False, -3.0, counts, False, 2)]


def raising(_values, _number):
    raise SystemExit("no licence")


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (raising, "SystemExit: no licence"),
        (lambda values, number: True, "it returned True where a rankgauge.plugin.GateFinding is needed"),
        (lambda values, number: GateFinding("pass", "x"), "the state of its finding is 'pass'; choose from passed"),
        (lambda values, number: GateFinding("passed", " "), "the words of its finding are one line of text"),
        (lambda values, number: GateFinding("passed", "x", math.nan), "the value of its finding is a finite number"),
        (lambda values, number: GateFinding("passed", "x", True), "the value of its finding is a finite number"),
        (lambda values, number: values.sort(), "ValueError"),
    ],
)
def test_a_kind_that_fails_is_an_error_that_names_its_plugin(result, function, why):
    report = judge_gates(result, ["MRR is_mine 0.5", "MRR >= 0.4"], catalog=declared(function))
    assert report.exit_code == 2
    assert [outcome.verdict for outcome in report.outcomes] == ["error", "pass"]
    assert "the kind of gates is_mine (by this process (plugin acme)" in report.outcomes[0].reason
    assert why in report.outcomes[0].reason


@pytest.mark.usefixtures("_median")
def test_numpy_numbers_are_values(result):
    catalog = declared(lambda values, number: GateFinding("passed", "x", np.float32(0.5)))
    assert judged(result, "MRR is_mine 1", catalog=catalog).to_dict()["value"] == 0.5


@pytest.mark.usefixtures("_median")
@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            "MRR median_at_last 0.5",
            "'MRR median_at_last 0.5' is not a gate: unknown gate kind .*; or write 'ndcg@10 >=",
        ),
        (
            {"metric": "MRR", "median_at_last": 1},
            r"'median_at_last' is not a key of a gate \(did you mean 'median_at_least'\?\); known .* median_at_least",
        ),
        ({"metric": "MRR", "min_value": 1}, r"'min_value' is not a key of a gate \(did you mean 'min'\?\); known are"),
        ("MRR median_at_least high", "median_at_least is a number, not 'high'"),
        ("MRR median_at_least 0.5 per_sample", "per_sample belongs to bounds and changes; median_at_least is held by"),
        ("MRR median_at_least 0.5 confidence 0.9", "'confidence' does not belong to median_at_least"),
        ("MRR median_at_least 0.5 common unchanged", "'common' does not belong to median_at_least"),
        ("MRR median_at_least 0.5 inconclusive fell", "inconclusive is fail or warn or pass, not 'fell'"),
    ],
)
def test_what_cannot_be_read_is_refused_with_words(written, message):
    with pytest.raises(ParameterError, match=message):
        read_gates(written)


def test_a_measure_of_a_whole_run_has_no_scores_to_hold():
    from rankgauge.plugin import Cutoff, run_metric

    @run_metric("distinct-items-at-k", range=(0, None))
    def distinct(rankings, *, k: Cutoff) -> float:
        """Number of different items."""
        return float(len({item for ranking in rankings for item in ranking}))

    result = run(metrics=[distinct])
    catalog = declared(lambda values, number: GateFinding("passed", "x"))
    with pytest.raises(ParameterError, match="is one value of the whole run, and is_mine is held by scores"):
        judge_gates(result, "distinct-items-at-k is_mine 1", catalog=catalog)


@pytest.mark.usefixtures("_median")
def test_it_ends_no_run(result):
    (gate,) = until_gates("MRR median_at_least 0.5")
    why = flaw(gate, "mrr", result["MRR"].info)
    assert "cannot end a run: only the bound of a mean is decided while a system is called" in why


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("median", "join two lower-case words or more"),
        ("Median_of", "join two"),
        ("max_drop", "has a meaning in gates"),
    ],
)
def test_a_name_that_gates_could_not_have_is_refused(name, reason):
    with pytest.raises(DeclarationError, match=reason):
        gate_kind(name)(lambda values, number: None)


@pytest.mark.parametrize("function", [lambda values: None, lambda values, number, baselin: None])
def test_a_function_that_cannot_be_called_so_is_refused(function):
    with pytest.raises(DeclarationError, match="kind of gates 'is_mine'"):
        gate_kind("is_mine")(function)


def test_of_two_plugins_with_one_word_none_is_used(installed):
    installed.add("one-gates", MEDIAN)
    installed.add("two-gates", MEDIAN)
    with pytest.raises(ParameterError, match="one-gates"):
        read_gates("MRR median_at_least 0.5")


@pytest.mark.usefixtures("_median")
def test_a_disabled_plugin_offers_none(monkeypatch):
    off = Defaults(catalog=Catalog.discover(disable=["median-gates"]))
    with pytest.raises(ParameterError, match="is not a gate"):
        read_gates("MRR median_at_least 0.5", defaults=off)


@pytest.mark.usefixtures("_median")
def test_junit_has_it(result):
    text = junit_xml(judge_gates(result, "MRR median_at_least 0.4"), {"": result}).decode()
    assert "the median 0.3750 is below 0.4" in text


def test_plugins_check_tries_it_on_tiny_scores():
    def hooks(*kinds):
        return SimpleNamespace(rankgauge_gate_kinds=hookimpl(specname="rankgauge_gate_kinds")(lambda: list(kinds)))

    assert check_plugin(hooks(steady)).ok
    report = check_plugin(hooks(empty))
    assert report.broken == {"is_empty": ("tiny-gates",)}
    assert "it returned None where a rankgauge.plugin.GateFinding is needed" in report["is_empty"]["tiny-gates"].reason


@gate_kind("is_steady")
def steady(values, number, *, baseline):
    """Pass."""
    return GateFinding("passed", f"{len(values)} against {len(baseline)}")


@gate_kind("is_empty")
def empty(values, number):
    """Return nothing."""
