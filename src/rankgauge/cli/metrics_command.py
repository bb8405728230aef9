"""
`rankgauge metrics`: what metrics there are, what exactly each one is.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankgauge.base.tables import Line
from rankgauge.catalog import Catalog, Claim
from rankgauge.cli.console import (
    described_parameter,
    parameter_line,
    plain_table,
    print_answer,
    print_json,
    remark,
    show,
    warn_of_faults,
)
from rankgauge.cli.conventions import described, make_catalog, make_engine
from rankgauge.cli.shared_options import take_outputs
from rankgauge.errors import NothingToEvaluateError, ParameterError, PlanError, RankgaugeError, counted
from rankgauge.expression import parse
from rankgauge.plugin.metric import Metric
from rankgauge.policy import PROFILES

if TYPE_CHECKING:
    from rankgauge.engine.engine import Engine
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.engine.profile_differences import Side
    from rankgauge.planning.requests import MetricSpec


_ROOM = 20
"""How many letters two names of a metric may have together to be in a list; else the first one is alone."""

_PARAMETER = re.compile(r" {4}(?P<name>\w+): (?P<text>.*)")
_FREE = "pinned (@10, or a budget: @2000tok) > metadata.k of the sample > k of the metric > --k > 5"
_CUTOFFS = {
    "none": "takes no cutoff",
    "required": _FREE,
    "droppable": f"{_FREE}; a short name without @ has none",
    "optional": "none, unless pinned (@10, or a budget: @2000tok) or given to the metric as k",
}


def execute_list(given: argparse.Namespace) -> int:
    """List every metric."""
    catalog = make_catalog()
    warn_of_faults(catalog)
    if given.as_json:
        print_json([_described(claim) for claim in catalog.metrics.values()])
        return 0
    rows: list[tuple[str, ...]] = []
    for alias, claim in catalog.metrics.items():
        metric, provider = claim.declaration, f"{claim.provider.distribution} {claim.provider.version}"
        summary = _without_markup(metric.summary)
        if given.all_columns:
            rows.append((alias, " ".join(metric.plain_short), summary, provider))
            continue
        k = "@k" if metric.cutoff.kind in {"required", "droppable"} else ""
        names = [f"{name}{k}" for name in (metric.plain_short or (alias,))[:2]]
        name = ", ".join(names if sum(map(len, names)) <= _ROOM else names[:1])
        rows.append((name, summary if claim.provider.distribution == "rankgauge" else f"{summary} ({provider})"))
    plain_table(
        ("alias", "short names", "what it is", "provider") if given.all_columns else ("name", "what it is"), rows
    )
    lines = [f"{counted(len(rows), 'metric')}; rankgauge metrics show NAME says what exactly one is"]
    lines += [] if given.all_columns else ["--all-columns shows aliases and where each comes from"]
    show(Line(line, "small") for line in lines)
    return 0


def execute_show(given: argparse.Namespace) -> int:
    """Print what exactly one metric is."""
    catalog = make_catalog()
    if given.tool is not None:
        return _show_in_tool(given, catalog)
    claim = catalog.read(parse(given.name)).claim
    described = _described(claim)
    return print_answer(given, described, "\n".join(_lines(claim, described)))


def _show_in_tool(given: argparse.Namespace, catalog: Catalog) -> int:
    """Print what a metric is in another tool."""
    tool = catalog.profile(given.tool).tool
    if tool is None:
        raise ParameterError(
            f"--as {given.tool}: that profile is for no tool; `rankgauge metrics diff` compares profiles"
        )
    found = tool.read(given.name)
    try:
        measure = tool.aliases.get(catalog.read(parse(given.name)).claim.declaration.alias) or (found and found[0])
    except RankgaugeError:  # no name of ours
        if found is None:
            raise
        measure = found[0]
    if measure is None:
        names = ", ".join(dict.fromkeys(each.name or each.written[0] for each in tool.measures))
        line = (
            f"{tool.title} {tool.version} has no {given.name}; under --profile {given.tool} it is ours. It has {names}"
        )
    elif measure.refused:
        line = f"{given.name} in {tool.title} {tool.version} is not computed here: {measure.refused}"
    else:
        written = f" ({', '.join(measure.written)})" if measure.written else ""
        also = "".join(f"; {more}" for more in (measure.differs,) if more)
        line = f"{given.name} in {tool.title} {tool.version}{written} is {measure.expression}: {measure.says}{also}"
    facts = {"metric": given.name, "profile": given.tool, "tool": tool.title, "version": tool.version}
    measured = {
        "is": None if measure is None or measure.refused else str(measure.expression),
        "written": [] if measure is None else list(measure.written),
        "says": "" if measure is None else measure.says,
        "refused": "" if measure is None else measure.refused,
        "notes": list(tool.notes),
    }
    return print_answer(given, {**facts, **measured}, line)


def _lines(claim: Claim[Metric], described: dict[str, Any]) -> list[str]:
    metric = claim.declaration
    low, high = ("unbounded" if bound is None else f"{bound:g}" for bound in metric.range)
    definition, notes = _read_docstring(described["definition"])
    parameters = described["parameters"]
    return [
        metric.alias,
        "",
        *definition,
        "",
        f"names       {', '.join(metric.names)}",
        f"inputs      {_inputs(metric)}",
        *([f"sees        {', '.join(metric.judging.needs)}, besides judgments"] if metric.judging.needs else ()),
        *(["by text     gold items that one result holds take ranks of their own"] if metric.judging.own_ranks else ()),
        f"cutoff (k)  {_CUTOFFS[metric.cutoff.kind]}",
        "parameters" if parameters else "parameters  none of its own",
        *(line for parameter in parameters for line in (parameter_line(parameter), *notes.get(parameter["name"], ()))),
        f"  it also takes {', '.join(metric.engine_parameters)}",
        f"range       {low} to {high}; {'higher' if metric.higher_is_better else 'lower'} is better",
        f"aggregate   {metric.aggregate}",
        f"laws        {', '.join(sorted(metric.laws)) or 'none'}",
        f"version     {metric.version}",
        f"provider    {claim.provider}",
    ]


def _read_docstring(text: str) -> tuple[list[str], dict[str, list[str]]]:
    """Return the lines of a definition, and those on each parameter, without the markup of docstrings."""
    plain = _without_markup(text)
    definition = re.split(r"\n\n(?:Args|Returns|Raises):\n", plain)[0]
    rest = plain.partition("\n\nArgs:\n")[2]
    notes: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in rest.partition("\n\nReturns:")[0].splitlines():
        if named := _PARAMETER.match(line):
            lines = notes.setdefault(named["name"], [])
            line = named["text"]  # noqa: PLW2901  # the rest of it
        if line.strip():
            lines.append(f"      {line.strip()}")
    return definition.splitlines(), notes


def _without_markup(text: str) -> str:
    return re.sub(r"``(.+?)``|`(.+?)`|(?<![\w*])\*(\w+)\*(?![\w*])", lambda match: match[match.lastindex or 0], text)


def _described(claim: Claim[Metric]) -> dict[str, Any]:
    metric = claim.declaration
    copied = ("alias", "summary", "higher_is_better", "aggregate", "version")
    return {
        **{name: getattr(metric, name) for name in copied},
        "judges": metric.judging.judges,
        "cutoff": metric.cutoff.kind,
        "names": list(metric.names),
        "definition": inspect.getdoc(metric.source) or "",
        "gold": list(metric.judging.gold),
        "needs": list(metric.judging.needs),
        "own_ranks": metric.judging.own_ranks,
        "parameters": list(map(described_parameter, metric.all_parameters)),
        "range": list(metric.range),
        "laws": sorted(metric.laws),
        "provider": dataclasses.asdict(claim.provider),
    }


def _inputs(metric: Metric) -> str:
    judged = (
        "the retrieved items" if metric.judging.judges == "retrieved" else "the generated answer (actual_output.answer)"
    )
    matcher = "chosen by parameters" if callable(metric.judging.matcher) else metric.judging.matcher
    if matcher is None and "passages" in metric.judging.gold:
        matcher = PROFILES["default"].passages  # other profiles may have another
    if metric.judging.gold == ("answerable",):
        return f"whether the output says anything, against metadata: {metric.judging.gold[0]}"
    place = "metadata" if metric.judging.gold == ("asked_at",) else "expected_output"
    against = f"{judged}, against {place}: {' or '.join(metric.judging.gold)}"
    if not metric.needs_gold:
        return f"{'the ids that all samples of a run retrieved' if metric.is_whole else judged}; no ground truth"
    if metric.judging.gold == ("nuggets",) and matcher is None:
        return f"{against}, by actual_output.support, or by a matcher if one is given"
    return against if matcher is None else f"{against}, matcher {matcher}"


def execute_diff(given: argparse.Namespace) -> int:
    """Print how two profiles differ on a data file."""
    take_outputs(given)
    given.profile = [*(given.profile or ()), *(() if given.tool is None else ("default", given.tool))]
    if len(given.profile) != 2:
        hint = f"such as --profile remem --profile default, or --as lightgbm; {len(given.profile)} given"
        raise ParameterError(f"give --profile twice, {hint}")
    from rankgauge.cli.typed_metrics import typed_metrics
    from rankgauge.engine.profile_differences import differences

    engine = make_engine(given.config)
    wanted = typed_metrics(given.metric or ()) or _fitting(engine, given)
    sides = [_scored(_evaluation(engine, given, name, wanted), name) for name in given.profile]
    metrics = differences(sides, most=given.samples)
    first, second = (counted(len(side.result), "sample") for side in sides)
    samples = first if first == second else f"{first} and {second}"
    lines = [f"{given.data}: {samples}, profiles {' and '.join(given.profile)}"]
    for metric in metrics:
        lines += ["", *_printed(metric, given.profile)]
    facts = {"data": str(given.data), "profiles": given.profile, "metrics": metrics}
    return print_answer(given, facts, "\n".join(lines))


def _fitting(engine: Engine, given: argparse.Namespace) -> list[str]:
    """Return the aliases of the metrics that some sample has both ground truth and output for."""
    from rankgauge.engine.profile_differences import samples_of
    from rankgauge.samples import GOLD_KINDS, Output

    kinds: set[str] = set()
    texts = answers = support = places = False
    for sample in samples_of(_evaluation(engine, given, "default", ["retrieval-mrr"])):
        kinds.update(kind for kind in GOLD_KINDS if getattr(sample.expected, kind))
        if sample.expected.other_sets:
            kinds.add("sets")
        if isinstance(sample.output, Output):
            texts = texts or sample.output.texts is not None
            places = places or sample.output.places is not None
            answers = answers or sample.output.answer is not None
            support = support or sample.output.support is not None
    if not support:
        kinds.discard("nuggets")
    usable = {
        "retrieved": kinds if texts else kinds & {"relevant", "sets", *(["spans"] if places else [])},
        "answer": kinds if answers else set(),
    }
    fitting = [
        alias
        for alias, claim in engine.catalog.metrics.items()
        if usable[(metric := claim.declaration).judging.judges].intersection(metric.gold)
        and _is_usable(engine, given, alias)
    ]
    if not fitting:
        raise NothingToEvaluateError(f"{given.data} has ground truth for no metric; name some with -m", [])
    return fitting


def _is_usable(engine: Engine, given: argparse.Namespace, alias: str) -> bool:
    """Return whether a metric of the default can be planned; if not, say so and go on without it."""
    try:
        _evaluation(engine, given, "default", [alias]).plan()
    except PlanError as error:
        remark(f"left out: {error.problems[0].message}")
        return False
    return True


def _evaluation(engine: Engine, given: argparse.Namespace, profile: str, metrics: Sequence[MetricSpec]) -> Evaluation:
    # A lock holds runs to one meaning; here two are compared on purpose.
    evaluation = replace(engine.dataset(given.data), lock=None).with_profile(profile).with_metrics(metrics)
    evaluation = described(evaluation, given)
    if given.k is not None:
        evaluation = evaluation.with_defaults(k=given.k, source="--k")
    return evaluation if given.outputs is None else evaluation.with_outputs(given.outputs)


def _scored(evaluation: Evaluation, profile: str) -> Side:
    """Return the side of a profile; its name goes before whatever is wrong."""
    from rankgauge.engine.profile_differences import Side

    try:
        return Side(evaluation, evaluation.plan(), evaluation.run())
    except RankgaugeError:
        remark(f"under the profile {profile}:")
        raise


def _printed(difference: Mapping[str, Any], profiles: Sequence[str]) -> list[str]:
    width = max(map(len, profiles))
    lines = [difference["metric"]]
    columns = (difference[name] for name in ("means", "counts", "expressions"))
    for profile, mean, n, expression in zip(profiles, *columns, strict=True):
        lines.append(f"  {profile:{width}}  {_shown(mean)}  n={n:,}  {expression}")
    differing = "; ".join(
        f"{convention['name']} {' / '.join(convention['values'])}" for convention in difference["conventions"]
    )
    first, second = difference["fingerprints"]
    unnamed = "none" if first == second else f"none by name, but the definitions do (fingerprints {first} and {second})"
    lines.append(f"  conventions that differ: {differing or unnamed}")
    if not difference["changed"]:
        return [*lines, "  no sample changes"]
    lines += _summed_up(difference, profiles)
    for sample in difference["samples"]:
        why = ", ".join(sample["conventions"]) or "several conventions together"
        facts = f" ({'; '.join(sample['facts'])})" if sample["facts"] else ""
        first, second = map(_shown, sample["values"])
        lines.append(f"    {sample['id']}: {first} / {second}  {why}{facts}")
    return lines


def _summed_up(difference: Mapping[str, Any], profiles: Sequence[str]) -> Iterator[str]:
    """Yield how many samples change by which convention, and how many have a score under one profile only."""
    changed, tried = difference["changed"], difference["tried"]
    causes = ", ".join(f"{cause['name']} in {cause['samples']:,}" for cause in difference["causes"])
    of = "" if tried == changed else f"of the first {tried:,} "
    yield f"  {counted(changed, 'sample changes', 'samples change')}{f': {of}{causes}' if causes else ''}"
    here, there = profiles
    gained = difference["count_only_there"]
    for each in gained[:_MOST_VALUES]:
        who = counted(each["samples"], "sample without a score", "samples without a score")
        count = "counts" if each["samples"] == 1 else "count"
        yield f"    {who} under {here} {count} as {each['value']:g} under {there}"
    if rest := sum(each["samples"] for each in gained[_MOST_VALUES:]):
        yield f"    {counted(rest, 'more sample has', 'more samples have')} a score under {there} only"
    if lost := difference["count_only_here"]:
        yield f"    {counted(lost, 'sample counts', 'samples count')} under {here} only"


_MOST_VALUES = 3
"""For how many values it is said how many samples count as them under one profile only."""


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"
