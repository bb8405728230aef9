"""
Numbers: reading columns of decimal texts as floats, each as exactly as `float` would read it.

Digits are read eight at a time, from one integer that holds them. What has up to 19 digits becomes an integer and a
power of ten; the quotient of the two is rounded correctly, by one division if the integer has no more than 53 bits,
else by one division and a correction from its exact remainder. Everything else, some thousandths of a real run or a
run in a notation of its own, is read one by one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.plain_text import read_number
from rankgauge.columns import Floats, Ints, Slices, Words, words_at

__all__ = ["parse_floats"]

_DOT, _MINUS = 46, 45
_WORD = 8
_MOST_DECIMALS = 16
_MOST_DIGITS = 19
_HIGH_NIBBLES = np.uint64(0xF0F0F0F0F0F0F0F0)
_ZEROS = np.uint64(0x3030303030303030)
_SIXES = np.uint64(0x0606060606060606)
# masks that keep the last n of eight bytes, which an integer holds in its high bytes
_KEEP_LAST = np.array([0] + [((1 << (8 * n)) - 1) << (8 * (8 - n)) for n in range(1, 9)], dtype=np.uint64)
_POWERS = 10.0 ** np.arange(_MOST_DECIMALS + 1)
_EXACT, _EXACT_DIGITS = 1 << 53, 15
_SPLITTER = float((1 << 27) + 1)
_ROUNDS = 8  # how many further numbers of decimals are tried: a file that drops trailing zeros has a few


def parse_floats(texts: Slices) -> tuple[Floats, Ints]:
    """Return the numbers, and the places of texts that are not finite numbers."""
    if not len(texts.start):
        return np.empty(0), np.empty(0, dtype=np.int64)
    values, done = _fixed(texts, _decimals_of_first(texts))
    rest = np.flatnonzero(~done)
    for _ in range(_ROUNDS):
        if not len(rest):
            return values, rest
        unread = texts.at(rest)
        read, done = _fixed(unread, _decimals_of_first(unread))
        values[rest[done]] = read[done]
        rest = rest[~done]
    values[rest] = [read_number(text) for text in texts.at(rest).texts()]
    return values, rest[np.isnan(values[rest])]


def _decimals_of_first(texts: Slices) -> int:
    first = texts.at(slice(0, 1)).texts()[0]
    return len(first) - 1 - first.find(b".") if b"." in first else -1


def _fixed(texts: Slices, decimals: int) -> tuple[Floats, NDArray[np.bool_]]:
    """
    Read numbers with the same number of decimals, -1 for integers; return values, and which of them hold.

    Signs are looked for if the first number has one: elsewhere a number with a sign does not hold.
    """
    # 12.345678 with 6 decimals, its point at place p: the word of the eight bytes before p ends with "12", the one that
    # ends at p + 7 with "345678". Two bytes of the first and six of the second make the word "12345678", divided by
    # 10**6. If there are more than eight digits, each word is read by itself: 12 * 10**6 + 345678.
    buffer, start, end = texts.buffer, texts.start, texts.start + texts.length
    behind = max(decimals, 0)
    most = min(8, _MOST_DIGITS - behind)
    if behind > _MOST_DECIMALS:
        return np.empty(len(start)), np.zeros(len(start), dtype=np.bool_)
    negative = buffer[start] == _MINUS if buffer[start[0]] == _MINUS else None
    if negative is not None:
        start = start + negative
    dot = end - (decimals + 1)
    whole = dot - start
    fits = np.ones(len(start), dtype=np.bool_)
    if int(whole.min()) < 1 or int(whole.max()) > most:
        fits = (whole >= 1) & (whole <= most)
        dot, whole = np.where(fits, dot, _WORD), np.where(fits, whole, 1)
    if decimals >= 0:
        fits &= buffer[dot] == _DOT
    longest = int(whole.max())
    words = words_at(buffer, dot - _WORD)
    if longest + behind <= _WORD:
        if behind:
            words >>= np.uint64(8 * behind)
            words |= words_at(buffer, end - _WORD) & _KEEP_LAST[behind]
        mantissa = _digits(words, whole + behind, fits)
    else:
        mantissa = _digits(words, whole, fits)
        at = dot + 1
        for size in filter(None, (min(behind, 8), max(behind - 8, 0))):
            mantissa = mantissa * np.uint64(10**size) + _digits(words_at(buffer, at + size - _WORD), size, fits)
            at += size
    values = _quotient(mantissa, behind, is_exact=longest + behind <= _EXACT_DIGITS)
    if negative is not None:
        np.negative(values, out=values, where=negative)
    return values, fits


def _digits(words: Words, count: Ints | int, fits: NDArray[np.bool_]) -> Words:
    """Return the number that the last *count* of eight characters write; clear *fits* if they are no digits."""
    # "12" is in the two highest bytes, 0x32 above 0x31; 0x02 above 0x01 without the high nibbles. Times 10 plus
    # the same a byte lower: 1 * 10 + 2 in one byte; then two digits times 100 plus two, four times 10,000 plus four.
    mask = _KEEP_LAST[count]
    words &= mask
    fits &= (words & (words + _SIXES) & _HIGH_NIBBLES) == (_ZEROS & mask)  # 0x30 to 0x39, and nothing above
    words &= np.uint64(0x0F0F0F0F0F0F0F0F)  # the first digit is in the lowest byte
    words = (words * np.uint64(10) + (words >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    words = (words * np.uint64(100) + (words >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    words = words * np.uint64(10000) + (words >> np.uint64(32))
    words &= np.uint64(0xFFFFFFFF)
    return words


def _quotient(mantissa: Words, decimals: int, *, is_exact: bool) -> Floats:
    """
    Return mantissa / 10**decimals, correctly rounded.

    The power is exact. Where the mantissa is, too, the division rounds once. Else the quotient of the rounded mantissa
    is off by little, and its exact remainder (Dekker's product, A floating-point technique for extending the available
    precision, 1971) says by how much; the sum of both is rounded correctly unless it lies next to a tie.

    None lies that near. A quotient from 2**e has its ties at odd multiples of 2**(e - 54) at the finest. With at most 8
    digits before the point and 16 behind it, e is at most 26, so the difference of mantissa * 2**(54 - e) and
    odd * 10**decimals is a multiple of 2**decimals, and not 0, because such a tie has more than 16 decimals. That
    leaves 5**-16 of 2**(e - 54) between the two; the correction is off by less than 2**-50 of it.
    """
    power = _POWERS[decimals]
    high = mantissa.astype(np.float64)
    values: Floats = high / power
    if is_exact or not len(large := np.flatnonzero(mantissa > _EXACT)):
        return values
    high, quotient = high[large], values[large]
    low = (mantissa[large] - high.astype(np.uint64)).view(np.int64).astype(np.float64)  # what rounding took away
    product = quotient * power
    a, b = _split(quotient), _split(np.array(power))
    error = a[1] * b[1] - (((product - a[0] * b[0]) - a[1] * b[0]) - a[0] * b[1])
    correction = (((high - product) - error) + low) / power
    values[large] = quotient + correction
    return values


def _split(values: Floats) -> tuple[Floats, Floats]:
    """Split floats into two halves whose products are exact."""
    scaled = _SPLITTER * values
    high = scaled - (scaled - values)
    return high, values - high
