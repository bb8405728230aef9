"""
Evaluation policy: every denominator and every treatment of odd input as an explicit option; and named profiles.

A `Policy` is the set of options; a `Profile` adds everything else that reproduces another system's numbers: parameter
defaults, what counts as relevant, and how strictly data is read.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args, get_type_hints

from rankgauge.base.frozen import frozen
from rankgauge.base.plain_text import read_share
from rankgauge.errors import PolicyError, counted, did_you_mean
from rankgauge.exclusions import Excluded
from rankgauge.expression import Value
from rankgauge.pickling import reduced
from rankgauge.ranking_filters import Filter, read_filters
from rankgauge.silence import read_phrases
from rankgauge.tool_measures import Tool

__all__ = [
    "DEFAULT_CONTRACT",
    "PROFILES",
    "Contract",
    "IntervalChoice",
    "MissingRule",
    "Policy",
    "Profile",
    "option_text",
    "profile",
]

IntervalChoice = Literal["standard", "exact"]
MissingRule = Literal["zero", "exclude"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """
    How rankings are prepared and how samples without a score are counted.

    Attributes:
        order: `given` takes retrieved items as they come, rank 1 first; `score` sorts by score, descending.

        ties: How `order=score` settles equal scores: `docno` by id, descending by bytes, as trec_eval does; `given` as
            they come; `average` scores the expectation over all their orders, for metrics that have a closed form;
            `worst` has those with lower grades first and `best` those with higher ones, so that ties cannot help or
            hurt; `error` refuses a sample if their order matters.

        score_dtype: The precision in which scores are compared; `float32`, as trec_eval did up to version 9.

        duplicates: What a repeated item of one ranking does: `first` drops later ones before the cut, `last` drops
            earlier ones, `best` keeps the one with the highest score, `credit-once` leaves it its rank but no gain,
            `keep` counts it again (scores may pass 1), `error` refuses the sample.

        no_gold: A sample without ground truth is `undefined` (out of the mean, counted), `zero` (the worst value in the
            metric's range; if that has none, out of the mean), `one` (the best value in it; for numbers of tools
            that count it so: a retriever that finds nothing gains by it) or an `error`. A sample whose output is
            missing or failed never counts as `one`.

        missing_output: A sample without output counts as `zero`, is left out (`exclude`) or is an `error`.

        failed_output: The same for a sample whose output is malformed or whose system under test failed.

        max_failed: The share of samples, missing and failed together, above which a run is incomplete.

        queries: `judged` evaluates every sample of the dataset; `intersection` only those with an output.

        depth: How many items of a ranking are used; None for all.

        judged_only: Drop retrieved items that the ground truth does not name before ranks are counted; if a profile
            treats negative grades as unjudged, those too.

        exclude_self: Drop retrieved items whose id is the sample's own.

        excluded: Documents left out for each query, of rankings and ground truth: a file, or a list by query.

        filters: What plugins drop of rankings before anything else applies: names of filters with their parameters.

        abstains: Phrases that say nothing: an `answer` that consists of them counts as blank, if metrics ask whether
            a system said anything.

        interval: Which intervals means have: Wilson's or Student's, or ones that hold for any number of samples.

        unverified_judges: Whether gates hold judgments that a model gave for ground truth, or `refuse` to be judged.
    """

    order: Literal["given", "score"] = "given"
    ties: Literal["docno", "given", "average", "worst", "best", "error"] = "docno"
    score_dtype: Literal["float64", "float32"] = "float64"
    duplicates: Literal["first", "last", "best", "credit-once", "keep", "error"] = "first"
    no_gold: Literal["undefined", "zero", "one", "error"] = "undefined"
    missing_output: Literal["zero", "exclude", "error"] = "zero"
    failed_output: Literal["zero", "exclude", "error"] = "zero"
    max_failed: float = 0.0
    queries: Literal["judged", "intersection"] = "judged"
    depth: int | None = None
    judged_only: bool = False
    exclude_self: bool = False
    excluded: Excluded | None = None
    filters: tuple[Filter, ...] = ()
    abstains: tuple[str, ...] = ()
    interval: IntervalChoice = "standard"
    unverified_judges: Literal["refuse", "allow"] = "refuse"

    def __post_init__(self) -> None:
        for name, choices in _choices().items():
            value = getattr(self, name)
            if value not in choices:
                raise PolicyError(f"policy option {name!r} cannot be {value!r}; choose from {', '.join(choices)}")
        share: object = self.max_failed
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise PolicyError(f"policy option 'max_failed' is a share from 0 to 1 (10% is .1), not {self.max_failed!r}")
        if self.depth is not None and (type(self.depth) is not int or not 1 <= self.depth < 1 << 63):
            raise PolicyError(f"policy option 'depth' is an integer of 1 or more, or null, not {self.depth!r}")
        if self.settles_ties_late:
            self._check_ties()
        for name in ("judged_only", "exclude_self"):
            if not isinstance(getattr(self, name), bool):
                raise PolicyError(f"policy option {name!r} is true or false, not {getattr(self, name)!r}")
        object.__setattr__(self, "filters", read_filters(self.filters))  # the class is frozen
        object.__setattr__(self, "abstains", read_phrases(self.abstains))  # as above
        if self.excluded is not None:
            object.__setattr__(self, "excluded", Excluded.of(self.excluded))  # the class is frozen

    @property
    def averages_ties(self) -> bool:
        """Return whether scores are expectations over the orders of ties, which only ``order=score`` has."""
        return self.order == "score" and self.ties == "average"

    @property
    def orders_ties_by_grade(self) -> bool:
        """Return whether grades settle ties, which only ``order=score`` has."""
        return self.order == "score" and self.ties in {"worst", "best"}

    @property
    def settles_ties_late(self) -> bool:
        """Return whether ties are settled, or averaged, if grades are known."""
        return self.averages_ties or self.orders_ties_by_grade

    @property
    def idle(self) -> str:
        """Return which option has no effect beside the others, and what to do; empty if each has one."""
        if self.order == "given" and self.ties in {"average", "worst", "best", "error"}:
            return f"policy ties={self.ties} has no effect with order=given, if nothing is tied; add order=score"
        return ""

    def _check_ties(self) -> None:
        lacks = "has no closed form" if self.averages_ties else "knows no order"
        if self.depth is not None:
            raise PolicyError(f"policy ties={self.ties} {lacks} if depth cuts through a tie; leave depth out")
        if self.duplicates in {"keep", "credit-once"}:
            raise PolicyError(f"policy ties={self.ties} {lacks} with duplicates={self.duplicates}; choose first")

    def with_options(self, options: Mapping[str, Any]) -> Policy:  # Any: options come from config and are checked here
        """
        Return this policy with other values for some options.

        Args:
            options: Values by option name; a share may be a percentage: ``{"max_failed": "10%"}``.

        Returns:
            A new policy.

        Raises:
            PolicyError: An unknown option, or a value that it does not take.
        """
        known = [item.name for item in dataclasses.fields(self)]
        if unknown := [name for name in options if name not in known]:
            hint = f"{did_you_mean(unknown[0], known)}; known are {', '.join(known)}"
            raise PolicyError(f"unknown policy option {unknown[0]!r}{hint}")
        if isinstance(share := options.get("max_failed"), str):
            try:
                options = {**options, "max_failed": read_share(share)}
            except ValueError as error:
                raise PolicyError(f"policy option 'max_failed': {error}") from None
        return dataclasses.replace(self, **options)

    def plain(self) -> dict[str, Any]:
        """Return the options in values that JSON has; those that list something are there only if they do."""
        options = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        for name in ("filters", "abstains"):
            options[name] = list(map(str, options[name]))
            if not options[name]:
                del options[name]
        if self.excluded is None:
            del options["excluded"]  # so that results from before there was the option mean the same
            return options
        return {**options, "excluded": self.excluded.plain()}

    def __str__(self) -> str:
        return " ".join(f"{name}={option_text(value)}" for name, value in self.plain().items())


class Contract(NamedTuple):
    """
    How strictly outside data is read; part of a profile.

    Attributes:
        strict_ids: Whether every id must be a string, and every retrieved item must have one. Otherwise an integer
            id is read as its decimal text, and an item may have a text only.

        on_bad_gold: `file` makes unusable ground truth a problem of the file, so that nothing runs; `pair` makes it
            a failed score of the metrics that need it.

        on_bad_k: What a `metadata.k` that is not an integer of 1 or more does: `error`, or `ignore` it.

        coerce: Whether values are converted as in the eval-harness: ground truth may be JSON in a string, a gain may be
            a numeric string, a text that is not a string is empty, and ``{}`` is an output without items.
    """

    strict_ids: bool = False
    on_bad_gold: Literal["file", "pair"] = "file"
    on_bad_k: Literal["error", "ignore"] = "error"
    coerce: bool = False


DEFAULT_CONTRACT = Contract()


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """
    A named convention: the policy and everything else that reproduces a system's numbers.

    Attributes:
        name: What config and the command line call it.

        policy: The policy options.

        relevance: `positive` counts an item as relevant when its gain is above 0; `listed` counts every id that
            the ground truth names; a number counts grades of at least that.

        negatives: Whether an item with a negative grade counts as `judged`, or as pooled but `unjudged`.

        duplicate_texts: What identifies a retrieved item when it is judged by text: `id-and-text` or `id`.

        missing_texts: Whether judging an item without text by text fails the score, or takes its text as empty.

        places: Whether the places of retrieved items are held to the texts beside them (`checked`) or taken as `given`.

        passages: The matcher for passages, of metrics that name none.

        own_ranks: Whether gold items that one result holds take ranks of their own, where ground truth is texts or
            places; otherwise one of them earns.

        joint: Whether what several results hold of a gold passage or span adds up, of metrics that do not say.

        parameters: Parameter defaults by metric alias; `matcher` is the matcher for ground truth that is text.

        contract: How strictly data is read.

        tool: What measures of another tool are here, if the profile is for its numbers.
    """

    name: str
    policy: Policy = field(default_factory=Policy)
    relevance: Literal["positive", "listed"] | float = "positive"
    negatives: Literal["judged", "unjudged"] = "judged"
    duplicate_texts: Literal["id-and-text", "id"] = "id-and-text"
    missing_texts: Literal["fail", "empty"] = "fail"
    places: Literal["checked", "given"] = "checked"
    passages: str = "passage"
    own_ranks: bool = True
    joint: bool = True
    parameters: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    contract: Contract = DEFAULT_CONTRACT
    tool: Tool | None = None
    __reduce__ = reduced

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", frozen(self.parameters))  # the class is frozen
        if not isinstance(self.relevance, str) and not abs(self.relevance) < float("inf"):
            raise PolicyError(f"the lowest grade of a relevant item is a finite number, not {self.relevance!r}")

    def adapted(self, options: Mapping[str, Any], relevance: float | None = None) -> Profile:  # Any: as `with_options`
        """
        Return this profile with other policy options, or another threshold of relevance.

        Args:
            options: Policy options by name.

            relevance: The lowest grade of a relevant item; None for the profile's own.

        Returns:
            A new profile.

        Raises:
            PolicyError: An option, a value or a threshold that cannot be.
        """
        if relevance is not None and (isinstance(relevance, bool) or not isinstance(relevance, int | float)):
            raise PolicyError(f"the lowest grade of a relevant item is a number, not {relevance!r}")
        chosen = self.relevance if relevance is None else float(relevance)
        return dataclasses.replace(self, policy=self.policy.with_options(options), relevance=chosen)


@functools.cache
def _choices() -> Mapping[str, tuple[str, ...]]:
    """Return the values of the options that have a list of them."""
    hints = {name: get_args(hint) for name, hint in get_type_hints(Policy).items()}
    return {name: found for name, found in hints.items() if found and all(isinstance(each, str) for each in found)}


_TREC = Policy(order="score", duplicates="error", no_gold="zero", max_failed=1.0)

PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "default": Profile(name="default"),
        "eval-harness": Profile(
            name="eval-harness",
            policy=Policy(no_gold="zero", missing_output="error", failed_output="exclude"),
            passages="chunk",
            own_ranks=False,
            places="given",
            joint=False,
            relevance="listed",
            duplicate_texts="id",
            missing_texts="empty",
            parameters={"retrieval-ndcg-at-k": {"clamp": True}, "answer-containment-at-k": {"fold": "lower"}},
            contract=Contract(strict_ids=True, on_bad_gold="pair", on_bad_k="ignore", coerce=True),
        ),
        # REMem's three metrics are recall, recall-all and ndcg-any. A repeated chunk earns again, recall compares whole
        # texts while the other two look for a chunk in its original, a gold document listed twice can never be
        # complete, rank 2 is not discounted, and the ideal is made of what was retrieved.
        "remem": Profile(
            name="remem",
            policy=Policy(duplicates="keep", no_gold="zero"),
            passages="chunk",
            own_ranks=False,
            places="given",
            joint=False,
            parameters={
                "retrieval-recall-at-k": {"matcher": "exact"},
                "retrieval-recall-all-at-k": {"count": "listed", "matcher": "chunk-remem"},
                "retrieval-ndcg-any-at-k": {
                    "discount": "log2-from-2",
                    "ideal": "retrieved",
                    "credit": "rank",
                    "matcher": "chunk-remem",
                },
            },
        ),
        # Haystack's evaluators have no cutoff, which `ndcg`, `RR` and `AP` without `@` have neither; its single and
        # multi hit modes are hit and recall. A repeated document keeps its rank and earns nothing, every gold document
        # is relevant whatever its score, texts are compared whole, and the ideal is made of all gold, uncut.
        "haystack": Profile(
            name="haystack",
            policy=Policy(duplicates="credit-once", no_gold="zero", missing_output="error"),
            passages="chunk",
            own_ranks=False,
            places="given",
            joint=False,
            relevance="listed",
            parameters={
                "retrieval-hit-at-k": {"matcher": "exact"},
                "retrieval-recall-at-k": {"matcher": "exact"},
                "retrieval-mrr": {"matcher": "exact"},
                "retrieval-map": {"matcher": "exact"},
                "retrieval-ndcg-at-k": {"ideal": "gold", "matcher": "exact"},
            },
        ),
        # The classic blog library: its binary NDCG is ndcg-any, with an ideal of what is in the first k, its
        # graded one is ndcg, with exponential gains. Repeated documents count again everywhere but in recall, so that
        # AP and graded NDCG may pass 1, and a grade above the scale of ERR goes unnoticed.
        "classic": Profile(
            name="classic",
            policy=Policy(duplicates="keep", no_gold="zero"),
            passages="chunk",
            own_ranks=False,
            places="given",
            joint=False,
            parameters={
                "retrieval-ndcg-any-at-k": {"ideal": "retrieved-at-k", "credit": "rank"},
                "retrieval-ndcg-at-k": {"gain": "exponential"},
                "retrieval-err-at-k": {"max_grade": 3, "check": False},
            },
        ),
        # The keyword article: letters are lowered one for one, every text that has the keyword earns, and the ideal is
        # the best order of the first k. What it calls MRR is the mean over one question's keywords; what it calls
        # Recall@k is recall over ids in its code and keyword coverage in its example.
        "keyword": Profile(
            name="keyword",
            policy=Policy(duplicates="keep", no_gold="zero"),
            passages="chunk",
            own_ranks=False,
            places="given",
            joint=False,
            parameters={
                "keyword-mrr": {"matcher": "keyword-lower"},
                "keyword-ndcg-at-k": {"credit": "rank", "matcher": "keyword-lower"},
                "keyword-coverage-at-k": {"matcher": "keyword-lower"},
            },
        ),
        # trec_eval 9 and 10. A topic without relevant documents counts as 0, and so does a judged topic that the run
        # lacks; version 9 leaves the latter out by default, compares scores as C floats, and rounds
        # recall levels up.
        "trec9": Profile(
            name="trec9",
            policy=dataclasses.replace(_TREC, score_dtype="float32", queries="intersection"),
            relevance=1.0,
            negatives="unjudged",
            parameters={name: {"rounding": "up"} for name in ("retrieval-iprec-at-recall", "retrieval-11pt-avg")},
        ),
        "trec10": Profile(name="trec10", policy=_TREC, relevance=1.0, negatives="unjudged"),
    }
)
"""The profiles by name."""


def profile(choice: str | Policy | Profile) -> Profile:
    """Return a profile as it is, the one of that name, or the default profile with that policy."""
    if isinstance(choice, Profile):
        return choice
    if isinstance(choice, Policy):
        return dataclasses.replace(PROFILES["default"], policy=choice)
    if isinstance(choice, str) and choice in PROFILES:
        return PROFILES[choice]
    known = f"known are {', '.join(PROFILES)}"
    raise PolicyError(f"unknown profile {choice!r}{did_you_mean(str(choice), PROFILES)}; {known}")


def option_text(value: object) -> str:
    """Return the value of an option as configs write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):  # what is left out, as `Excluded.plain` has it
        return str(value.get("path") or f"documents of {counted(value['queries'], 'query', 'queries')}")
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(str, value))}]"
    return "none" if value is None else str(value)
