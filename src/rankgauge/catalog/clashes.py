"""
Clashes: names that several plugins claim, and names of built-in things that a plugin claims.
"""

from __future__ import annotations

from collections.abc import Mapping

from rankgauge.catalog.claims import OWN, Claim, Declaration, Fault
from rankgauge.catalog.spelling import ends_in_number, spellings
from rankgauge.expression import parse

__all__ = ["Claims", "drop_shadows", "settle", "shadowed"]

Claims = dict[tuple[str, str], list[Claim[Declaration]]]
"""What is claimed, by kind and lower-case name."""


def settle(kind: str, name: str, claims: list[Claim[Declaration]]) -> list[Fault]:
    """Give a name with several claims to the built-in one, if there is one; return a fault for each of the others."""
    if len(claims) < 2:
        return []
    own = [claim for claim in claims if claim.provider.distribution == OWN]
    if own:
        faults = [shadowed(kind, name, claim) for claim in claims if claim not in own]
        claims[:] = own[:1]
        return faults
    listed = "; ".join(str(claim.provider) for claim in claims)
    message = f"{kind} {name!r} is claimed by {len(claims)} plugins, so it works for none of them: {listed}"
    return [_fault(claim, message) for claim in claims]


def drop_shadows(claims: Claims, spelled: Mapping[tuple[str, str], str]) -> list[Fault]:
    """Remove names that read like a built-in one with a cutoff, such as ``recall_100``."""
    faults = []
    # Only a name that ends in a number can read like another one, and checking all of them is slow.
    for key in [key for key in claims if key[0] == "metric" and ends_in_number(key[1])]:
        own = claims[key]
        if any(claim.provider.distribution == OWN for claim in own):
            continue
        for name, _ in spellings(parse(spelled[key]))[1:]:
            built_in = claims.get(("metric", name.casefold()), [])
            if any(claim.provider.distribution == OWN for claim in built_in):
                faults += [shadowed("metric", spelled[key], claim) for claim in own]
                del claims[key]
                break
    return faults


def shadowed(kind: str, name: str, claim: Claim[Declaration]) -> Fault:
    """Return the fault of claiming a built-in name."""
    message = f"{kind} {name!r} is built in and cannot be replaced ({claim.provider}); choose another name"
    return _fault(claim, message)


def _fault(claim: Claim[Declaration], message: str) -> Fault:
    return Fault(claim.provider.plugin_id, claim.provider.version, "name", message)
