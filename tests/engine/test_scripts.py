"""Answers and budgets in scripts that SQuAD's definitions do not know: a note, and `words=unicode`."""

import json
import unicodedata

import pytest

from draws import in_thorough_suite
from rankgauge import Engine
from rankgauge.errors import PlanError

NFD = unicodedata.normalize("NFD", "café noir")


def run(pairs, *metrics, **how):
    samples = [
        {"id": f"q{number}", "expected_output": {"answer": gold}, "actual_output": {"answer": answer}}
        for number, (answer, gold) in enumerate(pairs)
    ]
    return Engine().dataset(samples).with_metrics(metrics).run(**how)


@pytest.mark.parametrize(
    ("answer", "gold", "f1"),
    [
        ("东京都", "东京", 4 / 5),
        ("東京タワーです", "東京タワー", 10 / 12),
        ("กรุงเทพมหานคร", "กรุงเทพ", 2 * 6 / (6 + 12)),
        ("¿Qué?", "Qué", 1.0),
        (NFD, "café noir", 1.0),
        ("The Eiffel Tower", "eiffel tower.", 1.0),
    ],
)
def test_words_by_script(answer, gold, f1):
    result = run([(answer, gold)], "answer_f1(words=unicode)", "EM(words=unicode)", "EM(matcher=squad, words=unicode)")
    assert result["answer_f1(words=unicode)"].mean == pytest.approx(f1)
    assert result["EM(words=unicode)"].mean == result["EM(matcher=squad, words=unicode)"].mean == float(f1 == 1)
    assert result.notes == ()


def test_published_definitions_keep_their_numbers_and_say_what_they_do_not_know():
    result = run([("东京都", "东京"), ("¿Qué?", "Qué"), (NFD, "café noir")], "answer_f1", "EM(matcher=squad)", "EM")
    assert [result[name].mean for name in ("answer_f1", "EM(matcher=squad)", "EM")] == [pytest.approx(0.5 / 3), 0, 0]
    notes = "\n".join(result.notes)
    assert "in 1 sample gold answers are in a script without blanks between words, so that `squad-f1`" in notes
    assert "in 2 samples `squad` tells texts apart that are the same but for Unicode forms" in notes
    assert "in 1 sample `exact` tells texts apart" in notes
    assert "'¿Qué?' and 'Qué'" in notes
    assert r"'cafe\u0301 noir' and 'caf\xe9 noir'" in notes  # they look the same
    assert notes.count("words=unicode") >= 3


def test_vowel_signs_are_said_whatever_words_are():
    pair = ("كِتَابٌ", "كتاب")
    for metric in ("answer_f1", "EM", "EM(matcher=squad)", "answer_f1(words=unicode)"):
        result = run([pair], metric)
        assert result[metric].mean == 0
        (note,) = result.notes
        assert "the same but for vowel signs" in note


@pytest.mark.parametrize(
    "pair", [("Paris", "paris"), ("Paris", "Rome"), ("über", "unter"), ("東京", "東京"), ("서울", "부산")]
)
def test_nothing_is_said_of_what_is_right_or_wrong_anyway(pair):
    assert run([pair], "answer_f1", "EM(matcher=squad)").notes == ()


def test_texts_that_are_searched_say_unicode_forms_too():
    samples = [
        {"id": "q", "expected_output": {"answer": "café"}, "actual_output": [{"text": f"a {NFD} please"}]},
    ]
    (note,) = Engine().dataset(samples).with_metrics(["containment@1"]).run().notes
    assert "`contains` tells texts apart that are the same but for Unicode forms" in note


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=in_thorough_suite())])
def test_files_and_workers_say_the_same(tmp_path, workers):
    given = {"expected_output": {"answer": "东京"}, "actual_output": {"answer": "东京都"}}
    lines = [{"id": f"q{number}", **given} for number in range(4)]
    (tmp_path / "s.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    result = Engine().dataset(tmp_path / "s.jsonl").with_metrics(["answer_f1"]).run(workers=workers)
    assert "in 4 samples gold answers are in a script without blanks" in result.notes[0]


class TestBudgets:
    SAMPLES = (
        {
            "id": "q",
            "expected_output": {"relevant": ["a"]},
            "actual_output": [{"id": "x", "text": "甲" * 805}, {"id": "a", "text": "乙" * 100}],
        },
    )

    def run(self, *metrics):
        return Engine().dataset(list(self.SAMPLES)).with_metrics(metrics).run()

    def test_characters_count(self):
        """905 characters stand where words at blanks are two."""
        by_script = "recall(words=unicode)@904tok", "recall(words=unicode)@905tok"
        result = self.run(*by_script)
        assert [result[name].mean for name in by_script] == [0, 1]
        assert not any("script" in note for note in result.notes)

    def test_the_usual_tokenizer_says_what_it_does_not_know(self):
        result = self.run("recall@500tok")
        assert result["recall@500tok"].mean == 1
        assert any(
            "recall@500tok: in 1 sample texts are in a script without blanks" in note and "words=unicode" in note
            for note in result.notes
        )
        assert not any("script" in note for note in self.run("recall(tokenizer=chars4)@500tok", "recall@5").notes)

    def test_the_tokenizer_has_a_name_of_its_own(self):
        result = self.run("recall(tokenizer=unicode)@905tok")
        assert result.metrics["recall(tokenizer=unicode)@905tok"].mean == 1


@pytest.mark.parametrize(
    "metric",
    [
        "recall(words=unicode)@5",
        "recall(words=unicode)@50char",
        "recall(words=unicode, tokenizer=chars4)@50tok",
        "answer_f1(words=x)",
        "answer_f1(matcher=contains, words=unicode)",
        "ndcg(words=unicode)",
    ],
)
def test_words_without_effect_are_refused(metric):
    with pytest.raises(PlanError, match="words"):
        Engine().dataset([]).with_metrics([metric]).plan()


def test_the_usual_words_may_be_said_and_change_nothing():
    usual, said = (run([("a b", "a")], metric) for metric in ("answer_f1", "answer_f1(words=blanks)"))
    assert usual["answer_f1"].info.fingerprint == said["answer_f1"].info.fingerprint


def test_saved_results_are_read_again(tmp_path):
    result = run([("东京都", "东京")], "answer_f1(words=unicode)")
    result.save(tmp_path / "r")
    explanation = result.explain("q0", "answer_f1(words=unicode)")
    assert "0.8" in str(explanation)
    from rankgauge import Result

    assert Result.load(tmp_path / "r")["answer_f1(words=unicode)"].mean == pytest.approx(0.8)
