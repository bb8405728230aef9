"""
Rendering: calling a reporter, which may be a plugin's, on a result.
"""

from __future__ import annotations

from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.catalog import Claim
from rankgauge.errors import PluginError, RankgaugeError
from rankgauge.plugin.declarations import Reporter
from rankgauge.result import ResultValues

__all__ = ["rendered"]


def rendered(claim: Claim[Reporter], result: ResultValues) -> str:
    """Return the text that a reporter makes of a result; raise `PluginError` where it fails."""
    what, provider = f"reporter {claim.declaration.name!r}", str(claim.provider)
    try:
        with guarded(RankgaugeError):
            text: object = claim.declaration.function(result)
    except ForeignError as error:
        raise PluginError(what, provider, str(error)) from error
    if type(text) is not str:
        raise PluginError(what, provider, f"it returned {shown(text)} where a text is needed")
    return text
