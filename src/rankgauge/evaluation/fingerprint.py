"""
Fingerprints: short hashes that tell whether two scores of one name mean the same.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping

from rankgauge.policy import Profile

_NO_VALUE = {"max_failed", "queries"}
"""Policy options that change no score of any sample."""

__all__ = ["definition_fingerprint"]


def definition_fingerprint(
    *, alias: str, version: str, params: Mapping[str, object], cut: str, target: str, matcher: str, profile: Profile
) -> str:
    """
    Return the fingerprint of a metric's definition.

    Args:
        alias: The metric's alias.

        version: The version it declares.

        params: Every parameter with its value, the defaults included.

        cut: The rule of its cutoff.

        target: What is judged against what.

        matcher: The matcher as it prints; empty for a join of ids.

        profile: The policy and what counts as relevant.

    Returns:
        16 hexadecimal digits. Who provides the metric is not part of it.
    """
    definition = {
        "alias": alias,
        "version": version,
        "params": {key: repr(value) for key, value in params.items()},
        "cut": cut,
        "target": target,
        "matcher": matcher,
        "policy": {name: value for name, value in dataclasses.asdict(profile.policy).items() if name not in _NO_VALUE},
        "relevance": profile.relevance,
        "negatives": profile.negatives,
        "duplicate_texts": profile.duplicate_texts,
        "missing_texts": profile.missing_texts,
    }
    text = json.dumps(definition, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
