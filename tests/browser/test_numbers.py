"""Every number of a report against the JSON of the same results, on the screen and on paper."""

from __future__ import annotations

import io
import json
import re
from collections import Counter

import pytest

import rankgauge
from browser.reports import laid_out, of_runs, of_samples, page_of_runs, page_of_samples, page_of_stages

MINUS = "\N{MINUS SIGN}"


def number(text):
    return float(text.replace(MINUS, "-").replace(",", ""))


def numbers_in(text):
    """Return the numbers with a decimal point that a text has, each with its sign."""
    return re.findall(r"[+\u2212-]?\d+\.\d+", text)


def table(page, where):
    """Return the rows of a table as mappings of the texts of its heads."""
    heads = [" ".join(head.inner_text().split()) for head in page.locator(f"{where} thead th").all()]
    return [
        dict(zip(heads, [cell.inner_text() for cell in row.locator("th, td").all()], strict=True))
        for row in page.locator(f"{where} tbody tr").all()
    ]


@pytest.mark.parametrize("results", [of_runs, of_samples])
def test_every_number_of_a_comparison_is_that_of_its_json(opened, results):
    page = opened(laid_out(results()))
    comparison = json.loads(json.dumps(rankgauge.compare(results()).to_dict()))
    (pair,) = comparison["comparisons"]
    rows = page.locator("#mt tbody tr").all()

    assert len(rows) == len(pair["metrics"])
    for place, (row, metric) in enumerate(zip(rows, pair["metrics"].values(), strict=True)):
        verdict, before, after, change, _, worse, same, better, p = [
            cell.inner_text() for cell in row.locator("td").all()
        ]
        assert verdict == metric["verdict"]
        assert number(before.split()[0]) == round(metric["baseline_mean"], 3)
        assert number(after.split()[0]) == round(metric["mean"], 3)
        numbers = [number(part) for part in re.findall(r"[+\u2212]?\d\.\d+", change)]
        assert numbers == [round(each, 3) for each in (metric["difference"], *(metric["interval"] or ()))]
        assert [number(each) for each in (worse, same, better)] == [metric[c] for c in ("losses", "ties", "wins")]
        assert p.startswith("<") or number(p) == pytest.approx(metric["p_adjusted"], abs=5e-4)

        page.select_option("#metric", str(place))
        heading = [
            number(part) for part in re.findall(r"(?:on|worse on|same on) ([\d,]+)", page.inner_text("#samples-h"))
        ]
        assert heading == [metric["wins"], metric["losses"], metric["ties"]]
        assert page.locator("#answers .big:visible").all_text_contents() == [
            f"{metric[count]:,}" for count in ("losses", "ties", "wins")
        ]


def test_every_sample_has_the_scores_of_its_result(opened):
    page = opened(page_of_runs())
    before, after = of_runs().values()
    for place, name in enumerate(before.metrics):
        page.select_option("#metric", str(place))
        page.locator("#table thead button").first.click()
        for row in table(page, "#table")[:30]:
            at = list(before.sample_ids).index(row["Sample \N{UPWARDS ARROW}"])
            assert number(row["run0"]) == round(float(before[name].values[at]), 3)
            assert number(row["run1"]) == round(float(after[name].values[at]), 3)


def test_numbers_of_one_run_are_those_of_its_summary(opened):
    result = of_samples()["old"]
    page = opened(laid_out(result))
    for row, column in zip(table(page, "#mt"), result.metrics.values(), strict=True):
        mean, spread = row["Mean"].split()
        assert number(mean) == round(column.mean, 3)
        if spread.startswith("\N{PLUS-MINUS SIGN}"):
            low, high = column.estimate.interval(0.95)
            assert number(spread[1:]) == round((high - low) / 2, 3)
        else:  # an interval that is not symmetric is written by its ends
            ends = spread.split("\N{EN DASH}")
            assert list(map(number, ends)) == [round(end, 3) for end in column.interval()]
        assert number(row["Std. deviation"]) == round(column.std, 3)
        assert [number(row[head]) for head in ("Samples", "Undefined", "Missing or failed")] == [
            column.n,
            column.n_undefined,
            column.n_missing + column.n_failed,
        ]


def test_paper_has_every_bar_and_the_numbers_of_the_screen(opened):
    page = opened(page_of_samples())
    texts = "() => [...document.querySelectorAll('#mt td, h1, #answers dd, .heat td')].map((one) => one.textContent)"
    on_screen = page.evaluate(texts)
    bars = page.locator("#bars path").evaluate_all(
        "all => all.map((one) => one.getAttribute('d').split('M').length - 1)"
    )
    page.set_viewport_size({"width": 688, "height": 1000})  # A4 without its margins
    page.emulate_media(media="print")
    page.wait_for_function("() => document.querySelector('details').open")

    assert page.evaluate(texts) == on_screen
    assert sum(bars) == 39  # one sample is undefined
    drawn = page.locator("#bars path").evaluate_all(
        "all => all.map((one) => one.getAttribute('d').split('M').length - 1)"
    )
    assert sum(drawn) == 39
    right = page.evaluate(
        "Math.max(...[...document.querySelectorAll('#bars path, #mt td, .heat td')]"
        ".map((one) => one.getBoundingClientRect().right))"
    )
    assert right <= 688
    for where in ("#mt .iv", "#mt .pm", ".fold table", "#printed", "#cohorts"):
        assert page.locator(where).first.is_visible(), where
    assert "40 samples" in page.inner_text("#printed")
    page.emulate_media(media="screen")
    page.wait_for_function("() => !document.querySelector('details').open")
    assert not page.is_visible("#printed")


def test_it_becomes_a_pdf_with_every_bar(opened):
    page = opened(page_of_runs())
    page.evaluate("""() => addEventListener("beforeprint", () => {
      const boxes = [...document.querySelectorAll("#bars path")].map((one) => one.getBBox());
      const edges = boxes.map((box) => box.x + box.width);
      document.body.dataset.edge = String(Math.max(...edges));
    })""")
    assert page.pdf(format="A4").startswith(b"%PDF")
    assert 600 < float(page.evaluate("document.body.dataset.edge")) <= 688


@pytest.mark.parametrize("report", [page_of_samples, lambda: page_of_runs(40, 4), page_of_stages])
def test_a_pdf_says_what_the_screen_says(opened, report):
    import pypdf

    page = opened(report())
    shown = "h1, .chip, .trouble, #board td, #mt td, #answers dd, .heat td, #funnel td, #funnel .step, #one .rank .n"
    texts = page.evaluate(
        "(shown) => [...document.querySelectorAll(shown)].filter((one) => one.offsetParent)"
        ".map((one) => one.textContent)",
        shown,
    )
    pdf = pypdf.PdfReader(io.BytesIO(page.pdf(format="A4")))
    printed = Counter(word for sheet in pdf.pages for word in numbers_in(sheet.extract_text()))
    wanted = Counter(word for text in texts for word in numbers_in(text))

    assert len(wanted) > 20
    assert wanted - printed == Counter()


def test_fifty_thousand_queries_open_and_are_searched(opened):
    page = opened(page_of_runs(50_000))

    assert page.inner_text("#count") == "50,000 samples"
    page.fill("#search", "q49")
    assert page.inner_text("#count").startswith("1,100 of 50,000 samples")  # q4900 to q4999, and q49000 to q49999
    page.fill("#search", "doc:a")
    assert page.inner_text("#count") == "2,000 of 50,000 samples; documents are known of 2,000"
    page.fill("#search", "")
    page.focus("#scroll")
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.tagName") == "A"
    assert page.locator("#table tbody tr[data-i]").count() <= 41
    page.select_option("#metric", "1")
    assert page.inner_text("h1").startswith("run1 is better than run0. rr rises from 0.333 to ")
