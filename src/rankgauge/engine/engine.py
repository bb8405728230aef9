"""
The facade: `Engine` knows datasets, plugins and defaults, and makes evaluations of them.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.catalog import Catalog
from rankgauge.engine.configured import (
    Configured,
    configured,
    configured_evaluation,
    data_source,
    lock_of,
    metrics_of_sets,
)
from rankgauge.engine.configured_system import ConfiguredSystem, check_options, system_of
from rankgauge.engine.evaluation import Evaluation
from rankgauge.errors import (
    ConfigError,
    DataError,
    ParameterError,
    PlanError,
    Problem,
    counted,
    did_you_mean,
    listed,
)
from rankgauge.io.builtin_formats import without_nulls
from rankgauge.io.datasets import DataSource
from rankgauge.io.field_names import FieldMap, check_field
from rankgauge.io.files import is_there, no_such_file
from rankgauge.io.open_sources import refuse_splits
from rankgauge.io.problems import unreadable
from rankgauge.planning.lock import Lock, commands_to_lock, lock_columns
from rankgauge.planning.requests import MetricSpec
from rankgauge.planning.resolve import PlannedMetric

if TYPE_CHECKING:
    from rankgauge.config import LoadedConfig

__all__ = ["Engine"]


class Engine:
    """
    Where evaluations begin.

        engine = Engine()
        result = engine.dataset("samples.jsonl").with_metrics(["ndcg@10", "retrieval-mrr"]).run()
        result["ndcg@10"].mean
    """

    def __init__(self, *, catalog: Catalog | None = None) -> None:
        """
        Make an engine.

        Args:
            catalog: What plugins offer; by default everything that is installed, found when first needed.
        """
        self._catalog = catalog
        self._sources: dict[str, DataSource] = {}
        self._configured: Configured | None = None

    def __repr__(self) -> str:
        origin = "no config" if self.config is None else str(self.config.path)
        names = f" ({listed(self.dataset_names)})" if self._sources else ""
        return f"<Engine with {origin}: {counted(len(self._sources), 'dataset')}{names}>"

    @classmethod
    def from_config(
        cls,
        path: str | os.PathLike[str],
        *,
        catalog: Catalog | None = None,
        disable: Collection[str] = (),
        own_only: bool = False,
    ) -> Engine:
        """
        Make an engine from a config file.

        Args:
            path: The file. Data files are named in it relative to where it is.

            catalog: What plugins offer; by default everything that is installed but for what is disabled.

            disable: Distributions to leave out, in addition to those that the file disables.

            own_only: Whether to leave out every plugin but rankgauge's own.

        Returns:
            An engine that knows the file's datasets, and gives its metrics, policy and matchers to every evaluation.

        Raises:
            ConfigError: Anything that is wrong with the file, all of it at once, names that no plugin offers included.

            RequiredPluginError: A plugin that it requires is absent or broken.
        """
        from rankgauge.config import load_config  # pydantic loads only if there is a config

        loaded = load_config(Path(path))
        looked_up = configured(loaded, catalog, disable=disable, own_only=own_only)
        engine = cls(catalog=looked_up.catalog)
        engine._configured = looked_up
        engine._sources.update((name, data_source(loaded, name)) for name in loaded.config.datasets)
        return engine

    @cached_property
    def catalog(self) -> Catalog:
        """Return what plugins offer."""
        return self._catalog if self._catalog is not None else Catalog.installed()

    @property
    def config(self) -> LoadedConfig | None:
        """Return the config file, None for an engine without one."""
        return None if self._configured is None else self._configured.loaded

    @property
    def dataset_names(self) -> tuple[str, ...]:
        """Return the names that `dataset` knows, in order of registration."""
        return tuple(self._sources)

    def system(self, changes: Mapping[str, object] | None = None) -> ConfiguredSystem:
        """
        Make the system under test of the config, for `Evaluation.run`.

        Args:
            changes: Options in place of the config's; dots in a name lead into options, such as ``fuse.k``.

        Returns:
            What is called with each sample's input. Close it in the end.

        Raises:
            ParameterError: There is no config, or it names no system; or the plugin cannot make it.

            ConfigError: Its options cannot be used, or a variable is not set.
        """
        config = self.config
        if config is None or config.config.system is None:
            where = "an engine without a config" if config is None else str(config.path)
            raise ParameterError(f"{where} has no system under test; name one under `system`, such as {{kind: http}}")
        return system_of(config, self.catalog, changes)

    def check_system(self, changes: Mapping[str, object] | None = None) -> None:
        """
        Check the options of the config's system under test, and make nothing.

        Args:
            changes: As in `system`.

        Raises:
            ParameterError: A change leads into an option that has no options of its own.

            ConfigError: The options cannot be used, all of them at once; or a variable is not set.

            UnknownNameError: No plugin offers the kind of system.
        """
        if self.config is not None:
            check_options(self.config, self.catalog, changes)

    def metrics(self, sets: Sequence[str] = ()) -> list[MetricSpec]:
        """
        Return the metrics of some sets, for `Evaluation.with_metrics`.

        Args:
            sets: Names of sets, of the config or of plugins; none for `metrics.use` of the config.

        Returns:
            The metrics as they were asked for; none without a config.

        Raises:
            ConfigError: A set that there is not.
        """
        if sets:
            return metrics_of_sets(sets, self.catalog, self.config)
        return [] if self._configured is None else list(self._configured.metrics)

    def register(
        self,
        name: str,
        source: str | os.PathLike[str] | Iterable[object],
        *,
        outputs: str | os.PathLike[str] | None = None,
        fields: FieldMap | None = None,
    ) -> Engine:
        """
        Give a dataset a name; a name that is taken already gets the new data.

        Args:
            name: What `dataset` will know it by.

            source: A file, or samples.

            outputs: A file with outputs.

            fields: Where the data has each of our fields, as in `Evaluation.with_fields`.

        Returns:
            This engine.

        Raises:
            ParameterError: A field that samples do not have, or a place that cannot be read.
        """
        for field, place in (fields or {}).items():
            check_field(field, place)
        path = Path(outputs) if outputs is not None else None
        self._sources[name] = DataSource(_opened(source), path, dict(fields or {}), name)
        return self

    def dataset(
        self, source: str | os.PathLike[str] | Iterable[object], *, preset: str = "", separator: str = ""
    ) -> Evaluation:
        """
        Begin an evaluation.

        Args:
            source: A registered name, a file, or samples: mappings in the form of the dataset contract, `Sample`
                values, or a table with one a row: a polars or pandas frame, an Arrow table or a Hugging Face dataset.

            preset: Whose records they are, as in `Evaluation.with_preset`; by default what the config says.

            separator: What separates the entries of a list that is written as one text.

        Returns:
            An evaluation with the metrics, policy and defaults of the config, if there is one.

        Raises:
            DataError: A name that is neither registered nor a file.

            ConfigError: The lock that the config names cannot be used.

            UnknownNameError: No preset has that name.
        """
        evaluation = replace(self._evaluation(source), lock=self._lock)
        if not preset and not separator:
            return evaluation
        data = evaluation.data
        separator = separator or data.separator
        return evaluation.with_preset(preset or data.preset, separator=separator, system=data.system)

    def lock(self) -> Lock:
        """
        Return what the metrics and matchers of the config mean now, and who provides them.

        Returns:
            A lock over `metrics.use` and every set, and the commands of plugins, none of which is loaded for that;
            `rankgauge plugins lock` writes it.

        Raises:
            ConfigError: There is no config file.

            PlanError: A metric that cannot be used.
        """
        loaded = self.config
        if loaded is None:
            msg = "cannot write a lock:"
            raise ConfigError(msg, ["only the metrics of a config file can be locked; use Engine.from_config(...)"])
        from rankgauge.config.lock_file import remedy
        from rankgauge.gates.asked import ask_gates

        evaluation = self._evaluation([])

        def planned(metrics: Sequence[MetricSpec]) -> Sequence[PlannedMetric]:
            return evaluation.with_metrics(metrics).plan().metrics

        wanted = [self.metrics(), *(self.metrics([name]) for name in loaded.config.metrics.sets)]
        columns: list[PlannedMetric] = []
        problems: dict[str, Problem] = {}
        for metrics in (each for each in wanted if each or not any(wanted)):
            try:
                columns += planned(ask_gates(loaded.gates(), metrics, planned).specs)
            except PlanError as error:
                problems.update({str(problem): problem for problem in error.problems})
        if problems:
            raise PlanError(f"{loaded.path} cannot be locked ({counted(len(problems), 'problem')}):", problems.values())
        lock = lock_columns(columns, str(loaded.lock_file), remedy(loaded.path), path=str(loaded.lock_file))
        return replace(lock, commands=commands_to_lock(loaded.config.plugins.disable))

    @cached_property
    def _lock(self) -> Lock | None:
        """Return the lock that the config names."""
        return None if self.config is None else lock_of(self.config)

    def _evaluation(self, source: str | os.PathLike[str] | Iterable[object]) -> Evaluation:
        if isinstance(source, str) and source in self._sources:
            data = self._sources[source]
        else:
            opened = _opened(source)
            data = DataSource(opened, None, {}, opened.stem if isinstance(opened, Path) else "")
            if isinstance(data.source, Path) and not is_there(data.source):
                if not self._sources:
                    raise unreadable(str(data.source), no_such_file(data.source))
                known = did_you_mean(str(source), self._sources)
                hint = f"; registered are {', '.join(self._sources)}" if self._sources else ""
                msg = f"cannot use the dataset {str(source)!r}:"
                raise DataError(msg, [Problem(f"it is neither a registered name nor a file{known}{hint}")])
        return configured_evaluation(self._configured, data, lambda: self.catalog)


def _opened(source: str | os.PathLike[str] | Iterable[object]) -> Path | list[object]:
    """Return a path, or the samples as a list, so that they can be read more than once."""
    if isinstance(source, str | os.PathLike):
        return Path(source)
    if hasattr(source, "to_dicts"):  # a polars frame
        return list(source.to_dicts())
    if hasattr(source, "to_dict") and hasattr(source, "columns"):  # a pandas frame
        return list(source.to_dict("records"))
    rows = next((getattr(source, name) for name in ("to_pylist", "to_list") if hasattr(source, name)), None)
    if rows is not None and hasattr(source, "column_names"):  # an Arrow table, or a dataset of Hugging Face
        return [{name: without_nulls(value) for name, value in row.items()} for row in rows()]
    refuse_splits(source, "the samples")
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        msg = "cannot use the samples:"
        kind = type(source).__name__
        raise DataError(msg, [Problem(f"a dataset is a name, a file or a list of samples, not a {kind}")])
    return list(source)
