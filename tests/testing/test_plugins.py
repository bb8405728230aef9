"""Checking plugins: everything that one offers, by its object or by its name, and with the network closed."""

from __future__ import annotations

import socket
import threading
from types import SimpleNamespace

import pytest

from draws import draws
from rankgauge.catalog import Catalog
from rankgauge.errors import BrokenLawError, UnknownNameError
from rankgauge.plugin import JudgedSample, aggregate, hookimpl, normalizer, sample_metric
from rankgauge.testing import check_plugin
from rankgauge.testing.law_checks import closed_network
from rankgauge.testing.plugin_checks import time_left


@sample_metric("checked-found-at-k", laws=["tail"])
def found(ranking: JudgedSample, *, k: int) -> float | None:
    """Share of what was found."""
    return sum(ranking.relevant[:k]) / ranking.n_gold if ranking.n_gold else None


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
def test_laws_are_left_out_for_all_or_for_one_of_them():
    both = plugin(per_depth, normalizers=[dash])

    assert check_plugin(both, without=["padding", "idempotent"], cases=10).ok
    spared = check_plugin(both, without={"checked-dash": ["idempotent"]}, cases=draws(40))
    assert spared.broken == {"checked-per-depth-at-k": ("padding",)}


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
    assert (report.ok, [each.name for each in report]) == (True, names)
    assert [each.partition(" (")[0] for each in seen] == [f"reader {name}" for name in names]
    assert check_plugin("reporters", catalog=catalog).ok
    with pytest.raises(UnknownNameError, match="did you mean 'rankgauge:readers'"):
        check_plugin("rankgauge:reader", catalog=catalog)


def test_kinds_of_declarations_without_laws_are_left_out():
    @aggregate("checked-largest")
    def largest(values):
        """Return the largest score."""
        return max(values)

    offering = plugin(normalizers=[])
    offering.rankgauge_aggregates = hookimpl(specname="rankgauge_aggregates")(lambda: [largest])
    report = check_plugin(offering, cases=1)
    assert (report.ok, report.reports, report.faults) == (True, (), ())


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
