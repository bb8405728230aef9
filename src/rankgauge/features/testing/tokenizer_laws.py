"""
The laws of tokenizers.
"""

from __future__ import annotations

import functools

from rankgauge.features.testing.drawn_cases import TEXT
from rankgauge.features.testing.law import Trial, book, draw, law, no_network, pickling
from rankgauge.features.testing.state_laws import text_state
from rankgauge.plugin.declarations import Tokenizer

__all__ = ["TOKENIZER_LAWS"]

_LENGTHS = (64, 512, 8_192, 32_768)
"""How many words a text has: models cut texts at such lengths."""


def _count(trial: Trial[Tokenizer], text: str, note: str = "") -> int:
    """Any text, however odd, has a number of tokens, 0 or more."""
    tokens: object = trial.attempt(lambda: trial.subject.function(text), {"text": repr(text), "note": note})
    trial.note(text=repr(text), tokens=repr(tokens), note=note)
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
        trial.fail(f"it returned {tokens!r}, which is no number of tokens")
    return tokens


@law()
def _empty(trial: Trial[Tokenizer]) -> None:
    """The empty text has no token."""
    trial.demand(_count(trial, "") == 0, "the empty text has tokens; leave out the marks around a whole prompt")


@law(draw(TEXT, TEXT), name="twice")
def _tokenizer_twice(trial: Trial[Tokenizer], text: str, between: str) -> None:
    """The same text always has the same number of tokens."""
    wrong = "it counts something else the second time"
    trial.repeats(lambda: _count(trial, text), lambda: _count(trial, between), wrong)


@law(draw(TEXT, TEXT), when="declared", cost=0.5)
def _monotone(trial: Trial[Tokenizer], text: str, more: str) -> None:
    """A text with a line break and more behind it has no fewer tokens."""
    alone, longer = _count(trial, text), _count(trial, f"{text}\n{more}", "with more text below")
    trial.demand(longer >= alone, "with more text below it has fewer tokens")


@law(draw(TEXT, TEXT), when="declared", cost=0.5)
def _subadditive(trial: Trial[Tokenizer], text: str, more: str) -> None:
    """Two texts joined by a line break have at most one token more."""
    apart = _count(trial, text) + _count(trial, more)
    together = _count(trial, f"{text}\n{more}", "both")
    trial.demand(together <= apart + 1, "together they have more tokens than apart and one for the line break")


_tokenizer_total = law(draw(TEXT), name="total", cost=0.2)(_count)


@law()
def _whole_text(trial: Trial[Tokenizer]) -> None:
    """A text that is twice as long has more tokens, however long it is."""
    for words in _LENGTHS:
        half, whole = ("\n".join(["Two cats sat there, and 10 dogs ran."] * (words // 8 * times)) for times in (1, 2))
        trial.forget()
        first = trial.attempt(functools.partial(trial.subject.function, half), {"words": words})
        second = trial.attempt(functools.partial(trial.subject.function, whole), {"words": 2 * words})
        trial.note(words=words, tokens=first)
        trial.note(words=2 * words, tokens=second)
        trial.demand(second > first, "the text is cut before it is counted; switch truncation off")


TOKENIZER_LAWS = book(
    *(_tokenizer_total, _empty, _tokenizer_twice, _whole_text, _monotone, _subadditive, text_state, pickling),
    no_network,
)
