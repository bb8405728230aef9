"""
Gold spans whose text stands in a retrieved text that says it stands elsewhere.
"""

from __future__ import annotations

import pytest

from rankgauge import Engine

TEXT = "The ferry to Bergen leaves from the old pier at nine."
START = 120


def sample(number: int, *, document: str = "d", shift: int = 0, text: str = TEXT) -> dict[str, object]:
    """Return a sample whose only result holds the gold text, and says that it stands some characters later."""
    whole = f"Timetable {number}. {text} And so on."
    begin = START - whole.index(text)
    place = {"document": f"{document}{number}", "start": begin + shift, "end": begin + shift + len(whole)}
    span = {"document": f"d{number}", "start": START, "end": START + len(text), "text": text}
    retrieved = [{**place, "text": whole}]
    return {"id": f"q{number}", "expected_output": {"spans": [span]}, "actual_output": {"retrieved": retrieved}}


def notes(*samples: dict[str, object]) -> list[str]:
    found = Engine().dataset([*samples]).with_metrics("recall@1").run().notes
    return [note for note in found if "word for word" in note]


@pytest.mark.parametrize("changed", [{"document": "docs/d"}, {"shift": 900}])
def test_a_note_says_how_many_offsets_miss(changed: dict[str, object]) -> None:
    right = [sample(number) for number in range(30)]
    (note,) = notes(*right, sample(30, **changed), sample(31, **changed))
    assert note.startswith("offsets of retrieved items miss 2 gold spans whose text the items hold word for word: ")
    assert "`rankgauge gold check`" in note
    assert notes(*right) == []


def test_few_words_may_stand_anywhere() -> None:
    short = "at nine in the morning"
    assert notes(*(sample(number) for number in range(30)), sample(30, shift=900, text=short)) == []
