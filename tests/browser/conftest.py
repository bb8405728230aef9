"""Reports in a real browser: Debian's Chromium, driven through Playwright, without any network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SCREENSHOTS = Path(__file__).parent.parent.parent / "build" / "browser"
NO_BRACKETS = str.maketrans("[", "-", "]")
PATIENCE = 120_000  # milliseconds; a page of 150,000 characters takes long where much else runs


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Yield a headless Chromium."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path is not None, "there is no Chromium; `make test-browser` says how to install it"
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=options)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """Return axe-core, which a distribution on the package index brings along."""
    import axe_playwright_python

    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")


@pytest.fixture
def opened(browser: Any, tmp_path: Path, request: Any) -> Iterator[Callable[..., Any]]:
    """
    Yield what opens a report; fail for any word on the console, any request but that of the file, and any dialog.

    Of a test that fails, the pages as they were then are left in build/browser.
    """
    troubles: list[str] = []
    pages = []
    failed = request.session.testsfailed

    def show(text: str, *, link: str = "", scheme: str = "light", width: int = 1280) -> Any:
        file = tmp_path / "report.html"
        file.write_text(text, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (troubles.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda sent: None if sent.url.startswith("file:") else troubles.append(f"asked {sent.url}"))
        page.goto(f"{file.as_uri()}{link}")
        page.wait_for_selector("html[data-ready]")
        pages.append((context, page))
        return page

    yield show
    for number, (context, page) in enumerate(pages):
        if request.session.testsfailed > failed:
            SCREENSHOTS.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=str(SCREENSHOTS / f"{request.node.name.translate(NO_BRACKETS)}-{number}.png"))
        context.close()
    assert troubles == []
