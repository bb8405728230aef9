"""
Text: words for messages, names for files and tools, and the words of a text as evidence compares them.
"""

from __future__ import annotations

from rankgauge.base.plain_text import visible
from rankgauge.errors import counted, did_you_mean, listed
from rankgauge.expression import safe_name

__all__ = ["counted", "did_you_mean", "listed", "safe_name", "visible", "words_of"]


def words_of(text: str) -> list[str]:
    """
    Return the words of a text as the default matcher of passages compares them.

        words_of("Price: 12,500.00 EUR")  # ["price", "12500", "eur"]

    Args:
        text: Any text, with or without markup.

    Returns:
        The words without differences of case, compatibility form, accents and markup; numbers without thousands commas
        and zeros at their end.
    """
    from rankgauge.matchers.spelling import plain_words

    return [word.text for word in plain_words(text)]
