"""The site: its navigation, its pages of public names, and links that work on GitHub and in the site."""

from __future__ import annotations

import importlib
import re
import runpy
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rankgauge

ROOT = Path(__file__).parents[2]
API = SimpleNamespace(**runpy.run_path(str(ROOT / "docs/api.py")))
SITE = SimpleNamespace(**runpy.run_path(str(ROOT / "docs/site_hooks.py")))
IMPORTABLE = [module for module in API.MODULES if not module.startswith(("rankgauge_hosts.", "rankgauge_spark"))]


def listed(nav: Any) -> list[str]:
    """Return the pages of a navigation, in order."""
    if isinstance(nav, str):
        return [nav]
    return [page for entry in (nav.values() if isinstance(nav, dict) else nav) for page in listed(entry)]


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def test_every_page_is_listed_once() -> None:
    pages = Counter(listed(SITE.navigation(text_of("docs/README.md"))))
    here = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    named = here - {"README.md"} | set(SITE.api_pages(text_of("docs/reference/api.md")))
    assert sorted(named - set(pages)) == [], "list the page in docs/README.md, below one of its headings"
    assert [page for page, times in pages.items() if times > 1 and page != "README.md"] == []


def test_headings_become_tabs_and_groups() -> None:
    """What stands above the first heading is no part of the navigation."""
    text = "# Home\n[x](a.md)\n## Learn: how\n- [One](a.md): y.\n### More\n- [two\n  words](b.md#c), [API](d.md)\n"
    assert SITE.navigation(text) == [
        {"Home": "README.md"},
        {"Learn": [{"One": "a.md"}, {"More": [{"two words": "b.md"}, {"API": "d.md"}]}]},
    ]


def test_pages_that_moved_lead_to_pages_that_are_there() -> None:
    """That the links of the table lead somewhere, anchors included, is tested with all others."""
    moved = SITE.moved(text_of("docs/README.md"))
    rows = re.findall(r"^\| `\S+\.md` \| \[", text_of("docs/README.md").partition("## Moved pages")[2], re.MULTILINE)
    assert len(moved) == len(rows) > 0
    assert [old for old in moved if (ROOT / "docs" / old).exists()] == []


def test_old_addresses_redirect(tmp_path: Path) -> None:
    text = (
        "## Moved pages\n\n| page | now |\n|---|---|\n| `how-to/a.md` | [x](how-to/b.md#c) |\n"
        "| `old.md` | [y](../SECURITY.md) |\n| `explanation/z.md` | [z](../design/z.md) |\n"
    )
    assert SITE.navigation(text) == [{"Home": "README.md"}]
    assert SITE.moved(text) == {
        "how-to/a.md": "how-to/b.md#c",
        "old.md": "project/security.md",
        "explanation/z.md": "README.md#moved-pages",
    }
    assert '<a href="b.html#c">' in SITE.redirect("how-to/a.md", "how-to/b.md#c")
    assert 'url=../index.html#moved-pages"' in SITE.redirect("explanation/z.md", "README.md#moved-pages")
    SITE.on_post_build(SimpleNamespace(site_dir=str(tmp_path)))
    assert {str(page.relative_to(tmp_path).with_suffix(".md")) for page in tmp_path.rglob("*.html")} == set(
        SITE.moved(text_of("docs/README.md"))
    )


@pytest.mark.parametrize("section", API.SECTIONS, ids=lambda section: section.title)
def test_every_section_has_a_page_with_an_entry_for_every_name(section: Any) -> None:
    pages = SITE.api_pages(text_of("docs/reference/api.md"))
    of_section = f"reference/api/{section.title.lower()}"
    page = pages[f"{of_section}.md"]
    entries = re.findall(r"^(?:::: (\S+)|## `(\w+)`)$", page, re.MULTILINE)
    of_classes = {path: text for path, text in pages.items() if path.startswith(f"{of_section}/")}
    entries += [(text.split()[1], "") for text in of_classes.values()]
    expected = [
        f"{module}.{name}"
        for module, names in section.names.items()
        for name in (API.exported(module) if names is None else names)
    ]
    assert sorted(full or f"rankgauge.{name}" for full, name in entries) == sorted(expected)
    assert [path.rsplit("/", 1)[1] for path in of_classes] == re.findall(r"\]\([\w.]+/(\w+\.md)\) \|", page)


def test_evaluating_comes_first() -> None:
    titles = re.findall("^## (.+)$", text_of("docs/reference/api.md"), re.MULTILINE)
    assert titles[:7] == ["Evaluate", "Compare", "Gate", "Explain", "Threshold", "Funnel", "Report"]
    assert titles[7:13] == ["Files", "History", "Scale", "Labels", "Systems", "Errors"]
    page = SITE.api_pages(text_of("docs/reference/api.md"))["reference/api/evaluate.md"]
    assert re.findall(r"^::: (\S+)$", page, re.MULTILINE) == ["rankgauge.evaluate"]  # the only function


@pytest.mark.parametrize("module", API.MODULES)
def test_every_public_name_has_a_docstring(module: str) -> None:
    assert [each.name for each in API.public_names(module) if not each.doc.strip()] == []


@pytest.mark.parametrize("module", IMPORTABLE)
def test_the_names_read_from_the_source_are_those_of_the_module(module: str) -> None:
    found = importlib.import_module(module)
    names = API.public_names(module)
    assert len({each.name for each in names}) == len(names)
    assert API.exported(module) == found.__all__
    assert {each.name for each in names} <= set(found.__all__)
    for each in names:
        if each.kind != "value":
            assert isinstance(getattr(found, each.name), type) == (each.kind == "class")


def test_every_name_at_the_top_is_in_a_section() -> None:
    assert sorted(each.name for each in API.public_names("rankgauge")) == sorted(rankgauge.__all__)


def test_no_public_docstring_has_markup_of_another_language() -> None:
    """Docstrings are Markdown, where roles such as :class: would be shown as they are."""
    texts = {f"{module}.{each.name}": each.doc for module in API.MODULES for each in API.public_names(module)}
    assert [name for name, doc in texts.items() if re.search(r":\w+:`", doc)] == []


def test_the_mark_before_an_example_is_not_shown() -> None:
    assert SITE.on_page_content("<p>Compare.</p>\n<p>::</p>\n<pre>x</pre>") == "<p>Compare.</p>\n<pre>x</pre>"


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("README.md", "../SECURITY.md", "project/security.md"),
        ("how-to/match-by-text.md", "../../plugins/rankgauge-semantic/README.md", "../project/rankgauge-semantic.md"),
        ("how-to/match-by-text.md", "../reference/policy.md#ties", "../reference/policy.md#ties"),
        ("project/contributing.md", "docs/reference/glossary.md", "../reference/glossary.md"),
        ("project/rankgauge-semantic.md", "../../README.md", "../README.md"),
    ],
)
def test_links_lead_to_pages_of_the_site(page: str, link: str, expected: str) -> None:
    assert SITE.with_links(f"See [this\npage]({link}).", page) == f"See [this\npage]({expected})."


def test_links_elsewhere_stay_and_links_to_nothing_are_an_error() -> None:
    kept = "[a](#here) [b](https://example.org/x.md) [c](mailto:x@example.org)"
    assert SITE.with_links(kept, "how-to/x.md") == kept
    with pytest.raises(LookupError, match=r"links to src/x\.py, which the site does not have"):
        SITE.with_links("[d](../../src/x.py)", "how-to/x.md")


@pytest.mark.parametrize(
    "tag",
    [
        '<script src="https://example.org/x.js">',
        '<link rel="stylesheet" href="//example.org/x.css">',
        "<img alt=a src=http://example.org/x.png>",
    ],
)
def test_a_page_that_loads_something_from_a_server_is_refused(tag: str) -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="how-to/x.md"))
    with pytest.raises(ValueError, match=r"how-to/x\.md loads .*example\.org/x"):
        SITE.on_post_page(f"<p>{tag}</p>", page)


def test_a_page_may_link_anywhere_and_load_its_own() -> None:
    html = (
        '<a href="https://example.org">x</a><script src="../iframe-worker.js"></script><img src="data:image/svg+xml,x">'
    )
    assert SITE.on_post_page(html, SimpleNamespace()) == html


def test_blocks_of_files_have_titles() -> None:
    text = "```python test_x.py\nx\n```\n\n```sh host=ragas\ny\n```\n\n```json\nz\n```\n"
    assert SITE.with_titles(text) == ('```python title="test_x.py"\nx\n```\n\n```sh\ny\n```\n\n```json\nz\n```\n')


def test_output_in_sentences_is_wrapped_and_a_table_is_not() -> None:
    sentences, table = "no difference shown\n\n36 pairs detect .1\n", "metric     mean\nrr         0.5\n"
    shown = SITE.with_titles(f"```text\n{sentences}```\n\n```text\n{table}```\n\n```text\na\n──\n```\n")
    assert shown == f"```{{.text .wrapped}}\n{sentences}```\n\n```text\n{table}```\n\n```text\na\n──\n```\n"


def test_the_gallery_has_the_reports_that_its_page_names(tmp_path: Path) -> None:
    gallery = SimpleNamespace(**runpy.run_path(str(ROOT / "docs/gallery.py")))
    gallery.main(tmp_path)
    page = text_of("docs/README.md")

    assert sorted(re.findall(r"`gallery/([\w-]+)\.html`", page)) == sorted(gallery.REPORTS)
    assert "[two-systems](gallery/two-systems.html)" in SITE.with_reports(page)
    one, two, five = ((tmp_path / f"{name}.html").read_text("utf-8") for name in gallery.REPORTS)
    assert "1 of 2 gates failed." in one
    assert "bm25" in two
    assert "char-ngram" in two
    assert [five.count(f'data-of-run="{run}"') for run in range(5)] == [1] * 5
