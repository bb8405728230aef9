"""
The index of a catalog: who claims which name, and what is wrong with the claims.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rankgauge.catalog.claims import Fault, Plugin
from rankgauge.catalog.clashes import Claims, drop_shadows, settle, shadowed
from rankgauge.catalog.spelling import plain_template
from rankgauge.policy import PROFILES

__all__ = ["Index", "indexed"]


class Index(NamedTuple):
    """
    The names that plugins claim.

    Attributes:
        claims: The claims of each name, by kind and name in lower case.

        spelled: How each name is written.

        faults: Everything that is wrong with any plugin, clashes of names included.
    """

    claims: Claims
    spelled: dict[tuple[str, str], str]
    faults: tuple[Fault, ...]


def indexed(plugins: Iterable[Plugin]) -> Index:
    """Return the index of some plugins."""
    claimed: Claims = {}
    spelled: dict[tuple[str, str], str] = {}
    faults: list[Fault] = []
    for plugin in plugins:
        faults += plugin.faults
        for offer in plugin.offers:
            for kind, written in offer.names:
                name = plain_template(written) if kind == "metric" else written
                key = (kind, name.casefold())
                spelled.setdefault(key, name)
                claims = claimed.setdefault(key, [])
                if all(claim.declaration is not offer.declaration for claim in claims):
                    claims.append(offer)
    for (kind, folded), claims in claimed.items():
        faults += settle(kind, spelled[kind, folded], claims)
    faults += drop_shadows(claimed, spelled)
    for name in PROFILES:
        faults += [shadowed("profile", name, claim) for claim in claimed.pop(("profile", name), ())]
    return Index(claimed, spelled, tuple(faults))
