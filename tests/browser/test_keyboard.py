"""Every control of a report by keyboard: reached, used, and left again."""

from __future__ import annotations

import pytest

from browser.reports import laid_out, of_samples, page_of_runs, page_of_samples

FOCUSED = """() => {
  const one = document.activeElement;
  if (one === document.body) return "";
  if (one.dataset.seen) return "again";
  one.dataset.seen = "yes";
  return one.id || `${one.tagName} ${one.className} ${one.textContent.slice(0, 40)}`;
}"""


@pytest.mark.parametrize("count", [12, 400])
def test_tab_goes_from_the_first_control_to_the_last_and_out(opened, count):
    page = opened(page_of_runs(count, 3))
    seen = []
    for _ in range(200):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        if not focused:
            break
        seen.append(focused)

    assert not focused, seen[-5:]
    assert "again" not in seen
    assert seen[0].startswith("A skip")
    wanted = ["run", "metric", "bars", "search", "copy", "scroll", "prev", "next", "plot"]
    assert [name for name in seen if name in wanted] == wanted
    assert sum(name.startswith("DIV walk") for name in seen) == 3  # the curves


@pytest.mark.parametrize("results", [of_samples, lambda: of_samples()["old"]])
def test_tab_leaves_reports_with_filters_texts_and_one_run_only(opened, results):
    page = opened(laid_out(results()))
    seen = []
    while len(seen) < 200:
        page.keyboard.press("Tab")
        seen.append(page.evaluate(FOCUSED))
        if not seen[-1]:
            break

    assert not seen[-1], seen[-5:]
    assert "again" not in seen
    assert {"search", "tag", "copy", "scroll", "bars"} <= set(seen)


def test_shift_tab_goes_all_the_way_back(opened):
    page = opened(page_of_runs(40))
    page.locator(".walk").last.focus()
    for _ in range(200):
        page.keyboard.press("Shift+Tab")
        focused = page.evaluate(FOCUSED)
        if focused.startswith("A skip"):
            return
        assert focused != "again"
    pytest.fail("the first control is not reached")


def test_arrow_keys_walk_over_the_list_beyond_what_is_drawn_and_enter_opens(opened):
    page = opened(page_of_runs(400))
    page.click("#table thead button >> nth=0")
    page.focus("#scroll")
    for _ in range(100):
        page.keyboard.press("ArrowDown")

    assert page.evaluate("document.activeElement.textContent") == "q0099"
    assert page.evaluate("""() => {
        const [row, box] = [document.activeElement, document.querySelector(".scroll")]
          .map((one) => one.getBoundingClientRect());
        return row.top >= box.top && row.bottom <= box.bottom; }""")
    page.keyboard.press("Enter")
    assert page.inner_text("#one-h") == "q0099"
    assert page.evaluate("document.activeElement.id") == "one-h"
    page.focus("#scroll")
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.textContent") == "q0399"
    page.keyboard.press("Home")
    assert page.evaluate("document.activeElement.textContent") == "q0000"


def test_scrolling_the_list_keeps_the_focus(opened):
    page = opened(page_of_runs(400))
    page.locator("#table tbody a").first.focus()
    page.evaluate("document.getElementById('scroll').scrollTop = 100")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate("document.activeElement.tagName") == "A"
    page.evaluate("document.getElementById('scroll').scrollTop = 8000")
    page.wait_for_function("() => document.activeElement.id === 'scroll'")  # its row is not drawn any more


def test_curves_and_points_are_read_by_arrow_keys(opened):
    page = opened(page_of_runs())
    page.locator(".walk").first.focus()
    page.keyboard.press("Home")
    assert page.locator(".curve h3 .k").all_inner_texts() == ["1", "1", "1"]
    assert page.locator(".walk").first.get_attribute("aria-valuetext").startswith("at 1: run0 0.000, run1 ")
    page.keyboard.press("ArrowRight")
    assert page.locator(".curve h3 .k").first.inner_text() == "2"

    page.focus("#plot")
    page.keyboard.press("End")
    assert page.get_attribute("#plot", "aria-valuenow") == "40"
    assert page.inner_text("#pointed").startswith("q0038 +")
    assert page.is_visible(".ring")
    page.keyboard.press("Enter")
    assert page.inner_text("#one-h") == "q0038"


def test_the_row_of_an_empty_list_clears_what_hides_the_samples(opened):
    page = opened(page_of_samples())
    page.fill("#search", "nothing has this")
    assert "No sample matches." in page.inner_text("#table")
    page.locator("#table tbody button").focus()
    page.keyboard.press("Enter")
    assert page.inner_text("#count") == "40 samples"
    assert page.input_value("#search") == ""


def test_letters_open_the_next_and_previous_sample_but_are_typed_where_one_types(opened):
    page = opened(page_of_runs())
    page.focus("#prev")
    page.keyboard.press("j")
    page.keyboard.press("j")
    third = page.inner_text("#one-h")
    page.keyboard.press("k")
    second = page.inner_text("#one-h")

    assert [second, third] == page.locator("#table tbody a").all_inner_texts()[1:3]
    page.focus("#search")
    page.keyboard.press("j")
    assert page.input_value("#search") == "j"
    assert page.inner_text("#one-h") == second
