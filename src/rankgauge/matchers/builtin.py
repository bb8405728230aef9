"""
Named matchers: compositions of normalizers and a comparer.
"""

from __future__ import annotations

from rankgauge.plugin import named_matcher

__all__: list[str] = []


@named_matcher("exact", "equal >= 1")
def exact() -> None:
    """Compare character by character."""


@named_matcher("folded", "collapse-whitespace | casefold > equal >= 1")
def folded() -> None:
    """Compare, ignoring case and the amount of white space."""


@named_matcher("contains", "collapse-whitespace | casefold > contained(direction=gold-in-retrieved) >= 1")
def contains() -> None:
    """Find the gold text in the retrieved one, ignoring case and the amount of white space."""


@named_matcher("contains-cased", "collapse-whitespace > contained(direction=gold-in-retrieved) >= 1")
def contains_cased() -> None:
    """Find the gold text in the retrieved one, ignoring the amount of white space."""


@named_matcher("contains-lower", "collapse-whitespace | lower > contained(direction=gold-in-retrieved) >= 1")
def contains_lower() -> None:
    """Decide like `contains`, but lower-case letters one by one instead of folding case."""


@named_matcher("keyword", "casefold > contained(direction=gold-in-retrieved) >= 1")
def keyword() -> None:
    """Find the gold text in the retrieved one, ignoring case; no word boundaries."""


@named_matcher("keyword-lower", "lower > contained(direction=gold-in-retrieved) >= 1")
def keyword_lower() -> None:
    """Find the gold text in the retrieved one; letters are lower-cased one by one, as in the keyword article."""


@named_matcher("passage", "strip-date-prefix | strip-role-prefix > cover >= 0.5")
def passage() -> None:
    """Find half of the gold text in what the first results hold of it together: the default for passages."""


@named_matcher("document", "strip-date-prefix | strip-role-prefix > cut-from >= 0.5")
def document() -> None:
    """Find half of the retrieved text in the gold one, or all of the gold one in it: gold texts are whole documents."""


@named_matcher("words", "casefold > whole-words >= 1")
def words() -> None:
    """Find the gold text in the retrieved one, ignoring case, where it begins and ends with a word: no 41 in 1941."""


@named_matcher("json-escaped", "json-escaped >= 1")
def json_escaped() -> None:
    """Find the retrieved text in the gold one, raw or with one of them JSON-escaped."""


@named_matcher("chunk", "strip-date-prefix | strip-role-prefix > json-escaped >= 1")
def chunk() -> None:
    """Find the retrieved chunk, without date and role prefixes, in the gold passage it was cut from."""


@named_matcher("chunk-remem", "remem >= 1")
def chunk_remem() -> None:
    """Decide exactly as REMem does; an empty chunk comes from every original."""


@named_matcher("fuzzy-chunk", "strip-date-prefix | strip-role-prefix > infix-edit(escaped=true) >= 0.9")
def fuzzy_chunk() -> None:
    """Decide like `chunk`, but allow edits of up to a tenth of the chunk's characters."""


@named_matcher("squad", "lower | strip-ascii-punctuation | strip-articles > equal-tokens >= 1")
def squad() -> None:
    """Compare as SQuAD's exact match: without case, ASCII punctuation, English articles and extra white space."""


@named_matcher("squad-f1", "lower | strip-ascii-punctuation | strip-articles > token-f1 >= 1e-09")
def squad_f1() -> None:
    """Find any word in common, after SQuAD's normalization; the match score is SQuAD's F1."""


@named_matcher("squad-unicode", "strip-articles > equal-script-words >= 1")
def squad_unicode() -> None:
    """Compare word by word, by script: without case, punctuation, English articles and forms of the same character."""


@named_matcher("squad-f1-unicode", "strip-articles > script-word-f1 >= 1e-09")
def squad_f1_unicode() -> None:
    """Find any word in common, as `squad-f1`, with words by script; the match score is the F1 of these."""
