"""
What trec_eval prints, made here of pytrec_eval's numbers, against what `rankgauge trec` prints, byte for byte.

pytrec_eval-terrier wraps the C code of trec_eval 9, so that its numbers are printed as that version would print them.
"""

import math

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.cli import call
from trec.data import generated, qrels_of, run_of, texts

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
LEVELS = [f"iprec_at_recall_{step / 10:.2f}" for step in range(11)]
COUNTS = {"num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"}
GEOMETRIC = {"gm_map", "gm_bpref"}
OFFICIAL = [
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
    *LEVELS,
    *(f"P_{k}" for k in CUTOFFS),
]
ALL_TREC = [
    *OFFICIAL,
    *(f"recall_{k}" for k in CUTOFFS),
    *("infAP", "gm_bpref", "11pt_avg", "ndcg"),
    *(f"{name}_{k}" for name in ("ndcg_cut", "map_cut", "relative_P") for k in CUTOFFS),
    *("success_1", "success_5", "success_10"),
    *("set_P", "set_relative_P", "set_recall", "set_map", "set_F", "num_nonrel_judged_ret"),
]


def safe(qrels, level=1):
    """
    Return judgments that pytrec_eval can read: it counts past the end of its table where no grade reaches level - 1.

    Queries without such a grade get a document that nobody retrieves.
    """
    missing = [query for query, own in qrels_of(qrels).items() if max(own.values()) < level - 1]
    return qrels + "".join(f"{query} 0 never-retrieved {level - 1}\n" for query in missing)


def printed_by_trec_eval(qrels, run, measures, level=1):
    """Return trec_eval's lines for each query that both sides have, then those for all."""
    judged, ranked = qrels_of(qrels), run_of(run)
    scores = pytrec_eval.RelevanceEvaluator(judged, pytrec_eval.supported_measures, relevance_level=level).evaluate(
        ranked
    )
    common = sorted(set(judged) & set(ranked), key=str.encode)
    lines = []
    for query in common:
        for name in measures:
            if name in {"num_q", *GEOMETRIC}:
                continue
            value = scores[query][name]
            lines.append(
                f"{name:<22}\t{query}\t{int(value)}\n" if name in COUNTS else f"{name:<22}\t{query}\t{value:6.4f}\n"
            )
    lines.append("runid                 \tall\ttag\n")
    for name in measures:
        total = 0.0
        for query in common:
            total += scores[query][name]
        if name in COUNTS:
            lines.append(f"{name:<22}\tall\t{int(total)}\n")
        elif name in GEOMETRIC:
            lines.append(f"{name:<22}\tall\t{math.exp(total / len(common)):6.4f}\n")
        else:
            lines.append(f"{name:<22}\tall\t{total / len(common):6.4f}\n")
    return "".join(lines)


def printed_by_us(folder, capsys, qrels, run, *options):
    (folder / "qrels").write_text(qrels, "utf-8")
    (folder / "run").write_text(run, "utf-8")
    capsys.readouterr()
    arguments = ["trec", str(folder / "qrels"), str(folder / "run"), "-q", "--format", "trec", "--profile", "trec9"]
    assert call([*arguments, *options]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("name", "measures"), [("official", OFFICIAL), ("all_trec", ALL_TREC)])
def test_sets_are_printed_as_trec_eval_prints_them(tmp_path, capsys, seed, name, measures):
    qrels, run = generated(seed)
    qrels = safe(qrels)
    assert printed_by_us(tmp_path, capsys, qrels, run, "-m", name) == printed_by_trec_eval(qrels, run, measures)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_level_of_relevance_is_printed_as_trec_eval_prints_it(tmp_path, capsys, level):
    qrels, run = generated(9)
    qrels = safe(qrels, level)
    expected = printed_by_trec_eval(qrels, run, ALL_TREC, level)
    assert printed_by_us(tmp_path, capsys, qrels, run, "-m", "all_trec", f"-l{level}") == expected


@given(data=texts(), noise=st.sampled_from(["{}", "{}\r", "  {}", "{} more words", "# a comment\n{}", "\n{}"]))
def test_anything_is_printed_as_trec_eval_prints_it(tmp_path_factory, data, noise):
    """However the lines of the run are written; grades below the level and negative ones included."""
    qrels, run = safe(data[0]), data[1]
    written = "".join(noise.format(line) + "\n" for line in run.splitlines())
    folder = tmp_path_factory.mktemp("trec")
    with pytest.MonkeyPatch.context() as patch:
        lines = []
        patch.setattr("rankgauge.cli.trec_command.emit", lines.extend)
        (folder / "qrels").write_text(qrels, "utf-8")
        (folder / "run").write_text(written, "utf-8")
        arguments = ["trec", str(folder / "qrels"), str(folder / "run"), "-qf", "trec", "--profile", "trec9"]
        assert call([*arguments, "-m", "all_trec"]) == 0
    expected = printed_by_trec_eval(qrels, run, ALL_TREC).splitlines()
    assert [line for line in "".join(lines).splitlines() if "runid" not in line] == [
        line for line in expected if "runid" not in line
    ]
    assert "runid                 \tall\ttag\n" in lines


def test_scores_that_are_one_float_tie_as_in_version_9(tmp_path, capsys):
    qrels = "q1 0 a 1\nq1 0 c 2\nq2 0 b 1\n"
    run = "".join(
        f"{query} Q0 {document} 1 {score} tag\n"
        for query in ("q1", "q2")
        for document, score in (("a", "100.0000002"), ("b", "100.0000001"), ("c", "16777217"), ("d", "16777216"))
    )
    assert printed_by_us(tmp_path, capsys, qrels, run, "-m", "all_trec") == printed_by_trec_eval(qrels, run, ALL_TREC)
