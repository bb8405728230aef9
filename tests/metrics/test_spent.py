"""What calls took: where it is read from, and what of it is not counted."""

import math

import pytest

import rankgauge
from rankgauge import Engine
from rankgauge.base.plain_text import read_amount
from rankgauge.errors import ParameterError
from tables import rows

METRICS = ["latency", "latency_p50", "latency_p95", "latency_p99", "response_bytes", "cost"]


def sample(number, output):
    return {"id": f"q{number}", "input": number, "expected_output": ["d1"], "actual_output": output}


def taking(**spent):
    return {"retrieved": ["d1"], **spent}


def run(*outputs, metrics=METRICS):
    return Engine().dataset([sample(*each) for each in enumerate(outputs)]).with_metrics(metrics).run()


def means(result):
    return {name: column.mean for name, column in result.metrics.items()}


class TestOutputs:
    def test_means_and_percentiles_are_of_those_that_tell(self):
        """
        Of .1, .2 and .4 seconds the mean is .7 / 3, the median .2; percentile 95 lies at place 2 * .95 = 1.9 of the
        sorted values, so .2 + .9 * .2 = .38, and percentile 99 at 1.98: .396.
        """
        result = run(
            taking(seconds=0.4, bytes=10), taking(seconds=0.1, cost=2), taking(seconds=0.2, bytes=20), taking()
        )
        assert means(result) == {
            "latency": pytest.approx(0.7 / 3),
            "latency_p50": 0.2,
            "latency_p95": pytest.approx(0.38),
            "latency_p99": pytest.approx(0.396),
            "response_bytes": 15,
            "cost": 2,
        }
        assert math.isnan(result["latency"].values[3])
        assert result["latency"].reasons[3] == "the output does not say how many seconds it took"

    def test_unanswerable_and_malformed_samples(self):
        unanswerable = sample(0, taking(seconds=0.3)) | {"metadata": {"answerable": False}}
        broken = sample(1, {"retrieved": 7, "seconds": 9})
        result = Engine().dataset([unanswerable, broken]).with_metrics(["latency", "recall@1"]).run()
        assert result["latency"].values.tolist()[0] == 0.3
        assert (result["latency"].n, result["recall@1"].n_failed) == (1, 1)

    @pytest.mark.parametrize("value", [-1, "fast", float("nan"), True, [1]])
    def test_an_amount_that_is_none_is_a_fault(self, value):
        result = run(taking(seconds=value), metrics=["recall@1"])
        assert result["recall@1"].reasons[0].startswith("seconds must be a number of 0 or more, not")

    def test_stages_have_times_of_their_own(self):
        stages = [
            {"name": "dense", "retrieved": ["d2"], "seconds": 0.25},
            {"name": "rerank", "retrieved": ["d1"], "seconds": 0.5, "cost": 3},
        ]
        result = run(
            {"stages": stages, "seconds": 1.0}, metrics=["latency", "latency(stage=dense)", "cost(stage=rerank)"]
        )
        assert means(result) == {"latency": 1.0, "latency(stage=dense)": 0.25, "cost(stage=rerank)": 3}


class TestCalls:
    def test_a_call_takes_as_long_as_it_was_waited_for_unless_the_output_says(self):
        def answer(number):
            return taking(seconds=42.0) if number else ["d1"]

        samples = [{"id": f"q{number}", "input": number, "expected_output": ["d1"]} for number in range(2)]
        result = Engine().dataset(samples).with_metrics(["latency"]).run(sut=answer)
        waited, told = result["latency"].values.tolist()
        assert (0 < waited < 42, told) == (True, 42.0)

    def test_calls_that_failed_have_no_time(self):
        def fail(number):
            raise OSError("down")

        samples = [{"id": "q", "input": 1, "expected_output": ["d1"]}]
        result = Engine().dataset(samples).with_metrics(["latency", "latency_p95"]).run(sut=fail)
        assert (result["latency"].n, result["latency_p95"].mean) == (0, None)


class TestGates:
    @pytest.mark.parametrize(
        ("gate", "passes"), [("<= 200ms", True), ("<= 0.2", True), ("<= 0.19s", False), ("<= 199ms", False)]
    )
    def test_bounds_have_units_of_time(self, gate, passes):
        report = run(taking(seconds=0.2)).gate(f"latency_p95 {gate}")
        assert (report.exit_code == 0) is passes

    def test_a_unit_that_is_none_is_refused(self):
        with pytest.raises(ParameterError, match="is a number, not '2min'"):
            run(taking(seconds=0.2)).gate("latency_p95 <= 2min")


@rows(
    ("written", "number"),
    [
        ("200ms", 0.2),
        ("7ms", 0.007),
        ("1.5 s", 1.5),
        ("3", 3.0),
        ("-2ms", -0.002),
        ("ms", None),
        ("1 m s", None),
        ("s", None),
    ],
)
def test_times_are_the_nearest_float(written, number):
    value = read_amount(written)
    assert math.isnan(value) if number is None else value == number


def test_runs_have_no_times():
    with pytest.raises(rankgauge.errors.PlanError, match="a run has only ids"):
        rankgauge.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["latency"])
