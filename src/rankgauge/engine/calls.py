"""
Calls of a system under test: how they end, what is kept of them, and how a run that was cut short goes on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.engine.configured_system import ConfiguredSystem
from rankgauge.engine.manifest import resolved_config
from rankgauge.engine.run_options import system_name
from rankgauge.errors import DataError, ResultError
from rankgauge.io.files import read_bytes
from rankgauge.io.kept_outputs import OutputsFile, add_missing
from rankgauge.io.output_files import OUTPUTS_FILE, kept, read_kept
from rankgauge.policy import Contract
from rankgauge.result.staging import BEGUN_FILE, Staging, cannot_save, has_outputs, is_staging
from rankgauge.samples import CallError, KeptOutput
from rankgauge.stats import percentile

if TYPE_CHECKING:
    from rankgauge.engine.evaluation import Evaluation

__all__ = ["begin", "call_figures", "check_same", "kept_answer", "run_to_end", "system_facts", "unwritten"]


def system_facts(sut: object) -> dict[str, Any]:
    """Return how a manifest names a system, and the options of one of a config."""
    options = {"options": sut.options} if isinstance(sut, ConfiguredSystem) else {}
    return {"sut": system_name(sut), **options}


def call_figures(outputs: Iterable[KeptOutput], failed: int) -> dict[str, Any]:
    """Return how many calls were made and *failed*, how often one was repeated, and how long they took."""
    outputs = [one for output in outputs for one in output.every]
    seconds = [output.seconds for output in outputs if output.seconds is not None]
    return {
        "n": len(outputs),
        "failed": failed,
        "retries": sum(output.attempt - 1 for output in outputs),
        "seconds": {"p50": percentile(seconds, 50), "p95": percentile(seconds, 95)},
    }


def kept_answer(answer: object, contract: Contract, shaped: Callable[[object], object]) -> KeptOutput:
    """Return what a call came to as it is kept, *shaped* as `actual_output`; what raises then fails the sample."""
    from rankgauge.scoring.sut import failure_of

    if isinstance(answer, CallError):
        return KeptOutput(error=answer)
    try:
        with guarded():
            return kept(shaped(answer), contract)
    except ForeignError as error:
        return KeptOutput(error=failure_of(error))


def unwritten(file: OutputsFile, sample_id: str, output: KeptOutput) -> str:
    """Keep an output; return why that is not possible, empty if it is."""
    try:
        file.add(sample_id, output)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def run_to_end(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine to its end, also if a loop runs in this thread already (a notebook)."""
    import asyncio  # loads only if a system under test is called
    import threading

    from rankgauge.scoring.call_threads import CallThreads

    async def led() -> None:
        asyncio.get_running_loop().set_default_executor(CallThreads())  # the end of another one waits for what hangs
        await main()

    has_loop = True
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        has_loop = False
    if not has_loop:  # outside of `except`, whose error the traceback of every failed call would begin with
        asyncio.run(led())
        return
    failure: list[BaseException] = []
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = []

    async def drive() -> None:
        task = asyncio.ensure_future(led())
        running.append((asyncio.get_running_loop(), task))
        with contextlib.suppress(asyncio.CancelledError):
            await task

    def work() -> None:
        try:
            asyncio.run(drive())
        except BaseException as error:  # noqa: BLE001  # raised again in the calling thread
            failure.append(error)

    thread = threading.Thread(target=work, name="rankgauge-run")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        for loop, task in running:
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if failure:
        raise failure[0]


def begin(
    staging: Staging, evaluation: Evaluation, sut: object, named: Path | None = None, others: Sequence[Path] = ()
) -> None:
    """
    Write down what is run, so that it can go on if it is killed; take over the outputs of earlier runs.

    Another run's are refused if its folder was *named*, and left alone among the *others*, largest first. Of what a
    killed run left the named folder, else the largest, becomes the new one.
    """
    record = _record(evaluation, sut)
    if named is not None:
        _check_same(named, record)
    folders = [] if named is None else [named]
    refusal: ResultError | None = None
    for other in others:
        try:
            _check_same(other, record)
        except ResultError as error:
            refusal = error
        else:
            folders.append(other)
    if refusal is not None and not folders:
        raise refusal
    folders.sort(key=lambda folder: not is_staging(folder))
    try:
        staging.begin(record, next(iter(folders), None))
        for folder in folders[1:]:
            add_missing(staging.outputs, read_kept(folder / OUTPUTS_FILE))
    except OSError as error:
        raise cannot_save(staging.target, error) from error


def check_same(folder: Path, evaluation: Evaluation, sut: object) -> None:
    """Raise a `ResultError` with the differences if a folder has the outputs of another run."""
    _check_same(folder, _record(evaluation, sut))


def _check_same(folder: Path, record: Mapping[str, Any]) -> None:
    """Refuse a folder whose outputs are those of another run, with the differences."""
    if not has_outputs(folder):
        raise ResultError(
            f"{folder} holds no outputs of a system under test ({OUTPUTS_FILE}), so there is nothing to go on with"
        )
    differences = list(_differences(_without_paths(_saved(folder)), _without_paths(record)))
    if differences:
        listed = "".join(f"\n  {difference}" for difference in differences[:10])
        raise ResultError(
            f"cannot go on with {folder}, which is of another run:{listed}\n"
            "(`rankgauge rescore` computes other metrics over kept outputs)"
        )


def _without_paths(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record without the paths of data, which are those of copies with --keep-data; fingerprints stay."""
    config = record.get("config")
    datasets = config.get("datasets") if isinstance(config, Mapping) else None
    if not isinstance(datasets, Mapping):
        return record
    entries = {
        name: {key: value for key, value in entry.items() if key != "path"} if isinstance(entry, Mapping) else entry
        for name, entry in datasets.items()
    }
    return {**record, "config": {**record["config"], "datasets": entries}}


def _record(evaluation: Evaluation, sut: object) -> dict[str, Any]:
    """Return what two parts of one run have in common, as it is read back."""
    data = evaluation.data
    record = {
        "dataset": {"name": data.name or None, "fingerprint": data.fingerprint()},
        "outputs": {"from": "sut", **system_facts(sut)},
        "config": resolved_config(evaluation.plan(), data, OUTPUTS_FILE),
    }
    return orjson.loads(orjson.dumps(record))  # type: ignore[no-any-return]


def _saved(folder: Path) -> Mapping[str, Any]:
    """Return what an earlier run says that it was; of a folder that was being saved, what it said at its beginning."""
    for name in (BEGUN_FILE, "manifest.json"):
        with contextlib.suppress(DataError, ValueError):
            saved = orjson.loads(read_bytes(folder / name))
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
