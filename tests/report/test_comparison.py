"""Reports of comparisons: verdicts in words, tables that fit, and names that are no markup."""

from __future__ import annotations

import csv
import io
import re

import pytest

from comparison.made import result
from rankgauge import compare, evaluate
from rankgauge.base.tables import aligned
from rankgauge.comparison import Comparison
from rankgauge.comparison.layouts import comparison_csv, comparison_latex, comparison_lines, comparison_markdown
from rankgauge.comparison.sentences import method_line, p_value
from tables import rows

FIRST = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.3, 0.2, 0.1, 0.0, 0.6, 0.5]
BETTER = [0.2, 0.4, 0.3, 0.6, 0.6, 0.9, 0.4, 0.4, 0.4, 0.1, 0.8, 0.6]


def lines(comparison: Comparison, width: int = 200) -> list[str]:
    return [line.text for line in comparison_lines(comparison, width=width)]


def test_the_verdict_comes_first_in_words() -> None:
    """Differences .2 .3 .1 .3 .2 .4 .1 .2 .3 .1 .2 .1: mean .2083, standard error .02876, t(.975, 11) = 2.2010."""
    found = lines(compare({"bm25": result(FIRST), "rrf": result(BETTER)}))
    assert found[0] == "rrf is better: p@1 +0.208, 95 % CI +0.145 to +0.272"
    assert lines(compare({"rrf": result(BETTER), "bm25": result(FIRST)}))[0].startswith("bm25 is worse: p@1 -0.208")


def test_among_all_pairs_each_verdict_names_both_runs() -> None:
    found = lines(compare({"a": result(FIRST), "b": result(BETTER), "c": result(FIRST)}, all_pairs=True))
    assert found[0].startswith("b is better than a: p@1 +0.208")
    assert found[1] == "c and a score the same: p@1, 12 pairs"
    assert found[2].startswith("c is worse than b: p@1 -0.208")
    near = [1.0, *FIRST[1:]]
    found = lines(compare({"a": result(FIRST), "b": result(near), "c": result(FIRST)}, all_pairs=True))
    assert found[0].startswith("b: no clear difference from a in p@1 (+0.083")


def test_no_difference_shown_is_not_called_none() -> None:
    old, new = [0.0, 1, 0, 1, 0, 1] * 4, [1.0, 0, 0, 0.25, 0, 1] * 4
    first, *rest = lines(compare({"a": result(old), "b": result(new)}))
    assert first.startswith("b: no clear difference in p@1 (-0.125, 95 % CI ")
    (detectable,) = (line for line in rest if "pairs detect a difference" in line)
    assert detectable.endswith(" or more 4 times out of 5")


def test_without_a_pair_nothing_is_said_of_a_difference() -> None:
    """Each run has a score where the other has none."""
    nan = float("nan")
    found = lines(compare({"a": result([1.0, nan]), "b": result([nan, 1.0])}))
    assert found[0] == "b and a cannot be compared in p@1: no sample has a score in both"


def test_metrics_without_a_pair_have_a_sentence_of_their_own() -> None:
    nothing = [float("nan")] * 12
    comparison = compare({"a": result(FIRST, FIRST, FIRST), "b": result(BETTER, nothing, FIRST[::-1])})
    assert lines(comparison)[:3] == [
        "b is better: p@1",
        "b and a cannot be compared in p@2: no sample has a score in both",
        "b: no clear difference in p@3",
    ]
    assert comparison_latex(comparison).count("&") == 9
    rows = re.findall("<tr>(.*?)</tr>", comparison._repr_html_(), re.DOTALL)
    cells = [re.findall("<td[^>]*>(.*?)</td>", row) for row in rows[1:]]
    assert cells[0][7].startswith("+0.")
    assert cells[1][6:9] == ["-", "-", "-"]


def test_too_few_pairs_to_show_anything_are_said_to_be() -> None:
    found = lines(compare({"a": result([0.0, 1, 0, 1]), "b": result([1.0, 0, 0, 0.5])}))
    assert not any("detect a difference" in line for line in found)
    assert any("4 pairs cannot show any difference at this level; 6 could" in line for line in found)


def test_the_same_scores_are_said_to_be_the_same() -> None:
    found = lines(compare({"a": result(FIRST), "b": result(FIRST)}))
    assert found[0] == "b and a score the same: p@1, 12 pairs"
    assert any(line.startswith("note: none of 12 pairs differs") for line in found)


@pytest.mark.parametrize(
    ("count", "test", "corrected"),
    [
        (1, "sign-flip", None),
        (2, "sign-flip", "step-down max-T over metrics"),
        (1, "t", None),
        (2, "t", "Holm over 2 tests"),
    ],
)
def test_the_last_line_says_how_numbers_were_calculated(count: int, test: str, corrected: str | None) -> None:
    found = compare({"a": result(*[FIRST] * count), "b": result(*[BETTER] * count)}, test=test)
    parts = method_line(found).split("; ")
    assert parts[1:] == [*([f"corrected: {corrected}"] if corrected else []), "intervals: Student's t, 95 %"]
    assert parts[0].endswith(", 100,000 resamples, seed 0") == (test == "sign-flip")
    p = f"p*: {test} test, {corrected}" if corrected else f"p: {test} test"
    assert lines(found)[-1] == f"{p}; --all-columns shows more"


def test_intervals_are_named_by_what_they_are() -> None:
    found = compare({"a": result(FIRST), "b": result(BETTER)}, test="bootstrap-bca", resamples=100)
    assert "; intervals: BCa, 95 %" in method_line(found)
    two = compare({"a": result(FIRST, FIRST), "b": result(BETTER, FIRST)})
    said = "intervals: Student's t of p@1, the most that could differ unseen of p@2, 95 %"
    assert method_line(two).split("; ")[2] == said


def test_what_is_detected_is_told_of_as_many_pairs() -> None:
    found = compare({"a": result(FIRST, FIRST), "b": result(BETTER, [*BETTER[:-1], float("nan")])})
    assert any(line.startswith("12 pairs detect a difference in p@1 of ") for line in lines(found))


def test_three_metrics_say_what_they_detect() -> None:
    found = lines(compare({"a": result(*[FIRST] * 4), "b": result(*[BETTER] * 4)}))
    (line,) = (line for line in found if line.startswith("detected 4 times out of 5 by 12 pairs: "))
    assert [each.split()[0] for each in line.partition("pairs: ")[2].split(", ")] == ["p@1", "p@2", "p@3"]
    assert "biggest gains, p@1: q005 +0.400, q001 +0.300, q008 +0.300" in found
    assert not any(line.startswith("biggest losses") for line in found)


def test_only_the_smallest_p_values_are_bounds() -> None:
    assert [p_value(p) for p in (None, 1e-4, 0.99e-4, 0.5)] == ["-", "0.0001", "<0.0001", "0.5000"]


def test_small_differences_are_printed_with_more_digits() -> None:
    second = [score + 0.0004 + 0.0001 * (place % 2) for place, score in enumerate(FIRST)]
    assert lines(compare({"a": result(FIRST), "b": result(second)}))[0].startswith(
        "b is better: p@1 +0.000450, 95 % CI "
    )
    both = lines(compare({"a": result(FIRST, FIRST), "b": result(BETTER, second)}))
    assert [line.split()[4] for line in both if line.startswith("p@")] == ["+0.208333", "+0.000450"]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_tables_leave_out_what_says_least(width: int) -> None:
    found = lines(compare({"a": result(FIRST, FIRST), "b": result(BETTER, BETTER)}), width)
    (header,) = (line for line in found if line.startswith("metric"))
    assert len(header) <= width
    assert all(fact in header for fact in ("verdict", "change", "interval", "p*"))


def test_what_makes_no_pair_is_told() -> None:
    first, second = result([0.1, 0.5, float("nan")]), result([0.2, 0.5, 0.3], ids=["q000", "q001", "q009"])
    found = lines(compare({"old": first, "new": second.with_manifest({"dataset": first.manifest["dataset"]})}))
    assert "note: 2 samples are left out: 1 only in old, 1 only in new" in found


def test_names_from_outside_move_no_cursor() -> None:
    hostile = "\x1b[2Jnew\nline"
    found = lines(compare({"old": result(FIRST), hostile: result(BETTER)}))
    assert found[0].startswith(r"\x1b[2Jnew\nline is better")


def test_markdown_has_verdict_table_and_the_samples_that_changed() -> None:
    found = comparison_markdown(compare({"old": result(FIRST), "<b>|x": result(BETTER)}))
    assert found.startswith("# Comparison with old\n\n- &lt;b&gt;\\|x is better: p@1 +0.208")
    assert "| q005 | 0.5000 | 0.9000 | +0.4000 |" in found
    assert "\n- 12 pairs detect a difference of " in found
    assert "<b>" not in found


def test_csv_has_all_digits() -> None:
    found = compare({"old": result(FIRST), "a,b": result(BETTER)})
    (row,) = csv.DictReader(io.StringIO(comparison_csv(found)))
    assert row["run"] == "a,b"
    assert float(row["difference"]) == found["a,b"]["p@1"].difference
    assert (row["wins"], row["verdict"]) == ("12", "better")


def test_csv_leaves_empty_what_does_not_exist() -> None:
    (row,) = csv.DictReader(io.StringIO(comparison_csv(compare({"a": result([0.5]), "b": result([1.0])}))))
    assert (row["low"], row["p_t"], row["g"]) == ("", "", "")
    (row,) = csv.DictReader(io.StringIO(comparison_csv(compare({"a": result(FIRST), "b": result(BETTER)}))))
    assert (float(row["low"]), float(row["high"])) == pytest.approx((0.1450, 0.2716), abs=5e-5)


def test_latex_has_dashes_where_a_run_has_no_such_metric() -> None:
    found = comparison_latex(compare({"a": result(FIRST, FIRST), "b": result(FIRST, FIRST), "c": result(FIRST)}))
    assert r"c & \textbf{0.2667} & -- \\" in found.splitlines()


def test_pairs_are_counted_by_metric() -> None:
    few, all_of_them = [*FIRST[:-1], float("nan")], FIRST
    counts = [
        next(
            line for line in lines(compare({"a": result(*each), "b": result(*each)})) if line.startswith("b against a")
        )
        for each in ([all_of_them], [all_of_them, few])
    ]
    assert counts == ["b against a: 12 pairs", "b against a: 11 to 12 pairs"]


def test_a_comparison_in_full_stands_apart_from_its_verdict() -> None:
    found = compare({"a": result(FIRST), "b": result(BETTER)})
    full, brief = ([line.text for line in comparison_lines(found, width=w)] for w in (None, 200))
    assert (full[1:3], brief[1]) == (["", "b against a: 12 pairs"], "b against a: 12 pairs")


def test_a_table_that_just_fits_is_whole() -> None:
    comparison = compare({"a": result(FIRST), "b": result(BETTER)})
    widest = max(len(line) for line in lines(comparison)[2:4])
    shown = [any(line.startswith("not shown") for line in lines(comparison, widest - less)) for less in (0, 1, 60)]
    headings = [lines(comparison, widest - less)[2] for less in (0, 1)]
    assert (shown[0], shown[2], headings[0] != headings[1]) == (False, True, True)


def test_latex_compares_with_one_baseline() -> None:
    found = comparison_latex(
        compare({"a": result(FIRST), "b": result(BETTER), "c": result(FIRST)}, all_pairs=True, confidence=0.9)
    )
    assert "% dagger: differs from a, corrected p <= 0.1" in found.splitlines()
    rows = [line.split(" & ")[0] for line in found.splitlines() if line.endswith(r"\\")]
    assert rows == ["run", "a", "b", "c"]
    assert r"c & 0.2667 \\" in found.splitlines()


def test_only_several_metrics_have_a_corrected_p() -> None:
    for count in (1, 2):
        comparison = compare({"a": result(*[FIRST] * count), "b": result(*[BETTER] * count)})
        heading = next(line.text for line in comparison_lines(comparison, width=None) if line.text.startswith("metric"))
        assert ("corrected p" in heading, "difference" in heading) == (count == 2, True)


def test_latex_takes_every_character_for_itself() -> None:
    found = comparison_latex(compare({"a": result(FIRST), r"~^\&%$#_{}": result(BETTER)}))
    written = r"\textasciitilde{}\textasciicircum{}\textbackslash{}\&\%\$\#\_\{\}"
    assert any(line.startswith(f"{written} & ") for line in found.splitlines())


def test_latex_marks_the_best_and_the_significant() -> None:
    found = comparison_latex(compare({"old_1": result(FIRST, BETTER), "50%": result(BETTER, BETTER)}))
    rows = [line for line in found.splitlines() if line.endswith(r"\\")]
    assert rows == [
        r"run & p@1 & p@2 \\",
        r"old\_1 & 0.2667 & \textbf{0.4750} \\",
        r"50\% & \textbf{0.4750}$^{\dagger}$ & \textbf{0.4750} \\",
    ]
    assert found.count(r"\toprule") == found.count(r"\bottomrule") == 1
    runs = {"late": {"q": {"x": 2, "a": 1}}, "early": {"q": {"a": 1}}}
    ranks = comparison_latex(compare(evaluate({"q": {"a": 1}}, runs=runs, metrics=["first_rank"])))
    assert [r"\textbf" in line for line in ranks.splitlines() if line.startswith(("late", "early"))] == [False, True]


@pytest.mark.parametrize("width", [60, 100, 400])
def test_what_a_table_leaves_out_is_what_it_does_not_show(width: int) -> None:
    """One metric has one p, so that there is no corrected one to leave out."""
    every = {"verdict", "a", "b", "change", "95 % interval", "p", "won/lost"}
    found = lines(compare({"a": result(FIRST), "b": result(BETTER)}), width)
    (header,) = (line for line in found if line.startswith("metric"))
    shown = {fact for fact in every if f"  {fact}  " in f"{header}  "} | ({"a", "b"} if "  base" in header else set())
    left_out = [line for line in found if line.startswith("not shown (narrow terminal): ")]
    named = left_out[0].removeprefix("not shown (narrow terminal): ").split(";")[0].split(", ") if left_out else []
    assert set(named) == every - shown


@rows("names", [("a", "b"), ("a-run-with-a-long-name.jsonl", "another-run-with-a-long-name.jsonl")])
@rows("count", [1, 2])
@rows("width", [52, 64, 80, 100])
def test_a_table_keeps_its_width_and_what_decides(width: int, count: int, names: tuple[str, str]) -> None:
    """The verdict, the change with its interval, and the p that decides: with several metrics the corrected one."""
    found = lines(compare({names[0]: result(*[FIRST] * count), names[1]: result(*[BETTER] * count)}), width)
    at = next(place for place, line in enumerate(found) if line.startswith("metric"))
    assert max(map(len, found[at : at + 1 + count])) <= width
    table = "\n".join(found[at : at + 1 + count])
    assert all(fact in table for fact in ("verdict", "change", "interval", "  p*" if count > 1 else "  p"))
    assert table.count("  better") == count


def test_every_column_is_there_on_demand_however_narrow_the_terminal() -> None:
    """Tables of a narrow terminal go on below, and say the same as a wide one."""
    comparison = compare({"a": result(FIRST, FIRST), "b": result(BETTER, BETTER)})
    for width in (40, 80, 200):
        found = [line.text for line in comparison_lines(comparison, width=width, is_whole=True)]
        headings = " ".join(line for line in found if line.startswith("metric"))
        assert all(
            name in headings for name in ("p of t", "corrected p", "d_z", "detectable", "won", "tied", "lost", " g")
        )
        assert not any("not shown" in line for line in found)
    assert found == [line.text for line in comparison_lines(comparison, width=None)]


def test_metrics_that_say_the_same_share_a_sentence() -> None:
    """p@1 and p@2 are better, p@3 is as it was; their numbers stand in the table."""
    found = lines(compare({"a": result(FIRST, FIRST, FIRST), "b": result(BETTER, BETTER, FIRST)}))
    assert found[:2] == ["b is better: p@1, p@2", "b and a score the same: p@3, 12 pairs"]


def test_a_verdict_stands_in_each_row_and_has_its_colour() -> None:
    comparison = compare({"a": result(FIRST, BETTER, FIRST), "b": result(BETTER, FIRST, FIRST)})
    rows = [line for line in comparison_lines(comparison, width=80) if line.text.startswith("p@")]
    assert [(row.word, row.role) for row in rows] == [("better", "good"), ("worse", "bad"), ("", "row")]
    assert [row.text.split()[1] for row in rows] == ["better", "worse", "same"]


WORSE = [score - 0.05 * place for place, score in enumerate(FIRST)]
"""The last samples lose most: q011 loses .55, q010 .5, q009 .45, q008 .4 and q007 .35."""


def test_several_runs_stand_apart_in_brief_too() -> None:
    found = lines(compare({"a": result(FIRST), "b": result(BETTER), "c": result(WORSE)}))
    begins = [place for place, line in enumerate(found) if " against a: " in line]
    assert [found[place - 1] for place in begins] == ["", ""]


def test_the_p_that_decides_is_the_corrected_one_in_every_layout() -> None:
    """p@1 is won 12 times of 12: 2 / 2**12 = .0005, times two runs .0010; p@2 differs in no pair."""
    runs = {"a": result(FIRST, FIRST), "b": result(BETTER, FIRST), "c": result(WORSE, FIRST)}
    comparison = compare(runs)
    row, alone = (
        next(line.split() for line in lines(compare(found)) if line.startswith("p@1"))
        for found in (runs, {"a": result(FIRST), "b": result(BETTER)})
    )
    assert (row[-2:], alone[-2:]) == (["0.0010", "12/0"], ["0.0005", "12/0"])
    whole = next(line.text.split() for line in comparison_lines(comparison, width=None) if line.text[:3] == "p@1")
    assert (whole[7:9], whole[13], whole[16]) == (["0.0005", "0.0010"], "+2.09", "+1.94")
    cells = re.findall("<td[^>]*>(.*?)</td>", comparison._repr_html_())
    assert cells[8] == "0.0010"


def test_a_note_of_one_metric_names_it() -> None:
    runs = {"a": result(FIRST, FIRST), "b": result(BETTER, FIRST)}
    note = "none of 12 pairs differs; at 95 % confidence the true difference is at most 0.2209 either way"
    assert f"note: p@2: {note}" in lines(compare(runs))
    assert f"note: {note}" in lines(compare(runs, metrics=["p@2"]))


def test_differences_by_tag_stand_in_full_reports_the_largest_first_where_they_are_many() -> None:
    def told(*tags: str, second: list[float] = BETTER) -> tuple[list[str], list[str], str]:
        runs = {name: result(scores, tags=[(tag,) for tag in tags]) for name, scores in (("a", FIRST), ("b", second))}
        comparison = compare(runs)
        full = [line.text for line in comparison_lines(comparison, width=200, is_whole=True)]
        return full, lines(comparison), comparison_markdown(comparison)

    full, brief, markdown = told(*"xxxxxxyyyyyy")
    assert [line.split()[:2] for line in full if line[:1] in {"x", "y"}] == [["x", "+0.2500"], ["y", "+0.1667"]]
    assert not any(line.startswith(("x", "...")) for line in brief)
    assert not any(line.startswith("...") for line in full)
    assert "| x | +0.2500 |" in markdown
    plain = compare({"a": result(FIRST), "b": result(BETTER)})
    assert "| tag |" not in comparison_markdown(plain)
    assert not any(line.text.startswith("tag") for line in comparison_lines(plain, width=None))
    many = {
        name: result([score] * 21, tags=[(f"t{at:02}",) for at in range(21)]) for name, score in (("a", 0), ("b", 1))
    }
    assert "... and 1 more tags; --json has all of them" in [
        line.text for line in comparison_lines(compare(many), width=None)
    ]


def test_markdown_lists_the_biggest_losses_then_gains_the_biggest_last() -> None:
    def listed(second: list[float]) -> list[str]:
        return re.findall(r"\| (q\d+) \|", comparison_markdown(compare({"a": result(FIRST), "b": result(second)})))

    assert listed(WORSE) == ["q011", "q010", "q009", "q008", "q007"]
    assert listed([*FIRST[:9], 0.5, 0.7, 0.1]) == ["q011", "q010", "q009"]
    assert listed(FIRST) == []


def test_the_name_of_a_metric_is_folded_where_nothing_else_helps() -> None:
    found = list(aligned([["metric", "n"], ["recall with a name of several words", "12"]], 24))
    assert found == ["metric               n", "recall with a name  12", "of several words"]
