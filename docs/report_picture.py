"""
Draw the picture of an HTML report that README shows, from the two systems of the quickstart.

Run it by hand, with Chromium and Playwright as for ``make test-browser``: ``python docs/report_picture.py``.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import rankgauge

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "images" / "report.png"


def main() -> None:
    """Write the picture."""
    from playwright.sync_api import sync_playwright  # only who draws needs it

    quickstart = ROOT / "configs" / "quickstart"
    evaluation = rankgauge.Engine.from_config(quickstart / "rankgauge.yaml").dataset("rag.retrieval")
    evaluation = evaluation.with_metrics(["ndcg@10", "RR", "recall@10", "P@5"])
    names = ("bm25", "char-ngram")
    results = {name: evaluation.with_outputs(quickstart / f"outputs.{name}.jsonl").run() for name in names}
    page_text = rankgauge.html_report(results)
    PICTURE.parent.mkdir(exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "report.html"
        file.write_text(page_text, encoding="utf-8")
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        page = browser.new_page(viewport={"width": 1240, "height": 1180})
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")
        page.screenshot(path=str(PICTURE))
        browser.close()
    print(f"wrote {PICTURE.relative_to(ROOT)}, {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
