"""
What is typed about gates: where they and a baseline are, and what is written about them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.errors import ParameterError
from rankgauge.io.whole_files import obstacle

if TYPE_CHECKING:
    from rankgauge.config import LoadedConfig
    from rankgauge.gates.grammar import Effect, Gate


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """What was typed about gates."""

    gate: Sequence[str] = ()
    until: Sequence[str] = ()
    sut: str = ""
    baseline: Path | None = None
    save_baseline: Path | None = None
    junit: Path | None = None
    markdown: Path | None = None
    inconclusive: Effect | None = None
    history: Path | None = None

    @classmethod
    def of(cls, typed: object) -> GateOptions:
        """Return the options of a command, which has them under these names."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: value for name in names if (value := getattr(typed, name, None)) is not None})

    def gates(self, config: LoadedConfig | None = None) -> list[Gate]:
        """Return the gates of a config, and those that were typed; what is typed for all gates beats the config."""
        declared_gates = [] if config is None else [*config.config.gates, *config.config.until]
        if not (self.gate or self.until or declared_gates):
            return []
        from rankgauge.gates.asked import until_gates
        from rankgauge.gates.grammar import Defaults, read_gates

        declared = None if config is None else config.config.inconclusive
        defaults = Defaults(self.inconclusive or declared or "warn")
        gates = [] if config is None else config.gates(defaults.inconclusive)
        gates += [gate for text in self.gate for gate in read_gates(text, origin="--gate", defaults=defaults)]
        gates += until_gates(self.until, origin="--until")
        return gates if self.sut else [replace(gate, until=False) for gate in gates]  # nothing is called that could end


def check_targets(options: GateOptions, gates: Sequence[Gate], example: str) -> None:
    """Refuse a report on gates where there are none, and files that cannot be written, before anything is computed."""
    if options.junit is not None and not gates:
        raise ParameterError(f"--junit reports on gates, and there are none; give {example}")
    targets = {"--junit": options.junit, "--markdown": options.markdown, "--save-baseline": options.save_baseline}
    targets["--history"] = options.history
    for name, path in targets.items():
        if path is not None and (why := obstacle(path)):
            raise ParameterError(f"{name} {path} cannot be written: {why}")
