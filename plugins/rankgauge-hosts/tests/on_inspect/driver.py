"""How inspect_ai's users hand samples over: a real log of an evaluation, scored by the command line."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.solver import solver

from rankgauge.expression import safe_name

OFFLINE = Path(__file__).parent.parent / "offline"


@solver
def recorded_retrieval():
    """Put into the store what the sample says was retrieved, as a retriever would."""

    async def solve(state, generate):
        if "emitted" in state.metadata:
            state.store.set("retrieved", state.metadata["emitted"])
        return state

    return solve


def make_log(samples, folder):
    """Return the path of the log of an evaluation that retrieved what the samples say."""
    made = []
    for sample in samples:
        metadata = {**sample.get("metadata", {}), "gold": sample["expected_output"]}
        if sample.get("actual_output") is not None:
            metadata["emitted"] = sample["actual_output"]
        made.append(Sample(id=sample["id"], input=json.dumps(sample.get("input", "?")), metadata=metadata))
    task = Task(dataset=made, solver=recorded_retrieval())
    (log,) = evaluate(task, model="mockllm/model", log_dir=str(folder / "logs"), display="none")
    assert log.status == "success"
    return log.location


def score_log(location, scored, *arguments):
    """Score a log with the command line, into another one."""
    command = [str(Path(sys.executable).parent / "inspect"), "score", location, "--scorer", "rankgauge_hosts/retrieval"]
    for argument in arguments:
        command += ["-S", argument]
    command += ["--action", "overwrite", "--output-file", str(scored), "--display", "plain"]
    environment = {**os.environ, "PYTHONPATH": str(OFFLINE)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return read_eval_log(str(scored)), done.stdout


class Inspect(NamedTuple):
    cannot_say: frozenset[str] = frozenset()

    def scores(self, samples, metrics, arguments, folder):
        options = [f"{name}={json.dumps(value)}" for name, value in {"metrics": metrics, **arguments}.items()]
        log, _ = score_log(make_log(samples, folder), folder / "scored.eval", *options)
        found = {}
        for sample in log.samples:
            values = sample.scores["retrieval"].value
            found[sample.id] = {safe_name(name): None if math.isnan(value) else value for name, value in values.items()}
        return found


DRIVERS = {"inspect score": Inspect()}
