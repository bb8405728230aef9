"""Commands of plugins: where they can be, what is known without loading them, and what is refused."""

import json
import sys
from pathlib import Path

import pytest
import yaml

from rankgauge import Catalog, Engine
from rankgauge.cli.command_line import command_names
from rankgauge.commands import COMMANDS, GROUPS
from rankgauge.errors import DeclarationError, RequiredPluginError
from rankgauge.plugin import command
from rankgauge.testing import check_plugin

MODULE = '''\
"""A plugin with a command."""

from rankgauge.plugin import DataError, command

def options(parser):
    parser.add_argument("queue", metavar="QUEUE", help="A queue.")
    parser.add_argument("--code", type=int, default=0, metavar="N", help="An exit code.")

@command(options=options, usage="[OPTIONS] QUEUE")
def toss(given, console):
    """
    Toss a coin for each document.

    Nobody should believe it.
    """
    if given.code == 2:
        raise DataError("the coin cannot be read:", [])
    print("tossed", given.queue)
    return given.code
'''
TOSS = {"judge.toss": "{module}:toss"}
BROKEN = "raise RuntimeError('no luck')"


@pytest.fixture
def install(installed, monkeypatch):
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS")
    monkeypatch.setenv("RANKGAUGE_DISABLE_PLUGINS", "rankgauge-judge")
    return installed


def test_one_runs_with_its_options_its_exit_code_and_its_errors(install, rankgauge):
    install.add("acme-coins", MODULE, commands=TOSS)

    done = rankgauge("judge", "toss", "q.jsonl", "--code", "3")
    assert (done.code, done.out) == (3, "tossed q.jsonl\n")
    done = rankgauge("judge", "toss", "q.jsonl", "--code=2")
    assert (done.code, done.err.splitlines()[-1]) == (2, "error: the coin cannot be read:")
    done = rankgauge("judge", "toss", "--cod", "1")
    assert (done.code, "did you mean '--code'?" in done.err) == (2, True)


@pytest.mark.parametrize("words", [["toss"], ["acme", "toss"], ["metrics", "toss"], ["systems", "toss"]])
def test_one_may_be_a_word_of_its_own_or_in_any_group(install, rankgauge, words):
    install.add("acme-coins", MODULE, commands={".".join(words): "{module}:toss"})

    assert rankgauge(*words, "q.jsonl").out == "tossed q.jsonl\n"
    assert rankgauge(*words, "--help").out.startswith(f"usage: rankgauge {' '.join(words)} [OPTIONS] QUEUE\n\nToss a ")


def test_its_help_comes_from_the_docstring(install, rankgauge):
    install.add("acme-coins", MODULE, commands=TOSS)

    text = rankgauge("judge", "toss", "-h").out
    assert text.startswith("usage: rankgauge judge toss [OPTIONS] QUEUE\n\nToss a coin for each document.\n\nNobody")
    assert "--code N" in text


def test_listings_and_typos_load_nothing(install, rankgauge):
    install.add("acme-coins", BROKEN, commands={**TOSS, "mint": "{module}:mint", "acme.toss": "{module}:toss"})

    assert "  toss   A command of acme-coins 1.0." in rankgauge("judge", "--help").out.splitlines()
    root = rankgauge("--help").out.splitlines()
    assert "  mint       A command of acme-coins 1.0." in root
    assert "  acme       Commands of acme-coins: toss." in root
    assert root.index("  mint       A command of acme-coins 1.0.") > next(
        number for number, line in enumerate(root) if line.startswith("  doctor ")
    )
    assert "no command 'tos' (did you mean 'toss'?)" in rankgauge("judge", "tos").err
    assert "no command 'mnt' (did you mean 'mint'?)" in rankgauge("mnt").err
    assert rankgauge("acme").code == 2
    assert [name for name in sys.modules if name.startswith("fake_plugin_")] == []


def test_only_the_command_that_was_typed_is_loaded(install, rankgauge):
    install.add("acme-broken", BROKEN, commands={"judge.break": "{module}:nothing", "broken.toss": "{module}:nothing"})
    install.add("acme-coins", MODULE, commands=TOSS)

    done = rankgauge("judge", "toss", "q.jsonl")
    assert (done.code, done.out, done.err) == (0, "tossed q.jsonl\n", "")


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        (BROKEN, "{module}:toss", "importing 'fake_plugin_0:toss' failed: RuntimeError: no luck"),
        (MODULE, "{module}:mint", "importing 'fake_plugin_0:mint' failed: AttributeError: "),
        (MODULE, "{module}", "'fake_plugin_0' is <module 'fake_plugin_0' "),
        (MODULE, "{module}:options", ", which @command did not declare"),
        (f"RANKGAUGE_API = (99, 0)\n{MODULE}", "{module}:toss", "it needs plugin API 99.0"),
    ],
)
def test_one_that_cannot_be_loaded_says_whose_fault_it_is(install, rankgauge, source, target, reason):
    install.add("acme-coins", source, commands={"judge.toss": target})

    for last in ("q.jsonl", "--help"):
        done = rankgauge("judge", "toss", last)
        assert (done.code, done.out) == (2, "")
        assert "error: command 'judge toss' (by acme-coins 1.0 (fake_plugin_0" in done.err
        assert reason in done.err
        assert "this is a fault of the plugin, not of your data" in done.err


def test_a_name_that_two_plugins_claim_works_for_neither(install, rankgauge):
    install.add("acme-coins", BROKEN, commands={**TOSS, "mint": "{module}:mint"})
    install.add("acme-dice", BROKEN, commands={**TOSS, "mint.coin": "{module}:coin"})

    both = "acme-coins 1.0 (fake_plugin_0:toss); acme-dice 1.0 (fake_plugin_1:toss)"
    clash = f"command 'judge toss' is claimed by 2 plugins, so it works for none of them: {both}"
    done = rankgauge("judge", "toss", "q.jsonl")
    assert (done.code, f"error: {clash};" in done.err) == (2, True)
    done = rankgauge("judge", "--help")
    assert (done.code, "toss" in done.out, f"warning: {clash}\n" in done.err) == (0, False, True)
    for typed in (["mint"], ["mint", "coin"]):
        assert "error: command 'mint' is claimed by 2 plugins, so it works for none" in rankgauge(*typed).err
    assert {fault.plugin for fault in Catalog.discover().faults} == {
        "acme-coins:rankgauge.commands",
        "acme-dice:rankgauge.commands",
    }


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("run", "command 'run' is built in and cannot be replaced (acme-coins 1.0 (fake_plugin_0:toss))"),
        ("eval", "command 'eval' is built in"),
        ("judge.queue", "command 'judge queue' is built in"),
        ("judge", "group 'judge' is built in"),
        ("run.fast", "command 'run fast' has no place, because 'run' is a built-in command"),
        (
            "judge.Toss",
            "'judge.Toss' is not the name of a command (acme-coins 1.0 (fake_plugin_0:toss)); write one word",
        ),
        ("a.b.c", "'a.b.c' is not the name of a command"),
        ("--help", "'--help' is not the name of a command"),
        ("judge toss", "'judge toss' is not the name of a command"),
    ],
)
def test_a_name_that_is_taken_or_has_no_form_is_refused_without_loading(install, rankgauge, name, reason):
    install.add("acme-coins", BROKEN, commands={name: "{module}:toss"})

    listed = rankgauge("--help")
    assert (listed.code, f"warning: {reason}" in listed.err) == (0, True)
    assert reason in rankgauge("plugins", "check").out
    assert rankgauge("run", "--help").out.startswith("usage: rankgauge run ")
    assert rankgauge("judge", "queue", "--help").code == 0


@pytest.mark.parametrize(
    ("variable", "value"), [("RANKGAUGE_DISABLE_PLUGINS", "Acme_Coins"), ("RANKGAUGE_NO_PLUGINS", "1")]
)
def test_one_that_is_disabled_is_not_listed_and_says_so(install, rankgauge, monkeypatch, variable, value):
    install.add("acme-coins", BROKEN, commands={**TOSS, "acme.toss": "{module}:toss"})
    monkeypatch.setenv(variable, value)

    assert "toss" not in rankgauge("judge", "--help").out
    assert "acme" not in rankgauge("--help").out
    for group in ("judge", "acme"):
        done = rankgauge(group, "toss", "q.jsonl")
        assert done.code == 2
        assert f"is one of acme-coins 1.0, which is disabled ({variable})" in done.err
    (row,) = [
        one for one in json.loads(rankgauge("plugins", "list", "--json").out) if one["distribution"] == "acme-coins"
    ]
    assert (row["plugin"], row["state"]) == ("rankgauge.commands", "disabled")


def test_a_command_that_nobody_has(rankgauge):
    done = rankgauge("judge", "haruspex", "q.jsonl")
    assert done.code == 2
    assert "no command 'haruspex'; it may be one of a plugin that is not installed" in done.err


def test_plugins_show_their_commands(install, rankgauge):
    install.add("acme-coins", MODULE, commands={**TOSS, "mint": "{module}:nothing"})

    assert "2 commands" in rankgauge("plugins", "list").out
    assert "  command judge toss  fake_plugin_0:toss\n" in rankgauge("plugins", "list", "-v").out
    (row,) = [
        one for one in json.loads(rankgauge("plugins", "list", "--json").out) if one["distribution"] == "acme-coins"
    ]
    assert row["commands"] == [
        {"name": "judge toss", "target": "fake_plugin_0:toss"},
        {"name": "mint", "target": "fake_plugin_0:nothing"},
    ]
    assert [name for name in sys.modules if name.startswith("fake_plugin_")] == []
    done = rankgauge("plugins", "check")
    assert done.code == 1
    assert "command 'mint': loading it raised" in done.out
    assert "judge toss" not in done.out


def test_configs_require_and_disable_plugins_that_only_have_commands(install, tmp_path):
    install.add("acme-coins", BROKEN, commands=TOSS)
    (tmp_path / "q.jsonl").write_text('{"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}\n')
    text = "version: 1\ndatasets: {{q: {{path: q.jsonl}}}}\nmetrics: {{use: [hit@1]}}\nplugins: {{{}: [acme-coins]}}\n"
    config = tmp_path / "c.yaml"

    config.write_text(text.format("require"))
    assert Engine.from_config(config).dataset("q").run()["hit@1"].mean == 1.0
    with pytest.raises(RequiredPluginError, match="'acme-coins' is required and disabled"):
        Engine.from_config(config, disable=["acme-coins"])
    config.write_text(text.format("disable"))
    catalog = Engine.from_config(config).catalog
    assert [one.disabled for one in catalog.plugins if one.distribution == "acme-coins"] == [True]


def test_what_is_no_declaration_is_refused():
    with pytest.raises(DeclarationError, match="`options` is a function"):
        command(options=["--code"])(lambda given, console: 0)
    with pytest.raises(DeclarationError, match="`usage` is a text"):
        command(usage=None)(lambda given, console: 0)


def test_our_own_commands_have_the_form_of_entry_points():
    for name, (place, summary) in COMMANDS.items():
        module, colon, attribute = place.partition(":")
        assert (module.startswith("rankgauge."), colon, attribute.isupper()) == (True, ":", True), name
        assert summary.endswith((".", "?"))
        assert name.count(" ") <= 1
    assert {name.partition(" ")[0] for name in COMMANDS if " " in name} == set(GROUPS)
    assert command_names() == list(COMMANDS)


def test_laws_try_the_options(install):
    source = '''\
    from rankgauge.plugin import command

    @command(options=lambda parser: parser.add_argument("--quiet", action="store_true"))
    def silently(given, console):
        """Judge silently."""

    @command(options=lambda parser: parser.add_argument("--help", help="Show nothing."))
    def helped(given, console):
        """Judge with help."""

    @command()
    def bare(given, console):
        return 0

    @command()
    def good(given, console):
        """Do nothing."""
        return 0
    '''
    names = ("silently", "helped", "bare", "good")
    install.add("acme-coins", source, commands={f"coins.{name}": f"{{module}}:{name}" for name in names})

    report = check_plugin("acme-coins")
    assert report.broken == dict.fromkeys(["coins silently", "coins helped", "coins bare"], ("described-options",))
    assert report["coins silently"]["described-options"].reason == "--quiet has no help"
    assert "conflicting option" in report["coins helped"]["described-options"].reason
    assert report["coins bare"]["described-options"].reason == "it has no docstring, whose first line is its summary"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return {}['no key']", "failed: KeyError: 'no key' ("),
        ("import sys; sys.exit(4)", "failed: SystemExit: 4 ("),
        ("return None", "failed: it returned None, and an exit code is an integer from 0 to 255"),
        ("return True", "failed: it returned True, and"),
        ("return '0'", "failed: it returned '0', and"),
        ("return 256", "failed: it returned 256, and"),
        ("return -1", "failed: it returned -1, and"),
    ],
)
def test_a_crash_and_a_wrong_exit_code_are_faults_of_the_plugin(install, rankgauge, body, reason):
    file = install.add("acme-coins", MODULE.replace("return given.code", body), commands=TOSS)

    done = rankgauge("judge", "toss", "q.jsonl")
    assert (done.code, done.out) == (2, "tossed q.jsonl\n")
    assert "error: command 'judge toss' (by acme-coins 1.0 (fake_plugin_0:toss, " in done.err
    assert reason in done.err
    assert f"{file}:" in done.err
    assert "this is a fault of the plugin, not of your data" in done.err
    assert "report it" not in done.err


def test_options_that_cannot_be_added_are_a_fault_of_the_plugin(install, rankgauge):
    install.add("acme-coins", MODULE.replace("type=int", "typ=int"), commands=TOSS)

    done = rankgauge("judge", "toss", "q.jsonl")
    assert (done.code, "command 'judge toss' (by acme-coins" in done.err) == (2, True)
    assert rankgauge("judge", "toss", "--help").code == 2


def test_what_a_plugin_raises_on_purpose_and_files_that_are_not_there_are_told_as_ours(install, rankgauge):
    install.add("acme-coins", MODULE.replace("return given.code", "open('nowhere')"), commands=TOSS)

    done = rankgauge("judge", "toss", "q.jsonl")
    assert (done.code, "cannot read or write nowhere: No such file" in done.err) == (2, True)


def test_what_a_module_prints_while_it_loads_is_not_the_result(install, rankgauge):
    install.add("acme-coins", f"print('loading')\n{MODULE}", commands=TOSS)

    done = rankgauge("judge", "toss", "q.jsonl")
    assert (done.out, done.err) == ("tossed q.jsonl\n", "loading\n")


def test_a_command_beside_a_fault_is_not_called_ok_and_the_fault_has_advice(install, rankgauge):
    points = {"main": "{module}"}
    install.add("acme-coins", "import no_such_module_of_acme\n", points=points, commands={"mint": "{module}:nothing"})

    done = rankgauge("plugins", "list")
    states = [line.split("  ")[-1].strip() for line in done.out.splitlines() if "acme-coins" in line]
    assert states == ["1 fault", "not loaded"]
    assert "`rankgauge plugins check acme-coins` says what is wrong" in done.err


OPENING = """
    from rankgauge.arguments import path
    from rankgauge.plugin import command

    def add_options(parser):
        parser.add_argument("config", type=path, help="A config.")

    @command(options=add_options)
    def opening(given, console):
        \"\"\"Open a config.\"\"\"
        console.echo(", ".join(map(str, console.engine(given.config).metrics())))
        return 0
"""


@pytest.fixture
def locked(install, rankgauge, write, monkeypatch):
    """Return the module of a command, a config with a lock, and its lock; a second command fails where it is loaded."""
    monkeypatch.setenv("RANKGAUGE_DISABLE_PLUGINS", "rankgauge-judge,rankgauge-systems,rankgauge-traces")
    file = install.add("acme-open", OPENING, version="1.5", commands={"open": "{module}:opening"})
    install.add("acme-broken", "raise SystemExit\n", commands={"judge.never": "{module}:never"})
    text = "version: 1\ndatasets: {d: {path: data.jsonl}}\nmetrics: {use: [MRR]}\n"
    config = write("c.yaml", text)
    write("data.jsonl", [{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}])
    assert "2 commands, from acme-broken 1.0, acme-open 1.5" in rankgauge("plugins", "lock", config).out
    write("c.yaml", f"{text}plugins: {{locked: rankgauge.lock.yaml}}\n")
    return file, config, Path("rankgauge.lock.yaml")


def test_a_lock_lists_commands_by_their_metadata(locked, rankgauge):
    _, config, lock = locked
    assert yaml.safe_load(lock.read_text(encoding="utf-8"))["commands"] == [
        {"name": "judge never", "distribution": "acme-broken", "version": "1.0", "kind": "command"},
        {"name": "open", "distribution": "acme-open", "version": "1.5", "kind": "command"},
    ]
    assert rankgauge("open", config).code == 0
    assert rankgauge("run", config).code == 0


def test_a_command_opens_a_config_only_if_it_is_the_one_that_was_locked(locked, rankgauge, install, write):
    file, config, lock = locked
    install.upgrade(file, "2.0")
    done = rankgauge("open", config)
    assert done.code == 2
    assert (
        "rankgauge.lock.yaml says that acme-open 1.5 provides command 'open'; found is acme-open 2.0; "
        "`pip install acme-open==1.5`; if the change is intended, write the lock again: `rankgauge plugins lock "
    ) in done.err
    assert rankgauge("run", config).code == 0  # no score depends on a command
    written = lock.read_text(encoding="utf-8")
    without = "".join(line for line in written.splitlines(keepends=True) if "name: open" not in line)
    write("rankgauge.lock.yaml", without)
    assert "command 'open' is not in the lock" in rankgauge("open", config).err
    old = without.replace("commands:\n", "").replace(
        "- {name: judge never", "#"
    )  # as it was before commands were locked
    write("rankgauge.lock.yaml", old)
    assert rankgauge("open", config).code == 0


def test_validate_compares_the_commands_of_a_lock_with_those_installed(locked, rankgauge, install, write, monkeypatch):
    file, config, lock = locked
    assert (0, "") == (rankgauge("validate", config).code, rankgauge("validate", config).err)
    install.upgrade(file, "2.0")
    done = rankgauge("validate", config)
    assert 2 == done.code
    assert "acme-open 1.5 provides the command 'open'; found is acme-open 2.0; `pip install acme-open==1.5`" in done.err
    assert "judge never" not in done.err
    install.upgrade(file, "1.5")
    monkeypatch.setenv("RANKGAUGE_DISABLE_PLUGINS", "rankgauge-judge,rankgauge-systems,rankgauge-traces,acme-broken")
    gone = rankgauge("validate", config)
    assert 2 == gone.code
    assert "acme-broken 1.0 provides the command 'judge never'; none is installed and enabled" in gone.err
    kept = [line for line in lock.read_text(encoding="utf-8").splitlines(keepends=True) if "judge never" not in line]
    write("rankgauge.lock.yaml", "".join(kept))
    assert (0, "") == (rankgauge("validate", config).code, rankgauge("validate", config).err)
    monkeypatch.setenv("RANKGAUGE_DISABLE_PLUGINS", "rankgauge-judge,rankgauge-systems,rankgauge-traces")
    new = rankgauge("validate", config)
    assert 0 == new.code  # it is only refused if it is called
    assert "rankgauge.lock.yaml, so refused with this config: 'judge never'" in new.err


def test_a_lock_has_no_commands_of_what_a_config_disables(install, rankgauge, write, monkeypatch):
    monkeypatch.setenv("RANKGAUGE_DISABLE_PLUGINS", "rankgauge-judge,rankgauge-systems,rankgauge-traces")
    install.add("acme-open", OPENING, commands={"open": "{module}:opening"})
    text = "version: 1\ndatasets: {d: {path: data.jsonl}}\nmetrics: {use: [MRR]}\nplugins: {disable: [acme-open]}\n"
    config = write("c.yaml", text)
    write("data.jsonl", [{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}])
    assert "command" not in rankgauge("plugins", "lock", config).out
