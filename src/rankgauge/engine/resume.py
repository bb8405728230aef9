"""
Going on with a run: what a run writes down before its first call, and what has to be the same when it goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from rankgauge.engine.calls import system_name
from rankgauge.engine.manifest import resolved_config
from rankgauge.engine.setup import Setup
from rankgauge.errors import ResultError
from rankgauge.io.output_files import OUTPUTS_FILE
from rankgauge.io.whole_files import write_file
from rankgauge.result.staging import BEGUN_FILE, Staging, has_outputs, is_in_use, is_staging

__all__ = ["begin", "go_on", "target_of"]


def begin(staging: Staging, evaluation: Setup, sut: object) -> None:
    """Write down what is run, so that a run that is killed can go on."""
    record = {"target": str(staging.target), **_record(evaluation, sut)}
    write_file(staging.path / BEGUN_FILE, orjson.dumps(record, option=orjson.OPT_INDENT_2))


def go_on(staging: Staging, earlier: Path, evaluation: Setup, sut: object) -> None:
    """Take over the outputs of an earlier run, of a result folder or what a killed run left; refuse another run's."""
    if not has_outputs(earlier):
        raise ResultError(
            f"{earlier} holds no outputs of a system under test ({OUTPUTS_FILE}), so there is nothing to go on with"
        )
    if is_staging(earlier) and is_in_use(earlier):
        raise ResultError(f"cannot go on with {earlier}: another process is still running it")
    differences = list(_differences(_saved(earlier), orjson.loads(orjson.dumps(_record(evaluation, sut)))))
    if differences:
        listed = "".join(f"\n  {difference}" for difference in differences[:10])
        raise ResultError(
            f"cannot go on with {earlier}, which is of another run:{listed}\n"
            "(`rankgauge rescore` computes other metrics over kept outputs)"
        )
    write_file(staging.outputs, (earlier / OUTPUTS_FILE).read_bytes())


def target_of(folder: Path) -> Path:
    """Return the result folder that a folder is or, left by a run that was killed, was to become."""
    return Path(_saved(folder)["target"]) if is_staging(folder) else folder


def _record(evaluation: Setup, sut: object) -> dict[str, Any]:
    """Return what two parts of one run have in common."""
    data = evaluation.data
    return {
        "dataset": {"name": data.name or None, "fingerprint": data.fingerprint()},
        "outputs": {"from": "sut", "sut": system_name(sut)},
        "config": resolved_config(evaluation.plan(), data, OUTPUTS_FILE),
    }


def _saved(folder: Path) -> Mapping[str, Any]:
    """Return what an earlier run says that it was."""
    for name in ("manifest.json", BEGUN_FILE):
        try:
            saved = orjson.loads((folder / name).read_bytes())
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise ResultError(f"cannot go on with {folder}: {name} cannot be read: {error}") from error
        if isinstance(saved, dict):
            return saved
    raise ResultError(f"cannot go on with {folder}: it does not say what was run; score its outputs with --outputs")


def _differences(saved: Any, now: Any, place: str = "") -> Iterator[str]:  # noqa: ANN401  # JSON values
    """Yield where two records differ; what only the saved one has is of no interest at the top."""
    if isinstance(saved, Mapping) and isinstance(now, Mapping):
        keys = now if place in {"", "dataset", "outputs"} else dict.fromkeys((*saved, *now))
        for key in keys:
            yield from _differences(saved.get(key), now.get(key), f"{place}.{key}" if place else key)
    elif isinstance(saved, list) and isinstance(now, list):
        gone = [_short(entry) for entry in saved if entry not in now]
        new = [_short(entry) for entry in now if entry not in saved]
        if gone:
            yield f"{place} had {', '.join(gone)}, and no longer has"
        if new:
            yield f"{place} has {', '.join(new)}, and had not"
    elif saved != now:
        yield f"{place} was {saved!r} and is {now!r}"


def _short(value: object) -> str:
    """Return a metric by its column's name, anything else as it is."""
    return str(value.get("as", value)) if isinstance(value, Mapping) else str(value)
