# the expected value stands first
import json
import logging
import sys
import tomllib
from pathlib import Path

import pytest

import rankgauge
from fake_plugins import METRIC_LINE, metric_module
from rankgauge import Engine
from rankgauge.catalog import Catalog, discovery
from rankgauge.catalog.claims import plain_template
from rankgauge.catalog.discovery import OWN_POINTS, Installed
from rankgauge.expression import parse

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"

FAILING_IMPORT = "raise ImportError('no module named fancy_backend')"
FAILING_HOOK = """\
    from rankgauge.plugin import hookimpl

    @hookimpl
    def rankgauge_metrics():
        raise RuntimeError("the model is not downloaded")
"""


def plugins_of(catalog, distribution):
    return [plugin for plugin in catalog.plugins if plugin.distribution == distribution]


def faults_of(catalog, distribution):
    return [fault for fault in catalog.faults if fault.plugin.startswith(f"{distribution}:")]


def fault_of(catalog, distribution):
    (fault,) = faults_of(catalog, distribution)
    return fault


class TestGoodPlugins:
    def test_its_metrics_are_found_under_all_their_names(self, installed):
        installed.add("alpha-tools", metric_module("alpha-depth", short=("adepth",)))
        catalog = Catalog.discover()
        assert [] == faults_of(catalog, "alpha-tools")
        assert "alpha-depth" in catalog.metrics
        assert catalog.read(parse("alpha-depth")).claim == catalog.read(parse("ADepth")).claim

    def test_it_is_listed_with_distribution_version_name_and_target(self, installed):
        installed.add("Alpha_Tools", metric_module("alpha-depth"), version="2.1")
        (plugin,) = plugins_of(Catalog.discover(), "alpha-tools")
        expected = ("alpha-tools", "2.1", "main", "fake_plugin_0", "alpha-tools:main", False)
        found = (plugin.distribution, plugin.version, plugin.name, plugin.target, plugin.id, plugin.disabled)
        assert expected == found

    def test_its_metric_says_who_provides_it_and_where_it_stands(self, installed):
        file = installed.add("alpha-tools", metric_module("alpha-depth"), version="2.1")
        provider = Catalog.discover().metrics["alpha-depth"].provider
        expected = ("alpha-tools", "2.1", "main", str(file), METRIC_LINE)
        assert expected == (provider.distribution, provider.version, provider.plugin, provider.file, provider.line)
        assert f"alpha-tools 2.1 (plugin main), {file}:{METRIC_LINE}" == str(provider)

    def test_built_in_metrics_take_the_same_road_and_say_so(self):
        provider = Catalog.discover().metrics["retrieval-ndcg-at-k"].provider
        expected = ("rankgauge", rankgauge.__version__, "metrics")
        assert expected == (provider.distribution, provider.version, provider.plugin)
        assert provider.file.replace("\\", "/").endswith("rankgauge/metrics/ndcg.py")
        assert provider.line > 0

    def test_its_own_entry_points_are_those_that_it_declares(self):
        declared = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]["entry-points"]["rankgauge"]
        assert declared == OWN_POINTS

    def test_the_parts_of_what_is_built_in_make_up_all_of_it(self):
        own = [plugin for plugin in Catalog.discover().plugins if plugin.distribution == "rankgauge"]
        names = {
            (kind, plain_template(name).casefold())
            for plugin in own
            for each in plugin.offers
            for kind, name in each.names
        }
        installed = Installed()
        parts = [part for kind, name in sorted(names) if (part := installed.part(kind, name)) is not None]
        assert {(each.kind, *each.names) for part in parts for each in part.offers} == {
            (each.kind, *each.names) for plugin in own for each in plugin.offers
        }
        assert {part.id for part in parts} == {plugin.id for plugin in own}

    def test_built_in_names_load_no_other_plugin(self, installed):
        module = installed.add("alpha-tools", metric_module("alpha-depth")).stem
        catalog = Catalog.discover()
        found = catalog.read(parse("nDCG@10")), catalog.read(parse("recall_100")), catalog.reader(".jsonl")
        assert all(found)
        catalog.require([])
        assert catalog.not_installed([]) == {}
        assert module not in sys.modules
        assert catalog.read(parse("alpha-depth")).claim.provider.distribution == "alpha-tools"
        assert module in sys.modules
        assert catalog.read(parse("nDCG@10")) == found[0]

    def test_rankgauge_comes_first_then_distributions_and_names_in_order(self, installed):
        source = "VALUE = 1"
        installed.add("zeta-tools", source)
        installed.add("alpha-tools", source, points={"second": "{module}", "first": "{module}"})
        ids = [plugin.id for plugin in Catalog.discover().plugins]
        own = [each for each in ids if each.startswith("rankgauge:")]
        assert own == ids[: len(own)]
        assert sorted(ids[len(own) :], key=lambda each: each.split(":")) == ids[len(own) :]
        assert {"alpha-tools:first", "alpha-tools:second", "zeta-tools:main"} <= set(ids)

    def test_two_distributions_may_call_their_entry_points_the_same(self, installed):
        installed.add("alpha-tools", metric_module("alpha-depth"), points={"metrics": "{module}"})
        installed.add("beta-tools", metric_module("beta-depth"), points={"metrics": "{module}"})
        catalog = Catalog.discover()
        assert {"alpha-depth", "beta-depth", "retrieval-mrr"} <= set(catalog.metrics)
        assert [] == [*faults_of(catalog, "alpha-tools"), *faults_of(catalog, "beta-tools")]

    def test_an_entry_point_may_name_an_instance(self, installed):
        source = """\
            from rankgauge.plugin import hookimpl, sample_metric

            @sample_metric("alpha-depth")
            def measure(ranking):
                "Count."
                return 1.0

            class Plugin:
                @hookimpl
                def rankgauge_metrics(self):
                    return (measure,)

            plugin = Plugin()
        """
        installed.add("alpha-tools", source, points={"main": "{module}:plugin"})
        catalog = Catalog.discover()
        assert ([], True) == (faults_of(catalog, "alpha-tools"), "alpha-depth" in catalog.metrics)

    def test_of_a_distribution_found_twice_the_first_on_the_path_counts(self, installed):
        installed.add("alpha-tools", metric_module("old-depth"), version="1.0")
        installed.add("Alpha.Tools", metric_module("new-depth"), version="2.0")
        catalog = Catalog.discover()
        assert ["2.0"] == [plugin.version for plugin in plugins_of(catalog, "alpha-tools")]
        assert (True, False) == ("new-depth" in catalog.metrics, "old-depth" in catalog.metrics)

    def test_every_declaring_hook_is_called_once(self, installed):
        source = """\
            from rankgauge.plugin import hookimpl

            calls = []

            @hookimpl
            def rankgauge_metrics():
                calls.append(1)
                return []
        """
        installed.add("alpha-tools", source)
        catalog = Catalog.discover()
        catalog.read(parse("ndcg"))
        catalog.with_matchers({"mine": "equal >= 1"}).read(parse("ndcg"))
        import fake_plugin_0

        assert [1] == fake_plugin_0.calls


class TestFaultyPlugins:
    @pytest.mark.parametrize(
        ("source", "stage", "words"),
        [
            (FAILING_IMPORT, "load", ["importing 'fake_plugin_0' failed", "ImportError", "fancy_backend"]),
            ("raise KeyError('x')", "load", ["importing 'fake_plugin_0' failed", "KeyError"]),
            ("def broken(:", "load", ["importing 'fake_plugin_0' failed", "SyntaxError"]),
            ("import sys; sys.exit(7)", "load", ["importing 'fake_plugin_0' failed", "SystemExit"]),
            (FAILING_HOOK, "hook", ["rankgauge_metrics() raised RuntimeError: the model is not downloaded"]),
        ],
        ids=["import", "any exception", "syntax", "exit", "hook"],
    )
    def test_one_that_raises_breaks_only_itself(self, installed, source, stage, words):
        installed.add("alpha-tools", source, version="0.3")
        installed.add("beta-tools", metric_module("beta-depth"))
        catalog = Catalog.discover()
        fault = fault_of(catalog, "alpha-tools")
        assert ("alpha-tools:main", "0.3", stage) == (fault.plugin, fault.version, fault.stage)
        assert [] == [word for word in words if word not in fault.message]
        assert {"beta-depth", "retrieval-mrr"} <= set(catalog.metrics)

    def test_a_fault_prints_plugin_version_stage_and_message(self, installed):
        file = installed.add("alpha-tools", FAILING_HOOK, version="0.3")
        fault = fault_of(Catalog.discover(), "alpha-tools")
        assert (
            "alpha-tools:main 0.3 [hook]: rankgauge_metrics() raised RuntimeError: the model is not downloaded "
            f"({file}:5)"
        ) == str(fault)

    def test_a_hook_that_raises_leaves_the_plugins_other_hooks_working(self, installed):
        source = """\
            from rankgauge.plugin import hookimpl, normalizer

            @normalizer("drop-dots", stage="strip")
            def drop_dots(text):
                return text.replace(".", "")

            @hookimpl
            def rankgauge_metrics():
                raise RuntimeError("no")

            @hookimpl
            def rankgauge_normalizers():
                return [drop_dots]
        """
        installed.add("alpha-tools", source)
        catalog = Catalog.discover()
        assert "hook" == fault_of(catalog, "alpha-tools").stage
        assert "ab" == catalog.matcher("drop-dots > equal >= 1").normalize("a.b")

    def test_an_entry_point_to_nothing_is_a_fault(self, installed):
        installed.add("alpha-tools", "VALUE = 1", points={"main": "{module}:plugin"})
        fault = fault_of(Catalog.discover(), "alpha-tools")
        assert ("load", True) == (fault.stage, "'fake_plugin_0:plugin'" in fault.message)

    def test_an_entry_point_to_a_class_is_a_fault(self, installed):
        installed.add("alpha-tools", "class Plugin: pass", points={"main": "{module}:Plugin"})
        fault = fault_of(Catalog.discover(), "alpha-tools")
        expected = "'fake_plugin_0:Plugin' is a class; point the entry point to a module or to an instance"
        assert ("register", expected) == (fault.stage, fault.message)

    def test_one_broken_entry_point_leaves_the_others_of_its_distribution_working(self, installed):
        points = {"bad": "{module}:missing", "good": "{module}"}
        installed.add("alpha-tools", metric_module("alpha-depth"), points=points)
        catalog = Catalog.discover()
        assert "alpha-tools:bad" == fault_of(catalog, "alpha-tools").plugin
        assert "alpha-depth" in catalog.metrics

    def test_a_distribution_without_metadata_does_not_stop_the_others(self, installed):
        installed.add("alpha-tools", metric_module("alpha-depth"), metadata=False)
        installed.add("beta-tools", metric_module("beta-depth"))
        assert {"beta-depth", "retrieval-mrr"} <= set(Catalog.discover().metrics)

    @pytest.mark.parametrize(
        ("hook", "returned", "words"),
        [
            ("metrics", "measure", "rankgauge_metrics() must return a list of declared functions, not function"),
            ("metrics", "None", "must return a list of declared functions, not NoneType"),
            ("metrics", "'measure'", "must return a list of declared functions, not str"),
            ("metrics", "{'measure': measure}", "must return a list of declared functions, not dict"),
            ("metrics", "(each for each in [measure])", "must return a list of declared functions, not generator"),
            ("metrics", "[plain]", "which @metric did not declare"),
            ("metrics", "[None]", "returned None, which @metric did not declare"),
            ("normalizers", "[measure]", "which @normalizer did not declare"),
            ("comparers", "[measure]", "which @comparer did not declare"),
            ("matchers", "[measure]", "which @named_matcher did not declare"),
            ("readers", "[measure]", "which @reader did not declare"),
            ("reporters", "[measure]", "which @reporter did not declare"),
        ],
    )
    def test_a_hook_that_returns_the_wrong_thing_is_a_fault(self, installed, hook, returned, words):
        source = f"""\
            from rankgauge.plugin import hookimpl, sample_metric

            @sample_metric("alpha-depth")
            def measure(ranking):
                "Count."
                return 1.0

            def plain(ranking):
                return 1.0

            @hookimpl
            def rankgauge_{hook}():
                return {returned}
        """
        installed.add("alpha-tools", source)
        catalog = Catalog.discover()
        fault = fault_of(catalog, "alpha-tools")
        assert ("hook", True) == (fault.stage, f"rankgauge_{hook}()" in fault.message)
        assert words in fault.message
        assert "alpha-depth" not in catalog.metrics

    def test_what_else_a_hook_returned_still_works(self, installed):
        source = metric_module("alpha-depth").replace("[measure]", "[print, measure]")
        installed.add("alpha-tools", source)
        catalog = Catalog.discover()
        assert "which @metric did not declare" in fault_of(catalog, "alpha-tools").message
        assert "alpha-depth" in catalog.metrics

    def test_a_misspelled_hook_is_a_fault_that_lists_the_known_ones(self, installed):
        source = metric_module("alpha-depth") + "\n@hookimpl\ndef rankgauge_metric():\n    return [measure]\n"
        installed.add("alpha-tools", source)
        catalog = Catalog.discover()
        fault = fault_of(catalog, "alpha-tools")
        assert "register" == fault.stage
        assert "rankgauge_metric" in fault.message
        assert "known hooks are rankgauge_metrics, rankgauge_normalizers" in fault.message
        assert "alpha-depth" in catalog.metrics

    def test_a_hook_without_the_marker_is_a_fault(self, installed):
        installed.add("alpha-tools", metric_module("alpha-depth").replace("@hookimpl\n", ""))
        catalog = Catalog.discover()
        fault = fault_of(catalog, "alpha-tools")
        expected = "rankgauge_metrics() lacks the @hookimpl marker, so it is never called"
        assert ("register", expected) == (fault.stage, fault.message)
        assert "alpha-depth" not in catalog.metrics

    def test_a_hook_that_wants_arguments_it_is_never_given_is_a_fault(self, installed):
        installed.add("alpha-tools", metric_module("alpha-depth").replace("metrics()", "metrics(config)"))
        fault = fault_of(Catalog.discover(), "alpha-tools")
        assert ("register", True) == (fault.stage, "config" in fault.message)

    def test_a_hook_that_evaluates_is_called_once(self, installed):
        """While it is loading, a name that nobody has is unknown, and nothing loads again."""
        source = """\
            from rankgauge import RankgaugeError
            from rankgauge.expression import parse
            from rankgauge.plugin import hookimpl

            calls = []

            @hookimpl
            def rankgauge_metrics():
                calls.append(1)
                try:
                    CATALOGS[0].read(parse("nobodys"))
                except RankgaugeError:
                    pass
                return []

            CATALOGS = []
        """
        installed.add("alpha-tools", source)
        catalog = Catalog.discover()
        module = __import__("fake_plugin_0")
        module.CATALOGS.append(catalog)
        assert catalog.faults == ()
        assert module.calls == [1]


class TestDisabling:
    @pytest.mark.parametrize("spelling", ["alpha-tools", "Alpha_Tools", "ALPHA.TOOLS", "alpha--tools"])
    def test_a_distribution_is_disabled_in_any_spelling_of_its_name(self, installed, spelling):
        installed.add("Alpha-Tools", metric_module("alpha-depth"))
        catalog = Catalog.discover(disable=[spelling])
        assert [True] == [plugin.disabled for plugin in plugins_of(catalog, "alpha-tools")]
        assert "alpha-depth" not in catalog.metrics

    def test_a_disabled_plugin_is_not_even_imported(self, installed):
        installed.add("alpha-tools", FAILING_IMPORT)
        assert [] == faults_of(Catalog.discover(disable=["alpha-tools"]), "alpha-tools")

    def test_own_only_disables_everything_but_rankgauge(self, installed):
        installed.add("alpha-tools", metric_module("alpha-depth"))
        catalog = Catalog.discover(own_only=True)
        assert {"rankgauge"} == {plugin.distribution for plugin in catalog.plugins if not plugin.disabled}
        assert (False, True) == ("alpha-depth" in catalog.metrics, "retrieval-mrr" in catalog.metrics)

    def test_distributions_are_named_without_those_that_are_disabled(self, installed):
        """A broken plugin counts: it could have been there. None is loaded, and the answer stays when all are."""
        module = installed.add("alpha-tools", metric_module("alpha-depth"), version="2.1").stem
        installed.add("beta-tools", FAILING_IMPORT)
        installed.add("gamma-tools", metric_module("gamma-depth"))
        catalog = Catalog.discover(disable=["gamma-tools"])
        named = catalog.distributions
        assert module not in sys.modules
        assert {("alpha-tools", "2.1"), ("beta-tools", "1.0"), ("rankgauge", rankgauge.__version__)} <= set(named)
        assert "gamma-tools" not in dict(named)
        assert named == sorted({(each.distribution, each.version) for each in catalog.plugins if not each.disabled})
        assert named == catalog.distributions

    def test_rankgauge_itself_cannot_be_disabled(self):
        assert "retrieval-mrr" in Catalog.discover(disable=["rankgauge"]).metrics


class TestCommandLine:
    def test_check_exits_with_0_when_nothing_is_wrong(self, installed, command_line):
        installed.add("alpha-tools", metric_module("alpha-depth"))
        code, out, _ = command_line("plugins", "check")
        assert (0, True) == (code, "plugins, no faults" in out)

    def test_check_exits_with_1_and_prints_every_fault(self, installed, command_line):
        installed.add("alpha-tools", FAILING_IMPORT, version="0.3")
        installed.add("beta-tools", FAILING_HOOK)
        code, out, _ = command_line("plugins", "check")
        assert 1 == code
        assert "alpha-tools:main 0.3 [load]: importing 'fake_plugin_0' failed" in out
        assert "beta-tools:main 1.0 [hook]: rankgauge_metrics() raised RuntimeError" in out
        assert "2 faults in " in out

    def test_check_exits_with_1_for_a_clash(self, installed, command_line):
        installed.add("alpha-tools", metric_module("alpha-depth", short=("depth",)))
        installed.add("beta-tools", metric_module("beta-depth", short=("depth",)))
        code, out, _ = command_line("plugins", "check")
        assert (1, 2) == (code, out.count("metric 'depth' is claimed by 2 plugins"))

    def test_list_prints_what_each_plugin_offers_and_how_it_is(self, installed, command_line):
        installed.add("alpha-tools", metric_module("alpha-depth"), version="2.1")
        installed.add("beta-tools", FAILING_HOOK, version="0.3")
        code, out, _ = command_line("plugins", "list")
        rows = {line.split()[1]: line.split() for line in out.splitlines() if len(line.split()) > 3}
        assert 0 == code
        assert ["main", "alpha-tools", "2.1", "fake_plugin_0", "1", "metric", "ok"] == rows["alpha-tools"]
        assert ["main", "beta-tools", "0.3", "fake_plugin_1", "-", "1", "fault"] == rows["beta-tools"]
        assert "ok" == rows["rankgauge"][-1]

    def test_list_shows_a_disabled_plugin_as_disabled(self, installed, command_line, monkeypatch):
        installed.add("alpha-tools", metric_module("alpha-depth"))
        monkeypatch.setenv("RANKGAUGE_DISABLE_PLUGINS", "other, Alpha_Tools ,")
        _, out, _ = command_line("plugins", "list")
        assert ["disabled"] == [line.split()[-1] for line in out.splitlines() if "alpha-tools" in line]

    @pytest.mark.parametrize(
        ("variable", "value", "code"),
        [
            ("RANKGAUGE_DISABLE_PLUGINS", "alpha-tools", 0),
            ("RANKGAUGE_DISABLE_PLUGINS", "beta-tools,Alpha_Tools", 0),
            ("RANKGAUGE_DISABLE_PLUGINS", "beta-tools", 1),
            ("RANKGAUGE_DISABLE_PLUGINS", "", 1),
            ("RANKGAUGE_NO_PLUGINS", "1", 0),
            ("RANKGAUGE_NO_PLUGINS", "0", 1),
            ("RANKGAUGE_NO_PLUGINS", "", 1),
        ],
    )
    def test_the_environment_disables_plugins(self, installed, command_line, monkeypatch, variable, value, code):
        installed.add("alpha-tools", FAILING_IMPORT)
        monkeypatch.setenv(variable, value)
        assert code == command_line("plugins", "check")[0]
        assert bool(code) == bool(Catalog.discover().faults)
        assert bool(code) == bool(Engine().catalog.faults)

    def test_list_names_everything_with_its_provider_on_request(self, installed, command_line):
        metric = installed.add("alpha-tools", metric_module("alpha-depth", short=("adepth",)), version="2.1")
        observer = installed.add("gamma-tools", OBSERVER)
        code, out, _ = command_line("plugins", "list", "--verbose")
        assert 0 == code
        assert f"\nmain (alpha-tools 2.1)\n  metric alpha-depth  {metric}:{METRIC_LINE}\n" in out
        assert f"\nmain (gamma-tools 1.0)\n  observer rankgauge_run_started   {observer}:5\n" in out
        assert f"\nreaders (rankgauge {rankgauge.__version__})\n  reader jsonl  " in out

    def test_list_as_json_has_the_same_and_what_is_wrong(self, installed, command_line):
        file = installed.add("alpha-tools", metric_module("alpha-depth", short=("adepth",)), version="2.1")
        installed.add("beta-tools", FAILING_HOOK, version="0.3")
        _, out, _ = command_line("plugins", "list", "--json")
        found = {plugin["distribution"]: plugin for plugin in json.loads(out)}
        offer = {
            "kind": "metric",
            "name": "alpha-depth",
            "names": ["alpha-depth", "adepth"],
            "summary": "Count what was retrieved.",
            "file": str(file),
            "line": METRIC_LINE,
        }
        assert [offer] == found["alpha-tools"]["offers"]
        assert ("2.1", "ok", []) == tuple(found["alpha-tools"][key] for key in ("version", "state", "faults"))
        (fault,) = found["beta-tools"]["faults"]
        assert ("faulty", "hook") == (found["beta-tools"]["state"], fault["stage"])
        assert "the model is not downloaded" in fault["message"]


OBSERVER = """\
    from rankgauge.plugin import hookimpl

    seen = []

    @hookimpl
    def rankgauge_run_started(plan):
        seen.append(("started", [metric.name for metric in plan.metrics]))

    @hookimpl
    def rankgauge_run_finished(result):
        seen.append(("finished", result["retrieval-mrr"].mean))
"""
SAMPLES = [{"id": "1", "input": "q", "expected_output": ["a"], "actual_output": ["x", "a"]}]


def run():
    return Engine().dataset(SAMPLES).with_metrics(["retrieval-mrr"]).run()


class TestObservers:
    def test_they_see_the_plan_at_the_start_and_the_result_at_the_end(self, installed):
        installed.add("alpha-tools", OBSERVER)
        run()
        import fake_plugin_0

        assert [("started", ["retrieval-mrr"]), ("finished", 0.5)] == fake_plugin_0.seen

    def test_they_are_found_without_loading_what_is_built_in(self, installed, monkeypatch):
        """So are the distributions that are disabled; a plugin is loaded once, also where all are asked for later."""
        installed.add("alpha-tools", OBSERVER)
        installed.add("beta-tools", FAILING_IMPORT)
        catalog = Catalog.discover(disable=["beta-tools"])
        with monkeypatch.context() as patched:
            patched.setattr(discovery, "_own", lambda name: pytest.fail(f"{name} was loaded"))
            (observer,) = [call for name, call in catalog.observers("rankgauge_run_started") if "alpha" in name]
            assert "beta-tools" in catalog.disabled
        (plugin,) = plugins_of(catalog, "alpha-tools")
        assert plugin.observers["rankgauge_run_started"] is observer
        assert catalog.disabled == sorted({each.distribution for each in catalog.plugins if each.disabled})

    @pytest.mark.parametrize("hook", ["rankgauge_run_started(plan)", "rankgauge_run_finished(result)"])
    def test_one_that_raises_is_logged_and_does_not_stop_the_run_or_the_others(self, installed, caplog, hook):
        failing = f"""\
            from rankgauge.plugin import hookimpl

            @hookimpl
            def {hook}:
                raise RuntimeError("no disk")
        """
        file = installed.add("aaa-tools", failing)
        installed.add("beta-tools", OBSERVER)
        with caplog.at_level(logging.WARNING, logger="rankgauge"):
            result = run()
        import fake_plugin_1

        name = hook.partition("(")[0]
        expected = f"observer {name} of plugin aaa-tools:main failed: RuntimeError: no disk ({file}:5)"
        assert [expected] == [record.getMessage() for record in caplog.records]
        assert (0.5, 2) == (result["retrieval-mrr"].mean, len(fake_plugin_1.seen))

    def test_one_may_leave_out_the_argument_that_it_does_not_need(self, installed, caplog):
        source = """\
            from rankgauge.plugin import hookimpl

            seen = []

            @hookimpl
            def rankgauge_run_started():
                seen.append("started")
        """
        installed.add("alpha-tools", source)
        run()
        import fake_plugin_0

        assert (["started"], []) == (fake_plugin_0.seen, caplog.records)

    def test_list_says_that_a_plugin_observes(self, installed, command_line):
        installed.add("alpha-tools", OBSERVER)
        _, out, _ = command_line("plugins", "list")
        assert [True] == ["an observer" in line for line in out.splitlines() if "alpha-tools" in line]


class TestInstalled:
    """`Catalog.installed` looks once, and again where the answer may be another one."""

    def test_the_same_catalog_serves_every_engine(self):
        assert Engine().catalog is Engine().catalog is Catalog.installed()
        assert Catalog.discover() is not Catalog.discover()

    def test_a_plugin_that_is_added_or_taken_away_is_seen(self, installed):
        before = Catalog.installed()
        file = installed.add("acme", metric_module("acme-share"))
        added = Catalog.installed()
        assert added is not before
        assert plugins_of(Engine().catalog, "acme")
        installed.uninstall(file)
        assert plugins_of(Catalog.installed(), "acme") == []

    @pytest.mark.parametrize(
        ("variable", "value"), [("RANKGAUGE_DISABLE_PLUGINS", "acme"), ("RANKGAUGE_NO_PLUGINS", "1")]
    )
    def test_variables_of_the_environment_are_seen(self, installed, monkeypatch, variable, value):
        installed.add("acme", metric_module("acme-share"))
        assert not plugins_of(Catalog.installed(), "acme")[0].disabled
        monkeypatch.setenv(variable, value)
        assert plugins_of(Catalog.installed(), "acme")[0].disabled
        monkeypatch.delenv(variable)
        assert not plugins_of(Catalog.installed(), "acme")[0].disabled

    def test_a_plugin_that_could_not_be_imported_is_tried_again(self, installed):
        file = installed.add("acme", FAILING_IMPORT)
        assert fault_of(Catalog.installed(), "acme").stage == "load"
        file.write_text(metric_module("acme-share"), encoding="utf-8")
        assert faults_of(Catalog.installed(), "acme") == []
        assert Catalog.installed() is Catalog.installed()
