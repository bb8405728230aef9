"""
Meaning: what a result came from, how two results or columns differ in what their scores mean, and joining parts of one.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.frozen import FrozenMap
from rankgauge.columns import IdSketch
from rankgauge.errors import ResultError
from rankgauge.planning.identity import NO_VALUE
from rankgauge.plugin.metric import WHOLE_RUN
from rankgauge.result.column_info import LEAKS_KEPT, Column, MetricInfo
from rankgauge.result.label_doubts import LABEL_DOUBTS
from rankgauge.result.summary import MetricSummary
from rankgauge.samples import KeptOutput

if TYPE_CHECKING:
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.engine.run_result import RunOrigin
    from rankgauge.io.datasets import DataSource
    from rankgauge.result.result import Result

__all__ = [
    "GOLD_DOCUMENTS",
    "Differences",
    "Meant",
    "Origin",
    "Part",
    "concatenated",
    "definition_facts",
    "difference",
    "differences",
    "merged",
    "merged_ids",
    "merged_info",
    "merged_manifest",
]


GOLD_DOCUMENTS = "gold_documents"
"""
The part of a manifest that holds hashes of gold documents: the `normalization` of their texts, the `corpus`, the
`hashes` by document (null for one that the corpus lacks), and which documents each of the `samples` names.
"""
_OF_DOCUMENTS = ("hashes", "samples")


class Origin(NamedTuple):
    """What a result in memory came from; it is neither pickled nor saved."""

    evaluation: Evaluation | RunOrigin
    outputs: object = None  # those that were given in Python, if any
    calls: Mapping[str, KeptOutput] = FrozenMap()  # what each call of a system under test came to, by sample id
    data: DataSource | None = None  # where the samples came from; None for a run and judgments


class Meant(NamedTuple):
    """What says what scores mean: the manifest of a result, and the info of one of its columns, if it is about one."""

    manifest: Mapping[str, Any]
    info: MetricInfo | None = None


class Differences(NamedTuple):
    """
    What two sides do not have in common, each as it is on one side and on the other; None if they do not differ.

    Attributes:
        queries: Which queries the policy evaluates.

        judged: What was judged against what.

        definition: What a fingerprint covers, by the names that users know, the most telling first; only what differs,
            which is nothing if fingerprints differ by something that a result does not say.

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
    is_known = not any("scores" in each.manifest for each in (one, other))  # those of another tool have no policy
    differing = Differences(queries=(queries[0], queries[1]) if is_known and queries[0] != queries[1] else None)
    own, its = one.info, other.info
    if own is None or its is None or ((own.is_given or its.is_given) and own.expression == its.expression):
        return differing
    if (own.judged, own.matcher) != (its.judged, its.matcher):
        differing = differing._replace(judged=(own.judged, its.judged))
    if own.fingerprint != its.fingerprint:
        facts = definition_facts(one.manifest, own), definition_facts(other.manifest, its)
        names = [name for name in facts[0] | facts[1] if facts[0].get(name) != facts[1].get(name)]
        first, second = ({name: each.get(name) for name in names} for each in facts)
        differing = differing._replace(definition=(first, second))
    if own.inferred != its.inferred:
        differing = differing._replace(inferred=(own.inferred, its.inferred))
    code = _providers(own), _providers(its)
    return differing._replace(code=None if code[0] == code[1] else (code[0] - code[1], code[1] - code[0]))


def definition_facts(manifest: Mapping[str, Any], info: MetricInfo) -> dict[str, object]:
    """Return what a fingerprint covers, by the names that users know, the most telling first."""
    is_bound = info.cut in {"free", "own", "pinned"} and info.k is not None
    cutoff = {"k": info.k[0] if info.k and info.k[0] == info.k[1] else info.k} if is_bound else {"k": "none"}
    if info.budget is not None:
        budget = info.budget
        cutoff = {"budget": f"{budget['amount']}{budget['unit']}", "tokenizer": budget["tokenizer"]}
    options = {name: value for name, value in (manifest.get("policy") or {}).items() if name not in NO_VALUE}
    if "excluded" in options:
        options["excluded"] = options["excluded"]["fingerprint"][:15]  # wherever the file is
    policy = {f"policy {name}": value for name, value in options.items()}
    return {
        "metric": info.alias,
        **cutoff,
        **info.params,
        "matcher": info.matcher,
        "judged": info.judged,
        "own_ranks": info.own_ranks,
        "aggregate": info.aggregate,
        **({"weights": "of queries"} if info.unweighted else {}),
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
    named = set()
    for name, by in (*providers, *info.matcher_providers.items()):
        place = f"{PurePath(by['file']).name}:{by['line']}"  # without the folder, which differs between machines
        named.add(f"{name} of {by['distribution']} {by['version']}" if by["distribution"] else f"{name} of {place}")
    return frozenset(named)


class Part(NamedTuple):
    """The columns of a result and its manifest: what decides whether it can be merged with another."""

    metrics: Mapping[str, Column]
    manifest: Mapping[str, Any]


def difference(first: Part, other: Part) -> str | None:
    """Return why two results cannot be merged: their columns differ, or mean different things; None if they can."""
    if not _are_alike(list(first.metrics.values()), list(other.metrics.values())):
        return f"the columns differ: {', '.join(first.metrics)} and {', '.join(other.metrics)}"
    if (queries := differences(Meant(first.manifest), Meant(other.manifest)).queries) is not None:
        return f"one part evaluates queries={queries[0]} and another queries={queries[1]}, so that means differ"
    for (name, column), counterpart in zip(first.metrics.items(), other.metrics.values(), strict=True):
        own, its = column.info, counterpart.info
        if own.interval != its.interval:
            return f"{name!r} has interval={own.interval} in one part and interval={its.interval} in another"
        differing = differences(Meant(first.manifest, own), Meant(other.manifest, its))
        if differing.judged is not None:
            one, another = differing.judged
            return f"{name!r} was judged against different ground truth: {one}, and {another}; say which with gold=..."
        if differing.definition is not None:
            return (
                f"{name!r} does not mean the same in both: {own.expression} under {first.manifest.get('profile')}, "
                f"{its.expression} under {other.manifest.get('profile')}"
            )
        if differing.code is not None:
            in_one, in_other = (", ".join(sorted(providers)) for providers in differing.code)
            return (
                f"{name!r} was computed by other code: {in_one} in one, {in_other} in the other; compute both with the "
                "same distributions"
            )
    return None


def merged_ids(parts: Sequence[Part], sample_ids: Sequence[Sequence[str]]) -> list[str]:
    """Return the samples of all parts; raise `ResultError` if the parts differ, or have a sample in common."""
    if not parts:
        raise ResultError("there is nothing to merge")
    for other in parts[1:]:
        if (reason := difference(parts[0], other)) is not None:
            raise ResultError(f"cannot merge: {reason}")
    ids = [sample_id for part in sample_ids for sample_id in part]
    if len(set(ids)) < len(ids):
        twice = next(sample_id for sample_id, times in Counter(ids).items() if times > 1)
        raise ResultError(f"cannot merge: sample {twice!r} is in two of the results")
    return ids


def _are_alike(columns: Sequence[Column], others: Sequence[Column]) -> bool:
    """Return whether columns have the same names, in order; `MRR` and `RR` name the same one."""
    return len(columns) == len(others) and all(
        own.name == its.name or (own.info.alias, own.info.fingerprint) == (its.info.alias, its.info.fingerprint)
        for own, its in zip(columns, others, strict=True)
    )


def merged_info(infos: Sequence[MetricInfo]) -> MetricInfo:
    """Return what a column over all samples is from what it is over parts."""
    first = infos[0]
    if any(info.inferred != first.inferred for info in infos):
        raise ResultError(
            f"cannot merge {first.name!r}: the parts inferred different parameters "
            f"({'; '.join(str(dict(info.inferred)) for info in infos)}); give them in the expression"
        )
    spreads = [info.k for info in infos if info.k is not None]
    sources: Counter[str] = Counter()
    for info in infos:
        sources.update(info.k_sources)
    return dataclasses.replace(
        first,
        k=(min(low for low, _ in spreads), max(high for _, high in spreads)) if spreads else None,
        k_sources=dict(sources),
        fitted=None if first.fitted is None else _added([info.fitted or {} for info in infos]),
        ended=None if any(info.ended is None for info in infos) else _added([info.ended or {} for info in infos]),
        short=sum(info.short for info in infos),
        leaks=tuple(chain.from_iterable(info.leaks for info in infos))[:LEAKS_KEPT],
        n_leaks=sum(info.n_leaks for info in infos),
        spellings=tuple(dict.fromkeys(spelling for info in infos for spelling in info.spellings)),
    )


def concatenated(columns: Sequence[MetricSummary]) -> MetricSummary:
    """Return one column over all samples from the same column over parts."""
    info = merged_info([column.info for column in columns])
    if any(column.clusters is not None for column in columns):
        raise ResultError(f"{info.name}: merge the parts first, and say then what clusters there are")
    reasons: dict[int, str] = {}
    start = 0
    for column in columns:
        reasons |= {start + place: reason for place, reason in column.reasons.items()}
        start += len(column.values)
    kept = all(column.details is not None for column in columns)
    return MetricSummary(
        info,
        np.concatenate([column.values for column in columns]),
        np.concatenate([column.codes for column in columns]),
        reasons,
        [fact for column in columns for fact in column.details or ()] if kept else None,
        next((column.aggregator for column in columns if column.aggregator is not None), None),
        None if info.aggregate != WHOLE_RUN else [each for column in columns for each in column.rankings or ()],
        None if all(column.repeats is None for column in columns) else _stacked(columns),
        weights=_joined([column.weights for column in columns]),
        denominators=_joined([column.denominators for column in columns]),
    )


def _joined(parts: Sequence[NDArray[np.float64] | None]) -> NDArray[np.float64] | None:
    """Return numbers of all samples; None if they have none, which is so in all parts or in no part."""
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if known else None


def _stacked(columns: Sequence[MetricSummary]) -> NDArray[np.float64]:
    """Return the repeats of all columns, those of a column without any as one; NaN if there are fewer."""
    parts = [column.values[:, None] if column.repeats is None else column.repeats for column in columns]
    most = max(part.shape[1] for part in parts)
    wide = [np.pad(part, ((0, 0), (0, most - part.shape[1])), constant_values=np.nan) for part in parts]
    return np.concatenate(wide)


def _added(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Return the sum of several counts of numbers, in order of the numbers."""
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(sorted(total.items(), key=lambda item: int(item[0])))


def merged(results: Sequence[Result]) -> tuple[Any, ...]:
    """Return what a result over all samples is made of, from results over parts; see `Result.merge`."""
    parts = [Part(result.metrics, result.manifest) for result in results]
    ids = merged_ids(parts, [result.sample_ids for result in results])
    columns = zip(*(result.metrics.values() for result in results), strict=True)
    metrics = {name: concatenated(same) for name, same in zip(results[0].metrics, columns, strict=True)}
    notes = dict.fromkeys(note for result in results for note in result.notes)
    tags = [tags for result in results for tags in result.tags]
    keys = [result.gold_keys for result in results if result.gold_keys is not None]
    gold_keys = np.concatenate(keys) if len(keys) == len(results) else None
    return ids, tags, metrics, merged_manifest([part.manifest for part in parts]), list(notes), gold_keys


def merged_manifest(manifests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the first manifest, interrupted if any is, with every dataset and outputs file that differs from it."""
    merged = dict(manifests[0])
    merged["interrupted"] = any(manifest.get("interrupted") for manifest in manifests)
    merged["merged_from"] = sum(manifest.get("merged_from", 1) for manifest in manifests)
    for key in ("dataset", "outputs"):
        others = [manifest[key] for manifest in manifests if key in manifest and manifest[key] != merged.get(key)]
        distinct = [other for place, other in enumerate(others) if other not in others[:place]]
        if distinct:
            merged[f"further_{key}"] = distinct
    for of_one_part in ("places", LABEL_DOUBTS):
        merged.pop(of_one_part, None)
    if "weights" in merged:
        named = list(dict.fromkeys(manifest["weights"]["by"] for manifest in manifests if "weights" in manifest))
        merged["weights"] = {"by": ", ".join(named)}
    sketches = [manifest.get("retrieved_ids") for manifest in manifests]
    merged.pop("retrieved_ids", None)
    hashes = [manifest.get(GOLD_DOCUMENTS) for manifest in manifests]
    merged.pop(GOLD_DOCUMENTS, None)
    known = [each for each in hashes if each is not None]
    if len(known) == len(hashes) and len({each["normalization"] for each in known}) == 1:
        merged[GOLD_DOCUMENTS] = {
            **known[0],
            **{part: functools.reduce(operator.or_, (dict(each[part]) for each in known)) for part in _OF_DOCUMENTS},
        }
    if None not in sketches:  # of some parts alone it would say that the ids of the others are gone
        sketch = functools.reduce(IdSketch.merged, map(IdSketch.from_dict, cast("list[dict[str, Any]]", sketches)))
        merged["retrieved_ids"] = sketch.to_dict()
    return merged
