"""README and docs: what they show runs, what is generated is fresh, and links lead somewhere."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import yaml

import rankgauge
from rankgauge.cli import call as _call
from rankgauge.config import load_config
from rankgauge.plugin import hookimpl
from rankgauge.testing import check_plugin

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
SHOWN = re.compile(
    r"^```sh\n(?P<command>rankgauge [^\n]*)\n```\n\n```text\n(?P<output>.*?)^```$", re.MULTILINE | re.DOTALL
)
"""One command, and behind it what it prints."""

FENCE = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, kind: str) -> list[str]:
    return [found["code"] for found in FENCE.finditer(page.read_text(encoding="utf-8")) if found["kind"] == kind]


def with_blocks(kind: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, kind)]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work where a reader does, beside `configs`, but on a copy that may be written to."""
    shutil.copytree(ROOT / "configs", tmp_path / "configs", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", with_blocks("python"), ids=name_of)
def test_python_blocks_of_a_page_run_one_after_the_other(
    page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Assertions in the blocks are the expectations. What a page declares obeys the laws, as any plugin should."""
    scores = {"metrics": {"ndcg@10": {"mean": 0.5}}}
    (folder / "scores.json").write_text(json.dumps(scores), encoding="utf-8")
    module = ModuleType("docs_page")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for number, code in enumerate(blocks(page, "python"), 1):
        exec(compile(code, f"{page.name}, python block {number}", "exec"), vars(module))  # noqa: S102  # our own pages
    assert "Engine" in vars(module) or "metric" in vars(module) or "scores" in vars(module)
    if declared := plugin_of(module):
        check_plugin(declared, cases=15).raise_if_broken()


def plugin_of(module: ModuleType) -> SimpleNamespace | None:
    """Return a plugin that offers all that a module declares; None if that is nothing."""
    offers: dict[str, list[object]] = {}
    for value in vars(module).values():
        if (declaration := getattr(value, "__rankgauge__", None)) is not None:
            kind = type(declaration).__name__.removeprefix("Named").lower()
            offers.setdefault(f"rankgauge_{kind}s", []).append(value)
    hooks = {name: hookimpl(specname=name)(lambda found=found: found) for name, found in offers.items()}
    return SimpleNamespace(__name__=module.__name__, **hooks) if hooks else None


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", with_blocks("sh"), ids=name_of)
def test_commands_of_a_page_succeed(page: Path) -> None:
    """`make` targets are what runs these tests, so they are only looked up."""
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for line in "".join(blocks(page, "sh")).splitlines():
        command = shlex.split(line, comments=True)
        if command[:1] == ["make"]:
            assert command[1] in targets
        else:
            assert command[0] == "rankgauge"
            assert _call(command[1:], debug=True) == 0


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", [page for page in PAGES if SHOWN.search(page.read_text("utf-8"))], ids=name_of)
def test_what_a_page_shows_of_a_command_is_what_it_prints(
    page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page may leave out lines, and change none."""
    monkeypatch.setenv("COLUMNS", "160")
    for found in SHOWN.finditer(page.read_text(encoding="utf-8")):
        assert _call(shlex.split(found["command"], comments=True)[1:], debug=True) == 0
        printed = "".join(capsys.readouterr()).splitlines()
        assert [line for line in found["output"].splitlines() if line not in printed] == []


@pytest.mark.parametrize("page", with_blocks("yaml"), ids=name_of)
def test_configs_of_a_page_can_be_used(page: Path, tmp_path: Path) -> None:
    for number, code in enumerate(blocks(page, "yaml")):
        path = tmp_path / f"config{number}.yaml"
        path.write_text(code, encoding="utf-8")
        assert load_config(path).config.version == 1


def test_json_blocks_are_json() -> None:
    found = [json.loads(code) for page in PAGES for code in blocks(page, "json")]
    assert len(found) >= 2


def test_blocks_that_do_not_run_here_run_where_their_host_is_tested() -> None:
    """A block marked ``host=NAME`` stands on the page of that host, which `make test-hosts` or `test-spark` runs."""
    for page in PAGES:
        hosts = {found["kind"].partition(" host=")[2] for found in FENCE.finditer(page.read_text(encoding="utf-8"))}
        wanted = re.sub("^(embed-in|evaluate-on)-", "", page.stem)
        assert hosts <= {"", wanted}
        tests = "rankgauge-spark/tests" if wanted == "spark" else f"rankgauge-hosts/tests/on_{wanted}"
        assert not hosts - {""} or (ROOT / "plugins" / tests).is_dir()


def test_the_sample_of_the_file_format_page_can_be_scored() -> None:
    from rankgauge import Engine

    (code,) = blocks(ROOT / "docs/reference/file-formats.md", "yaml sample")
    sample = {**yaml.safe_load(code), "actual_output": ["doc-9", "doc-4"]}
    scores = Engine().dataset([sample]).with_metrics(["recall@5", "judged@2"]).run()
    assert scores["recall@5"].mean == 0.5
    assert scores["judged@2"].mean == 1.0


def test_generated_files_are_fresh() -> None:
    script = runpy.run_path(str(ROOT / "docs/generate.py"))
    stale = [
        str(path.relative_to(ROOT))
        for path, text in script["generated"]().items()
        if path.read_text(encoding="utf-8") != text
    ]
    assert stale == [], "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_files_that_make_a_number_exist() -> None:
    page = (ROOT / "docs/explanation/how-a-number-is-made.md").read_text(encoding="utf-8")
    named = re.findall(r"`(\w+/[\w/]+\.py)`", page)
    assert len(named) > 20
    assert [name for name in named if not (Path(rankgauge.__file__).parent / name).exists()] == []


def test_the_readme_stays_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 200


def test_every_hook_stands_in_the_plugin_reference_with_an_example_that_runs() -> None:
    from rankgauge.plugin import hookspecs

    page = ROOT / "docs/reference/plugins.md"
    text, code = page.read_text(encoding="utf-8"), "\n".join(blocks(page, "python"))
    hooks = [name for name in vars(hookspecs) if name.startswith("rankgauge_")]
    assert len(hooks) >= 8
    assert [name for name in hooks if f"`{name}(" not in text or f"@hookimpl\ndef {name}(" not in code] == []
