"""The README has every option of every kind, and the page's configs can be read."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rankgauge.config import load_config
from rankgauge_systems.kinds import KINDS

HERE = Path(__file__).parents[1]
README = (HERE / "README.md").read_text(encoding="utf-8")
PAGE = (HERE.parents[1] / "docs/how-to/call-your-engine.md").read_text(encoding="utf-8")


def told(name):
    """Return the table of a kind's options, as the README has it."""
    rows = []
    for option, field in KINDS[name].options.model_fields.items():
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        shown = {True: "true", False: "false"}.get(default, default) if isinstance(default, bool) else default
        written = "" if shown in (None, {}, ()) else f"`{', '.join(shown) if isinstance(shown, tuple) else shown}`"
        rows.append(f"| `{option}` | {'needed' if field.is_required() else written} | {field.description} |")
    return "\n".join([f"### {name}", "", KINDS[name].about, "", "| option | default | |", "|---|---|---|", *rows, ""])


@pytest.mark.parametrize("name", KINDS)
def test_the_readme_has_every_option(name):
    assert told(name) in README


@pytest.mark.parametrize("text", re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
def test_configs_of_the_page_can_be_read(text, tmp_path, monkeypatch):
    monkeypatch.setenv("SEARCH_KEY", "some-key")
    content = {"version": 1, **yaml.safe_load(text)}
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    (tmp_path / "steps.py").touch()
    loaded = load_config(tmp_path / "c.yaml").config
    if loaded.system is not None:
        options = {key: value for key, value in loaded.system.items() if key != "kind"}
        read = KINDS[loaded.system["kind"]].options.model_validate(options, context={"folder": tmp_path})
        assert read.model_fields_set == options.keys()
    assert loaded.model_fields_set == content.keys()


def test_the_plugin_imports_no_options_before_they_are_used():
    """Every command asks the plugin for its kinds, and pays for what that imports."""
    source = "import sys, rankgauge_systems.plugin as plugin\nplugin.rankgauge_systems()\n"
    source += "print({'httpx', 'pydantic'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_page_and_the_readme_name_every_kind():
    for name in KINDS:
        assert f"`{name}`" in PAGE
