"""README and docs: what they show runs, what is generated is fresh, and links lead somewhere."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import shutil
import sys
import tomllib
from collections import Counter
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import yaml

import rankgauge
from draws import is_thorough, some
from rankgauge.catalog import Catalog
from rankgauge.catalog.loading import _HOOKS
from rankgauge.catalog.trec_eval import expand
from rankgauge.cli import call as _call
from rankgauge.config import load_config
from rankgauge.engine.runs import plan_run
from rankgauge.plugin import hookimpl
from rankgauge.testing import check_plugin

ROOT = Path(__file__).parents[2]
DESIGN = sorted(ROOT.glob("design/*.md"))
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"), *DESIGN])
BESIDE = sorted([ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", *ROOT.glob("plugins/*/README.md")])
"""Pages that only have their links checked: they stand in the site, too."""

HOOKS = {declared: hook for hook, (_, declared) in _HOOKS.items()}
MAP = ROOT / "design/how-a-number-is-made.md"
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


@pytest.mark.parametrize("page", some(sorted({*with_blocks("python"), *with_blocks("sh")})), ids=name_of)
def test_a_page_runs_as_its_reader_runs_it(
    page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """
    Block after block, in one folder; assertions in Python are the expectations.

    A `text` block right behind a block shows what that prints: it may leave out lines, and change none. What a page
    declares obeys the laws, as any plugin should; that takes seconds, and is left to the thorough suite.
    """
    monkeypatch.setenv("COLUMNS", "160")
    scores = {"metrics": {"ndcg@10": {"mean": 0.5}}}
    (folder / "scores.json").write_text(json.dumps(scores), encoding="utf-8")
    module = ModuleType("docs_page")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    text = page.read_text(encoding="utf-8")
    end, printed = -1, list[str]()
    for found in FENCE.finditer(text):
        if found["kind"] == "text" and end >= 0 and not text[end : found.start()].strip():
            assert [line for line in found["code"].splitlines() if line.rstrip() not in printed] == []
        end = found.end() if found["kind"] in {"python", "sh"} else -1
        if found["kind"] == "python":
            name = f"{page.name}, line {text.count(chr(10), 0, found.start()) + 2}"
            exec(compile(found["code"], name, "exec"), vars(module))  # noqa: S102  # our own pages
        elif found["kind"] == "sh":
            run(found["code"])
        printed = [line.rstrip() for line in "".join(capsys.readouterr()).splitlines()]
    if is_thorough() and (declared := plugin_of(module)):
        check_plugin(declared, cases=15).raise_if_broken()


def run(commands: str) -> None:
    """Run commands, each to the exit code behind it; a `make` target runs these tests, so it only needs to exist."""
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for line in commands.splitlines():
        command = shlex.split(line, comments=True)
        if command[:1] == ["make"]:
            assert command[1] in targets
        else:
            assert command[0] == "rankgauge"
            expected = re.search(r"# exit code (\d)", line)
            assert _call(command[1:], debug=expected is None) == int(expected[1] if expected else 0)


def plugin_of(module: ModuleType) -> SimpleNamespace | None:
    """Return a plugin that offers all that a module declares by hooks; None if that is nothing."""
    offers: dict[str, list[object]] = {}
    for value in vars(module).values():
        hook = HOOKS.get(type(getattr(value, "__rankgauge__", None)))
        if hook is not None:
            offers.setdefault(hook, []).append(value)
    hooks = {name: hookimpl(specname=name)(lambda found=found: found) for name, found in offers.items()}
    return SimpleNamespace(__name__=module.__name__, **hooks) if hooks else None


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
    """Blocks marked ``host=NAME`` are on the pages that `make test-hosts` or `test-spark` runs."""
    of_spark = {"evaluate-on-spark": "spark", "past-one-machine": "dask"}
    for page in PAGES:
        for found in FENCE.finditer(page.read_text(encoding="utf-8")):
            host = found["kind"].partition(" host=")[2]
            if host and page.stem in of_spark:
                assert host == of_spark[page.stem]
            elif host:
                assert page.stem == "inside-your-platform"
                assert (ROOT / f"plugins/rankgauge-hosts/tests/on_{host}").is_dir()


def test_the_sample_of_the_file_format_page_can_be_scored() -> None:
    from rankgauge import Engine

    (code,) = blocks(ROOT / "docs/reference/file-formats.md", "yaml sample")
    sample = {**yaml.safe_load(code), "actual_output": ["doc-9", "doc-4"]}
    scores = Engine().dataset([sample]).with_metrics(["recall@5", "judged@2"]).run()
    assert scores["recall@5"].mean == 0.5
    assert scores["judged@2"].mean == 1.0


def test_every_form_of_the_file_format_page_can_be_scored() -> None:
    """One of two relevant documents is retrieved at rank 1; in forms with texts the first item or answer is right."""
    from rankgauge import Engine

    (code,) = blocks(ROOT / "docs/reference/file-formats.md", "jsonl forms")
    of_texts = {"passages": "recall(gold=passages)@1", "spans": "span_recall@1", "nuggets": "vital_nuggets"}
    for sample in map(json.loads, code.splitlines()):
        gold = sample["expected_output"]
        metric, score = "recall@5", 0.5
        if isinstance(gold, str):
            metric, score = "containment@1", 1.0
        elif metrics := [name for kind, name in of_texts.items() if kind in gold]:
            metric, score = metrics[0], 1.0
        assert Engine().dataset([sample]).with_metrics(metric).run()[metric].mean == score, sample["id"]


def test_generated_files_are_fresh() -> None:
    script = runpy.run_path(str(ROOT / "docs/generate.py"))
    stale = [str(path) for path, text in script["generated"]().items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run `make docs`"


@pytest.mark.parametrize("page", [*PAGES, *BESIDE], ids=name_of)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", FENCE.sub("", page.read_text(encoding="utf-8")))
    assert [path for path, _ in links if not (page.parent / path).exists()] == []
    assert [
        f"{path}#{anchor}"
        for path, anchor in links
        if anchor and anchor not in anchors(page.parent / path if path else page)
    ] == []


def anchors(page: Path) -> set[str]:
    """Return where links into a page can lead, as on GitHub: each heading in small letters, with `-` for a blank."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_file_on_the_map_exists() -> None:
    page = MAP.read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w+/)*\w+\.(?:py|html))`", page)
    assert len(named) > 100
    assert [name for name in named if not (Path(rankgauge.__file__).parent / name).is_file()] == []


@pytest.mark.parametrize("page", [*DESIGN, ROOT / "CONTRIBUTING.md"], ids=name_of)
def test_every_file_of_the_source_that_a_page_names_exists(page: Path) -> None:
    named = re.findall(r"`((?:\w+/)+\w+\.py)`", page.read_text(encoding="utf-8"))
    places = [ROOT, Path(rankgauge.__file__).parent]
    assert [name for name in named if not any((place / name).is_file() for place in places)] == []


def test_every_function_on_the_map_stands_in_the_file_before_it() -> None:
    _, _, page = MAP.read_text(encoding="utf-8").partition("## Where to change what")
    rows = re.findall(r"^\| .+ \| (.+) \|$", page, re.MULTILINE)
    assert len(rows) > 20
    for name, functions in re.findall(r"`([\w/]+\.py)` \(([^)]*)\)", " ".join(rows)):
        text = (Path(rankgauge.__file__).parent / name).read_text(encoding="utf-8")
        named = re.findall(r"`(\w+)`", functions)
        assert [each for each in named if not re.search(rf"^(?:def |class )?{each}\b", text, re.MULTILINE)] == []


def test_the_map_has_every_room_with_what_it_may_import() -> None:
    """The rows stand in the order of the layers; the first room of each says from which room on it may import."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = project["tool"]["importlinter"]["contracts"][0]
    layers = [[room.strip().removeprefix("rankgauge.") for room in layer.split("|")] for layer in contract["layers"]]
    below = [
        "everything below",
        *(f"`{layer[0]}` and below" for layer in layers[2:-1]),
        f"`{layers[-1][0]}`",
        "nothing",
    ]
    expected = [
        (room, text if room == layer[0] or text == "nothing" else f"as `{layer[0]}`")
        for layer, text in zip(layers, below, strict=True)
        for room in layer
    ]
    _, _, page = MAP.read_text(encoding="utf-8").partition("## The rooms")
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \| [^|]+ \|$", page, re.MULTILINE)
    assert [(room, said.removesuffix(", but not `io`")) for room, said in rows] == expected
    here = {path.stem for path in Path(rankgauge.__file__).parent.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert {room for room, _ in rows} == here - {"__init__", "__main__", "__pycache__"}


def test_no_name_of_a_file_occurs_more_than_twice() -> None:
    names = Counter(path.name for path in Path(rankgauge.__file__).parent.rglob("*.py"))
    assert [name for name, times in names.items() if times > 2 and name != "__init__.py"] == []


def test_every_term_of_the_glossary_has_one_heading() -> None:
    """A link can lead to a term, and a search finds it."""
    page = (ROOT / "docs/reference/glossary.md").read_text(encoding="utf-8")
    terms = re.findall("^### (.+)$", page, re.MULTILINE)
    assert len(terms) > 70
    assert [term for term in terms if terms.count(term) > 1] == []
    assert re.findall(r"^\*\*.+", page, re.MULTILINE) == [], "write the term as a heading of level 3"


def test_the_readme_stays_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 200


def test_every_hook_stands_in_the_plugin_reference_with_an_example_that_runs() -> None:
    from rankgauge.plugin import hookspecs

    page = ROOT / "docs/reference/plugins.md"
    text, code = page.read_text(encoding="utf-8"), "\n".join(blocks(page, "python"))
    hooks = [name for name in vars(hookspecs) if name.startswith("rankgauge_")]
    assert len(hooks) >= 8
    kernel = hooks.pop(hooks.index("rankgauge_kernel"))  # no part of the plugin API
    assert f"`{kernel}()`" in (ROOT / "plugins/rankgauge-fast/README.md").read_text(encoding="utf-8")
    assert [name for name in hooks if f"`{name}(" not in text or f"@hookimpl\ndef {name}(" not in code] == []


def test_every_name_in_the_table_of_measures_is_read() -> None:
    """All spellings of the first column, that of trec_eval; the metrics behind them are compared elsewhere."""
    _, _, page = (ROOT / "docs/reference/expressions.md").read_text(encoding="utf-8").partition("## trec_eval's")
    cells = re.findall(r"^\| ([^|]*`[^|]*) \|", page, re.MULTILINE)
    names = [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]
    assert len(names) > 20
    catalog = Catalog.discover(own_only=True)
    for column in expand(names, catalog.built_in):
        assert column.spec is None or plan_run([column.spec], catalog=catalog).metrics


def test_the_quickstart_names_every_file_that_init_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert _call(["init", "new"]) == 0
    page = (ROOT / "docs/tutorial/quickstart.md").read_text(encoding="utf-8")
    assert [file.name for file in (tmp_path / "new").iterdir() if f"`{file.name}`" not in page] == []


def test_no_two_pages_of_a_path_write_the_same_file() -> None:
    """A reader goes on in the same folder, where a command refuses to replace what an earlier one wrote."""
    pages = [ROOT / "docs/tutorial/decide.md", ROOT / "docs/how-to/judge-more.md"]
    written = [
        name
        for page in pages
        for name in re.findall(r"^rankgauge .* (?:-o|--save-baseline) (\S+)", page.read_text("utf-8"), re.MULTILINE)
    ]
    assert len(written) == len(set(written))
