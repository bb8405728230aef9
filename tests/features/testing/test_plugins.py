"""Checking plugins: everything that one offers, by its object or by its name, and with the network closed."""

from __future__ import annotations

import math
import socket
import threading
from types import SimpleNamespace

import pytest

from draws import draws, in_thorough_suite
from rankgauge.catalog import Catalog
from rankgauge.errors import BrokenLawError, UnknownNameError
from rankgauge.features.testing import plugin_checks
from rankgauge.features.testing.law_checks import closed_network
from rankgauge.features.testing.plugin_checks import time_left
from rankgauge.plugin import (
    JudgedSample,
    ReportTable,
    ReportText,
    aggregate,
    hookimpl,
    metric_set,
    named_profile,
    normalizer,
    report_section,
    sample_metric,
)
from rankgauge.testing import check_metric, check_plugin


@sample_metric("checked-found-at-k", laws=["tail"])
def found(ranking: JudgedSample, *, k: int) -> float | None:
    """Whether anything was found."""
    return float(any(ranking.relevant[:k])) if ranking.n_gold else None


@sample_metric("checked-per-depth-at-k", laws=["padding"])
def per_depth(ranking: JudgedSample, *, k: int) -> float | None:
    """Share of what was retrieved."""
    return sum(ranking.relevant[:k]) / max(min(k, ranking.depth), 1) if ranking.n_gold else None


@normalizer("checked-dash", stage="fold")
def dash(text: str) -> str:
    """Put a dash behind, every time."""
    return f"{text}-"


def plugin(*metrics, normalizers=()):
    @hookimpl
    def rankgauge_metrics():
        return list(metrics)

    @hookimpl
    def rankgauge_normalizers():
        return list(normalizers)

    return SimpleNamespace(
        __name__="my_plugin", rankgauge_metrics=rankgauge_metrics, rankgauge_normalizers=rankgauge_normalizers
    )


@pytest.mark.usefixtures("first_example")
@in_thorough_suite()
def test_everything_that_a_plugin_offers_is_checked():
    report = check_plugin(plugin(found, per_depth, normalizers=[dash]), cases=draws(60))

    assert not report.ok
    assert report.broken == {"checked-per-depth-at-k": ("padding",), "checked-dash": ("idempotent",)}
    assert report["checked-found-at-k"].ok
    assert [each.kind for each in report] == ["metric", "metric", "normalizer"]
    with pytest.raises(BrokenLawError) as raised:
        report.raise_if_broken()
    assert raised.value.report is report
    assert str(report).splitlines()[-1] == "plugin my_plugin: 3 offered, 0 faults, 2 of them break a law"
    with pytest.raises(KeyError, match="it offers checked-found-at-k"):
        _ = report["other"]


@pytest.mark.usefixtures("first_example")
@in_thorough_suite()
def test_laws_are_left_out_for_all_or_for_one_of_them():
    both = plugin(per_depth, normalizers=[dash])

    assert check_plugin(both, without=["padding", "idempotent"], cases=10).ok
    spared = check_plugin(both, without={"checked-dash": ["idempotent"]}, cases=draws(40))
    assert spared.broken == {"checked-per-depth-at-k": ("padding",)}


@in_thorough_suite()
def test_a_name_that_is_taken_is_a_fault_and_the_metric_is_checked_all_the_same():
    @sample_metric("retrieval-mrr")
    def taken(ranking: JudgedSample) -> float | None:
        """Be another one."""
        return float(any(ranking.relevant)) if ranking.n_gold else None

    report = check_plugin(plugin(taken), without=["pickling"], cases=10)
    assert not report.ok
    assert "metric 'retrieval-mrr' is built in and cannot be replaced" in report.faults[0]
    assert report["retrieval-mrr"].ok


def test_a_hook_that_raises_is_a_fault():
    @hookimpl
    def rankgauge_metrics():
        raise RuntimeError("not today")

    report = check_plugin(SimpleNamespace(rankgauge_metrics=rankgauge_metrics))
    assert not report.ok
    assert "RuntimeError: not today" in report.faults[0]
    assert report.reports == ()


def test_installed_plugins_are_found_by_distribution_and_entry_point():
    catalog = Catalog.discover(own_only=True)
    seen = []
    report = check_plugin("rankgauge:readers", catalog=catalog, progress=seen.append)

    names = ["jsonl", "json", "yaml", "parquet", "csv", "excel"]
    assert (report.ok, [each.name for each in report][: len(names)], len(list(report))) == (
        True,
        names,
        len(names) + 16,
    )
    assert [each.partition(" (")[0] for each in seen][: len(names)] == [f"reader {name}" for name in names]
    assert check_plugin("reporters", catalog=catalog).ok
    with pytest.raises(UnknownNameError, match="did you mean 'rankgauge:readers'"):
        check_plugin("rankgauge:reader", catalog=catalog)


def offering(**hooks):
    """Return a plugin with these hooks, each by what stands behind `rankgauge_`."""
    named = {f"rankgauge_{name}": hook for name, hook in hooks.items()}
    return SimpleNamespace(
        __name__="my_plugin", **{name: hookimpl(specname=name)(hook) for name, hook in named.items()}
    )


@sample_metric("checked-divides-at-k")
def divides(ranking: JudgedSample, *, k: int) -> float | None:
    """Divide by nothing."""
    return sum(ranking.relevant[:k]) / ranking.n_gold


@pytest.mark.usefixtures("first_example")
@in_thorough_suite()
def test_a_metric_that_divides_by_nothing_breaks_a_law_and_loses_no_other_finding():
    report = check_plugin(plugin(divides, per_depth), cases=draws(24))

    assert "empty-gold" in report["checked-divides-at-k"].broken
    assert "ZeroDivisionError" in report["checked-divides-at-k"]["empty-gold"].reason
    assert "tail" in report["checked-divides-at-k"].holds
    assert "padding" in report["checked-per-depth-at-k"].broken
    assert check_metric(divides, cases=draws(24)).broken == report["checked-divides-at-k"].broken


@in_thorough_suite()
def test_a_check_that_cannot_go_on_is_a_finding_and_the_others_are_checked(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("nothing works")

    monkeypatch.setattr(plugin_checks, "check_normalizer", fail)
    report = check_plugin(plugin(found, normalizers=[dash]), cases=5)

    assert report.broken == {"checked-dash": ("usable",)}
    assert "RuntimeError: nothing works" in report["checked-dash"]["usable"].reason
    assert report["checked-found-at-k"].ok


@aggregate("checked-largest")
def largest(values):
    """Return the largest score."""
    return max(values)


@aggregate("checked-second")
def second(values):
    """Return the second score."""
    return values[1]


@aggregate("checked-infinite")
def infinite(_):
    """Return no number."""
    return math.inf


@aggregate("checked-odd")
def odd(_, calls=[0]):  # noqa: B006  # it remembers
    """Return another number each time."""
    calls[0] += 1
    return calls[0]


def test_aggregates_are_tried_on_a_few_scores():
    report = check_plugin(offering(aggregates=lambda: [largest, second, infinite, odd]))

    assert report.broken == dict.fromkeys(["checked-second", "checked-infinite", "checked-odd"], ("tiny-scores",))
    assert "for one score" in report["checked-second"]["tiny-scores"].reason


def test_what_sets_and_profiles_name_is_looked_up():
    @metric_set("checked-good", ["ndcg@10", {"metric": "recall", "k": [5, 10]}])
    def good():
        """Work."""

    @metric_set("checked-set", ["recall@5", "ndgc@10", "map"])
    def misspelt():
        """Name a metric that does not exist."""

    @named_profile("checked-profile", {"policy": {"tiess": "average"}})
    def wrong():
        """Name an option that does not exist."""

    @named_profile("checked-parameters", {"parameters": {"ndgc": {"gain": "linear"}}})
    def unknown():
        """Name a metric that does not exist."""

    report = check_plugin(offering(metric_sets=lambda: [good, misspelt], profiles=lambda: [wrong, unknown]))

    names = ["checked-set", "checked-profile", "checked-parameters"]
    assert report.broken == dict.fromkeys(names, ("usable",))
    assert "did you mean 'ndcg'" in report["checked-set"]["usable"].reason
    assert "tiess" in report["checked-profile"]["usable"].reason


def test_sections_are_tried_on_tiny_results():
    @report_section("checked-means", title="Means")
    def means(results):
        """Show means, where there are any."""
        rows = [(run, next(iter(result.metrics.values())).mean) for run, result in results.items()]
        return ReportTable(("run", "mean"), rows)

    @report_section("checked-sums", title="Sums")
    def sums(results):
        """Add up what may not be there."""
        return ReportText(str(sum(next(iter(result.metrics.values())).mean for result in results.values())))

    @report_section("checked-markup", title="Markup")
    def markup(results):
        """Return what is no view."""
        return f"<b>{len(results)}</b>"

    report = check_plugin(offering(report_sections=lambda: [means, sums, markup]))

    assert report.broken == dict.fromkeys(["checked-sums", "checked-markup"], ("tiny-results",))
    assert "whose mean is None" in report["checked-sums"]["tiny-results"].reason


@in_thorough_suite()
def test_observers_are_tried_and_those_of_other_plugins_are_left_alone():
    calls = []

    def started(plan):
        calls.append(plan)

    def ended(result):
        calls.append(result)

    watched = Catalog.discover(
        own_only=True,
        plugins={
            "other": offering(run_started=started, run_finished=ended),
            "mine": plugin(found),
        },
    )
    assert check_plugin("mine", catalog=watched, cases=5).ok
    assert check_metric("checked-found-at-k", catalog=watched, cases=5).ok
    assert calls == []

    def finished(result):
        return f"{next(iter(result.metrics.values())).mean:.3f}"

    report = check_plugin(offering(run_started=lambda plan: plan.describe(), run_finished=finished))
    assert report.broken == {"rankgauge_run_finished": ("observes",)}
    assert "TypeError" in report["rankgauge_run_finished"]["observes"].reason


@in_thorough_suite()
def test_progress_names_what_is_checked_and_how_long_all_of_it_takes():
    """By what 100 cases take: 10 s for a metric, 2 s for a normalizer; 5 cases take a twentieth."""
    seen = []
    check_plugin(plugin(found, normalizers=[dash]), without=["padding"], cases=5, progress=seen.append)

    assert seen[0] == "metric checked-found-at-k (1 of 2, about 1 s left)"
    assert seen[1].startswith("normalizer checked-dash (2 of 2, about ")


@pytest.mark.parametrize(
    ("kinds", "cases", "told"),
    [(["metric"] * 12, 100, "about 2 min"), (["metric", "matcher"], 400, "about 42 s"), (["reader"], 100, "about 1 s")],
)
def test_the_time_that_all_checks_take_is_told_in_words(kinds, cases, told):
    assert time_left(kinds, cases)(0) == told


def test_the_network_is_closed_in_every_thread_and_open_again_after():
    before = (socket.socket.connect, socket.getaddrinfo)
    with closed_network() as attempts:
        with pytest.raises(OSError, match="the network is closed"):
            socket.create_connection(("198.51.100.7", 80), timeout=1)

        def elsewhere():
            with socket.socket() as own, pytest.raises(OSError, match="the network is closed"):
                own.connect(("198.51.100.8", 80))

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert attempts == ["look up '198.51.100.7'", "connect to ('198.51.100.8', 80)"]
    assert (socket.socket.connect, socket.getaddrinfo) == before


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs Unix sockets")
def test_sockets_of_one_machine_are_no_network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the path of a Unix socket must be short
    with closed_network() as attempts, socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind("s")
        server.listen()
        client.connect("s")
    assert attempts == []


@in_thorough_suite()
def test_notes_on_drawn_samples_stay_away(caplog):
    assert check_metric("hit@3", cases=draws(30)).ok
    assert [record.message for record in caplog.records] == []
