"""A plugin whose import takes seconds is named; a made-up clock says how long it took."""

from types import ModuleType

import pytest

from rankgauge.catalog.claims import Plugin
from rankgauge.catalog.loading import load_plugin
from rankgauge.cli import plugins_command


def loaded(seconds):
    ticks = iter([100.0, 100.0 + seconds])
    return load_plugin(Plugin("acme", "1.0", "main", "acme.plugin"), lambda: ModuleType("acme"), lambda: next(ticks))


def test_the_warning_names_the_plugin_and_says_what_to_do(caplog):
    assert loaded(3.25).is_slow
    (record,) = caplog.records
    assert record.message == (
        "importing plugin acme:main (acme.plugin) took 3.2 s; import what is slow where it is used, or leave the "
        "plugin out: RANKGAUGE_DISABLE_PLUGINS=acme"
    )


@pytest.mark.parametrize("seconds", [0.0, 1.9])
def test_a_quick_one_is_not_named(seconds, caplog):
    assert not loaded(seconds).is_slow
    assert caplog.records == []


def test_the_list_of_plugins_says_so(monkeypatch, capsys):
    class Few:
        plugins = (loaded(3.25), loaded(0.5))
        faults = ()

    monkeypatch.setattr("rankgauge.cli.plugins_command.make_catalog", Few)
    given = type("Given", (), {"as_json": False, "verbose": False})
    assert plugins_command.execute_list(given) == 0
    listed = [line for line in capsys.readouterr().out.splitlines() if "acme" in line]
    assert [line.endswith("ok, 3.2 s to import") for line in listed] == [True, False]
