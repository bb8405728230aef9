"""
Spelling: what a word of a text is, and which words are the same.

Words are the same but for case, compatibility forms, accents, markup, JSON escapes, entities and hyphens at line ends;
thousands commas and zeros behind a decimal point do not matter. Everything else is compared as written, and marks
between digits belong to a word: `4.12.3`, `2024-03-11`, `B-7700`. In scripts without spaces each character is a word.
`plain_words` finds the words of one text with their places; `joined_words` prepares many texts for `read_words`, which
finds the same words in all of them at once.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from itertools import compress
from typing import NamedTuple

import numpy as np

from rankgauge.base.late_pattern import late_pattern
from rankgauge.matchers.escapes import ESCAPE, decoded
from rankgauge.matchers.noise_places import negation_places, noise_places

__all__ = [
    "MARKS",
    "NUMBERED",
    "PIECE",
    "PLAIN_SIGNS",
    "STARTS_CAPITAL",
    "STARTS_STRONG",
    "UNSPACED",
    "UNSPACED_CHARACTER",
    "Word",
    "cleaned_texts",
    "folded_texts",
    "folded_wide",
    "is_mark",
    "joined_words",
    "plain_number",
    "plain_words",
    "word_parts",
]

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Scripts without spaces between words, each character of which counts as one: Thai to Khmer, kana, Chinese."""
UNSPACED_CHARACTER = late_pattern(f"[{_UNSPACED}]")

_BLOCKS = (
    "article|aside|blockquote|body|br|button|caption|center|col|dd|details|div|dl|dt|figcaption|figure|footer|h[1-6]"
    "|head|header|hr|html|input|li|link|main|meta|nav|ol|p|pre|script|section|style|summary|table|tbody|td|tfoot|th"
    "|thead|title|tr|ul"
)
_INLINE = "a|abbr|b|big|cite|code|del|em|font|i|img|ins|kbd|mark|q|s|samp|small|span|strike|strong|sub|sup|tt|u|var|wbr"
_NOISE = late_pattern(
    r"[-\u2010\u00ad<(&\n](?:"  # each alternative looks back at one of these, so that only they are tried
    r"(?P<gone>(?<=[^\W\d_][-\u2010\u00ad]) ?\r?\n[ \t]*(?=[^\W\d_])|(?<=\u00ad))"  # a word cut at the end of a line
    rf"|(?P<block>(?<=<)/?(?:{_BLOCKS})(?=[\s/>])[^<>]*>|(?<=\n)[ \t]*[0-9]{{1,3}}[.)][ \t])"  # or a list's number
    rf"|(?P<markup>(?<=<)/?(?:{_INLINE})(?=[\s/>])[^<>]*>|(?<=\]\()[^()\s]*\))"  # or where a Markdown link points
    r"|(?<=&)(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,31}[0-9]{0,2});)",
    re.IGNORECASE,
)
_NEGATED = late_pattern(
    "(?:(?<=n)['\u2019]t|(?<=N)['\u2019]T|(?:(?<=\\bcan)|(?<=\\bCan))not|(?<=\\bCAN)NOT)(?![^\\W_])"
)
"""What stands for `not` in "don't", "isn't" and "cannot"."""
_MAYBE_NOISE = [
    re.compile(pattern)
    for pattern in (
        r"\n(?=[ \t]*[0-9]{1,3}[.)][ \t])",
        r"-(?= ?[\r\n])",
        "\u2010(?= ?[\r\n])",
        "\u00ad",
        r"<(?=/?[^\W\d_])",
        r"&(?=[#\w])",
        r"\](?=\()",
    )
]
"""Where noise may begin; a sign alone is looked for several times as fast as a choice of signs."""
_MANY = 1 << 13
"""How many characters texts have together before comparing all of them with a sign is faster than a pattern for it."""
_MOST = 1 << 20
"""How many characters are compared together, of several texts: each comparison takes a byte for one."""
_BEHIND = "]nN"
"""What is before noise or a negation, and is no part of it."""
_MAYBE_NEGATED = [re.compile(pattern) for pattern in ("'(?=[tT])", "\u2019(?=[tT])", "n(?=not)", "N(?=NOT)")]

STARTS_STRONG, STARTS_CAPITAL, PIECE, UNSPACED = "\x01", "\x02", "\x03", "\x04"
"""
What `joined_words` writes between words: before one with an inner capital or a digit that is no ASCII, before one that
begins with such a capital, in place of an ellipsis, and before a character of a script without spaces.
"""
_SIGNS = ("\0", STARTS_STRONG, STARTS_CAPITAL, PIECE, UNSPACED)
_NO_SIGNS = dict.fromkeys(map(ord, _SIGNS), " ")
_ELLIPSIS = re.compile(r"\.\.\.+")  # what begins with letters is quick to look for
MARKS = ".,:-/_"
"""What belongs to a word where it is inside: ``.,:`` between digits, ``-/`` beside one, ``_`` between letters."""
NUMBERED = late_pattern(r"([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.([0-9]+))?")
_ENDS = dict.fromkeys(map(ord, "\u3002\uff61\u0964\u0965\u061f\u06d4\u0589\u203c\u2047\u2048\u2049"), ord("."))
_LINES = dict.fromkeys(map(ord, "\x85\u2028\u2029"), ord("\n"))
_BULLETS = dict.fromkeys(map(ord, "\u2022\u2023\u25a0\u25aa\u25cf\u25e6"), ord("|"))
_DASHES = dict.fromkeys([*range(0x2010, 0x2016), 0x2212], ord("-"))


_BEYOND_ASCII = 0x80
_SIGNS_AT_MOST = 64
"""So many different signs are replaced one after the other; more, in a text of symbols, a character at a time."""


class Word(NamedTuple):
    """A word, folded so that equal words are equal, and where it is in its text: characters, end exclusive."""

    text: str
    start: int
    end: int


def plain_words(text: str) -> list[Word]:
    """Return the words of a text."""
    clean, origins = _clean_with_origins(text)
    if not clean.isascii():
        clean = clean.translate(PLAIN_SIGNS)  # one character for each
    spans = [(_folded(match[0]), *match.span()) for match in _pattern_of(clean).finditer(clean)]
    if origins is None:
        return [Word(*span) for span in spans]
    return [Word(word, origins[start], origins[end]) for word, start, end in spans]


def joined_words(texts: Sequence[str]) -> str:
    """
    Return texts with null characters between them, without noise, and with everything folded that is not ASCII.

    Capital letters of ASCII, signs between words and numbers stay as they are.
    """
    return "\0".join(folded_texts(cleaned_texts(texts)))


def cleaned_texts(texts: Sequence[str]) -> list[str]:
    """Return texts without noise, and with one sign for each ellipsis."""
    everything = "".join(texts)
    if len(everything) > _MOST and len(texts) > 1:
        half = len(texts) // 2
        return cleaned_texts(texts[:half]) + cleaned_texts(texts[half:])
    if any(sign in everything for sign in _SIGNS):
        texts = [text.translate(_NO_SIGNS) for text in texts]
    if "\\" in everything:
        texts = [ESCAPE.sub(_decoded, text) if "\\" in text else text for text in texts]
    is_wide = [not text.isascii() for text in texts]
    if all(is_wide) or not any(is_wide):
        return _cleaned(texts)
    wide = iter(_cleaned(list(compress(texts, is_wide))))
    narrow = iter(_cleaned([text for text in texts if text.isascii()]))  # with one byte for each character
    return [next(wide if each else narrow) for each in is_wide]


def _cleaned(texts: Sequence[str]) -> list[str]:
    if not texts:
        return []
    whole = "\0".join(texts)
    find = noise_places if len(whole) >= _MANY else partial(_places, _MAYBE_NOISE)
    whole = _replaced(whole, find(whole), _NOISE, _instead)
    find = negation_places if len(whole) >= _MANY else partial(_places, _MAYBE_NEGATED)
    whole = _replaced(whole, find(whole), _NEGATED, _not)
    if "\u2026" in whole:
        whole = whole.replace("\u2026", "...")
    if "..." in whole:
        whole = _ELLIPSIS.sub(PIECE, whole)
    return whole.split("\0")


def folded_texts(texts: Sequence[str]) -> list[str]:
    """Return texts without noise with everything folded, and marked, that is not ASCII."""
    folded = list(texts)
    wide = [at for at, text in enumerate(texts) if not text.isascii()]
    plain = _with_plain_signs("\0".join([texts[at] for at in wide])).split("\0")
    for at, text in zip(wide, plain, strict=False):  # none is one empty text
        folded[at] = text if text.isascii() else _WIDE.sub(_wide_words, text)
    return folded


def _places(maybe: Sequence[re.Pattern[str]], whole: str) -> list[int]:
    """Return where some patterns begin, or what is behind them, in texts."""
    return [match.end() - (match[0] not in _BEHIND) for each in maybe for match in each.finditer(whole)]


def _replaced(
    whole: str, places: Sequence[int], pattern: re.Pattern[str], instead: Callable[[re.Match[str]], str]
) -> str:
    """Return texts with what a pattern finds in each replaced; it begins at some of these places only."""
    parts: list[str] = []
    end = stop = 0  # of what is replaced, and of the text
    for place in sorted(places):
        if place < end:
            continue
        if place >= stop:
            stop = whole.find("\0", place) % (len(whole) + 1)  # the end of all if there is none
        found = pattern.match(whole, place, stop)
        if found is not None:
            parts += [whole[end:place], instead(found)]
            end = found.end()
    return "".join([*parts, whole[end:]]) if parts else whole


def _with_plain_signs(whole: str) -> str:
    """Return texts with the ASCII sign that says the same in place of others between words."""
    codes = np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), "<u4")
    beyond = np.unique(codes[codes >= _BEYOND_ASCII]).tolist()
    signs = [code for code in beyond if PLAIN_SIGNS[code] != code]
    if len(signs) > _SIGNS_AT_MOST:
        return whole.translate(PLAIN_SIGNS)
    for code in signs:  # looking for each is many times as fast as looking all characters up
        whole = whole.replace(chr(code), chr(PLAIN_SIGNS[code]))
    return whole


def plain_number(word: str) -> str:
    """Return a number without thousands commas and zeros behind its decimal point; any other word as it is."""
    number = NUMBERED.fullmatch(word)
    if number is None:
        return word
    whole, decimals = number[1].replace(",", ""), (number[2] or "").rstrip("0")
    return f"{whole}.{decimals}" if decimals else whole


def is_mark(symbol: str) -> bool:
    """Return whether a symbol is a combining mark."""
    return unicodedata.category(symbol)[0] == "M"


class _PlainSigns(dict[int, int]):
    """For each symbol a letter, a mark, or the ASCII sign that says the same between words."""

    def __missing__(self, code: int) -> int:
        self[code] = plain = _plain_sign(code)
        return plain


PLAIN_SIGNS = _PlainSigns({ord("\u2026"): ord(PIECE)} | _ENDS | _LINES | _BULLETS | _DASHES)


def _plain_sign(code: int) -> int:
    symbol = chr(code)
    if code < 0x80 or unicodedata.category(symbol) == "No":  # a raised 2 is no 2
        return code
    plain = unicodedata.normalize("NFKC", symbol)
    if len(plain) == 1 and plain.isascii():
        return ord(plain)
    return code if symbol.isalnum() or is_mark(symbol) else 0x20


_IDEOGRAPHS = late_pattern("[\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]+")
"""Characters that are words each, and are their own folded form."""
_WIDE = late_pattern(r"(?<![A-Za-z0-9])[A-Za-z0-9]*+[^\x00-\x7f][A-Za-z0-9\x80-\U0010ffff]*")


def _wide_words(match: re.Match[str]) -> str:
    """Return the words of some letters, each with what `STARTS_STRONG` and the others say of it before it."""
    if _IDEOGRAPHS.fullmatch(match[0]):
        return f"{UNSPACED}{f'  {UNSPACED}'.join(match[0])} "  # what the rest would find, a fortieth of the time
    return _words_of(match[0], _is_joined(match.string[max(match.start() - 2, 0) : match.start() + 1]))


@functools.lru_cache(maxsize=1 << 16)
def _words_of(letters: str, joins: bool) -> str:  # noqa: FBT001  # positional, which the cache takes best
    found = []
    for word in _pattern_of(letters).findall(letters):
        if UNSPACED_CHARACTER.search(word[0]):
            found.append(f"{UNSPACED}{_folded(word)} ")
        else:
            mark = "" if joins and not found else _marked(word)
            found.append(f"{mark}{_folded(word)}")
    words = " ".join(found)
    return f" {words}" if is_mark(letters[0]) else words  # a mark without its letter parts words


def _marked(word: str) -> str:
    """Return what is before a word that is not ASCII, or not all of it."""
    if any(symbol.isupper() for symbol in word[1:]) or any(each.isdigit() and not each.isascii() for each in word):
        return STARTS_STRONG
    return STARTS_CAPITAL if word[0].isupper() else ""


def _is_joined(around: str) -> bool:
    """Return whether the last of three symbols is one word with the first, as `_word_pattern` has it."""
    if len(around) < 3:
        return False
    digits = [each in "0123456789" for each in around]
    return around[1] == "_" or (around[1] in "-/" and any(digits)) or (around[1] in ".,:" and digits[0] and digits[2])


def _clean_with_origins(text: str) -> tuple[str, Sequence[int] | None]:
    """Return a text without noise, and where each of its characters and its end were; None if nothing changed."""
    origins: Sequence[int] | None = None
    for pattern, instead in ((ESCAPE, _decoded), (_NOISE, _instead), (_NEGATED, _not)):
        parts: list[str] = []
        places: list[int] = []
        end = 0
        for match in pattern.finditer(text):
            other = instead(match)
            parts += [text[end : match.start()], other]
            places += [*range(end, match.start()), *[match.start()] * len(other)]
            end = match.end()
        if parts:
            places += range(end, len(text) + 1)
            text = "".join([*parts, text[end:]])
            origins = places if origins is None else [origins[place] for place in places]
    return text, origins


def _decoded(match: re.Match[str]) -> str:
    """Return what an escape stands for, but for signs that part texts or say something of a word."""
    plain = decoded(match)
    return plain if plain > UNSPACED else " "


def _not(negated: re.Match[str]) -> str:
    return f" {negated[0]}" if negated[0].isalpha() else " not"


def _instead(noise: re.Match[str]) -> str:
    """Return what a text says where there is markup, an entity or a hyphen at the end of a line."""
    match noise.lastgroup:
        case "gone":
            return ""
        case "block":
            return "\n"
        case "markup":
            return " "
    import html  # a thousand entities

    return html.unescape(noise[0])


def _folded(word: str) -> str:
    """Return a word in the form in which equal words are equal."""
    if not word.isascii():
        return folded_wide(word)
    return plain_number(word.lower()) if word[0].isdigit() else word.lower()


@functools.lru_cache(maxsize=1 << 16)
def folded_wide(word: str) -> str:
    """Return a word without case, compatibility forms and accents, and without what these leave between letters."""
    plain = _ACCENT.sub("", unicodedata.normalize("NFD", word))
    folded = _compatible(_compatible(unicodedata.normalize("NFC", plain)).casefold())
    return "".join(each for each in folded if each.isalnum() or is_mark(each) or each in MARKS) or word


_ACCENT = re.compile("(?<![0-9])[\u0300-\u036f]+")


def _compatible(text: str) -> str:
    """Return the compatibility form of a text; what is raised, lowered or in a circle stays so."""
    if not _IS_RAISED(text):
        return unicodedata.normalize("NFKC", text)
    return "".join(each if unicodedata.category(each) == "No" else unicodedata.normalize("NFKC", each) for each in text)


_IS_RAISED = re.compile("[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u218b\u2460-\u24ff\u2776-\u2793]").search


_MARK = r"[^\w\x00-\x7f\U00020000-\U0010ffff]"
_HAS_MARKS = re.compile(r"[^\w\x00-\x7f]").search
"""Whether a text without signs beyond ASCII has combining marks: nothing else is left that is no part of a word."""


def _pattern_of(text: str) -> re.Pattern[str]:
    """Return what finds the words of a text, all of whose signs are in ASCII."""
    is_ascii = text.isascii()
    return _word_pattern(is_ascii=is_ascii, has_marks=not is_ascii and _HAS_MARKS(text) is not None)


@functools.cache
def _word_pattern(*, is_ascii: bool, has_marks: bool) -> re.Pattern[str]:
    """Return what finds words, and what is a part of one if it is between letters."""
    unspaced, unit, letter = word_parts(is_ascii=is_ascii, has_marks=has_marks)
    inner = rf"(?<=[0-9])[.,:](?=[0-9])|(?<=[0-9])[-/](?={letter})|[-/](?=[0-9])|_(?={letter})"
    return re.compile(rf"{unspaced}{unit}(?:(?:{inner}){unit})*")


def word_parts(*, is_ascii: bool, has_marks: bool) -> tuple[str, str, str]:
    """
    Return patterns of a character that is a word, with a bar behind it, of letters in a row, and of one letter.

    If a text *has_marks*, these have to be all that is beyond ASCII but letters: listing them takes ten milliseconds.
    """
    if is_ascii:
        return "", "[^\\W_]+", "[^\\W_]"
    letter = f"[^\\W_{_UNSPACED}]"
    if not has_marks:
        return rf"(?=\w)[{_UNSPACED}]|", f"{letter}+", letter
    return rf"(?=\w)[{_UNSPACED}]{_MARK}*|", f"(?:{letter}{_MARK}*)+", letter
