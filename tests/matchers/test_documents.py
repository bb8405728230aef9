"""
Gold texts that are documents, from which results were cut: `document`, `gold=documents`, and the note that names it.
"""

from __future__ import annotations

import pytest

from rankgauge import Engine, compare
from rankgauge.errors import PlanError, ResultError
from rankgauge.matchers.cover import cut_from

SENTENCES = (
    "The ferry to Bergen leaves from the old pier at nine.",
    "The trip takes almost two hours in calm weather.",
    "Tickets are sold on board, for cash only.",
    "Bicycles travel free of charge on all days but Sunday.",
)
DOCUMENT = " ".join(SENTENCES)
OTHER = "The library opens at ten. Books may be kept for four weeks, and films for one. Readers pay nothing at all."


def sample(*texts: str, gold: tuple[str, ...] = (DOCUMENT, OTHER)) -> dict[str, object]:
    retrieved = [{"text": text} for text in texts]
    return {"id": "q", "expected_output": {"passages": list(gold)}, "actual_output": {"retrieved": retrieved}}


def mean(metric: str, *texts: str) -> float | None:
    return next(iter(Engine().dataset([sample(*texts)]).with_metrics(metric).run().metrics.values())).mean


@pytest.mark.parametrize(
    ("result", "is_cut"),
    [
        (SENTENCES[1], True),
        (f"Ferries. {SENTENCES[1]}", True),  # half of it and more
        (f"{SENTENCES[1]} And here is much more that stands nowhere in the whole document, word after word.", False),
        ("Tickets are sold", False),  # fewer than six words
        ("Tickets are sold on board, for", True),
        (SENTENCES[1].replace("two", "three"), False),  # another fact
        (f"All pages. {DOCUMENT} {OTHER} And so on and so forth, page after page, and nothing of that is here.", True),
    ],
)
def test_a_result_is_cut_from_a_document(result: str, is_cut: bool) -> None:
    assert bool(cut_from([result], [DOCUMENT])[0, 0] >= 0.5) == is_cut


def test_the_score_is_the_share_of_the_result() -> None:
    # Of the 36 letters of the first and the 24 of the second part, those of the first stand in the document.
    inside, outside = "the old pier at nine. The trip takes almost two hours", "and nothing else was ever said of it"
    letters = [len("".join(word for word in text if word.isalnum())) for text in (inside, outside)]
    assert cut_from([f"{inside}\n{outside}"], [DOCUMENT])[0, 0] == pytest.approx(letters[0] / sum(letters))


def test_gold_documents_is_another_question_than_gold_passages() -> None:
    texts = (SENTENCES[1], SENTENCES[3], "Books may be kept for four weeks")
    assert [mean(f"recall(gold=documents)@{k}", *texts) for k in (1, 2, 3)] == [0.5, 0.5, 1.0]
    assert [mean(f"P(gold=documents)@{k}", *texts) for k in (1, 2)] == [1.0, 1.0]
    assert mean("recall(gold=passages)@1", *texts) == 0.0
    as_evidence, as_documents = (
        Engine().dataset([sample(*texts)]).with_metrics(metric).run()
        for metric in ({"metric": f"recall(gold={gold})@3", "as": "recall"} for gold in ("passages", "documents"))
    )
    with pytest.raises(ResultError, match="recall does not mean the same in both: gold=passages"):
        compare({"evidence": as_evidence, "documents": as_documents})
    with pytest.raises(PlanError, match="only says whether it matches"):
        Engine().dataset([sample(*texts)]).with_metrics("recall(gold=documents, joint=true)@3").plan()


def test_a_note_says_how_many_are_found_as_documents() -> None:
    texts = ("Bicycles travel free of charge on all days", "Books may be kept for four weeks")
    result = Engine().dataset([sample(*texts)]).with_metrics("recall@2").run()
    (note,) = result.notes
    average = (len(DOCUMENT) + len(OTHER)) / 2, sum(map(len, texts)) / 2
    assert note == (
        f"gold texts are {average[0] / average[1]:.1f} times as long as results (characters on average: "
        f"{average[0]:.0f} gold, {average[1]:.0f} retrieved); as evidence 0.00 of them are found, as documents "
        "from which results were cut, with gold=documents, 1.00 would be"
    )
    assert Engine().dataset([sample(*texts)]).with_metrics("recall(gold=documents)@2").run().notes == ()
    long = Engine().dataset([sample(DOCUMENT)]).with_metrics("recall@1").run()
    assert long.notes == ()


def test_a_document_that_stands_in_a_result_is_judged_whatever_else_was_retrieved() -> None:
    alone = cut_from(["0"], ["0::"])[0, 0]  # with its markup three times as long

    assert (alone, cut_from(["aa", "0"], ["0::"])[1, 0]) == (0.0, 0.0)
    assert cut_from(["aa", "0"], ["0:"])[1, 0] == 1.0
