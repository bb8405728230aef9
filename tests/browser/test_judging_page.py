"""Pages on which people judge: by keyboard and mouse, kept over a reload, exported, and read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankgauge_judge.judging_page import judging_page, shuffled
from rankgauge_judge.judgments import read_judgments
from rankgauge_judge.queue_input import TextQueue
from rankgauge_judge.rubric import read_rubric

HOSTILE = "<img src=x onerror=alert(1)> </script> \u202ereversed " + "long " * 30_000
HEADER = {"schema_version": "rankgauge.queue.v1", "judgments": None, "grades": [0, 1, 2, 3], "guideline": "How well?"}


def page_of(questions: int = 3, each: int = 3) -> str:
    rows = [
        {"query": f"q{q}", "query_text": f"What is {q}?", "document": f"d{d}", "document_text": f"Text {d} about {q}."}
        for q in range(questions)
        for d in range(each)
    ]
    rows[0]["document_text"] = HOSTILE
    queue = TextQueue(HEADER, rows)
    ordered = [row for own in shuffled(rows, 0) for row in own]
    return judging_page(queue, ordered, read_rubric("graded", [0, 1, 2, 3]), "todo.jsonl")


def begun(page: Any, name: str = "Ada") -> Any:
    page.fill("#name", name)
    page.keyboard.press("Enter")
    page.wait_for_selector("#desk:not([hidden])")
    return page


def exported(page: Any, tmp_path: Path) -> list[dict[str, Any]]:
    with page.expect_download() as download:
        page.click("#export")
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_a_queue_is_judged_by_keyboard(opened, tmp_path):
    page = begun(opened(page_of()))
    for key in "0123":
        page.keyboard.press(key)
    assert page.inner_text("#count") == "4 of 9"
    page.keyboard.press("u")
    assert (page.inner_text("#count"), page.inner_text("#place")) == ("3 of 9", "Document 4 of 9")
    page.keyboard.press("s")
    page.keyboard.press("n")
    page.keyboard.type("not sure 2")
    page.keyboard.press("Escape")
    for _ in range(5):
        page.keyboard.press("2")
    assert page.inner_text("#done") == "8 documents judged, 1 left out"
    header, *rows = exported(page, tmp_path)
    assert header == HEADER
    assert [row["grade"] for row in rows] == [0, 1, 2, 2, 2, 2, 2, 2]
    assert {row["judge"] for row in rows} == {"Ada"}
    assert [row.get("note") for row in rows] == [None, None, None, "not sure 2", None, None, None, None]
    (judged,) = read_judgments(tmp_path / "judged-by-Ada.jsonl")
    assert (judged.name, len(judged.grades)) == ("Ada", 8)
    page.click("#again")
    assert page.inner_text("#place") == "Document 4 of 9"


def test_what_was_judged_is_there_after_a_reload(opened):
    page = begun(opened(page_of()))
    page.keyboard.press("1")
    page.click("#grades button >> nth=3")
    page.reload()
    assert page.input_value("#name") == "Ada"
    begun(page)
    assert (page.inner_text("#count"), page.inner_text("#place")) == ("2 of 9", "Document 3 of 9")
    page.keyboard.press("ArrowLeft")
    assert page.get_attribute("#grades button >> nth=3", "aria-pressed") == "true"
    page.reload()
    begun(page, "Ben")
    assert page.inner_text("#count") == "0 of 9"


def test_an_export_goes_on_elsewhere(opened, tmp_path):
    first = begun(opened(page_of()))
    for key in "012":
        first.keyboard.press(key)
    exported(first, tmp_path)
    other = opened(page_of())
    other.set_input_files("#import", tmp_path / "judged-by-Ada.jsonl")
    other.wait_for_selector("#desk:not([hidden])")
    assert (other.inner_text("#count"), other.inner_text("#place")) == ("3 of 9", "Document 4 of 9")
    assert other.inner_text("#who") == "Ada"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("no json", "it is not JSON lines"),
        ('{"schema_version": "other"}\n', "is no file that this page exported"),
        (f'{json.dumps(HEADER)}\n{{"query": "q0", "document": "d9", "grade": 1}}\n', "has no judgment of a document"),
        (
            f'{json.dumps(HEADER)}\n{{"query": "q0", "document": "d1", "grade": 1, "judge": "model:m"}}\n',
            "is of a model, whose grades people do not see",
        ),
    ],
)
def test_other_files_are_refused(opened, tmp_path, content, why):
    (tmp_path / "other.jsonl").write_text(content)
    page = opened(page_of())
    page.set_input_files("#import", tmp_path / "other.jsonl")
    page.wait_for_selector("#refused:not([hidden])")
    assert why in page.inner_text("#refused")


def test_names_of_models_are_refused(opened):
    page = opened(page_of())
    page.fill("#name", "model:gpt")
    page.keyboard.press("Enter")
    assert "are those of models" in page.inner_text("#refused")


def test_hostile_and_long_texts_are_shown_as_they_are(opened):
    page = begun(opened(page_of(1, 1)))
    assert page.inner_text("#text").startswith("<img src=x onerror=alert(1)> </script>")
    assert len(page.text_content("#text")) == 20_000
    page.click("#more")
    assert len(page.text_content("#text")) == len(HOSTILE)


def test_a_browser_that_keeps_nothing_is_told_of(browser, tmp_path):
    context = browser.new_context()
    context.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('no'); } })")
    page = context.new_page()
    (tmp_path / "page.html").write_text(page_of(), encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    assert page.is_visible("#lost")
    begun(page)
    page.keyboard.press("1")
    assert page.inner_text("#count") == "1 of 9"
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 768, 1280, 1920])
def test_every_part_is_accessible_and_fits(opened, axe, width, scheme):
    page = opened(page_of(), width=width, scheme=scheme)
    for step in ("start", "desk", "keys", "end"):
        if step == "desk":
            begun(page)
        elif step == "keys":
            page.click("#help")
        elif step == "end":
            page.keyboard.press("Escape")
            for _ in range(9):
                page.keyboard.press("1")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, step
        page.evaluate(axe)
        found = page.evaluate("axe.run()")
        assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == [], step
