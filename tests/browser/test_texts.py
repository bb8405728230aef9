"""Texts, answers and names in a report: shown as what they are, in any script."""

from __future__ import annotations

import rankgauge
from browser.reports import laid_out, page_of_samples

HEBREW, ARABIC = "\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627"


def test_an_answer_stands_beside_what_is_accepted_and_not_in_a_ranking(opened):
    page = opened(page_of_samples())
    page.select_option("#metric", "1")
    page.evaluate("() => { location.hash = 'sample=s2&metric=token_f1'; }")
    page.wait_for_function("() => document.getElementById('one-h').textContent.startsWith('s2')")

    assert page.locator("#lists table").count() == 0
    assert page.locator("#lists h3").all_inner_texts() == [
        "old: generated, token_f1 0.800",
        "new: generated, token_f1 0.000",
        "accepted: any of 2",
    ]
    # Without the article, "quick fox" has 2 of 3 words of "quick brown fox": 2 * 1 * (2/3) / (1 + 2/3) = 0.8.
    assert page.locator(".said").nth(0).locator("mark").all_inner_texts() == ["quick", "fox"]
    assert page.locator(".said").nth(1).locator("p").inner_text() == "no idea"
    shown = page.inner_text("#one")
    assert "grade" not in shown
    assert "unjudged" not in shown
    assert "Arithmetic" not in shown


def test_texts_that_were_compared_are_not_called_unjudged(opened):
    page = opened(page_of_samples(), link="#sample=s2&metric=recall(gold%3Dpassages%2C%20matcher%3Dcontains)%403")

    assert page.locator("#lists table").first.locator("tbody .w").all_inner_texts() == ["match", "no match", "no match"]
    assert "unjudged" not in page.inner_text("#one")


def test_a_text_that_is_cut_says_how_long_it_is(opened):
    page = opened(page_of_samples(), link="#sample=s2&metric=rr")
    page.locator("#lists button.t1").first.click()

    whole = len("Title 1\n" + "the fox jumps over 1 dogs " * 40)
    assert f"Of {whole:,} characters this file holds 600." in page.locator("#lists .full").first.inner_text()


def test_numbers_beside_names_from_right_to_left_stay_as_they_are(opened):
    qrels = {f"{HEBREW}-{n}": {ARABIC: 1, "a": 1} for n in range(40)}
    runs = {
        f"{HEBREW} 1": {query: {"x": 2.0, ARABIC: 1.0} for query in qrels},
        f"{ARABIC} 2": {query: {ARABIC: 2.0 if n % 2 else 0.5, "x": 1.0} for n, query in enumerate(qrels)},
    }
    page = opened(
        laid_out(rankgauge.evaluate(qrels, runs=runs, metrics=["RR", {"metric": "P@1", "as": f"{HEBREW}@1"}]))
    )
    page.select_option("#metric", "1")

    # In every line that holds such a name and a number after it, the number stands where it is written: further right.
    misplaced = page.evaluate("""() => {
      const strong = /[\\u0590-\\u06ff]/, found = new Set();
      const box = ([node, at]) => {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        return range.getBoundingClientRect();
      };
      for (const line of document.querySelectorAll("h1, h2, h3, p, dd, li, caption, th, td")) {
        if (!line.getBoundingClientRect().width || line.querySelector("p, dd, table")) continue;
        const letters = [], walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        while (walker.nextNode())
          for (let at = 0; at < walker.currentNode.length; at++) letters.push([walker.currentNode, at]);
        const is = (kind, [node, at]) => kind.test(node.data[at]);
        letters.forEach((letter, place) => {
          if (!is(strong, letter)) return;
          const next = letters.slice(place + 1).find((other) =>
            is(/[0-9]/, other) && other[0] !== letter[0] && !letter[0].parentElement.contains(other[0]));
          if (!next) return;
          const left = box(letter), right = box(next);
          if (Math.abs(left.top - right.top) < 4 && right.width && right.left < left.left)
            found.add(line.textContent.slice(0, 90));
        });
      }
      return [...found];
    }""")
    assert misplaced == []
    assert page.locator("#one-h [dir=auto]").first.inner_text().startswith(HEBREW)
