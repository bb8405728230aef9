"""The version of the plugin API, deprecated names, and decorators that keep signatures."""

import tomllib
import warnings
from pathlib import Path
from types import ModuleType

import pytest

import typed_declarations
from fake_plugins import metric_module
from rankgauge import Catalog, Engine
from rankgauge.errors import PlanError
from rankgauge.plugin import API, Deprecated, deprecated_names

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _with_plugins(monkeypatch):
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS", raising=False)
    monkeypatch.delenv("RANKGAUGE_DISABLE_PLUGINS", raising=False)


def faults(catalog, distribution):
    return [(fault.stage, fault.message) for fault in catalog.faults if fault.plugin.startswith(f"{distribution}:")]


class TestVersion:
    @pytest.mark.parametrize("wanted", [API, (API[0], 0)])
    def test_a_plugin_that_asks_for_what_there_is_is_loaded(self, installed, wanted):
        installed.add("acme-tools", metric_module("acme-depth") + f"\nRANKGAUGE_API = {wanted!r}\n")
        catalog = Catalog.discover()
        assert (faults(catalog, "acme-tools"), "acme-depth" in catalog.metrics) == ([], True)

    @pytest.mark.parametrize(
        ("wanted", "told"),
        [
            ((API[0], API[1] + 1), "it needs plugin API 1.1, and this rankgauge has 1.0; `pip install -U rankgauge`"),
            ((API[0] + 1, 0), "it needs plugin API 2.0, and this rankgauge has 1.0; `pip install -U rankgauge`"),
            ((API[0] - 1, 9), "it was written for plugin API 0.9, and this rankgauge has 1.0; update the plugin"),
            ("1.0", "RANKGAUGE_API is the plugin API that it was written for, such as (1, 0), not '1.0'"),
            ((1,), "RANKGAUGE_API is the plugin API that it was written for, such as (1, 0), not (1,)"),
        ],
    )
    def test_one_that_asks_for_another_is_listed_as_broken_and_breaks_nothing_else(self, installed, wanted, told):
        assert API == (1, 0)  # or the texts above are others
        installed.add("acme-tools", metric_module("acme-depth") + f"\nRANKGAUGE_API = {wanted!r}\n")
        catalog = Catalog.discover()
        assert faults(catalog, "acme-tools") == [("api", told)]
        sample = {"id": "q", "expected_output": ["a"], "actual_output": ["a"]}
        assert Engine(catalog=catalog).dataset([sample]).with_metrics(["MRR"]).run()["MRR"].mean == 1.0
        with pytest.raises(PlanError, match=r"unknown metric 'acme-depth'.*a plugin that failed \(acme-tools:main"):
            Engine(catalog=catalog).dataset([sample]).with_metrics(["acme-depth"]).plan()

    def test_one_that_imports_a_name_that_is_not_there_is_told_the_version_that_is(self, installed):
        installed.add("acme-tools", "from rankgauge.plugin import hologram\n")
        ((stage, message),) = faults(Catalog.discover(), "acme-tools")
        assert (stage, message.endswith("; this rankgauge has plugin API 1.0")) == ("load", True)


class TestDeprecatedNames:
    @pytest.fixture
    def module(self):
        made = ModuleType("acme.old")
        made.__getattr__ = deprecated_names("acme.old", {"Motor": Deprecated("rankgauge:Engine", "acme 2.0")})
        return made

    def test_one_still_works_and_warns_where_it_is_used(self, module):
        with pytest.warns(DeprecationWarning, match="Motor") as caught:
            assert module.Motor is Engine
        (warning,) = caught
        assert str(warning.message) == "acme.old.Motor is deprecated and goes in acme 2.0; use rankgauge.Engine"
        assert warning.filename == __file__

    def test_any_other_name_is_an_attribute_error(self, module):
        with (
            warnings.catch_warnings(),
            pytest.raises(AttributeError, match=r"module 'acme\.old' has no attribute 'Rotor'"),
        ):
            _ = module.Rotor


def test_type_checkers_see_through_decorators():
    """What is asserted there `make check` runs; here it runs at least, and is among what mypy looks at."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "tests/typed_declarations.py" in config["tool"]["mypy"]["files"]
    assert typed_declarations.middle([1.0, 2.0, 3.0]) == 2.0
    assert typed_declarations.waste.__name__ == "waste"
    assert typed_declarations.depth.__doc__ == "Number of retrieved items, at most *k*."
