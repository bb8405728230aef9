"""
`words`: whether the words of answers, and the tokens of budgets, are distinguished by blanks or by their script.
"""

from __future__ import annotations

from collections.abc import Mapping

from rankgauge.errors import ParameterError
from rankgauge.expression import Unit, Value

__all__ = ["USUAL_TOKENIZER", "USUAL_WORDS", "are_by_script", "check_words", "matcher_of_words", "tokenizer_of"]

USUAL_WORDS, _BY_SCRIPT = "blanks", "unicode"
"""What separates words if an expression says nothing, and their script."""

USUAL_TOKENIZER = "words"

_MATCHERS = {"exact": "squad-unicode", "squad": "squad-unicode", "squad-f1": "squad-f1-unicode"}
"""Which matcher of answers takes words by script in place of another one."""


def are_by_script(engine: Mapping[str, Value], written: str) -> bool:
    """Return whether a request takes words by script; refuse what `words` cannot be."""
    how = engine.get("words", USUAL_WORDS)
    if how not in {USUAL_WORDS, _BY_SCRIPT}:
        raise ParameterError(f"words of {written!r} are {USUAL_WORDS} or {_BY_SCRIPT}, not {how!r}")
    return how == _BY_SCRIPT


def tokenizer_of(engine: Mapping[str, Value], written: str, unit: Unit) -> str:
    """Return the name of what counts the tokens of a budget."""
    tokenizer = engine.get("tokenizer", USUAL_TOKENIZER)
    if not isinstance(tokenizer, str) or not tokenizer.strip():
        raise ParameterError(f"the tokenizer of {written!r} is a name, not {tokenizer!r}")
    if not are_by_script(engine, written):
        return tokenizer
    if unit == "char" or tokenizer not in {USUAL_TOKENIZER, _BY_SCRIPT}:
        what = "characters" if unit == "char" else f"tokens by {tokenizer}"
        raise ParameterError(f"words={_BY_SCRIPT} has no effect on {what}; leave it out of {written!r}")
    return _BY_SCRIPT


def matcher_of_words(engine: Mapping[str, Value], written: str, usual: Value | None) -> Value | None:
    """Return the matcher of answers: the usual one or, if words are by script, the one that takes them so."""
    if not are_by_script(engine, written):
        return usual
    if usual not in {*_MATCHERS, *_MATCHERS.values()}:
        raise ParameterError(
            f"words={_BY_SCRIPT} has no effect on matcher {usual}; leave one of them out of {written!r}"
        )
    return _MATCHERS.get(str(usual), usual)


def check_words(engine: Mapping[str, Value], written: str, *, has_words: bool) -> None:
    """Refuse to take words by script if none are counted."""
    if are_by_script(engine, written) and not has_words:
        raise ParameterError(
            f"words={_BY_SCRIPT} of {written!r} has no effect: it is for the words of answers (answer_f1, EM), and for "
            "budgets in tokens, such as @500tok"
        )
