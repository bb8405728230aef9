"""
A config together with what plugins offer: its matchers, profiles and sets, with every problem in one error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankgauge.catalog import Catalog
from rankgauge.engine.evaluation import Evaluation
from rankgauge.errors import ConfigError, Problem, RankgaugeError, counted
from rankgauge.io.datasets import DataSource
from rankgauge.io.excluded_files import opened_options
from rankgauge.io.query_groups import QueryGroups
from rankgauge.planning.cutoffs import DefaultK
from rankgauge.planning.lock import Lock
from rankgauge.planning.requests import MetricSpec
from rankgauge.planning.sets import MetricSets
from rankgauge.policy import PROFILES, Profile
from rankgauge.result.query_weights import Weights

if TYPE_CHECKING:
    from rankgauge.config import LoadedConfig
    from rankgauge.config.schema import DatasetConfig

__all__ = ["Configured", "configured", "configured_evaluation", "data_source", "lock_of", "metrics_of_sets"]


@dataclass(frozen=True, slots=True)
class Configured:
    """A config whose names were looked up."""

    loaded: LoadedConfig
    catalog: Catalog  # with the file's matchers and profiles
    profile: Profile  # with the policy options of the file
    metrics: tuple[MetricSpec, ...]  # those of `metrics.use`, with the metrics of sets in their place


def configured(
    loaded: LoadedConfig, catalog: Catalog | None, *, disable: Collection[str] = (), own_only: bool = False
) -> Configured:
    """Look up what a config names; a `ConfigError` has everything that cannot be used, with its place."""
    config = loaded.config
    problems: list[Problem] = []

    @contextmanager
    def collected(*keys: str | int) -> Iterator[None]:
        try:
            yield
        except RankgaugeError as error:
            problems.append(Problem(str(error), *loaded.place(*keys), ".".join(map(str, keys))))

    if catalog is None:
        off = [*config.plugins.disable, *disable]
        catalog = Catalog.discover(disable=off, own_only=own_only) if off or own_only else Catalog.installed()
        for name, message in catalog.not_installed(config.plugins.disable).items():
            place = loaded.place("plugins", "disable", config.plugins.disable.index(name))
            problems.append(Problem(message, *place, "plugins.disable"))
    catalog.require(config.plugins.require)
    for name, spec in config.matchers.items():
        with collected("matchers", name):
            catalog = catalog.with_matchers({name: spec if isinstance(spec, str) else spec.model_dump()})
    for name, changes in config.profiles.items():
        with collected("profiles", name):
            catalog = catalog.with_profiles({name: changes.model_dump(exclude_unset=True)})
    profile = catalog.profile("default")
    with collected("profile"):
        profile = catalog.profile(config.profile).adapted(opened_options(loaded.policy_options()))
    for name, dataset in config.datasets.items():
        for key, look_up in _looked_up(catalog, dataset):
            with collected("datasets", name, key):
                look_up(getattr(dataset, key))
    with collected("system", "kind"):
        problems += _of_system(loaded, catalog)
    sets = MetricSets(catalog, {name: loaded.entries(name) for name in config.metrics.sets})
    metrics = sets.expanded(loaded.entries())
    for name in config.metrics.sets:
        sets.named(name)
    _refuse(loaded, [*problems, *sets.problems])
    return Configured(loaded, catalog, profile, tuple(metrics))


def _looked_up(catalog: Catalog, dataset: DatasetConfig) -> Iterator[tuple[str, Callable[[str], object]]]:
    """Yield the keys of a dataset that name something of the catalog, with what looks it up."""
    keys = {"preset": catalog.preset, "reader": catalog.reader_named, "outputs_reader": catalog.reader_named}
    yield from ((key, look_up) for key, look_up in keys.items() if getattr(dataset, key) is not None)


def _of_system(loaded: LoadedConfig, catalog: Catalog) -> Iterator[Problem]:
    """Yield what is wrong with data beside a system; raise the error of the catalog for one that there is not."""
    for name, dataset in loaded.config.datasets.items():
        if loaded.config.system is not None and dataset.outputs is not None:
            why = "the config has a system, which is called for outputs; leave out one of them"
            yield Problem(why, *loaded.place("datasets", name, "outputs"), f"datasets.{name}.outputs")
    if loaded.config.system is not None:
        catalog.system(str(loaded.config.system["kind"]))


def data_source(loaded: LoadedConfig, name: str) -> DataSource:
    """Return a dataset of a config, with the places where its files are named."""
    entry = loaded.config.datasets[name]
    files = {"path": loaded.file(entry.path)}
    if entry.outputs is not None:
        files["outputs"] = loaded.file(entry.outputs)
    places = tuple(
        (file, loaded.variables.unexpanded(str(file)), (*loaded.place("datasets", name, key), f"datasets.{name}.{key}"))
        for key, file in files.items()
    )
    return DataSource(
        files["path"],
        files.get("outputs"),
        entry.field_map,
        name,
        places=places,
        preset=entry.preset or "",
        separator=entry.separator or "",
        reader=entry.reader or "",
        outputs_reader=entry.outputs_reader or "",
        number_rows=entry.number_rows,
        letters=entry.letters or "",
        system=entry.system or "",
        groups=_groups(loaded, entry.groups),
    )


def _groups(loaded: LoadedConfig, given: Mapping[str, str | list[str]] | str | None) -> QueryGroups | None:
    if given is None:
        return None
    return QueryGroups.of(loaded.file(given) if isinstance(given, str) else given)


def lock_of(loaded: LoadedConfig) -> Lock | None:
    """Return the lock that a config names."""
    if loaded.config.plugins.locked is None:
        return None
    from rankgauge.config.lock_file import read_lock

    return read_lock(loaded.lock_file, loaded.path)


def metrics_of_sets(names: Collection[str], catalog: Catalog, loaded: LoadedConfig | None) -> list[MetricSpec]:
    """Return the metrics of some sets, of a config or of plugins; a `ConfigError` has every name that is unknown."""
    configured_sets = {} if loaded is None else {name: loaded.entries(name) for name in loaded.config.metrics.sets}
    sets = MetricSets(catalog, configured_sets)
    metrics = [spec for name in names for spec in sets.named(name)]
    _refuse(loaded, list(sets.problems))
    return metrics


def configured_evaluation(found: Configured | None, data: DataSource, catalog: Callable[[], Catalog]) -> Evaluation:
    """Return data with the metrics, the profile and the defaults of a config, if there is one."""
    if found is None:
        return Evaluation(catalog=catalog, data=data, profile=PROFILES["default"])
    config = found.loaded.config
    k = config.metrics.retrieval.default_k
    profile = found.profile
    entry = config.datasets.get(data.name)
    if entry is not None and (excluded := entry.excluded) is not None:
        given = found.loaded.file(excluded) if isinstance(excluded, str) else excluded
        profile = profile.adapted(opened_options({"excluded": given}))
    return Evaluation(
        catalog=catalog,
        data=data._replace(cohorts=tuple(config.cohorts)),
        metrics=found.metrics,
        profile=profile,
        default_k=None if k is None else DefaultK(k, f"metrics.retrieval.default_k of {found.loaded.path}"),
        weights=_weights_of(found.loaded),
    )


def _weights_of(loaded: LoadedConfig) -> Weights | None:
    """Return what a config says of weights: a field, unless there is a file of that name beside the config."""
    given = loaded.config.weights
    if given is None:
        return None
    file = loaded.file(given)
    return file if file.is_file() else given


def _refuse(loaded: LoadedConfig | None, problems: list[Any]) -> None:
    if problems:
        what = "the sets" if loaded is None else str(loaded.path)
        raise ConfigError(f"{what} cannot be used ({counted(len(problems), 'problem')}):", problems)
