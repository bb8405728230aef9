"""
Hooks of the site (`mkdocs.yml`): navigation, pages that stand outside `docs`, and pages of the public names.

Everything is written once, for readers on GitHub: `docs/README.md` lists the pages, `docs/reference/api.md` the names.
Here the list becomes the navigation, each section of names a page with one for each of its classes, and links out of
`docs` lead to pages of the site. Addresses of pages that moved, which the list ends with, lead to where they are now.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

__all__ = [
    "api_pages",
    "moved",
    "navigation",
    "on_config",
    "on_files",
    "on_page_content",
    "on_page_markdown",
    "on_post_build",
    "on_post_page",
    "redirect",
    "site_path",
    "with_links",
    "with_reports",
    "with_titles",
]

ROOT = Path(__file__).parent.parent
_LINK = re.compile(r"\[(?P<title>[^]]+)\]\((?!https?:|mailto:|#)(?P<path>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
_SECTION = re.compile(
    r"^## (?P<title>\S+)\n\n(?P<purpose>.*?)\n\n\| name \| module \| \|\n\|---\|---\|---\|\n(?P<rows>(?:\|.*\n)*)",
    re.MULTILINE,
)
_ROW = re.compile(r"^\| `(?P<name>\w+)` \| `(?P<module>[\w.]+)` \| (?P<summary>.*) \|$", re.MULTILINE)
_SENTENCES = re.compile(r"^```text\n(?P<text>(?:(?!```|.*\S {3,}\S|.*[─│]).*\n)+)```$", re.MULTILINE)
"""A block of output without columns, which may be wrapped."""

_FENCE = re.compile(r"^```(?P<kind>\w+) (?P<words>[^`\n]+)$", re.MULTILINE)
_API = "reference/api.md"
_MOVED_PAGES = "Moved pages"
_MOVED = re.compile(r"^\| `(?P<old>[^`]+\.md)` \| \[[^]]+\]\((?P<path>[^)#]+)(?P<anchor>#[^)]*)?\) \|$", re.MULTILINE)
_META: dict[str, dict[str, Any]] = {
    "README.md": {"hide": ["navigation"]},
    "reference/glossary.md": {"search": {"boost": 2}},  # what a search for a term should find first
    "reference/measures-by-tool.md": {"hide": ["toc"]},  # one wide table
}
_LOADED = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=[\"']?((?:https?:)?//[^\"'\s>]+)")


def on_config(config: Any) -> None:  # noqa: ANN401  # MkDocs is not installed where this is checked
    """Make the list of pages the navigation."""
    config.nav = navigation((ROOT / "docs/README.md").read_text(encoding="utf-8"))


def on_files(files: Any, config: Any) -> None:  # noqa: ANN401  # as above
    """Add the pages outside `docs`, and those of the public names."""
    from mkdocs.structure.files import File

    for source, path in _outside().items():
        if path != "README.md":
            files.append(File.generated(config, path, content=(ROOT / source).read_text(encoding="utf-8")))
    for report in sorted((ROOT / "build/gallery").glob("*.html")):
        files.append(File.generated(config, f"gallery/{report.name}", abs_src_path=str(report)))
    for path, text in api_pages((ROOT / "docs" / _API).read_text(encoding="utf-8")).items():
        files.append(File.generated(config, path, content=text))


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:  # noqa: ANN401  # as above
    """Make links and code blocks of a page work in the site, and let the list of names lead to each."""
    path = page.file.src_uri
    page.meta |= _META.get(path, {})
    text = with_titles(with_links(markdown, path))
    if path == "README.md":
        text = with_reports(text)
    return _with_names(text) if path == _API else text


def on_page_content(html: str, **_: object) -> str:
    """Leave out the mark `::` before an example in a docstring, which means nothing in Markdown."""
    return html.replace("<p>::</p>\n", "")


def on_post_page(output: str, page: Any, **_: object) -> str:  # noqa: ANN401  # as above
    """Refuse a page that would load something from a server; links may lead anywhere."""
    if found := _LOADED.findall(output):
        msg = f"{page.file.src_uri} loads {', '.join(found)}; the site loads nothing from elsewhere"
        raise ValueError(msg)
    return output


def on_post_build(config: Any) -> None:  # noqa: ANN401  # as above
    """Write a page for each that moved, which leads to where it is now."""
    for old, new in moved((ROOT / "docs/README.md").read_text(encoding="utf-8")).items():
        page = Path(config.site_dir) / _address(old)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(redirect(old, new), encoding="utf-8")


def moved(listed: str) -> dict[str, str]:
    """
    Return where pages are that moved.

    Args:
        listed: The text of `docs/README.md`, whose last section is a table of old paths and links.

    Returns:
        By old path in the site, the path with anchor; the section itself for pages that left the site.
    """
    section = f"#{_MOVED_PAGES.lower().replace(' ', '-')}"
    return {
        found["old"]: f"README.md{section}"
        if found["path"].startswith("../design/")
        else site_path(posixpath.normpath(posixpath.join("docs", found["path"]))) + (found["anchor"] or "")
        for found in _MOVED.finditer(listed)
    }


def redirect(old: str, new: str) -> str:
    """
    Return the page at an old address.

    Args:
        old: Its path in the site, as source.

        new: The path of the page that replaces it, with an anchor or without.

    Returns:
        HTML, which works without a server and without scripts.
    """
    path, hash_, anchor = new.partition("#")
    address = posixpath.relpath(_address(path), posixpath.dirname(old) or ".") + hash_ + anchor
    return (
        f'<!doctype html><meta charset="utf-8"><title>Moved</title><meta name="robots" content="noindex">'
        f'<meta http-equiv="refresh" content="0; url={address}"><p>This page moved <a href="{address}">here</a>.</p>\n'
    )


def _address(path: str) -> str:
    folder, name = posixpath.split(path)
    return posixpath.join(folder, "index.html" if name == "README.md" else f"{name.removesuffix('.md')}.html")


def navigation(listed: str) -> list[dict[str, Any]]:
    """
    Return the navigation.

    Args:
        listed: The text of `docs/README.md`: a heading for each tab, a subheading for each group, and links.

    Returns:
        As `nav` in `mkdocs.yml`; the pages of public names stand behind the list of them.
    """
    nav: list[dict[str, Any]] = [{"Home": "README.md"}]
    for tab in re.split(r"^## ", listed, flags=re.MULTILINE)[1:]:
        heading, _, body = tab.partition("\n")
        if heading == _MOVED_PAGES:
            continue
        entries: list[dict[str, Any]] = []
        for at, group in enumerate(re.split(r"^### ", body, flags=re.MULTILINE)):
            name, _, rest = group.partition("\n") if at else ("", "", group)
            pages = [page for found in _LINK.finditer(rest) for page in _entries(found)]
            entries += [{name.partition(":")[0]: pages}] if at else pages
        nav.append({heading.partition(":")[0]: entries})
    return nav


def api_pages(names: str) -> dict[str, str]:
    """
    Return the pages of the public names, for mkdocstrings to fill: one for each section, and one for each class.

    Args:
        names: The text of `docs/reference/api.md`.

    Returns:
        The texts by path in the site.
    """
    pages = {}
    for section in _SECTION.finditer(names):
        classes = _classes(section)
        purpose = with_links(section["purpose"], _API).replace("](", "](../")
        parts = [f"# {section['title']}", purpose]
        if classes:
            folder = posixpath.basename(_api_path(section["title"])).removesuffix(".md")
            rows = [f"| [`{name}`]({folder}/{name.lower()}.md) | {row['summary']} |" for name, row in classes.items()]
            parts.append("\n".join(["| class | |", "|---|---|", *rows]))
        for row in _ROW.finditer(section["rows"]):
            entry = f"::: {row['module']}.{row['name']}"
            if row["name"] in classes:
                pages[_api_path(section["title"], row["name"])] = f"{entry}\n    options:\n      heading_level: 1\n"
            else:
                is_read = row["name"].startswith("__")  # has no definition that could be read
                parts.append(f"## `{row['name']}`\n\n{row['summary']}" if is_read else entry)
        pages[_api_path(section["title"])] = "\n\n".join(parts) + "\n"
    return pages


def _classes(section: re.Match[str]) -> dict[str, re.Match[str]]:
    """Return the rows of names that have a page of their own: classes and types, but where there is one name alone."""
    rows = {row["name"]: row for row in _ROW.finditer(section["rows"])}
    return {name: row for name, row in rows.items() if name[0].isupper() and len(rows) > 1}


def site_path(source: str) -> str:
    """
    Return where a file stands in the site.

    Args:
        source: Its path in the repository.

    Returns:
        Its path below `docs`, or where a page from outside is shown.

    Raises:
        LookupError: The site does not have it.
    """
    if source.startswith("docs/"):
        return source.removeprefix("docs/")
    if source in _outside():
        return _outside()[source]
    msg = f"a page of the documentation links to {source}, which the site does not have; see docs/site_hooks.py"
    raise LookupError(msg)


def with_links(markdown: str, path: str) -> str:
    """
    Return a page with links that work in the site.

    Args:
        markdown: Its text, with links as they work in the repository.

        path: Where it stands in the site.

    Returns:
        The text.
    """
    sources = {shown: source for source, shown in _outside().items() if shown != "README.md"}
    folder = posixpath.dirname(sources.get(path, f"docs/{path}"))

    def led(found: re.Match[str]) -> str:
        source = posixpath.normpath(posixpath.join(folder, found["path"]))
        if source.startswith("design/"):
            return f"{found['title']} (`{source}` in the repository)"
        target = site_path(source)
        relative = posixpath.relpath(target, posixpath.dirname(path) or ".")
        return f"[{found['title']}]({relative}{found['anchor'] or ''})"

    if path.startswith("reference/api/"):
        return markdown  # written here, for the site
    return _LINK.sub(led, markdown)


def with_titles(markdown: str) -> str:
    """
    Return a page whose code blocks have the name of their file as a title.

    Args:
        markdown: Its text; a block of a file starts with its kind and its name, as in "python test_search.py".

    Returns:
        The text, without the other words that tell the tests how to run a block; output in sentences is wrapped.
    """

    def titled(found: re.Match[str]) -> str:
        return f"```{found['kind']}" + (f' title="{found["words"]}"' if "." in found["words"] else "")

    return _SENTENCES.sub(r"```{.text .wrapped}\n\g<text>```", _FENCE.sub(titled, markdown))


def with_reports(markdown: str) -> str:
    """Let the names of reports lead to them; only the site has them."""
    return re.sub(r"`(gallery/([\w-]+)\.html)`", r"[\2](\1)", markdown)


def _outside() -> dict[str, str]:
    """Return the pages outside `docs` by their path in the repository, with their path in the site."""
    pages = {
        name: f"project/{name.lower()}" for name in ("CHANGELOG.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md")
    }
    plugins = {f"plugins/{page.parent.name}/README.md": page.parent.name for page in ROOT.glob("plugins/*/README.md")}
    return {"README.md": "README.md", **pages, **{path: f"project/{name}.md" for path, name in plugins.items()}}


def _entries(found: re.Match[str]) -> list[dict[str, Any]]:
    path = site_path(posixpath.normpath(posixpath.join("docs", found["path"])))
    title = " ".join(found["title"].split())
    if path != _API:
        return [{title: path}]
    entries: list[dict[str, Any]] = [{"All names": path}]
    for section in _SECTION.finditer((ROOT / "docs" / _API).read_text(encoding="utf-8")):
        name = section["title"]
        pages = [{each: _api_path(name, each)} for each in _classes(section)]
        entries.append({name: [{"Overview": _api_path(name)}, *pages] if pages else _api_path(name)})
    return [{title: entries}]


def _api_path(section: str, name: str = "") -> str:
    return f"reference/api/{section.lower()}{f'/{name.lower()}' if name else ''}.md"


def _with_names(markdown: str) -> str:
    """Let each name in the tables of names lead to its entry."""

    def linked(section: re.Match[str]) -> str:
        classes = _classes(section)

        def row_with_link(row: re.Match[str]) -> str:
            path = _api_path(section["title"], row["name"] * (row["name"] in classes)).removeprefix("reference/")
            return f"| [`{row['name']}`]({path}#{_anchor(row)}) | `{row['module']}` | {row['summary']} |"

        page = _api_path(section["title"]).removeprefix("reference/")
        rows = _ROW.sub(row_with_link, section["rows"])
        return (
            section[0]
            .replace(section["rows"], rows)
            .replace(f"## {section['title']}", f"## [{section['title']}]({page})", 1)
        )

    return _SECTION.sub(linked, markdown)


def _anchor(row: re.Match[str]) -> str:
    return row["name"] if row["name"].startswith("__") else f"{row['module']}.{row['name']}"
