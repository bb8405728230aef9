"""
What a threshold does, in lines for a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.abstention.threshold import Half, Share, Threshold
from rankgauge.base.plain_text import visible
from rankgauge.base.tables import Line
from rankgauge.errors import counted

__all__ = ["threshold_lines"]


def threshold_lines(found: Threshold) -> Iterator[Line]:
    """Yield the threshold, what it does on the half that did not choose it, and what scores are worth."""
    yield Line(_verdict(found), "good" if _keeps(found) else "bad")
    yield Line("")
    yield Line(f"{'':<16}{'chosen on one half':<32}reported on the other")
    sides = found.chosen, found.reported
    yield Line(f"{'false answers':<16}" + _row(*(half.false_answers for half in sides)))
    yield Line(f"{'silenced':<16}" + _row(*(half.silenced for half in sides)))
    if found.metric is not None:
        name = visible(found.metric)[:15]
        yield Line(f"{name:<16}" + _row(*(half.mean or _NOTHING for half in sides)))
        yield Line(f"{'  without it':<16}" + _row(*(half.mean_before or _NOTHING for half in sides)))
    yield Line("")
    low, high = found.risk_area_interval
    of = "false answers" if found.metric is None else f"false answers and 1 - {visible(found.metric)}"
    yield Line(f"area under risk by coverage: {found.risk_area:.4f} ({low:.4f} to {high:.4f}); risk is of {of}")
    yield Line(f"scores that tell nothing have {found.mean_loss:.4f}, the mean risk")
    if found.calibration is None:
        yield Line("some scores lie outside of 0 to 1, so that they are no probabilities")
    else:
        error, brier = found.calibration.error, found.calibration.brier
        yield Line(f"as probabilities of a good answer, scores are off by {error:.4f} (Brier score {brier:.4f})")


_NOTHING = Share(0, None, None, None)


def _keeps(found: Threshold) -> bool:
    rate = found.reported.false_answers.value
    return found.value is not None and rate is not None and rate <= found.at_most


def _verdict(found: Threshold) -> str:
    what = f"{visible(found.dataset)}: at most {100 * found.at_most:g} % false answers"
    if found.value is None:
        return f"{what}: no score keeps that; the system would have to say nothing at all"
    half: Half = found.reported
    below = f"say nothing below {found.value!r}".removesuffix(".0")  # a rounded one would be another threshold
    rate, high = half.false_answers.value, half.false_answers.high
    if rate is None or high is None:
        return f"{what}: {below}, which nothing in the other half can try"
    held = "holds" if rate <= found.at_most else "does not hold"
    sure = "" if high <= found.at_most else f", and {high:.1%} cannot be ruled out"
    tried = counted(half.false_answers.n, "question")
    return f"{what}: {below}; on the other half that {held}: {rate:.1%} of {tried}{sure}"


def _row(*shares: Share) -> str:
    return "".join(f"{_cell(share):<32}" for share in shares).rstrip()


def _cell(share: Share) -> str:
    if share.value is None:
        return "no question"
    within = "" if share.low is None or share.high is None else f" ({share.low:.4f} to {share.high:.4f})"
    return f"{share.value:.4f}{within} n={share.n:,}"
