"""Places of retrieved items held to their texts: by hand, and against documents that the judge never sees."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from rankgauge import Engine, Result, html_report
from rankgauge.catalog import Catalog
from rankgauge.judging.trusted_places import settled
from rankgauge.policy import DEFAULT_CONTRACT, PROFILES
from rankgauge.report.markdown import markdown_report
from rankgauge.report.terminal import terminal_report
from rankgauge.samples import Output, Place, Sample, read_expected, read_output
from tables import rows

CATALOG = Catalog.discover(own_only=True)
METRIC = "recall(gold=spans)@1"
_DRAWN = random.Random(4)  # noqa: S311  # data
WORDS = ["".join(_DRAWN.choices("abcdefghijklmnoprstuvwyz", k=_DRAWN.randint(3, 9))) for _ in range(900)]
DOCUMENT = " ".join(WORDS)


def span(start: int, end: int, document: str = "d", text: str | None = "") -> dict[str, Any]:
    """Return a gold span with what stands there, or another text."""
    return {"document": document, "start": start, "end": end, "text": DOCUMENT[start:end] if text == "" else text}


def chunk(start: int, end: int, *, at: int | None = None, until: int | None = None, **others: Any) -> dict[str, Any]:
    """Return a result with the text of a stretch, and that place or another one."""
    place = {"start": start if at is None else at, "end": until or (end if at is None else at + end - start)}
    return {"document": "d", "text": DOCUMENT[start:end], **place, **others}


def sample(name: str, gold: dict[str, Any], *retrieved: dict[str, Any]) -> dict[str, Any]:
    return {"id": name, "expected_output": {"spans": [gold]}, "actual_output": {"retrieved": list(retrieved)}}


def right(n: int) -> list[dict[str, Any]]:
    """Return so many samples whose result holds half of the gold, and stands in its place."""
    starts = [40 * number for number in range(n)]
    return [sample(f"r{at}", span(at, at + 80), chunk(at + 40, at + 240)) for at in starts]


def run(samples: Any, profile: Any = "default", metric: str = METRIC, **how: Any) -> Result:
    return Engine(catalog=CATALOG).dataset(samples).with_metrics([metric]).with_profile(profile).run(**how)


def numbers(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = result.manifest["places"][""]
    return found


GIVEN = PROFILES["remem"].adapted({"duplicates": "first", "no_gold": "undefined"})


def test_other_text_at_the_gold_place_is_no_hit_and_gold_text_at_a_wrong_place_is_one() -> None:
    other = sample("q", span(0, 100), chunk(1000, 1100, at=0))
    moved = sample("q", span(0, 100), chunk(0, 100, at=2000))
    assert [run([each])[METRIC].mean for each in (other, moved)] == [0.0, 1.0]
    assert [run([each], GIVEN)[METRIC].mean for each in (other, moved)] == [1.0, 0.0]
    engine = Engine(catalog=CATALOG).dataset([]).with_metrics([METRIC])
    assert [engine.score(each)[METRIC].value for each in (other, moved)] == [0.0, 1.0]
    (note,) = run([other]).notes
    assert note.startswith("none of 1 place of retrieved items is taken, and items with a text are found by it: ")
    assert "the text beside 1 of the 1 that meet a gold span is not what is there (the first: d[0:100] of" in note
    (note,) = run([moved]).notes
    assert "a gold text is outside of its place in 1 text, and in it in 0 texts" in note


def test_places_that_hold_are_taken_without_a_word() -> None:
    result = run(right(40))
    assert (result[METRIC].mean, result.notes) == (1.0, ())
    assert numbers(result) == {"taken": 40, "corrected": 0, "refused": 0, "missing": 0, "trusted": True}


def test_every_report_says_how_many_places_were_taken(drifting: list[dict[str, Any]]) -> None:
    line = "places of retrieved items: 3 taken, 0 corrected, 0 refused, 0 missing"
    result = run(right(3))
    assert line in terminal_report(result).splitlines()
    assert line in markdown_report(result)
    assert line in html_report(result)
    assert "29 refused, 0 missing; none of them is used, see the notes" in terminal_report(run(drifting))
    without = [sample("q", span(0, 100), {"text": DOCUMENT[:100]})]
    assert "places of" not in terminal_report(run(without))


def test_few_wrong_places_are_refused_one_by_one() -> None:
    """The gold text of one of 41 samples stands in a result whose place overlaps the gold by half."""
    wrong = sample("wrong", span(3000, 3100), chunk(2990, 3110, at=3060))
    result = run([*right(40), wrong])
    assert result[METRIC].mean == 1.0
    assert run([*right(40), wrong], GIVEN)[METRIC].mean == pytest.approx(40 / 41)
    assert numbers(result) == {"taken": 40, "corrected": 0, "refused": 1, "missing": 0, "trusted": True}
    (note,) = result.notes
    assert note == (
        "places of 41 retrieved items: 40 taken, 0 corrected, 1 refused, 0 missing; other text is there (1) (the "
        "first: d[3060:3180] of sample 'wrong')"
    )


@pytest.fixture
def drifting() -> list[dict[str, Any]]:
    """Return samples whose places drift, as those of a splitter in words do: some miss their gold altogether."""
    gold = [span(100 * number, 100 * number + 90) for number in range(50)]
    return [
        sample(f"q{at}", each, chunk(each["start"], each["start"] + 200, at=each["start"] + 3 * at))
        for at, each in enumerate(gold)
    ]


def test_a_source_that_drifts_is_not_taken_at_all(drifting: list[dict[str, Any]]) -> None:
    result = run(drifting)
    assert result[METRIC].mean == pytest.approx(1.0)
    assert numbers(result)["trusted"] is False
    assert run(drifting, GIVEN)[METRIC].mean == pytest.approx(16 / 50)  # 45 of 90 characters are left of drifts to 45
    for how in ({"batch_size": 1}, {"batch_size": 7}, {"details": True}):
        assert run(drifting, **how)[METRIC].values.tolist() == result[METRIC].values.tolist()
    streamed = Engine(catalog=CATALOG).dataset(drifting).with_metrics([METRIC]).stream(batch_size=10)
    merged = Result.merge(list(streamed))  # each part knows only itself: places are refused one by one
    assert merged[METRIC].mean == pytest.approx(30 / 50)  # those that meet no gold stay where they say


def test_what_reads_the_data_again_takes_places_as_the_run_did(drifting: list[dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in drifting))
    run(tmp_path / "s.jsonl").save(tmp_path / "out")
    result = Result.load(tmp_path / "out")
    explanation = result.explain("q45", METRIC)
    assert explanation.score == 1.0
    assert explanation.ranks[0].covers[0].share > 0.9
    assert len(result.worst(METRIC, 3)) == 3
    assert html_report(result).startswith("<!doctype html>")
    wrong = sample("wrong", span(3000, 3100), chunk(2990, 3110, at=3060))
    assert run([*right(40), wrong]).explain("wrong", METRIC).score == 1.0


def test_places_that_are_refused_are_not_said_to_be_missing(drifting: list[dict[str, Any]]) -> None:
    """Repeats are dropped before items are counted that are found by text, and after places are looked at."""
    twice = [{**each, "actual_output": {"retrieved": each["actual_output"]["retrieved"] * 2}} for each in drifting]
    result = run(twice)
    assert not any("which give no offsets" in note for note in result.notes)
    without = sample("q", span(0, 100), chunk(0, 100), {"id": "x", "text": DOCUMENT[500:600]})
    (note,) = run([*right(3), without]).notes
    assert "found by text in 1 of 5 retrieved items" in note


def test_each_stage_is_a_source_of_its_own() -> None:
    stages = [{"name": "dense", "retrieved": [chunk(0, 90, at=40)]}, {"name": "rerank", "retrieved": [chunk(0, 90)]}]
    staged = {"id": "q", "expected_output": {"spans": [span(0, 90)]}, "actual_output": {"stages": stages}}
    result = Engine(catalog=CATALOG).dataset([staged]).with_metrics([METRIC, "recall(gold=spans, stage=dense)@1"]).run()
    assert [column.mean for column in result.metrics.values()] == [1.0, 1.0]
    assert {stage: of["trusted"] for stage, of in result.manifest["places"].items()} == {"": True, "dense": False}
    assert result.explain("q", "recall(gold=spans, stage=dense)@1").score == 1.0


@rows(
    ("retrieved", "kind", "score"),
    [
        (chunk(0, 200, until=199), "corrected", 1.0),  # inclusive
        (chunk(0, 200, text=f"What stands before. {DOCUMENT[:200]}"), "taken", 1.0),  # the place of a part
        (chunk(0, 200, text=DOCUMENT[:200].replace(" ", "")), "taken", 1.0),  # white space was folded
        (chunk(0, 200, text=DOCUMENT[1000:1100]), "refused", 0.0),  # the place of a block, and the text of a part
        (chunk(0, 200, text=DOCUMENT[:200].upper()), "taken", 1.0),
        (chunk(0, 200, text=None), "taken", 1.0),
        ({**chunk(0, 200), "start": -1, "end": -1}, "missing", 1.0),
        ({"text": DOCUMENT[:200]}, "missing", 1.0),
        (chunk(0, 200, document="d2", metadata={"file_name": "d"}), "taken", 1.0),
        (chunk(0, 200, document="d2", metadata={"name": "d"}), "taken", 1.0),
        (chunk(0, 200, document=float("nan")), "missing", 1.0),
    ],
)
def test_what_becomes_of_a_place(retrieved: dict[str, Any], kind: str, score: float) -> None:
    result = run([sample("q", span(50, 150), {"id": "c", **retrieved})])
    assert result[METRIC].mean == pytest.approx(score)
    assert {name for name, n in numbers(result).items() if n and name != "trusted"} == {kind}


@rows("start", ["0", 0.5, True])
def test_a_start_that_is_no_number_of_characters_is_named(start: object) -> None:
    item = {"id": "c", "document": "d", "text": DOCUMENT[:200], "start": start}
    notes = run([sample("q", span(50, 150), item)]).notes
    assert any("retrieved[0].start an offset is a number of characters" in note for note in notes)


def test_places_in_bytes_are_refused() -> None:
    text = "Die Brücke über die Große Elbe wurde im März eröffnet."
    gold = {"document": "d", "start": 0, "end": len(text), "text": text}
    in_bytes = {"document": "d", "text": text, "start": 0, "end": len(text.encode())}
    result = run([sample("q", gold, in_bytes)])
    assert (result[METRIC].mean, numbers(result)["refused"]) == (1.0, 1)
    assert "1 of them are not of the document (it counts bytes)" in result.notes[0]


def test_one_place_with_two_texts_is_no_place() -> None:
    """Places that begin anew in every section, of results that meet no gold; in one sample, or in several."""
    one, two = chunk(1000, 1100, at=2000), chunk(1500, 1600, at=2000)
    gold = span(0, 90)
    apart = [sample("a", gold, chunk(0, 90), one), sample("b", gold, chunk(0, 90), two)]
    for samples in (apart, apart[::-1], [sample("a", gold, chunk(0, 90), one, two)]):
        result = run(samples, batch_size=1)
        assert result[METRIC].mean == 1.0
        assert "different texts have the same place (d at 2000)" in result.notes[0]
    same = chunk(1000, 1050, at=2000)  # a shorter chunk that begins there
    assert run([sample("a", gold, chunk(0, 90), one, same)]).notes == ()


def test_gold_that_says_nothing_of_letters_checks_nothing() -> None:
    for gold in (span(0, 100, text=None), span(0, 100, text="An edited text.")):
        result = run([sample("q", gold, chunk(1000, 1100, at=0))])
        assert (result[METRIC].mean, result.notes) == (1.0, ())


def test_documents_that_are_called_otherwise_are_said() -> None:
    note, how_many = run([sample("q", span(0, 100), chunk(0, 100, document="docs/d.md"))]).notes
    assert how_many.startswith("offsets of retrieved items miss 1 gold span whose text the items hold word for word")
    assert note.startswith("no retrieved item comes from a document that a gold span names")
    assert "outputs: `docs/d.md`; ground truth: `d`" in note
    both = [chunk(0, 100, document="docs/d.md"), chunk(0, 100)]
    assert run([sample("q", span(0, 100), *both)]).notes == ()


def test_wrong_places_are_seen_where_they_meet_gold_and_right_ones_never_refused() -> None:
    """Of 3,000 drawn results every one that meets gold is held to the document, which the judge does not see."""
    drawn = random.Random(1)  # noqa: S311  # data
    met = seen = 0
    for _ in range(3000):
        start, size = drawn.randrange(0, len(DOCUMENT) - 500), drawn.randint(60, 400)
        shift = drawn.choice([0, 0, drawn.randint(-300, 300)])
        at = max(0, start + shift)
        begin = drawn.randrange(max(0, at - 50), at + size)
        gold = read_expected({"spans": [span(begin, begin + drawn.randint(60, 150))]})
        output = read_output([chunk(start, start + size, at=at)], contract=DEFAULT_CONTRACT)
        found = settled(Sample("q", expected=gold, output=output))
        assert isinstance(found.sample.output, Output)
        (place,) = found.sample.output.places or ()
        (wanted,) = gold.spans or ()
        overlap = min(at + size, wanted.place.end) - max(at, wanted.place.start)
        if at == start:
            assert place == Place("d", at, at + size)
        elif overlap >= 20:
            met, seen = met + 1, seen + (place is None)
    assert met > 800
    assert seen == met


@rows("documents", ["dd e", "ee d", "eef d", "d d", "def def", "efg d"])
def test_places_without_texts_count_the_same_all_at_once_and_one_by_one(documents):
    retrieved, gold = documents.split()
    spans = [{"document": name, "start": 4, "end": 9} for name in gold]
    places = [Place(name, number, 3 * number) for number, name in enumerate(retrieved)]
    expected, nothing = read_expected({"spans": spans}), [None] * len(places)
    at_once = settled(Sample("q", expected=expected, output=Output(nothing, places=places)))
    one_by_one = settled(Sample("q", expected=expected, output=Output(nothing, nothing, places=places)))
    assert at_once.counts == one_by_one.counts
    assert at_once.sample.output.places == one_by_one.sample.output.places == places
    assert (at_once.is_doubtful, at_once.firsts) == (one_by_one.is_doubtful, one_by_one.firsts)
