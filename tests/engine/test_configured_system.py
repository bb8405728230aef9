"""Systems under test that a config names: checked options, secrets, and what results say of them."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pydantic
import pytest

from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.cli import call
from rankgauge.errors import ConfigError, DeclarationError, ParameterError, UnknownNameError
from rankgauge.plugin import hookimpl, system
from rankgauge.testing import check_plugin


class Inner(pydantic.BaseModel, extra="forbid"):
    k: int = pydantic.Field(1, description="How many.")


class Options(pydantic.BaseModel, extra="forbid"):
    name: str = pydantic.Field("d1", description="What is found.")
    api_key: pydantic.SecretStr | None = pydantic.Field(None, description="The key.")
    inner: Inner = pydantic.Field(default_factory=Inner, description="More.")
    fail: str = pydantic.Field("", description="Where it fails.")


class Finder:
    """Finds one document, and remembers what was asked of it."""

    def __init__(self, options):
        self.options, self.closed, self.checked = options, 0, 0
        if options.fail == "make":
            raise OSError(f"cannot reach it with {options.api_key.get_secret_value()}")

    def __call__(self, given: Any) -> object:
        if self.options.fail == "call":
            raise OSError(f"refused {self.options.api_key.get_secret_value()}")
        return [self.options.name] * self.options.inner.k if self.options.fail != "repeat" else {"retrieved": 1}

    def check(self):
        self.checked += 1
        if self.options.fail == "check":
            raise ParameterError("there is no index")

    def close(self):
        self.closed += 1


def refusing(message):
    """Return what fails with a message when it is called."""

    def call(self, given):
        raise OSError(message)

    return call


@system("finder", options=Options)
def finder(options):
    """Find one document."""
    return Finder(options)


@system("later", options=Inner)
def later(options):
    """Find one document after a while."""

    async def find(given):
        await asyncio.sleep(0)
        return ["d1"]

    return find


def plugin_of(*functions):
    return SimpleNamespace(rankgauge_systems=hookimpl(specname="rankgauge_systems")(lambda: list(functions)))


CATALOG = Catalog.discover(own_only=True, plugins={"acme": plugin_of(finder, later)})


@pytest.fixture
def config(tmp_path):
    """Return a function that writes a config with a system, and returns an engine of it."""
    (tmp_path / "data.jsonl").write_text('{"id": "q1", "input": "x", "expected_output": ["d1"]}\n', encoding="utf-8")

    def write(system, *, catalog=CATALOG, **more):
        content = {"version": 1, "datasets": {"d": {"path": "data.jsonl"}}, "metrics": {"use": ["recall@1"]}}
        if system is not None:
            content["system"] = system
        path = tmp_path / "c.yaml"
        path.write_text(json.dumps(content | more, indent=1), encoding="utf-8")
        return Engine.from_config(path, catalog=catalog)

    return write


def run(engine, **how):
    made = engine.system()
    try:
        return engine.dataset("d").run(sut=made, **how), made
    finally:
        made.close()


class TestUse:
    def test_it_is_called_and_closed(self, config):
        result, made = run(config({"kind": "finder"}))
        assert (result["recall@1"].mean, made.inner.closed) == (1.0, 1)

    def test_one_that_is_asynchronous(self, config):
        assert run(config({"kind": "later"}))[0]["recall@1"].mean == 1.0

    def test_changes_lead_into_options_and_leave_the_config_as_it_is(self, config):
        engine = config({"kind": "finder", "name": "d2"})
        changed = engine.system({"name": "d1", "inner.k": 3})
        assert (changed("x"), changed.options) == (["d1"] * 3, {"name": "d1", "inner": {"k": 3}})
        assert engine.system()("x") == ["d2"]
        with pytest.raises(ParameterError, match=r"name\.k leads into an option .* that is no mapping"):
            engine.system({"name.k": 3})

    def test_results_say_which_system_with_its_options(self, config):
        result, _ = run(config({"kind": "finder", "inner": {"k": 2}}))
        outputs = result.manifest["outputs"]
        assert (outputs["sut"], outputs["options"]) == ("system:finder", {"inner": {"k": 2}})

    def test_an_engine_without_one(self, config):
        with pytest.raises(ParameterError, match=r"c\.yaml has no system under test"):
            config(None).system()
        with pytest.raises(ParameterError, match="an engine without a config has no system"):
            Engine().system()


class TestOptions:
    def test_every_wrong_one_is_told_with_its_place(self, config):
        engine = config({"kind": "finder", "inner": {"k": "many"}, "nme": "d1"})
        with pytest.raises(ConfigError) as caught:
            engine.system()
        told = {problem.path: problem for problem in caught.value.problems}
        assert set(told) == {"system.inner.k", "system.nme"}
        assert told["system.inner.k"].line is not None
        assert "known are name, api_key, inner, fail" in told["system.nme"].message

    @pytest.mark.parametrize(
        ("sweep", "changes", "path", "line"),
        [
            ({"inner.k": [1, "many"]}, {"inner.k": "many"}, "sweep.inner.k[1]", '"many"'),
            ([{"name": "d2"}, {"name": "d2", "inner.k": "many"}], {"inner.k": "many"}, "sweep[1].inner.k", '"many"'),
            ({"inner": [{"k": "many"}]}, {"inner": {"k": "many"}}, "sweep.inner[0].k", '"many"'),
            ({"name": ["${NO_SUCH_NAME}"]}, {"name": "${NO_SUCH_NAME}"}, "sweep.name[0]", "NO_SUCH_NAME"),
            ({"name": ["d1"]}, {"inner.k": "many"}, "system.inner.k", '"inner"'),
        ],
    )
    def test_a_wrong_one_of_a_sweep_has_its_place_there(self, config, tmp_path, sweep, changes, path, line):
        engine = config({"kind": "finder", "inner": {}}, sweep=sweep)
        with pytest.raises(ConfigError) as caught:
            engine.system(changes)
        (problem,) = caught.value.problems
        assert problem.path == path
        assert line in (tmp_path / "c.yaml").read_text(encoding="utf-8").splitlines()[problem.line - 1]

    def test_a_kind_that_there_is_not(self, config):
        with pytest.raises(ConfigError, match=r"unknown system .findr. .did you mean .finder."):
            config({"kind": "findr"})

    @pytest.mark.parametrize("given", [{}, {"kind": 3}, "finder", ["finder"]])
    def test_a_system_without_a_kind(self, config, given):
        with pytest.raises(ConfigError, match="expected a mapping with `kind`"):
            config(given)

    def test_outputs_beside_it(self, config):
        with pytest.raises(ConfigError, match="the config has a system, which is called for outputs"):
            config({"kind": "finder"}, datasets={"d": {"path": "data.jsonl", "outputs": "o.jsonl"}})

    @pytest.mark.parametrize("sweep", [{"k": 3}, {"k": []}, [1], [{}], 5])
    def test_a_sweep_that_is_none(self, config, sweep):
        with pytest.raises(ConfigError, match="expected options with a list of values each"):
            config({"kind": "finder"}, sweep=sweep)


class TestSecrets:
    def test_they_come_from_the_environment_and_stay_out_of_results(self, config, monkeypatch):
        monkeypatch.setenv("FINDER_KEY", "s3cr3t-value")
        result, made = run(config({"kind": "finder", "api_key": "${FINDER_KEY}"}))
        assert made.inner.options.api_key.get_secret_value() == "s3cr3t-value"
        assert result.manifest["outputs"]["options"] == {"api_key": "${FINDER_KEY}"}
        assert "s3cr3t" not in json.dumps(result.manifest, default=str)

    @pytest.mark.parametrize(
        "options",
        [
            {"api_key": "s3cr3t"},
            {"inner": {"db-password": "s3cr3t"}},
            {"headers": {"Authorization": "Bearer s3cr3t"}},
            {"tokens": [{"access_token": "s3cr3t"}]},
            {"url": "postgresql://me:s3cr3t@host/db"},
            {"url": "https://host/search?q=x&api_key=s3cr3t"},
            {"headers": {"Ocp-Apim-Subscription-Key": "s3cr3t"}},
            {"password": 5313},
            {"secret_key": "s3cr3t"},
            {"body": {"accessToken": "s3cr3t"}},
            {"url": "host=db password=s3cr3t dbname=library"},
            {"command": ["search", "--token=s3cr3t"]},
        ],
    )
    def test_written_out_they_are_refused_and_not_shown(self, config, options):
        with pytest.raises(ConfigError, match=r"write \$\{NAME_OF_A_VARIABLE\}") as caught:
            config({"kind": "finder", **options})
        assert "s3cr3t" not in str(caught.value)  # logs are read by many, too
        assert "5313" not in str(caught.value)

    @pytest.mark.parametrize("sweep", [{"inner.api_key": ["s3cr3t"]}, [{"url": "https://host/?token=s3cr3t"}]])
    def test_a_sweep_has_none_either(self, config, sweep):
        with pytest.raises(ConfigError, match=r"write \$\{NAME_OF_A_VARIABLE\}") as caught:
            config({"kind": "finder"}, sweep=sweep)
        assert "s3cr3t" not in str(caught.value)

    def test_names_that_only_look_like_one_are_not(self, config):
        assert config({"kind": "finder", "max_tokens": "5", "url": "https://host/${PATH}"}) is not None

    def test_a_variable_that_is_not_set_is_named(self, config, monkeypatch):
        monkeypatch.delenv("FINDER_KEY", raising=False)
        with pytest.raises(ConfigError, match="the environment variable FINDER_KEY is not set"):
            config({"kind": "finder", "api_key": "${FINDER_KEY}"}).system()

    def test_messages_of_calls_show_the_variable(self, config, monkeypatch):
        monkeypatch.setenv("FINDER_KEY", "s3cr3t-value")
        result, _ = run(config({"kind": "finder", "api_key": "${FINDER_KEY}", "fail": "call"}))
        (reason,) = result["recall@1"].reasons.values()
        assert "refused ${FINDER_KEY}" in reason

    @pytest.mark.parametrize(
        "shown",
        [
            "pa%2Fss%20%22w%22%2Bord",  # quoted in an address
            "pa%2Fss+%22w%22%2Bord",  # quoted as a parameter
            'pa/ss \\"w\\"+ord',  # in JSON
            'pa/ss \\\\\\"w\\\\\\"+ord',  # in JSON within JSON
        ],
    )
    def test_messages_of_calls_do_not_show_it_quoted_either(self, config, monkeypatch, shown):
        monkeypatch.setenv("FINDER_KEY", 'pa/ss "w"+ord')
        monkeypatch.setattr(Finder, "__call__", refusing(f"no: {shown}"))
        result, _ = run(config({"kind": "finder", "api_key": "${FINDER_KEY}"}))
        (reason,) = result["recall@1"].reasons.values()
        assert reason.endswith("OSError: no: ${FINDER_KEY}")

    def test_messages_that_were_cut_do_not_show_its_beginning(self, config, monkeypatch):
        monkeypatch.setenv("FINDER_KEY", "s3cr3t-value")
        monkeypatch.setattr(Finder, "__call__", refusing("the answer is 'no: s3cr3t-v'"))
        result, _ = run(config({"kind": "finder", "api_key": "${FINDER_KEY}"}))
        (reason,) = result["recall@1"].reasons.values()
        assert reason.endswith("the answer is 'no: ${FINDER_KEY}'")

    def test_short_values_inside_of_a_text_are_not_shown_either(self, config, monkeypatch):
        monkeypatch.setenv("FINDER_KEY", "abc-12")
        monkeypatch.setattr(Finder, "__call__", refusing("no: abc-12!"))
        result, _ = run(config({"kind": "finder", "api_key": "Bearer ${FINDER_KEY}"}))
        (reason,) = result["recall@1"].reasons.values()
        assert reason.endswith("no: ${FINDER_KEY}!")

    def test_a_value_that_begins_with_a_tilde_is_no_path(self, config, monkeypatch):
        monkeypatch.setenv("FINDER_KEY", "~/s3cr3t")
        made = config({"kind": "finder", "api_key": "${FINDER_KEY}"}).system()
        assert made.inner.options.api_key.get_secret_value() == "~/s3cr3t"

    def test_nothing_kept_has_it(self, config, monkeypatch, tmp_path):
        monkeypatch.setenv("FINDER_KEY", "s3cr3t-value")
        run(config({"kind": "finder", "api_key": "${FINDER_KEY}", "fail": "call"}), keep=tmp_path / "kept.jsonl")
        kept = (tmp_path / "kept.jsonl").read_text(encoding="utf-8")
        assert "${FINDER_KEY}" in kept
        assert "s3cr3t" not in kept

    def test_a_system_that_cannot_be_made_does_not_show_it(self, config, monkeypatch):
        monkeypatch.setenv("FINDER_KEY", "s3cr3t-value")
        with pytest.raises(ParameterError) as caught:
            config({"kind": "finder", "api_key": "${FINDER_KEY}", "fail": "make"}).system()
        assert "OSError: cannot reach it with ${FINDER_KEY}" in str(caught.value)
        assert "s3cr3t" not in str(caught.value)


class TestDeclarations:
    @pytest.mark.parametrize("options", [dict, 5, None, int])
    def test_options_are_a_model(self, options):
        with pytest.raises(DeclarationError, match="are a pydantic model"):
            system("mine", options=options)(lambda options: print)

    def test_kind_is_no_option(self):
        model = pydantic.create_model("Kinded", kind=(str, "x"))
        with pytest.raises(DeclarationError, match="cannot have an option 'kind'"):
            system("mine", options=model)(lambda options: print)

    def test_options_may_come_from_a_function_that_imports_them(self, config):
        @system("lazy", options=lambda: Options)
        def lazy(options):
            """Find one document."""
            return Finder(options)

        catalog = Catalog.discover(own_only=True, plugins={"acme": plugin_of(lazy)})
        assert config({"kind": "lazy", "name": "d2"}, catalog=catalog).system()("x") == ["d2"]

        @system("wrong", options=lambda: dict)
        def wrong(options):
            """Find nothing."""
            return print

        catalog = Catalog.discover(own_only=True, plugins={"acme": plugin_of(wrong)})
        with pytest.raises(DeclarationError, match="are a pydantic model"):
            config({"kind": "wrong"}, catalog=catalog).system()

    def test_laws_want_descriptions_and_closed_options(self):
        model = pydantic.create_model("Open", depth=(int, 3))
        closed = pydantic.create_model("Closed", depth=(int, 3), __config__={"extra": "forbid"})

        def made(name, options):
            @system(name, options=options)
            def factory(options):
                """Find something."""
                return print

            return factory

        report = check_plugin(plugin_of(made("open", model), made("undescribed", closed), finder))
        assert report.broken == {"open": ("checked-options",), "undescribed": ("checked-options",)}
        assert report["undescribed"]["checked-options"].reason == "depth has no description"

    def test_what_cannot_be_called_is_refused(self, config):
        @system("odd", options=Inner)
        def odd(options):
            """Return a number."""
            return 5

        catalog = Catalog.discover(own_only=True, plugins={"acme": plugin_of(odd)})
        with pytest.raises(ParameterError, match="returned int, which cannot be called"):
            config({"kind": "odd"}, catalog=catalog).system()

    def test_a_name_that_nobody_has(self):
        with pytest.raises(UnknownNameError):
            CATALOG.system("nothing")


MODULE = """
    import pydantic
    from rankgauge.plugin import hookimpl, system

    class Options(pydantic.BaseModel, extra="forbid"):
        name: str = "d1"
        fail: bool = False

    class Finder:
        def __init__(self, options):
            self.options = options
        def __call__(self, given):
            return [self.options.name]
        def check(self):
            if self.options.fail:
                raise ValueError("there is no index")
        def close(self):
            print("closed")

    @system("finder", options=Options)
    def finder(options):
        \"\"\"Find one document.\"\"\"
        return Finder(options)

    @hookimpl
    def rankgauge_systems():
        return [finder]
"""


class TestCommandLine:
    @pytest.fixture
    def rankgauge(self, installed, config, capsys, tmp_path):
        installed.add("acme-finder", MODULE)

        def typed(*arguments, system=None, **more):
            config({"kind": "finder", **(system or {})}, catalog=None, **more)
            code = call(["run", str(tmp_path / "c.yaml"), *map(str, arguments)])
            return code, capsys.readouterr()

        return typed

    def test_run_calls_the_system_of_the_config(self, rankgauge):
        code, told = rankgauge()
        assert code == 0
        assert "1 call of system:finder: 0 failed" in told.out
        assert "closed" in told.out + told.err

    def test_outputs_that_are_typed_win(self, rankgauge, tmp_path):
        (tmp_path / "o.jsonl").write_text('{"id": "q1", "actual_output": ["d2"]}\n', encoding="utf-8")
        code, told = rankgauge("--outputs", tmp_path / "o.jsonl")
        assert code == 0
        assert "system:finder" not in told.out

    def test_one_that_cannot_be_used_ends_the_run_before_any_call(self, rankgauge):
        code, told = rankgauge(system={"fail": True})
        assert code == 2
        assert "system 'finder' cannot be used: ValueError: there is no index" in told.err

    def test_another_option_is_another_run(self, rankgauge, tmp_path):
        folder = tmp_path / "r"
        assert rankgauge("-o", folder)[0] == 0
        code, told = rankgauge("--resume", folder, system={"name": "d2"})
        assert code == 2
        assert "outputs.options.name was None and is 'd2'" in told.err

    def test_options_of_calls_need_no_sut(self, rankgauge):
        assert rankgauge("--concurrency", "2", "--retries", "1")[0] == 0

    @pytest.mark.parametrize("option", [("--stages",), ("--workers", "2")])
    def test_options_of_outputs_do_not_go_with_it(self, rankgauge, option):
        assert rankgauge(*option)[0] == 2


def test_validate_checks_options_and_makes_nothing(installed, config, capsys, tmp_path):
    installed.add("acme-finder", MODULE.replace("return Finder(options)", "raise OSError('made')"))
    for options, code, told in (({}, 0, "valid (1 dataset)"), ({"nme": "d1"}, 2, "system.nme")):
        config({"kind": "finder", **options}, catalog=None)
        assert call(["validate", str(tmp_path / "c.yaml")]) == code
        captured = capsys.readouterr()
        assert told in captured.out + captured.err
        assert "made" not in captured.err


def test_without_a_plugin_it_is_said_what_brings_one(config):
    with pytest.raises(ConfigError, match="no installed plugin has a system; `pip install rankgauge-systems` brings"):
        config({"kind": "qdrant"}, catalog=Catalog.discover(own_only=True))
