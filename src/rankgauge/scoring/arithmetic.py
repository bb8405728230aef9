"""
The arithmetic of a score, as one line that adds up.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.scoring.facts import RankFacts, SampleFacts

__all__ = ["arithmetic"]

_MOST_TERMS = 12
_EXACT = 1e-12


def arithmetic(name: str, facts: SampleFacts, score: float | None) -> str | None:
    """
    Return ``ndcg@2 = (2*0.6309) / 2.6309 (ideal DCG) = 0.4796``; None where the score is no sum over ranks.

    Where only ranks divide, a discount of ``1 / rank`` is written as a division by the rank. After the first 12 terms
    their sum stands for the rest.
    """
    if facts.divisor is None or score is None:
        return None
    terms = [rank for rank in facts.ranks if rank.gain]
    is_reciprocal = not facts.divisor_is and all(abs((rank.discount or 0.0) * rank.rank - 1) < _EXACT for rank in terms)
    written = [_term(rank, is_reciprocal=is_reciprocal) for rank in terms[:_MOST_TERMS]]
    if rest := terms[_MOST_TERMS:]:
        added = sum((rank.gain or 0.0) * (rank.discount or 0.0) for rank in rest)
        written.append(f"{_number(added)} ({len(rest):,} more)")
    steps = [name, *_quotient(written, facts)]
    if steps[-1] != _number(score):
        steps.append(_number(score))
    return " = ".join(steps)


def _quotient(terms: Sequence[str], facts: SampleFacts) -> list[str]:
    """Return the sum of some terms, divided by what they are divided by."""
    added = " + ".join(terms) or "0"
    if facts.divisor in {None, 1.0} and not facts.divisor_is:
        return [added]
    divided = f"({added})" if len(terms) > 1 else added
    unit = f" ({facts.divisor_is})" if facts.divisor_is else ""
    return [f"{divided} / {_number(facts.divisor or 0.0)}{unit}"]


def _term(rank: RankFacts, *, is_reciprocal: bool) -> str:
    gain, discount = rank.gain or 0.0, rank.discount or 0.0
    if discount == 1.0:
        return _number(gain)
    if is_reciprocal:
        return f"{_number(gain)}/{rank.rank}"
    return _number(discount) if gain == 1.0 else f"{_number(gain)}*{_number(discount)}"


def _number(value: float) -> str:
    """Return a number with four decimals, or four digits of a small one, without zeros at the end."""
    if value and abs(value) < 1e-3:
        return f"{value:.4g}"
    return f"{value:.4f}".rstrip("0").rstrip(".")
