"""What axe-core finds in reports, and what they are like without colours, scripts or a wide screen."""

from __future__ import annotations

import pytest

from browser.reports import page_of_runs, page_of_samples, page_of_stages

WIDTHS, SCHEMES = [375, 768, 1280, 2560], ["light", "dark"]
REPORTS = {
    "two": page_of_runs,
    "four": lambda: page_of_runs(40, 4),
    "samples": page_of_samples,
    "stages": page_of_stages,
}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", REPORTS)
def test_axe_finds_no_violation(opened, axe, name, width, scheme):
    page = opened(REPORTS[name](), scheme=scheme, width=width)
    page.evaluate(axe)
    for _ in ("as it opens", "with a metric of answers, where there is one"):
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
        assert found["passes"], "nothing was checked"
        assert [(each["id"], [node["html"][:120] for node in each["nodes"]]) for each in found["violations"]] == []
        page.select_option("#metric", "1")


@pytest.mark.parametrize("width", [320, 375, 641, 768, 861, 1001, 1121, 1241, 1280, 1560, 1900, 2560])
@pytest.mark.parametrize("name", REPORTS)
def test_nothing_is_wider_than_the_screen_or_cut(opened, name, width):
    page = opened(REPORTS[name](), width=width)

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#mt").evaluate("one => one.scrollWidth <= one.parentElement.clientWidth")
    for cell in page.locator("#mt tbody tr").first.locator("td").all():
        assert cell.is_visible()
    assert page.locator("#mt .iv").first.is_visible()
    assert width < 375 or all(
        size >= 11
        for size in page.evaluate("""() => [...document.querySelectorAll("#answers text, .curve text")]
        .filter((text) => text.getBoundingClientRect().width)
        .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)""")
    )


@pytest.mark.parametrize("width", [375, 640, 1280])
def test_numbers_stand_under_the_name_of_their_run(opened, width):
    page = opened(page_of_samples(), width=width)
    places = page.evaluate("""() => {
      const box = (cell) => cell.getBoundingClientRect();
      const cells = [...document.querySelector("#table tbody tr[data-i]").children].map(box);
      return [...document.querySelectorAll("#table thead th")].map((head, at) =>
        [head.title, box(head).width > 0, cells[at].width > 0, Math.abs(box(head).right - cells[at].right)]);
    }""")

    assert {"old", "new", "Difference"} <= {name for name, is_seen, *_ in places if is_seen}
    for name, is_head, is_cell, apart in places:
        assert is_head == is_cell, name
        assert not is_head or apart < 2, name


def test_without_scripts_nothing_dead_is_shown(browser, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(page_of_samples(), encoding="utf-8")
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(file.as_uri())

    assert "do not show a difference" in page.inner_text("h1") or "better" in page.inner_text("h1")
    assert page.locator("#mt tbody tr").count() == 3
    assert page.is_visible("#cohorts")
    assert page.is_visible(".curve svg")
    for control in page.locator("button, input, select, [role=slider]").all():
        assert not control.is_visible()
    assert "need it" in page.inner_text("noscript")
    page.close()


def test_colours_of_more_than_two_runs_differ_and_so_do_their_dashes(opened):
    page = opened(page_of_runs(40, 4))
    seen = page.evaluate("""() => [...document.querySelectorAll(".curve:first-child path.ln")].map((line) => {
      const style = getComputedStyle(line); return [style.stroke, style.strokeDasharray]; })""")

    assert len({colour for colour, _ in seen}) == len({dash for _, dash in seen}) + 1 == 4  # two are solid
