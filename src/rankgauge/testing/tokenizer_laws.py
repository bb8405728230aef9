"""
The laws of tokenizers, each a check with its strategies.
"""

from __future__ import annotations

from rankgauge.plugin.declarations import Tokenizer
from rankgauge.testing.trial import TEXTS, Law, Strategies, Trial

__all__ = ["TOKENIZER_LAWS"]


def _count(trial: Trial[Tokenizer], text: str, note: str = "") -> int:
    found: object = trial.attempt(lambda: trial.subject.function(text), {"text": repr(text), "note": note})
    trial.note(text=repr(text), tokens=repr(found), note=note)
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        trial.fail(f"it returned {found!r}, which is no number of tokens")
    return found


def _empty(trial: Trial[Tokenizer]) -> None:
    trial.demand(_count(trial, "") == 0, "the empty text has tokens; leave out the marks around a whole prompt")


def _twice(trial: Trial[Tokenizer], text: str, between: str) -> None:
    trial.repeats(
        lambda: _count(trial, text), lambda: _count(trial, between), "it counts something else the second time"
    )


def _monotone(trial: Trial[Tokenizer], text: str, more: str) -> None:
    alone, longer = _count(trial, text), _count(trial, f"{text}\n{more}", "with more text below")

    trial.demand(longer >= alone, "with more text below it has fewer tokens")


def _subadditive(trial: Trial[Tokenizer], text: str, more: str) -> None:
    apart = _count(trial, text) + _count(trial, more)
    together = _count(trial, f"{text}\n{more}", "both")

    trial.demand(together <= apart + 1, "together they have more tokens than apart and one for the line break")


def _pickling(trial: Trial[Tokenizer]) -> None:
    trial.pickles(trial.subject.function)


def _one(_subject: Tokenizer) -> Strategies:
    return (TEXTS,)


def _two(_subject: Tokenizer) -> Strategies:
    return (TEXTS, TEXTS)


TOKENIZER_LAWS: dict[str, Law] = {
    "total": Law(_count, _one, cost=0.2),
    "empty": Law(_empty, None),
    "twice": Law(_twice, _two),
    "monotone": Law(_monotone, _two, cost=0.5),
    "subadditive": Law(_subadditive, _two, cost=0.5),
    "pickling": Law(_pickling, None),
}
"""The laws of tokenizers, by name."""
