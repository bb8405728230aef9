"""
The manifest: what a reader of a result has to know to trust its numbers.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.io.files import real_path
from rankgauge.io.output_files import OUTPUTS_FILE
from rankgauge.kernel import DISTRIBUTION, installed_kernel
from rankgauge.planning.plan import Plan
from rankgauge.policy import Policy
from rankgauge.version import __version__

if TYPE_CHECKING:
    from rankgauge.io.datasets import DataSource
    from rankgauge.planning.lock import Lock

__all__ = ["make_manifest", "make_settings", "resolved_config"]


def make_manifest(
    plan: Plan,
    dataset: Mapping[str, Any],
    outputs: Mapping[str, Any],
    *,
    created_at: datetime | None = None,
    interrupted: bool = False,
) -> dict[str, Any]:
    """Return as JSON values what *plan* computed, when, from what, and with which versions and plugins."""
    lock = _lock(plan)
    return {
        "created_at": (created_at or datetime.now(UTC)).isoformat(timespec="microseconds"),
        "interrupted": interrupted,
        "versions": dict(_versions()),
        "plugins": [{"distribution": name, "version": number} for name, number in plan.catalog.distributions],
        **({} if installed_kernel() is None else {"kernel": DISTRIBUTION}),
        "lock": None if lock is None else {"path": lock.path, "fingerprint": lock.digest},
        **make_settings(plan),
        "default_k": {"k": plan.default_k.k, "source": plan.default_k.source},
        "dataset": dict(dataset),
        "outputs": dict(outputs),
    }


def make_settings(plan: Plan) -> dict[str, Any]:
    """Return the profile and the policy, which reports need when they need nothing else of a manifest."""
    return {"profile": plan.profile.name, "policy": plan.profile.policy.plain()}


def _policy_config(policy: Policy) -> dict[str, Any]:
    """Return a policy as configs write it."""
    excluded = policy.excluded
    given = {} if excluded is None else {"excluded": excluded.path or excluded.documents()}
    return {**policy.plain(), **given}


def _lock(plan: Plan) -> Lock | None:
    """Return the lock that the config names; another one may come from the process that sent the evaluation."""
    return next((lock for lock in plan.locks if lock.path), None)


@functools.cache
def _versions() -> Mapping[str, str]:
    import platform  # nothing else needs it

    import numpy as np  # says its version itself: `importlib.metadata` takes 13 ms to load

    return {
        "rankgauge": __version__,
        "python": platform.python_version(),
        "platform": sys.platform,
        "numpy": np.__version__,
    }


def resolved_config(plan: Plan, data: DataSource, outputs: str | None) -> dict[str, Any]:
    """Return a config that says all of it and runs from anywhere, with *outputs* as the file of outputs."""
    entry: dict[str, Any] = {"path": str(real_path(data.source)) if isinstance(data.source, Path) else "samples.jsonl"}
    if outputs is not None:
        entry["outputs"] = outputs
    if data.fields:
        entry["fields"] = dict(data.fields)
    of_outputs = ("outputs_reader",) if outputs not in {None, OUTPUTS_FILE} else ()
    keys = ("preset", "separator", "reader", "number_rows", "letters", "system", *of_outputs)
    entry |= {key: given for key in keys if (given := getattr(data, key))}
    if data.groups is not None:
        entry["groups"] = data.groups.plain()
    use: list[Any] = []
    for metric in plan.metrics:
        written: dict[str, Any] = {"metric": str(metric.expression), "as": metric.name}
        if metric.cut.rule in {"free", "own"} and metric.cut.k is not None:
            written["k"] = metric.cut.k
        use.append(written)
    config: dict[str, Any] = {
        "version": 1,
        "datasets": {data.name or "data": entry},
        **({"cohorts": list(data.cohorts)} if data.cohorts else {}),
        "metrics": {"retrieval": {"default_k": plan.default_k.k}, "use": use},
        "profile": plan.profile.name,
        "policy": _policy_config(plan.profile.policy),
    }
    if plan.catalog.own_matchers:
        config["matchers"] = {name: str(matcher) for name, matcher in plan.catalog.own_matchers.items()}
    if plan.catalog.own_profiles:
        config["profiles"] = {name: spec.plain() for name, spec in plan.catalog.own_profiles.items()}
    plugins: dict[str, Any] = {}
    if disabled := plan.catalog.disabled:
        plugins["disable"] = disabled
    if (lock := _lock(plan)) is not None:
        plugins["locked"] = str(real_path(Path(lock.path)))
    return {**config, "plugins": plugins} if plugins else config
