"""`rankgauge compare --judgments --human`: what it prints, and what it refuses."""

import json

import pytest

import rankgauge as package


@pytest.fixture
def files(tmp_path):
    model, human, old, new = (tmp_path / name for name in ("model.qrels", "human.qrels", "old.run", "new.run"))
    pairs = [(f"q{query}", f"d{number}", (query * number) % 3 > 0) for query in range(12) for number in range(1, 5)]
    model.write_text("".join(f"{q} 0 {d} {int(is_relevant != (d == 'd4'))}\n" for q, d, is_relevant in pairs))
    human.write_text("".join(f"{q} 0 {d} {int(is_relevant)}\n" for q, d, is_relevant in pairs if int(q[1:]) < 8))
    old.write_text("".join(f"q{q} Q0 d{d} 1 {9 - d} x\n" for q in range(12) for d in range(1, 5)))
    new.write_text("".join(f"q{q} Q0 d{d} 1 {d} x\n" for q in range(12) for d in range(1, 5)))
    return model, human, old, new


def compare(rankgauge, files, *more):
    model, human, *runs = files
    return rankgauge("compare", "--judgments", model, "--human", human, *runs, *more)


def test_it_prints_people_both_and_the_model(rankgauge, files):
    shown = compare(rankgauge, files, "-m", "ndcg@3", "-m", "P@2")
    assert (shown.code, shown.err) == (0, "")
    for text in (
        "people alone",
        "both",
        "model alone",
        "new.run - old.run",
        "12 questions judged by",
        "Holm over 2 tests",
    ):
        assert text in shown.out


def test_json_has_what_python_has(rankgauge, files):
    model, human, old, new = files
    found = package.prediction_powered(
        {"old.run": str(old), "new.run": str(new)}, ["P@2"], judgments=model, human=human, confidence=0.9
    )
    shown = compare(rankgauge, files, "-m", "P@2", "--json", "--confidence", "0.9")
    assert shown.json == json.loads(json.dumps(found.to_dict()))


def test_one_run_is_enough(rankgauge, files):
    shown = rankgauge("compare", "--judgments", files[0], "--human", files[1], files[2], "-m", "P@2")
    assert (shown.code, "old.run: it follows people" in shown.out) == (0, True)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ((), "name the metrics to compare runs by"),
        (("-m", "P@2", "--bounds"), "--bounds does not go with --judgments and --human"),
        (("-m", "P@2", "--qrels", "x"), "--qrels does not go with --judgments and --human"),
        (("-m", "P@2", "--gate", "P@2 >= 0.1"), "--gate does not go with"),
        (("-m", "P@2", "--test", "wilcoxon"), "--test does not go with"),
        (("-m", "P@2", "--seed", "3"), "--seed does not go with"),
        (("-m", "P@2", "--resamples", "9"), "--resamples does not go with"),
        (("-m", "P@2", "--common", "unchanged"), "--common does not go with"),
        (("-m", "P@2", "--inconclusive", "fail"), "--inconclusive does not go with"),
        (("-m", "P@2", "--format", "latex"), "it is printed as table or json, not latex"),
    ],
)
def test_options_that_say_nothing_are_refused(rankgauge, files, more, why):
    shown = compare(rankgauge, files, *more)
    assert (shown.code, why in shown.err) == (2, True)


def test_one_set_of_judgments_is_refused(rankgauge, files):
    shown = rankgauge("compare", "--judgments", files[0], *files[2:], "-m", "P@2")
    assert (shown.code, "--judgments, of a model, and --human, of people, are given together" in shown.err) == (2, True)


def by_a_model(qrels, documents):
    """Say in the side file of judgments that a model gave those of some documents."""
    rows = [line.split() for line in qrels.read_text().splitlines()]
    told = [{"query": q, "document": d, "judge": "model:m"} for q, _, d, _ in rows if d in documents]
    qrels.with_name(f"{qrels.name}.provenance.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in told))


def test_judgments_of_people_that_a_model_gave_are_refused(rankgauge, files):
    by_a_model(files[1], {"d1", "d2", "d3", "d4"})
    shown = compare(rankgauge, files, "-m", "P@2")
    assert shown.code == 2
    assert "the judgments of people are a model's" in shown.err
    assert "32 judgments: 32 by model:m" in shown.err


def test_judgments_of_people_that_a_model_gave_in_part_are_told(rankgauge, files):
    by_a_model(files[1], {"d4"})
    shown = compare(rankgauge, files, "-m", "P@2")
    assert shown.code == 0
    assert "32 judgments: 8 by model:m, 24 without a name" in " ".join(shown.out.split())
