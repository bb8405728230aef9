"""
Meaning: what a result came from, and how two results, or columns, differ in what their scores mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from rankgauge.base.frozen import FrozenMap
from rankgauge.planning.fingerprint import NO_VALUE
from rankgauge.result.column_info import MetricInfo
from rankgauge.samples import KeptOutput

if TYPE_CHECKING:  # runs and judgments go without it
    from rankgauge.io.datasets import DataSource

__all__ = ["Differences", "Meant", "Origin", "definition_facts", "differences"]


class Origin(NamedTuple):
    """What a result in memory came from; it is neither pickled nor saved."""

    evaluation: object  # that of the engine, which lives in a higher layer
    outputs: object = None  # those that were given in Python, if any
    calls: Mapping[str, KeptOutput] = FrozenMap()  # what each call of a system under test came to, by sample id
    data: DataSource | None = None  # where the samples came from; None for a run and judgments


class Meant(NamedTuple):
    """What says what scores mean: the manifest of a result, and the info of one of its columns, if it is about one."""

    manifest: Mapping[str, Any]
    info: MetricInfo | None = None


class Differences(NamedTuple):
    """
    What two sides do not have in common, each as it is on one side and on the other; None where they do not differ.

    Attributes:
        queries: Which queries the policy evaluates.

        judged: What was judged against what.

        definition: What a fingerprint covers, by the names that users know, the most telling first; only what differs,
            which is nothing where fingerprints differ by something that a result does not say.

        inferred: Parameters that were found in the data.

        code: Who provides the metric and what it uses; of a function given in Python, file and line.
    """

    queries: tuple[str | None, str | None] | None = None
    judged: tuple[str, str] | None = None
    definition: tuple[Mapping[str, object], Mapping[str, object]] | None = None
    inferred: tuple[Mapping[str, float], Mapping[str, float]] | None = None
    code: tuple[frozenset[str], frozenset[str]] | None = None


def differences(one: Meant, other: Meant) -> Differences:
    """Return how two results differ in what their scores mean, or two columns of them."""
    queries = [(each.manifest.get("policy") or {}).get("queries") for each in (one, other)]
    found = Differences(queries=None if queries[0] == queries[1] else (queries[0], queries[1]))
    own, its = one.info, other.info
    if own is None or its is None:
        return found
    if (own.judged, own.matcher) != (its.judged, its.matcher):
        found = found._replace(judged=(own.judged, its.judged))
    if own.fingerprint != its.fingerprint:
        facts = definition_facts(one.manifest, own), definition_facts(other.manifest, its)
        names = [name for name in facts[0] | facts[1] if facts[0].get(name) != facts[1].get(name)]
        first, second = ({name: each.get(name) for name in names} for each in facts)
        found = found._replace(definition=(first, second))
    if own.inferred != its.inferred:
        found = found._replace(inferred=(own.inferred, its.inferred))
    code = _providers(own), _providers(its)
    return found._replace(code=None if code[0] == code[1] else (code[0] - code[1], code[1] - code[0]))


def definition_facts(manifest: Mapping[str, Any], info: MetricInfo) -> dict[str, object]:
    """Return what a fingerprint covers, by the names that users know, the most telling first."""
    is_bound = info.cut in {"free", "own", "pinned"} and info.k is not None
    cutoff = {"k": info.k[0] if info.k and info.k[0] == info.k[1] else info.k} if is_bound else {"k": "none"}
    if info.budget is not None:
        budget = info.budget
        cutoff = {"budget": f"{budget['amount']}{budget['unit']}", "tokenizer": budget["tokenizer"]}
    policy = {f"policy {name}": value for name, value in (manifest.get("policy") or {}).items() if name not in NO_VALUE}
    return {
        "metric": info.alias,
        **cutoff,
        **info.params,
        "matcher": info.matcher,
        "judged": info.judged,
        "aggregate": info.aggregate,
        "range": info.range,
        "higher_is_better": info.higher_is_better,
        **policy,
        "relevance": manifest.get("relevance"),
        "profile": manifest.get("profile"),
        "version": info.version,
    }


def _providers(info: MetricInfo) -> frozenset[str]:
    """Return the providers of a column and of what it uses; of a function given in Python, file and line."""
    providers = [(info.alias, info.provider)]
    if info.aggregate_provider is not None:
        providers.append((info.aggregate, info.aggregate_provider))
    if info.budget is not None and info.budget["provider"] is not None:
        providers.append((f"tokenizer {info.budget['tokenizer']}", info.budget["provider"]))
    found = set()
    for name, by in (*providers, *info.matcher_providers.items()):
        place = f"{PurePath(by['file']).name}:{by['line']}"  # without the folder, which differs between machines
        found.add(f"{name} of {by['distribution']} {by['version']}" if by["distribution"] else f"{name} of {place}")
    return frozenset(found)
