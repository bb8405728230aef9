"""The pytest plugin by its public name, for `-p rankgauge.pytest_plugin` and for annotations."""

from rankgauge.features.pytest_plugin import RankgaugeEval

__all__ = ["RankgaugeEval"]

pytest_plugins = ("rankgauge.features.pytest_plugin",)
