"""
Refusal: samples that the policy turns into an error, all of them in one.

No score is kept then: a mean without them would be another number than the one that was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rankgauge.errors import Problem, SampleRefusedError, counted
from rankgauge.planning.plan import Plan
from rankgauge.scoring.score import FAILED, MISSING, UNDEFINED, Flaw, Outcome

__all__ = ["refuse"]


def refuse(
    outcomes: Mapping[str, Outcome],
    sample_ids: Callable[[], Sequence[str]],
    flawed: Mapping[int, Flaw],
    plan: Plan,
) -> None:
    """Raise `SampleRefusedError` with every sample that the policy turns into an error, each with its first reason."""
    policy = plan.profile.policy
    rules = {"no_gold": (UNDEFINED, policy.no_gold), "missing_output": (MISSING, policy.missing_output)}
    rules["failed_output"] = (FAILED, policy.failed_output)
    refused = {code: option for option, (code, rule) in rules.items() if rule == "error"}
    if not refused:
        return
    ids = sample_ids()
    problems: dict[int, Problem] = {}
    lacking_nothing = {metric.name for metric in plan.metrics if metric.targets[0].kind.of_some}
    for name, outcome in outcomes.items():
        for place, reason in outcome.reasons.items():
            option = refused.get(int(outcome.status[place]))
            is_of_some = name in lacking_nothing
            if option == "no_gold" and is_of_some:
                continue
            declared = not is_of_some and place in flawed and flawed[place].status == UNDEFINED
            if option is not None and not declared and place not in problems:
                message = f"{reason} (metric {name!r}, policy {option}=error)"
                problems[place] = Problem(message, sample=ids[place])
    if problems:
        msg = f"the policy refuses {counted(len(problems), 'sample')}; no score was kept:"
        raise SampleRefusedError(msg, [problems[place] for place in sorted(problems)])
