"""
Corpora that turned over: telling ids that changed from a ranking that got worse.

Somebody splits documents anew, every id changes, and every score by id is 0 although nothing got worse. That looks
like a catastrophe. What gives it away is that most ids of the run were never seen before, and that hardly any relevant
id, which the judgments still name as it was, is among them.
"""

from __future__ import annotations

from collections.abc import Mapping

from rankgauge.columns import IdSketch
from rankgauge.result import Result

__all__ = ["baseline_of", "ids_changed"]

_MOST = 0.5


def ids_changed(results: Mapping[str, Result], baseline: Mapping[str, Result]) -> dict[str, str]:
    """
    Return the results whose retrieved ids are not those of the baseline any more, with what to do about each.

    Three things have to be so: the baseline did not retrieve most of the ids, most relevant ids are not found, and less
    than half as many are found as in the baseline. Another retriever meets the first alone, a hard dataset the second.
    """
    found = {}
    for name, result in results.items():
        earlier = baseline_of(name, baseline, results)
        told = None if earlier is None else _told(result, earlier)
        if told is not None:
            found[name] = told
    return found


def baseline_of(name: str, baseline: Mapping[str, Result], results: Mapping[str, Result]) -> Result | None:
    """
    Return the baseline of a dataset or run.

    It has the same name; or there is one baseline, and either one result or results over the same data, such as runs
    that were judged by the same judgments.
    """
    if name in baseline or len(baseline) != 1:
        return baseline.get(name)
    (only,) = baseline.values()
    data = [(each.manifest.get("dataset") or {}).get("fingerprint") for each in (only, results[name])]
    return only if len(results) == 1 or (data[0] and data[0] == data[1]) else None


def _told(result: Result, earlier: Result) -> str | None:
    own, before = (each.manifest.get("retrieved_ids") for each in (result, earlier))
    if own is None or before is None:
        return None
    now, then = IdSketch.from_dict(own), IdSketch.from_dict(before)
    new, found, once = now.new_share(then), now.found_share, then.found_share
    if new is None or found is None or once is None or not (new > _MOST and found < _MOST and found < once / 2):
        return None
    return (
        f"the ids changed, not the ranking: {new:.0%} of the retrieved ids are new since the baseline, and {found:.0%} "
        f"of the relevant ids are retrieved, where it was {once:.0%}. If documents were split or indexed anew, judge "
        "by text (gold passages or answers survive that) or judge the new ids, then save a new baseline. If the ids "
        "did not change, the system now retrieves entirely different documents"
    )
