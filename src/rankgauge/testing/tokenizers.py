"""
`check_tokenizer`: checking what counts tokens against the laws.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import replace

from rankgauge.plugin.declarations import Tokenizer, TokenizerLaw
from rankgauge.testing.check import CASES, checking
from rankgauge.testing.laws import check_names, laws_of
from rankgauge.testing.report import Report
from rankgauge.testing.texts import declared_function, name_of

__all__ = ["check_tokenizer"]


def check_tokenizer(
    tokenizer: Callable[[str], int],
    *,
    laws: Iterable[TokenizerLaw] | None = None,
    without: Iterable[str] = (),
    cases: int = CASES,
) -> Report:
    """
    Check a tokenizer against the laws.

    Args:
        tokenizer: A function declared with `@tokenizer`, or any from a text to a number of tokens.

        laws: Laws to check besides those of every tokenizer; by default the declared ones, or `monotone` for a function
            that declares none.

        without: Laws not to check.

        cases: How many cases to draw for a law.

    Returns:
        Which laws hold, and the smallest example of each that does not.

    Raises:
        MissingExtraError: hypothesis is not installed.

        ParameterError: It is not a function, or there is no such law.
    """
    found = declared_function(tokenizer, Tokenizer) or Tokenizer(name_of(tokenizer), tokenizer)
    wanted = found.laws if laws is None else check_names("tokenizer", laws)
    with checking("tokenizer", without, cases) as checker:
        from rankgauge.testing.tokenizer_laws import TOKENIZER_LAWS
        from rankgauge.testing.trial import Trial

        subject = replace(found, function=tokenizer)
        every = {law for law, info in laws_of("tokenizer").items() if info.when == "every"}
        return checker.report(found.name, functools.partial(Trial, subject), TOKENIZER_LAWS, every | wanted)
