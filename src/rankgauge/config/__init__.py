"""Config files: one YAML that declares datasets, metrics, policy, matchers, plugins and output; and lock files."""

from rankgauge.config.load import LoadedConfig, load_config
from rankgauge.config.lock import LOCK_FILE, read_lock, remedy, write_lock
from rankgauge.config.schema import Config, json_schema

__all__ = ["LOCK_FILE", "Config", "LoadedConfig", "json_schema", "load_config", "read_lock", "remedy", "write_lock"]
