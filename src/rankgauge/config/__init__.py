"""
Config files: one YAML that declares datasets, metrics, policy, matchers, plugins and output.

Lock files are in `rankgauge.config.lock_file`, which few runs need.
"""

from rankgauge.config.config_files import LoadedConfig, load_config
from rankgauge.config.schema import Config, json_schema

__all__ = ["Config", "LoadedConfig", "json_schema", "load_config"]
