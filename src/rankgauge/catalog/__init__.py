"""The catalog: what the installed plugins offer, under which names, and from where."""

from rankgauge.catalog.catalog import Catalog, Reading
from rankgauge.catalog.claims import Claim, Fault, Plugin, Provider
from rankgauge.catalog.resolved import ResolvedMatcher, check_parameters

__all__ = ["Catalog", "Claim", "Fault", "Plugin", "Provider", "Reading", "ResolvedMatcher", "check_parameters"]
