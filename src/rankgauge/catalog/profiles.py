"""
Profiles, resolved: what one changes of another, applied from a built-in profile on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rankgauge.errors import CatalogError, ExpressionError, ParameterError, PolicyError
from rankgauge.expression import Value
from rankgauge.plugin.profiles import ProfileSpec
from rankgauge.policy import PROFILES, Profile

__all__ = ["build_profile"]

_Parameters = Mapping[str, Value]


def build_profile(
    name: str,
    find: Callable[[str], tuple[ProfileSpec, str]],
    conventions: Callable[[str, _Parameters], tuple[str, _Parameters]],
    trail: tuple[str, ...] = (),
) -> Profile:
    """
    Return a profile by name.

    *find* returns what it changes, and who says so; *conventions* checks the parameters of a metric and returns them
    with its alias. Both raise errors of the catalog. *trail* has the profiles that extend this one.
    """
    if name in PROFILES:
        return PROFILES[name]
    if name in trail:
        msg = f"profiles extend each other: {' -> '.join([*trail[trail.index(name) :], name])}"
        raise PolicyError(msg)
    try:
        spec, by = find(name)
    except LookupError as error:
        msg = f"profile {trail[-1]!r} extends {name!r}: {error}" if trail else str(error)
        raise PolicyError(msg) from error
    base = build_profile(spec.extends, find, conventions, (*trail, name))
    try:
        return spec.applied(name, base, dict(conventions(*entry) for entry in spec.parameters.items()))
    except (PolicyError, ParameterError, CatalogError, ExpressionError) as error:
        msg = f"profile {name!r}{by}: {error}"
        raise PolicyError(msg) from error
