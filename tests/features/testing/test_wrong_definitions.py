"""The table of wrong definitions on the page of laws is true: each is caught by the law that it names, or by none."""

from __future__ import annotations

import gc
import logging
import os
import re
import signal
import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from draws import draws, in_thorough_suite, some
from features.testing import definitions
from features.testing.definitions import CALLS
from features.testing.wrong_definitions import WRONG, Wrong, bpref, leaking, ndcg_right, recall_that_ignores_k
from rankgauge.errors import DeclarationError
from rankgauge.plugin import JudgedSample, hookimpl, reader, sample_metric
from rankgauge.testing import check_metric, check_normalizer, check_plugin, check_tokenizer

PAGE = Path(__file__).parents[3] / "docs/laws.template"
_THOROUGH = 60


def checked(wrong: Wrong, *, laws: set[str] | None = None, cases: int = 100):
    """Return the report on a wrong definition, with what its author can declare."""
    if wrong.kind == "tokenizer":
        return check_tokenizer(wrong.function, cases=cases)
    if wrong.kind == "normalizer":
        return check_normalizer(wrong.function, cases=cases)
    if wrong.kind == "reader":

        @reader("wrong", suffixes=(".wrong",))
        def read(source):
            """Read."""
            return wrong.function(source)

        hook = hookimpl(specname="rankgauge_readers")(lambda: [read])
        return check_plugin(SimpleNamespace(rankgauge_readers=hook))["wrong"]
    return check_metric(wrong.function, laws=laws, like=wrong.like or (), reference=wrong.reference, cases=cases)


@pytest.mark.parametrize("wrong", some(WRONG, of=5), ids=lambda wrong: wrong.says)
@pytest.mark.usefixtures("first_example")
def test_a_wrong_definition_is_caught_by_the_law_that_the_page_names(wrong):
    if wrong.law:
        assert wrong.law in checked(wrong, laws={wrong.law}).broken
    else:
        assert checked(wrong, cases=draws(_THOROUGH)).ok


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


LEAKS = {
    "how numpy prints": (lambda: np.set_printoptions(precision=3), np.get_printoptions),
    "sys.path": (lambda: sys.path.insert(0, "nowhere"), lambda: list(sys.path)),
    "sys.excepthook": (lambda: setattr(sys, "excepthook", print), lambda: sys.excepthook),
    "the garbage collector": (gc.disable, gc.isenabled),
    "the settings of logging": (lambda: logging.disable(logging.ERROR), lambda: logging.getLogger().manager.disable),
    "the handlers of signals": (
        lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
        lambda: signal.getsignal(signal.SIGTERM),
    ),
    "the umask": (lambda: os.umask(0o077), umask),
    "the default timeout of sockets": (lambda: socket.setdefaulttimeout(3), socket.getdefaulttimeout),
}


@pytest.mark.parametrize("name", some(list(LEAKS)))
@pytest.mark.usefixtures("first_example")
def test_other_traces_in_the_process_are_named_and_taken_back(name):
    leak, read = LEAKS[name]
    before = read()
    report = check_metric(leaking(leak), cases=2, without=["pickling"])
    assert report.broken == ("global-state",)
    assert f"it changed {name}, which belongs to the whole process" in str(report)
    assert read() == before


def test_most_of_the_list_is_caught():
    assert sum(bool(wrong.law) for wrong in WRONG) >= 0.8 * len(WRONG)


def test_the_page_lists_them_with_what_catches_them():
    rows = re.findall(r"^\| (.+?) +\| (.+?) +\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    listed = [row for row in rows if row[0] in {wrong.says for wrong in WRONG}]
    assert listed == [(wrong.says, caught(wrong)) for wrong in WRONG]


def caught(wrong: Wrong) -> str:
    """Return the cell of the page."""
    if not wrong.law:
        return "nothing"
    declared = f'="{wrong.like}"' if wrong.like else ""
    return f"`{wrong.law}{declared}`"


RIGHT = (
    (definitions.recall_at_k, "recall@k"),
    (definitions.precision_at_k, "P@k"),
    (definitions.average_precision, "ap@k where binary"),
    (definitions.reciprocal_rank, "RR"),
    (definitions.f1_at_k, "f1@k"),
    (ndcg_right, "ndcg@k"),
    (definitions.hit_at_k, "hit@k"),
)


@pytest.mark.parametrize(("function", "like"), RIGHT, ids=[like for _, like in RIGHT])
def test_right_definitions_are_like_those_that_they_name(function, like):
    report = check_metric(function, calls=CALLS.get(function), laws=["like"], like=like, cases=draws(_THOROUGH))
    report.raise_if_broken()
    assert report.holds == ("like",)


def bpref_right(retrieved, qrels):
    return bpref(retrieved, {doc: grade for doc, grade in qrels.items() if grade >= 0}, "judged")


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("ndcg_any", "ndcg@k where binary"),
        ("ap", "RR@k where one relevant"),
        ("recall", "hit@k where one relevant"),
        ("ndcg", "dcg@k where one relevant and binary"),
    ],
)
@pytest.mark.usefixtures("first_example")
def test_conditions_say_where_two_metrics_agree(name, like):
    report = check_metric(name, laws=["like"], like=like, cases=draws(_THOROUGH))
    report.raise_if_broken()
    assert check_metric(name, laws=["like"], like=like.partition(" where ")[0]).broken == ("like",)


def test_bpref_equals_its_plain_reference():
    check_metric("bpref", laws=["reference"], reference=bpref_right, cases=draws(_THOROUGH)).raise_if_broken()


@in_thorough_suite()
@pytest.mark.usefixtures("first_example")
def test_a_declaration_holds_likeness_and_reference_to_every_check():
    @sample_metric("declared-like-at-k", like="recall@k", reference=definitions.recall_at_k)
    def recall(ranking: JudgedSample, *, k: int) -> float | None:
        """Divide by one more."""
        return sum(ranking.relevant[:k]) / (ranking.n_gold + 1) if ranking.n_gold else None

    hook = hookimpl(specname="rankgauge_metrics")(lambda: [recall])
    report = check_plugin(SimpleNamespace(rankgauge_metrics=hook), cases=5)
    assert {"like", "reference"} <= set(report["declared-like-at-k"].broken)
    assert {"like", "reference"} <= set(check_metric(recall, cases=5).broken)


def test_a_likeness_that_cannot_be_used_is_refused_where_it_is_written():
    with pytest.raises(DeclarationError, match=r"has no condition 'binray' .did you mean 'binary'"):
        sample_metric("declared-like-at-k", like="recall@k where binray")(recall_that_ignores_k.__wrapped__)
    with pytest.raises(DeclarationError, match="has no condition 'graded'"):
        check_metric(definitions.recall_at_k, like="recall@k where graded")
    report = check_metric(definitions.recall_at_k, laws=["like"], like="recal@k")
    assert "did you mean 'recall" in report["like"].reason


@in_thorough_suite()
def test_laws_of_cutoffs_can_be_left_out_by_a_declaration_and_no_others():
    @sample_metric("declared-without-at-k", without=("tail",))
    def share(ranking: JudgedSample, *, k: int) -> float | None:
        """Be a share of all that was retrieved."""
        return sum(ranking.relevant[:k]) / ranking.depth if ranking.depth and ranking.n_gold else None

    report = check_metric(share, cases=5)
    assert "tail" not in {*report.broken, *report.holds, *report.skipped}
    with pytest.raises(DeclarationError, match="only last-rank and tail can be left out"):
        sample_metric("declared-without-at-k", without=("twice",))(recall_that_ignores_k.__wrapped__)
