"""
`rankgauge metrics number`: what a published mean says without its data.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator

from rankgauge.cli.console import print_answer
from rankgauge.cli.conventions import make_engine
from rankgauge.comparison.one_number import NumberFacts, number_facts
from rankgauge.errors import counted

__all__ = ["execute"]


def execute(given: argparse.Namespace) -> int:
    """Print whether a number is possible, how uncertain it is, and from what it can be distinguished."""
    evaluation = make_engine(None).dataset([]).with_profile(given.tool or "trec10").with_metrics([given.metric])
    (column,) = evaluation.plan().metrics
    facts = number_facts(given.number, column, given.queries, given.other)
    described = {"metric": column.name, "expression": str(column.expression), **dataclasses.asdict(facts)}
    print_answer(given, described, "\n".join(_lines(facts, str(column.expression), given)))
    return 1 if facts.impossible else 0


def _lines(facts: NumberFacts, expression: str, given: argparse.Namespace) -> Iterator[str]:
    queries = counted(facts.n, "query", "queries")
    yield f"{given.number} as {given.metric} over {queries}{'' if given.tool is None else f' in {given.tool}'}"
    yield f"  is            {expression}"
    if facts.impossible:
        yield f"  possible      no: {facts.impossible}"
        return
    if facts.step is None:
        yield "  possible      yes: it is in range; scores of this metric have no common unit"
    else:
        yield f"  possible      yes: such means are multiples of {facts.step:.3g}"
    if facts.interval is None:
        yield "  95 % interval unknown: it takes two queries, and a mean, not pooled, with both ends of its range"
    else:
        low, high = facts.interval
        how = "from the counts, Wilson's" if facts.of_counts else "at most, for the widest spread that the range allows"
        yield f"  95 % interval {low:.4f} to {high:.4f} ({how})"
    if facts.apart is not None:
        yield f"  told apart    a difference of {facts.apart:.4f} or more, however unlike the scores are; of paired"
        yield "                scores less can do, which needs the data: rankgauge compare"
    if facts.other is not None:
        yield from _of_other(facts, given)


def _of_other(facts: NumberFacts, given: argparse.Namespace) -> Iterator[str]:
    other = facts.other
    if other is None:
        return
    if other.best_p is None:
        verdict = "yes" if other.worst_p < 0.05 else "not known without the data"
        span = f"p is at most {other.worst_p:.3g}"
    elif other.best_p >= 0.05:
        verdict, span = "no", f"p is {other.best_p:.3g} even if no query changed but those that made the difference"
    else:
        verdict = "yes" if other.worst_p < 0.05 else "not known without the data"
        span = f"p is from {other.best_p:.3g} to {other.worst_p:.3g}, by how many queries changed"
    yield f"  from {given.other}   {verdict}: they are {other.difference:.4g} apart, and {span}"
