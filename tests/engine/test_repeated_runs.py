"""Systems that answer differently each time: calls kept and resumed, one score a sample, and what varies."""

import json
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from draws import in_thorough_suite
from rankgauge import Engine, Result, RunInterrupted, compare
from rankgauge.catalog import Catalog
from rankgauge.cli import call
from rankgauge.errors import ParameterError
from rankgauge.io.output_files import read_kept
from rankgauge.plugin import Cutoff, JudgedSample, hookimpl, run_metric, sample_metric
from rankgauge.result.repeat_facts import repeat_facts, repeat_lines
from rankgauge.scoring.stop import Stop


@run_metric("whole-distinct-at-k", short=("distinct",), range=(0.0, None))
def distinct(rankings, *, k: Cutoff) -> float:
    """Count the different ids in the first results of all samples."""
    return float(len({name for ranking in rankings for name in ranking[:k]}))


def samples(n):
    return [{"id": f"s{number}", "input": number, "expected_output": ["d1"]} for number in range(n)]


def evaluation(n=4, metrics=("hit@1",)):
    return Engine().dataset(samples(n)).with_metrics(list(metrics))


class Varying:
    """Answers its n-th call for an input by the n-th mark of that input: `+` right, `-` wrong, `!` not at all."""

    def __init__(self, *marks):
        self.marks = marks
        self.calls = Counter()

    def __call__(self, number):
        mark = self.marks[number][self.calls[number]]
        self.calls[number] += 1
        if mark == "!":
            raise ValueError("no answer")
        return ["d1"] if mark == "+" else ["d2"]


def run(*marks, repeat=None, **options):
    return evaluation(len(marks)).run(sut=Varying(*marks), repeat=repeat or len(marks[0]), concurrency=1, **options)


def test_a_sample_counts_once_with_the_mean_over_its_repeats():
    column = run("+++", "+--", "---", "++-")["hit@1"]
    assert column.values.tolist() == [1, 1 / 3, 0, 2 / 3]
    assert column.repeats.tolist() == [[1, 1, 1], [1, 0, 0], [0, 0, 0], [1, 1, 0]]
    assert (column.n, column.mean) == (4, 0.5)
    assert column.info.k_sources == {"pinned": 4}
    assert column.standard_error == pytest.approx(np.std([1, 1 / 3, 0, 2 / 3], ddof=1) / 2)


def test_every_sample_is_called_once_before_any_is_called_again():
    order = []
    evaluation(3).run(sut=lambda number: order.append(number) or ["d1"], repeat=2, concurrency=1)
    assert order == [0, 1, 2, 0, 1, 2]


def test_a_failed_repeat_counts_as_zero_and_its_sample_as_failed():
    result = run("+!", "++")
    column = result["hit@1"]
    assert column.values.tolist() == [0.5, 1]
    assert (column.n_failed, result.is_incomplete) == (1, True)
    assert result.errors[0].reason.startswith("1 of 2 repeats: the system under test raised ValueError")
    assert run("++", "+!")["hit@1"].n_failed == 1
    assert run("!!", "++").errors[0].reason.startswith("the system under test raised ValueError")
    left_out = evaluation(2).with_profile(failed_output="exclude").run(sut=Varying("+!", "++"), repeat=2, concurrency=1)
    assert left_out["hit@1"].values.tolist() == [1, 1]


def test_a_sample_without_ground_truth_has_no_score_however_often_it_is_called():
    without = [*samples(1), {"id": "s1", "input": 1, "expected_output": []}]
    column = Engine().dataset(without).with_metrics(["hit@1"]).run(sut=lambda _: ["d1"], repeat=2)["hit@1"]
    assert [column.status(place) for place in (0, 1)] == ["scored", "undefined"]
    np.testing.assert_array_equal(column.values, [1, np.nan])


@sample_metric("where-right")
def where_right(ranking: JudgedSample) -> float | None:
    """Have a value of rankings only that begin with a gold item."""
    return 1.0 if ranking.relevant[0] else None


def test_repeats_without_a_value_do_not_count_beside_one_that_has_one():
    column = evaluation(2, [where_right]).run(sut=Varying("-+", "--"), repeat=2, concurrency=1)["where-right"]
    assert [column.status(place) for place in (0, 1)] == ["scored", "undefined"]
    np.testing.assert_array_equal(column.values, [1, np.nan])


def test_equal_repeats_give_the_bits_of_a_single_run():
    once, often = (evaluation(metrics=["ndcg@3"]).run(sut=lambda _: ["d2", "d1"], repeat=n) for n in (1, 3))
    assert once["ndcg@3"].values.tobytes() == often["ndcg@3"].values.tobytes()


def test_a_saved_result_has_its_repeats_and_outputs(tmp_path):
    result = run("+-", "++", "!+")
    loaded = Result.load(result.save(tmp_path / "out"))
    assert loaded["hit@1"].repeats.tolist() == result["hit@1"].repeats.tolist()
    kept = {name: [one.actual_output for one in output.every] for name, output in loaded.outputs.items()}
    assert kept == {"s0": [["d1"], ["d2"]], "s1": [["d1"], ["d1"]], "s2": [None, ["d1"]]}
    assert [one.repeat for one in loaded.outputs["s0"].every] == [1, 2]
    assert loaded.manifest["outputs"]["repeats"] == 2
    assert loaded.manifest["outputs"]["calls"]["n"] == 6


def test_kept_outputs_score_the_same_again(tmp_path):
    result = run("+-+", "++-", "--+")
    folder = result.save(tmp_path / "out")
    again = [evaluation(3).run(outputs=given) for given in (folder / "outputs.jsonl", result.outputs)]
    assert [other["hit@1"].repeats.tolist() for other in again] == [result["hit@1"].repeats.tolist()] * 2


def test_rows_of_anybody_may_number_their_repeats():
    rows = [{"id": "s0", "actual_output": ["d1"], "repeat": 2}, {"id": "s0", "actual_output": ["d2"]}]
    column = evaluation(1).run(outputs=rows)["hit@1"]
    assert (column.mean, column.repeats.tolist()) == (0.5, [[0, 1]])


def test_a_run_that_was_cut_short_goes_on_with_the_calls_that_lack(tmp_path):
    stop, kept = Stop(), tmp_path / "outputs.jsonl"
    sut = Varying("+++", "-+-")

    def stopping(number):
        if sum(sut.calls.values()) == 2:
            stop.request()
        return sut(number)

    with pytest.raises(RunInterrupted, match="3 of 6 calls are done") as interruption:
        evaluation(2).run(sut=stopping, repeat=3, concurrency=1, keep=kept, stop=stop)
    assert interruption.value.result["hit@1"].repeats[0, :2].tolist() == [1, 1]
    result = evaluation(2).run(sut=sut, repeat=3, concurrency=1, keep=kept, resume=True)
    assert sut.calls == {0: 3, 1: 3}
    assert result["hit@1"].repeats.tolist() == [[1, 1, 1], [0, 1, 0]]


def test_more_repeats_can_be_added_and_failures_called_again(tmp_path):
    kept, sut = tmp_path / "outputs.jsonl", Varying("+!--", "++++")
    evaluation(2).run(sut=sut, repeat=2, concurrency=1, keep=kept)
    more = evaluation(2).run(sut=sut, repeat=3, concurrency=1, keep=kept, resume=True, retry_failed=True)
    assert sut.calls == {0: 4, 1: 3}
    assert more["hit@1"].repeats.tolist() == [[1, 0, 0], [1, 1, 1]]
    assert read_kept(kept)["s0"].every[1].error is None


def test_a_number_of_repeats_is_a_whole_one():
    with pytest.raises(ParameterError, match="repeat must be an integer of 1 or more"):
        evaluation(1).run(sut=lambda _: [], repeat=0)


def test_facts_of_repeats_and_their_words():
    result = run("+++", "+--", "---", "++-")
    facts = repeat_facts(result["hit@1"], result.sample_ids)
    assert set(facts.unstable) == {"s1", "s3"}
    assert [rate.k for rate in facts.passes] == [1, 2, 3]
    assert facts.passes[2] == (3, 0.75, 0.25)
    assert facts.within == pytest.approx((2 / 3 + 2 / 3) / 8)
    assert [(each.samples, each.repeats, each.calls) for each in facts.budgets] == [
        (4, 3, 12),
        (4, 6, 24),
        (8, 3, 24),
        (12, 1, 12),
    ]
    text = "\n".join(repeat_lines(result))
    assert "2 of 4 samples flip between 0 and 1: s1, s3" in text
    assert "k=3 0.7500/0.2500" in text


def test_batches_of_a_stream_have_whole_samples():
    outputs = [
        {"id": f"s{number}", "actual_output": [answer], "repeat": repeat}
        for repeat, answer in ((1, "d1"), (2, "d2"))
        for number in range(5)
    ]
    parts = list(evaluation(5).stream(outputs=outputs, batch_size=2))
    merged, whole = Result.merge(parts), evaluation(5).run(outputs=outputs)
    assert merged.sample_ids == whole.sample_ids
    assert merged["hit@1"].repeats.tolist() == whole["hit@1"].repeats.tolist() == [[1, 0]] * 5
    assert evaluation(5).with_outputs(outputs).check().samples == 5


def test_parts_of_a_result_keep_their_repeats():
    whole = run("+-", "++", "--")
    merged = Result.merge([whole.take([0]), whole.take([1, 2])])
    assert merged["hit@1"].repeats.tolist() == whole["hit@1"].repeats.tolist()


def test_the_explanation_of_a_sample_is_of_its_first_repeat():
    explanation = run("+-", "-+").explain("s0")
    assert explanation.score == 1
    assert explanation.notes == ("this is the first of 2 repeats, whose mean is 0.5000",)


def test_a_comparison_says_how_much_of_its_uncertainty_repeats_make_up():
    one, other = run("+-+-", "++++", "----", "+---"), run("++--", "+++-", "-+--", "----")
    (note, *_) = compare({"a": one, "b": other})["b"]["hit@1"].notes
    mine = [1 / 12, 0, 0, 0.75 / 12]  # sums of squares about the mean, over 3 * 4
    its = [1 / 12, 0.75 / 12, 0.75 / 12, 0]
    differences = np.array([0, -0.25, 0.25, -0.25])
    share = np.mean([sum(pair) for pair in zip(mine, its, strict=True)]) / np.var(differences, ddof=1)
    assert note.startswith(f"{min(1, share):.0%} of the variance of differences lies between repeats")


@in_thorough_suite()
def test_a_against_a_tells_how_often_repeats_would_be_called_different():
    stable = run(*["+-+-", "-+-+"] * 10)
    pair = compare({"a": stable, "again": stable})["again"]
    assert pair.false_alarms["pairs"] == 6
    assert pair.false_alarms["alarms"] == 0
    assert "A against A: of 6 pairs of repeats 0 would be called different" in pair.notes[-1]
    drifting = run(*["++--"] * 20)  # something changed between the second repeat and the third
    pair = compare({"a": drifting, "again": drifting})["again"]
    assert (pair.false_alarms["alarms"], pair.false_alarms["rate"]) == (4, 4 / 6)
    assert "single runs are not to be compared" in pair.notes[-1]
    assert not compare({"a": stable, "b": drifting})["b"].false_alarms


@in_thorough_suite()
def test_false_alarms_of_a_system_that_varies_at_random_are_as_rare_as_promised():
    rng = np.random.default_rng(3)
    alarms = pairs = 0
    for _ in range(40):
        chances = rng.random(25)
        marks = ["".join("+" if rng.random() < chance else "-" for _ in range(3)) for chance in chances]
        result = run(*marks)
        found = compare({"a": result, "again": result}, resamples=999)["again"].false_alarms
        alarms, pairs = alarms + found["alarms"], pairs + found["pairs"]
    assert pairs == 120
    assert alarms / pairs <= 0.1


def test_the_command_line_repeats_and_resumes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples(3)), encoding="utf-8")
    (tmp_path / "turns.py").write_text(
        "from collections import Counter\ncalls = Counter()\n\ndef answer(number):\n    calls[number] += 1\n"
        "    return ['d1'] if calls[number] % 2 else ['d2']\n",
        encoding="utf-8",
    )
    line = "run --data data.jsonl -m hit@1 --sut turns.py:answer --concurrency 1 -o out"
    assert call([*line.split(), "--repeat", "2", "--worst", "1"]) == 0
    printed = capsys.readouterr().out
    assert "3 of 3 samples flip between 0 and 1" in printed
    assert "s0: 1.0000  '0'\n    repeats    0.5000 is their mean; this is the first\n" in printed
    assert call([*line.split(), "--repeat", "4", "--resume", "out", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)["metrics"]["hit@1"]["repeats"]
    assert (facts["repeats"], facts["passes"][0]) == (4, {"k": 1, "pass@k": 0.5, "pass^k": 0.5})
    assert call(["rescore", "out", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["hit@1"]["repeats"] == facts
    assert call(["run", "--data", "data.jsonl", "-m", "hit@1", "--repeat", "2"]) == 2
    assert "--repeat is for calls of a system under test" in capsys.readouterr().err


def test_a_metric_of_whole_runs_is_refused_with_repeats():
    rows = [{"id": "s0", "actual_output": ["d1"]}, {"id": "s0", "actual_output": ["d2"], "repeat": 2}]
    plugin = SimpleNamespace(rankgauge_metrics=hookimpl(lambda: [distinct], specname="rankgauge_metrics"))
    catalog = Catalog.discover(own_only=True, plugins={"whole": plugin})
    whole = Engine(catalog=catalog).dataset(samples(1)).with_metrics(["whole-distinct-at-k"])
    with pytest.raises(ParameterError, match="is one value of a whole run, and a run with repeats is several"):
        whole.run(outputs=rows)
    sut = Varying("++")
    with pytest.raises(ParameterError, match="is one value of a whole run"):
        whole.run(sut=sut, repeat=2)
    assert not sut.calls


class TestOtherRankings:
    """Another ranking for the same question is said, also where no score sees it, and whose it is."""

    def test_of_a_system(self):
        calls = Counter()

        def turning(number):
            calls[number] += 1
            return ["d1", "d2"] if number == 0 or calls[number] == 1 else ["d2", "d1"]

        turning.__module__, turning.__qualname__ = "system", "chroma"
        result = evaluation(3, ["hit@2"]).run(sut=turning, repeat=2, concurrency=1)
        assert result["hit@2"].repeats.tolist() == [[1, 1]] * 3
        (note,) = [note for note in result.notes if "another ranking" in note]
        assert note.startswith("2 samples were answered with another ranking when asked again (s1, s2); this comes")
        assert "from system:chroma, so" in note

    def test_of_outputs_whose_items_are_texts(self):
        first, last = ({"retrieved": [{"text": text}, {"text": "b"}]} for text in "ac")
        outputs = [
            *({"id": name, "actual_output": first} for name in ("s0", "s1")),
            {"id": "s0", "actual_output": first, "repeat": 2},
            {"id": "s1", "actual_output": last, "repeat": 2},
        ]
        gold = [{"id": f"s{number}", "expected_output": {"passages": ["a"]}} for number in range(2)]
        notes = Engine().dataset(gold).with_metrics(["hit@1"]).run(outputs=outputs).notes
        assert [note[:24] for note in notes if "another ranking" in note] == ["1 sample was answered wi"]
        assert "this comes from the outputs" in " ".join(notes)

    def test_nothing_is_said_of_one_that_agrees_with_itself(self):
        assert not [note for note in run("++", "--").notes if "another ranking" in note]
