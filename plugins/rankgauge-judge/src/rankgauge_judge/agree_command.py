"""
`rankgauge judge agree`: how far judges agree, in lines.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from rankgauge.errors import DataError, ParameterError, Problem
from rankgauge.files import read_run
from rankgauge.labels import read_scale
from rankgauge.plugin import Console
from rankgauge.text import counted, visible
from rankgauge_judge.agreement import Group, OrderAgreement, PairAgreement, ScaleFrom, compare_judges, order_agreement
from rankgauge_judge.judgments import Judgments, Pair, read_judgments
from rankgauge_judge.rater_agreement import Coefficient
from rankgauge_judge.rubric import read_rubric

__all__ = ["agree"]


def agree(given: argparse.Namespace, console: Console) -> int:
    """Do what `judge agree` was given, and return its exit code."""
    scale = _scale(given)
    judges = _judges(given.files)
    runs = _runs(given.runs or [])
    pairs = compare_judges(
        judges,
        scale=scale,
        ranks=_best_ranks(runs, {pair for judge in judges for pair in judge.grades}),
        worst=given.worst,
        confidence=given.confidence,
        seed=given.seed,
    )
    orders = []
    if len(runs) > 1:
        orders = [
            order_agreement(first, second, runs, given.metric, confidence=given.confidence, seed=given.seed)
            for first, second in combinations(judges, 2)
        ]
    circular = _circular(judges, given.system_model or [])
    if given.as_json:
        found = {"circular": circular, "pairs": [pair.to_dict() for pair in pairs]}
        console.json(found | {"orders": [order.to_dict() for order in orders]})
    else:
        console.echo("\n".join(map(visible, _lines(circular, pairs, orders))))
    for judge in judges:
        if judge.n_unjudged:
            below = counted(judge.n_unjudged, "grade")
            console.note(f"{judge.name}: {below} below 0, which marks unjudged documents; left out")
        if judge.note:
            console.note(judge.note)
    return 0


def _scale(given: argparse.Namespace) -> Sequence[float] | None:
    """Return the scale that was named: by its grades, or by a rubric."""
    if given.rubric is not None:
        return tuple(read_rubric(given.rubric).grades)
    return None if given.grades is None else read_scale(given.grades)


def _judges(files: Sequence[Path]) -> list[Judgments]:
    """Read every judge; names that occur in several files get the file's name, too."""
    found = [(file, judge) for file in files for judge in read_judgments(file)]
    names = [judge.name for _, judge in found]
    judges = [
        judge if names.count(judge.name) == 1 else replace(judge, name=f"{judge.name} ({file})")
        for file, judge in found
    ]
    if len({judge.name for judge in judges}) < len(judges):
        raise ParameterError("a file is given twice; give each once")
    if len(judges) < 2:
        only = f"there is only {judges[0].name}"
        raise DataError("judges cannot be compared:", [Problem(f"{only}; give a second file", str(files[0]))])
    return judges


def _runs(files: Sequence[str]) -> dict[str, str]:
    names = [Path(file).name for file in files]
    if len(set(names)) < len(names):
        names = list(files)
    if len(set(names)) < len(names):
        raise ParameterError("--run names a file twice; give each once")
    return dict(zip(names, files, strict=True))


def _best_ranks(runs: Mapping[str, str], judged: Collection[Pair]) -> dict[Pair, int]:
    """Return at which rank the runs have each judged document, the best of them; ties are broken as in trec_eval."""
    best: dict[Pair, int] = {}
    for file in runs.values():
        for query, ranking in read_run(file):
            ranking.sort(key=lambda row: (row[1], row[0].encode("utf-8", "surrogateescape")), reverse=True)
            for rank, (document, _) in enumerate(ranking, 1):
                pair = query, document
                if pair in judged:
                    best[pair] = min(rank, best.get(pair, rank))
    return best


def _circular(judges: Sequence[Judgments], systems: Sequence[str]) -> list[str]:
    """Return the judges that are a model of the system that they judge."""
    wanted = {name.removeprefix("model:").casefold() for name in systems}
    return [judge.name for judge in judges if judge.model and judge.model.casefold() in wanted]


def _lines(circular: Sequence[str], pairs: Sequence[PairAgreement], orders: Sequence[OrderAgreement]) -> Iterator[str]:
    for name in circular:
        yield f"CIRCULAR: {name} judges a system that is made with the same model; do not report its judgments alone"
    for number, pair in enumerate(pairs):
        if number or circular:
            yield ""
        yield from _pair_lines(pair)
    for order in orders:
        yield ""
        yield from _order_lines(order)


_SCALE_FROM: Mapping[ScaleFrom, str] = {
    "given": "as named",
    "queue": "of the queue",
    "occurring": "the grades that occur; AC2 depends on those that could be given: name them, --grades 0-3",
}


def _pair_lines(pair: PairAgreement) -> Iterator[str]:
    first, second = pair.judges
    yield f"{first} and {second}: {counted(pair.n, 'document')} of {counted(pair.questions, 'question')}"
    yield f"  same grade            {pair.same / pair.n:.3f}  ({pair.same:,} of {pair.n:,})"
    names = ("weighted kappa", "  linear", "Gwet's AC2", "Krippendorff's alpha")
    for name, found in zip(names, (pair.kappa, pair.kappa_linear, pair.ac2, pair.alpha), strict=True):
        yield f"  {name:<22}{_value(found)}"
    yield f"  {'scale':<22}{', '.join(f'{grade:g}' for grade in pair.scale)}  ({_SCALE_FROM[pair.scale_from]})"
    given = [
        grade
        for at, grade in enumerate(pair.scale)
        if any(pair.confusion[at]) or any(row[at] for row in pair.confusion)
    ]
    if len(given) == 1:
        yield f"  both gave nothing but {given[0]:g}, so that agreement cannot be distinguished from chance"
    yield f"  {first} down, {second} across:"
    width = max(5, *(len(f"{count:,}") for row in pair.confusion for count in row))
    yield "  " + " " * 6 + "".join(f"{grade:>{width + 1}g}" for grade in pair.scale)
    for grade, row in zip(pair.scale, pair.confusion, strict=True):
        yield f"  {grade:>6g}" + "".join(f"{count:>{width + 1},}" for count in row)
    yield from _group_lines(f"by grade of {first}", pair.by_grade)
    yield from _group_lines("by length", pair.by_length)
    yield from _group_lines("by rank", pair.by_rank)
    if pair.worst:
        yield "  they differ most on:"
    for one in pair.worst:
        yield f"    {one.query} {one.document}: {one.grades[0]:g} and {one.grades[1]:g}"


def _group_lines(title: str, groups: Sequence[Group]) -> Iterator[str]:
    if groups:
        shares = [f"{group.name}: {group.same / group.n:.2f} (n={group.n:,})" for group in groups]
        yield f"  same grade {title}: {', '.join(shares)}"


def _order_lines(order: OrderAgreement) -> Iterator[str]:
    first, second = order.judges
    systems, questions = counted(len(order.means), "system"), counted(order.questions, "question")
    yield f"order of {systems} by {order.metric} over {questions}:"
    yield f"  Kendall's tau         {_value(order.tau, 'under one of them all have the same mean')}"
    width = max(map(len, order.means))
    yield f"  {'':<{width}}  {first}, {second}"
    for name, (own, its) in sorted(order.means.items(), key=lambda each: -each[1][0]):
        yield f"  {name:<{width}}  {own:.4f}, {its:.4f}"


def _value(found: Coefficient, why_none: str = "chance explains everything") -> str:
    if found.value is None:
        return f"none: {why_none}"
    if found.low is None or found.high is None:
        return f"{found.value:.3f}  (no interval: too few questions)"
    return f"{found.value:.3f}  ({found.low:.3f} to {found.high:.3f})"
