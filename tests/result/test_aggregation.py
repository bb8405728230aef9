"""Aggregates of plugins: through results, parts, gates, comparisons, reports and folders."""

import itertools
import json
import logging
import math
import pickle
import statistics
from types import SimpleNamespace

import pytest

from rankgauge import Catalog, Engine, Result, compare, judge_gates
from rankgauge.errors import DeclarationError, ParameterError, PlanError, ResultError
from rankgauge.plugin import aggregate, hookimpl, sample_metric
from rankgauge.report.markdown import markdown_report
from rankgauge.report.terminal import terminal_report

DEPTHS = [7, 1, 4, 2, 9]
MEDIAN = 4.0


@aggregate("median")
def median(values):
    """Return the middle value."""
    return statistics.median(values)


@aggregate("first-of-all")
def first_of_all(values):
    """Return what depends on the order in which values come."""
    return values[0]


@aggregate("broken")
def broken(values):
    """Fail."""
    raise RuntimeError("no idea")


@aggregate("endless")
def endless(values):
    """Return no number."""
    return math.inf


def depth_by(how):
    @sample_metric(f"depth-by-{how}", aggregate=how, range=(0, None))
    def depth(ranking):
        """Count what was retrieved."""
        return float(ranking.depth) if ranking.depth else None

    return depth


@pytest.fixture(scope="module")
def engine():
    @hookimpl
    def rankgauge_aggregates():
        return [median, first_of_all, broken, endless]

    @hookimpl
    def rankgauge_metrics():
        return [depth_by(how) for how in ("median", "first-of-all", "broken", "endless")]

    plugin = SimpleNamespace(rankgauge_aggregates=rankgauge_aggregates, rankgauge_metrics=rankgauge_metrics)
    catalog = Catalog.discover(own_only=True, plugins={"mine": plugin})
    assert catalog.faults == ()
    return Engine(catalog=catalog)


def samples(depths, start=0):
    return [
        {
            "id": f"q{start + place}",
            "expected_output": ["d0"],
            "actual_output": [f"d{rank}" for rank in range(depth)],
            "metadata": {"tags": ["even" if place % 2 == 0 else "odd"]},
        }
        for place, depth in enumerate(depths)
    ]


def run(engine, depths=DEPTHS, metrics=("depth-by-median",), start=0):
    return engine.dataset(samples(depths, start)).with_metrics(metrics).run()


def test_the_function_makes_one_number_of_the_scores_that_count(engine):
    result = run(engine, [7, 0, 1, 4])  # the second has no score
    column = result["depth-by-median"]
    assert (column.mean, column.n, column.n_undefined) == (4.0, 3, 1)
    assert (column.interval(), column.standard_error) == (None, None)
    assert result.by_tag()["even"]["depth-by-median"].mean == 4.0  # of 7 and 1
    assert run(engine, [0])["depth-by-median"].mean is None


def test_merged_parts_are_the_whole_in_any_order(engine):
    whole = run(engine, metrics=["depth-by-median", "depth-by-first-of-all"])
    parts = [run(engine, [depth], list(whole.metrics), start=place) for place, depth in enumerate(DEPTHS)]
    for order in itertools.islice(itertools.permutations(parts), 0, None, 17):
        merged = Result.merge(list(order))
        assert merged["depth-by-median"].mean == MEDIAN
        assert merged["depth-by-first-of-all"].mean == min(DEPTHS)  # what comes first is the lowest score


def test_gates_hold_the_number_to_a_bound(engine):
    result = run(engine)
    report = judge_gates(
        result, ["depth-by-median >= 4", "depth-by-median >= 4.5", "depth-by-median >= 2 where tags=odd"]
    )
    assert [outcome.verdict for outcome in report.outcomes] == ["pass", "fail", "fail"]  # odd: the median of 1 and 2
    assert [outcome.aggregate for outcome in report.outcomes] == ["median"] * 3
    with pytest.raises(ParameterError, match="max_drop compares means, and 'depth-by-median' is a median"):
        judge_gates(result, ["depth-by-median max_drop 1"], baseline=result)


def test_comparisons_leave_it_out_and_say_so(engine):
    metrics = ["depth-by-median", "MRR"]
    base, new = run(engine, metrics=metrics), run(engine, DEPTHS[::-1], metrics)
    comparison = compare({"base": base, "new": new}, baseline="base")
    assert (
        "depth-by-median is a median over samples, and only means are compared; left out"
        in comparison.comparisons[0].notes
    )
    with pytest.raises(ResultError, match="depth-by-median is a median over samples"):
        compare({"base": base, "new": new}, baseline="base", metrics=["depth-by-median"])


def test_reports_name_it_and_its_provider(engine, tmp_path):
    result = run(engine)
    result.save(tmp_path / "run")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text("utf-8"))["metrics"]["depth-by-median"]
    assert (summary["mean"], summary["aggregate"]) == (MEDIAN, "median")
    (entry,) = json.loads((tmp_path / "run" / "manifest.json").read_text("utf-8"))["metrics"]
    assert entry["aggregate_provider"]["plugin"] == "mine"
    assert entry["aggregate_provider"]["file"] == __file__


@pytest.mark.parametrize("reporter", [terminal_report, markdown_report])
def test_tables_say_which_of_their_means_is_none(engine, reporter):
    told = reporter(run(engine, metrics=["depth-by-median", "MRR", "num_rel"]))
    assert 'depth-by-median: the column "mean" shows the median' in told.replace("\\", "")
    assert told.count("the column ") == 1


def test_a_result_goes_to_another_process_with_its_function_or_without(engine):
    result = run(engine)
    again = pickle.loads(pickle.dumps(result))  # noqa: S301  # our own
    assert again["depth-by-median"].mean == MEDIAN


def test_without_the_plugin_a_saved_result_has_no_number_and_says_why(engine, tmp_path, caplog):
    run(engine, metrics=["depth-by-median", "MRR"]).save(tmp_path / "run")
    with caplog.at_level(logging.WARNING, logger="rankgauge"):
        loaded = Result.load(tmp_path / "run")
        assert (loaded["depth-by-median"].mean, loaded["MRR"].mean) == (None, 1.0)
    assert "aggregate 'median' of this process gives no value: unknown aggregate 'median'" in caplog.text


@pytest.mark.parametrize("reporter", [terminal_report, markdown_report])
def test_reports_say_why_a_column_has_no_number(engine, reporter):
    result = run(engine, metrics=["depth-by-broken", "MRR"])
    assert (result["depth-by-broken"].mean, result["MRR"].failure) == (None, "")
    assert "no idea" in result["depth-by-broken"].failure
    assert "gives no value: RuntimeError: no idea" in reporter(result)


def test_a_gate_says_why_a_column_has_no_number(engine):
    (outcome,) = judge_gates(run(engine, metrics=["depth-by-broken"]), ["depth-by-broken >= 1"]).outcomes
    assert "gives no value: RuntimeError: no idea" in outcome.reason


def test_a_saved_result_finds_an_installed_aggregate(installed, tmp_path, monkeypatch):
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS", raising=False)
    installed.add(
        "acme-tools",
        """\
        from rankgauge.plugin import aggregate, hookimpl, sample_metric

        @aggregate("lowest")
        def lowest(values):
            "Return the lowest value."
            return values[0]

        @sample_metric("acme-depth", aggregate="lowest")
        def depth(ranking):
            "Count what was retrieved."
            return float(ranking.depth)

        @hookimpl
        def rankgauge_aggregates():
            return [lowest]

        @hookimpl
        def rankgauge_metrics():
            return [depth]
        """,
        version="2.0",
    )
    result = Engine().dataset(samples([3, 2])).with_metrics(["acme-depth"]).run()
    result.save(tmp_path / "run")
    column = Result.load(tmp_path / "run")["acme-depth"]
    assert column.mean == 2.0
    assert column.info.aggregate_provider["distribution"] == "acme-tools"


@pytest.mark.parametrize(("how", "told"), [("broken", "RuntimeError: no idea"), ("endless", "gives inf")])
def test_one_that_fails_leaves_its_column_without_a_number_and_the_rest_as_it_is(engine, how, told, caplog):
    with caplog.at_level(logging.WARNING, logger="rankgauge"):
        result = run(engine, metrics=[f"depth-by-{how}", "MRR"])
        assert (result[f"depth-by-{how}"].mean, result["MRR"].mean) == (None, 1.0)
    assert told in caplog.text
    (outcome,) = judge_gates(result, [f"depth-by-{how} >= 0"]).outcomes
    assert outcome.verdict == "fail"


def test_an_unknown_name_is_a_problem_of_the_plan(engine):
    with pytest.raises(PlanError, match=r"unknown aggregate 'medain' \(did you mean 'median'"):
        engine.dataset(samples([1])).with_metrics([depth_by("medain")]).plan()


def test_another_version_of_an_aggregate_is_another_definition(engine):
    @aggregate("median", version="2")
    def median_too(values):
        """Return the lower middle value."""
        return statistics.median_low(values)

    plugin = SimpleNamespace(rankgauge_aggregates=hookimpl(lambda: [median_too], specname="rankgauge_aggregates"))
    other = Engine(catalog=Catalog.discover(own_only=True, plugins={"mine": plugin}))
    metric = depth_by("median")
    old, new = (each.dataset(samples([1])).with_metrics([metric]).plan().metrics[0] for each in (engine, other))
    assert (old.definition["aggregate"], new.definition["aggregate"]) == ("median 1", "median 2")
    assert old.fingerprint != new.fingerprint


def test_built_in_aggregates_are_part_of_a_definition_and_cannot_be_replaced(engine):
    (column,) = engine.dataset(samples([1])).with_metrics(["MRR"]).plan().metrics
    assert (column.aggregate, column.definition["aggregate"]) == (None, "mean")

    @aggregate("mean")
    def mean(values):
        """Return something else."""
        return 0.0

    plugin = SimpleNamespace(rankgauge_aggregates=hookimpl(lambda: [mean], specname="rankgauge_aggregates"))
    (fault,) = Catalog.discover(own_only=True, plugins={"mine": plugin}).faults
    assert "aggregate 'mean' is built in and cannot be replaced" in fault.message


def test_a_name_that_cannot_be_used_is_refused_where_it_is_declared():
    with pytest.raises(DeclarationError, match="'My Median' is not a usable name"):
        aggregate("My Median")(median)
