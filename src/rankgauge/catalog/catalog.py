"""
`Catalog`: a value that looks up names, with clashes, shadowing, unknown names and broken plugins kept apart.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.base.frozen import FrozenMap
from rankgauge.catalog.claims import OWN, Claim, Fault, Plugin, spellings
from rankgauge.catalog.discovery import Installed, discover_again, state_of_installation
from rankgauge.catalog.loading import load_plugin
from rankgauge.catalog.names import NOT_INSTALLED, Names
from rankgauge.catalog.resolved import ResolvedMatcher, build_matcher, build_profile, check_parameters
from rankgauge.catalog.tool_profiles import tool_names, tool_spec, with_tool
from rankgauge.errors import MatcherError, PolicyError
from rankgauge.expression import MetricExpression, Value, parse
from rankgauge.pickling import goes_by_name, itself
from rankgauge.plugin.declarations import Aggregate, Reader, Reporter, Tokenizer
from rankgauge.plugin.gate_kind import BUILT_IN_WORDS, GateKind
from rankgauge.plugin.gold_kinds import DeclaredGold
from rankgauge.plugin.matching import Matcher, NamedMatcher, parse_matcher
from rankgauge.plugin.metric import Metric
from rankgauge.plugin.named_data import MetricSet, NamedProfile, Preset, ProfileSpec, read_profile
from rankgauge.plugin.paired_test import PairedTest
from rankgauge.plugin.programs import System
from rankgauge.plugin.ranking_filter import RankingFilter
from rankgauge.policy import PROFILES, Policy, Profile, profile
from rankgauge.samples import GOLD_KINDS, KINDS, GoldKind

__all__ = ["Catalog", "DeclaredKinds", "Reading"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the name of a metric expression means."""

    claim: Claim[Metric]
    k: int | float | None  # the number that the name or the @ pins, usually the cutoff
    is_short: bool  # whether a short name was used, so that without a cutoff there is none


class DeclaredKinds:
    """The kinds of ground truth that plugins declare: what a reader of samples asks for a key that is not built in."""

    def __init__(self, names: Names, made_with: Mapping[str, str]) -> None:
        self._names = names
        self._made_with = made_with
        self._found: dict[object, DeclaredGold | None] = {}

    def find(self, name: object) -> DeclaredGold | None:
        """Return the kind of a name, None if no plugin declares it; `NameClashError` if several do."""
        if name not in self._found:
            is_known = isinstance(name, str) and self._names.has("gold kind", name)
            self._found[name] = self.named(self._names.get("gold kind", str(name))) if is_known else None
        return self._found[name]

    def names(self) -> Sequence[str]:
        """Return the names of all."""
        return tuple(self._names.complete().all("gold kind"))

    def absent(self) -> str:
        """Return which plugins may declare a kind that none does, for messages, and why these cannot be used."""
        return "; ".join(self._names.absences(self._made_with)) or NOT_INSTALLED

    @staticmethod
    def named(claim: Claim[DeclaredGold]) -> DeclaredGold:
        """Return a declaration that says in messages who provides it."""
        return dataclasses.replace(claim.declaration, by=str(claim.provider))


class Catalog:
    """What plugins offer."""

    def __init__(self, plugins: Iterable[Plugin], installed: Installed | None = None) -> None:
        """
        Index what plugins offer.

        Args:
            plugins: The plugins, rankgauge's own first.

            installed: What else there is. A name loads what is built in first, and if that lacks it, everything.
        """
        self._names = Names(plugins, installed)
        self._profiles: FrozenMap[str, ProfileSpec] = FrozenMap()
        self._matchers: FrozenMap[str, Matcher | str] = FrozenMap()
        self._made_with: FrozenMap[str, str] = FrozenMap()

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """Return every plugin found, the disabled and the broken ones included."""
        return self._names.complete().plugins

    @property
    def distributions(self) -> list[tuple[str, str]]:
        """Return names and versions of the distributions whose plugins are not disabled; this loads none of them."""
        return self._names.distributions()

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Return everything that is wrong with any of them, clashes of names included."""
        return self._names.complete().faults

    @classmethod
    def discover(
        cls,
        *,
        disable: Collection[str] = (),
        own_only: bool = False,
        plugins: Mapping[str, object] | None = None,
    ) -> Catalog:
        """
        Build a catalog of everything installed.

        The environment variables RANKGAUGE_DISABLE_PLUGINS and RANKGAUGE_NO_PLUGINS hold here, too.

        Args:
            disable: Distributions to leave out.

            own_only: Whether to load only rankgauge's own plugins.

            plugins: Further plugins, modules or objects by name, that are not installed.

        Returns:
            The catalog. A broken plugin does not make this fail; see `faults`. What is built in loads when a name of
            it is asked for; plugins of other distributions load when a name is not built in, or all are asked for.
        """
        installed = Installed.allowed(disable, own_only=own_only)
        if not plugins:
            return cls((), installed)
        given = (load_plugin(Plugin("", "", name, name), lambda plugin=each: plugin) for name, each in plugins.items())  # type: ignore[misc]  # default
        return cls([*installed.all(), *given])

    @classmethod
    def installed(cls) -> Catalog:
        """
        Return the catalog of everything installed, which is looked for once.

        It is looked for again if `sys.path`, what one of its folders holds, or an environment variable that disables
        plugins has changed, and if a plugin could not be imported, which may be mended by now; `discover` looks in any
        case.
        """
        state = state_of_installation()
        found = _installed(state)
        if found._names.has_broken:  # noqa: SLF001  # another of this class
            _installed.cache_clear()
            found = _installed(state)
        return found

    __copy__ = __deepcopy__ = itself

    def __reduce__(self) -> tuple[Callable[..., Catalog], tuple[Any, ...]]:
        # The receiver looks for its own installed plugins: a copy would hold declarations of code that is missing there
        # or has another version. A plan reports such differences; see `rankgauge.planning.lock`.
        wanted = tuple(plugin.empty() for plugin in self.plugins if plugin.distribution)
        given = tuple(plugin for plugin in self.plugins if not plugin.distribution)
        for plugin in given:
            goes_by_name(plugin, f"plugin {plugin.name!r}, which was given in Python,")
        return _found_again, (wanted, given, self._matchers, self._profiles)

    def with_matchers(self, matchers: Mapping[str, str | Mapping[str, Any]]) -> Catalog:
        """
        Return a catalog with further named matchers, as config declares them.

        Args:
            matchers: Compositions by name, or other names of matchers, which are looked up when they are used.

        Raises:
            MatcherError: A composition that cannot be read, or a name that a plugin already has.
        """
        read: dict[str, Matcher | str] = {}
        for name, spec in matchers.items():
            if self._names.has("matcher", name):
                raise MatcherError(f"matcher {name!r} is already declared by a plugin; choose another name")
            composed = parse_matcher(spec)
            is_name = composed == Matcher((), str(spec).strip())  # which a comparer's is, too
            read[name] = composed.comparer if is_name and self._is_matcher(composed.comparer) else composed
        return self._with({**self._matchers, **read}, self._profiles)

    def _is_matcher(self, name: str) -> bool:
        """Return whether a name is that of a matcher, or at least of no comparer."""
        kinds = [kind for kind in ("matcher", "comparer") if self._names.has(kind, name)]
        return kinds != ["comparer"]

    def with_profiles(self, profiles: Mapping[str, Mapping[str, Any]]) -> Catalog:
        """
        Return a catalog with further profiles, as config declares them; they come before those of plugins.

        Args:
            profiles: What each changes of the one that it extends, by name; see `rankgauge.plugin.named_profile`.

        Raises:
            PolicyError: A profile that cannot be read, or has the name of a built-in one.
        """
        read = {}
        for name, spec in profiles.items():
            if name in PROFILES or name in tool_names():
                raise PolicyError(f"profile {name!r} is built in and cannot be replaced; choose another name")
            read[name] = read_profile(spec)
        return self._with(self._matchers, {**self._profiles, **read})

    @property
    def own_profiles(self) -> Mapping[str, ProfileSpec]:
        """Return the profiles that `with_profiles` added."""
        return self._profiles

    def _with(self, matchers: Mapping[str, Matcher | str], profiles: Mapping[str, ProfileSpec]) -> Catalog:
        copy = Catalog(self.plugins)
        copy._matchers, copy._profiles, copy._made_with = FrozenMap(matchers), FrozenMap(profiles), self._made_with
        return copy

    def made_with(self, distributions: Mapping[str, str]) -> Catalog:
        """
        Return the same catalog for a result that was made with some distributions, each by its version.

        The error for an unknown name then says which of them are not installed, failed to load or are disabled.
        """
        copy = Catalog(())
        copy._names, copy._matchers, copy._profiles = self._names, self._matchers, self._profiles
        copy._made_with = FrozenMap(distributions)
        return copy

    def state_of(self, distribution: str, version: str) -> str:
        """Return what keeps the plugins of a distribution from being used, with what to do; empty if nothing does."""
        return self._names.state(distribution, version)

    @property
    def own_matchers(self) -> Mapping[str, Matcher | str]:
        """Return the matchers that `with_matchers` added: compositions, or other names."""
        return self._matchers

    @property
    def metrics(self) -> dict[str, Claim[Metric]]:
        """Return the usable metrics by alias, sorted."""
        return {name: claim for name, claim in self.all("metric").items() if claim.declaration.alias == name}

    def built_in(self, name: str) -> Metric | None:
        """Return rankgauge's own metric of a name, None if there is none; templates are written as by `spellings`."""
        claims = self._names.claims("metric", name) if self._names.is_loaded("metric", name) else ()
        own = [claim.declaration for claim in claims if claim.provider.distribution == OWN]
        return own[0] if own and isinstance(own[0], Metric) else None

    def all(self, kind: str) -> dict[str, Claim[Any]]:
        """
        Return the claims of everything usable of one kind by name, sorted.

        Args:
            kind: `metric`, `normalizer`, `comparer`, `matcher`, `tokenizer`, `reader`, `reporter`, `aggregate`,
                `profile`, `metric set`, `gold kind`, `preset`, `report section`, `system`, `test`, `gate kind` or
                `filter`.
        """
        return self._names.complete().all(kind)

    def read(self, expression: MetricExpression) -> Reading:
        """
        Return what the name of an expression means: the metric, and the cutoff that the spelling pins.

        Any spelling will do: an alias, a short name, trec_eval's (``ndcg_cut_10``), or a safe name (``ndcg_at_10``).
        `UnknownNameError` if no plugin offers the name, `NameClashError` if several do.
        """
        forms = spellings(expression)
        if not any(self._names.is_loaded("metric", name) for name, _ in forms):
            self._names.complete()  # first, since no other plugin can have a name that reads like a built-in one
        for name, k in forms:
            if self._names.claims("metric", name):
                claim: Claim[Metric] = self._get("metric", name)
                long = {alias.casefold() for alias in (claim.declaration.alias, *claim.declaration.aliases)}
                return Reading(claim, k, name.casefold() not in long)
        raise self._names.unknown("metric", expression.name, (), self._made_with)

    def matcher(self, spec: str) -> ResolvedMatcher:
        """
        Build a matcher from its name or its printed form.

        Args:
            spec: A name such as ``folded``, or a composition such as ``casefold > equal >= 1``.

        Raises:
            UnknownNameError: A matcher, normalizer or comparer that no plugin offers.

            MatcherError: A composition that cannot be read, or that has its stages in the wrong order; names that
                stand for each other.
        """
        names: list[str] = []
        meaning: Matcher | str = spec
        while isinstance(meaning, str) and meaning in self._matchers:
            if meaning in names:
                raise MatcherError(f"matchers stand for each other: {' -> '.join([*names, meaning])}")
            names.append(meaning)
            meaning = self._matchers[meaning]
        name = names[0] if names else ""
        if isinstance(meaning, str) and (">" in meaning or "|" in meaning):
            meaning = parse_matcher(meaning)
        if isinstance(meaning, Matcher):
            return build_matcher(name, meaning, self._get, None)
        claim: Claim[NamedMatcher] = self._get("matcher", meaning)
        return build_matcher(name or meaning, claim.declaration.matcher, self._get, (meaning, claim.provider))

    def tokenizer(self, name: str) -> Claim[Tokenizer]:
        """Return the tokenizer of that name; `UnknownNameError` or `NameClashError` when there is none."""
        return self._get("tokenizer", name)

    def profile(self, choice: str | Policy | Profile) -> Profile:
        """
        Return a profile, with the parameters of its metrics by alias.

        Args:
            choice: A name: built in, or of config or a plugin; a profile, which is returned as it is; or a policy,
                which the default profile gets.

        Raises:
            PolicyError: No profile has that name, or one that cannot be used: its options, its metrics, their
                parameters, or profiles that extend each other.

            NameClashError: Several plugins have a profile of that name.
        """
        if not isinstance(choice, str) or choice in PROFILES:
            return profile(choice)
        built = build_profile(choice, self._profile_spec, self._conventions)
        if choice not in tool_names():
            return built
        return with_tool(built, choice, lambda expression: self.read(expression).claim.declaration.alias)

    def _profile_spec(self, name: str) -> tuple[ProfileSpec, str]:
        """Return what a profile changes, and who says so; config comes before plugins."""
        if name in self._profiles:
            return self._profiles[name], ""
        if name in tool_names():
            return tool_spec(name), ""
        claim: Claim[NamedProfile] = self._get("profile", name)
        return claim.declaration.spec, f" (by {claim.provider})"

    def _conventions(self, name: str, values: Mapping[str, Value]) -> tuple[str, Mapping[str, Value]]:
        """Return the alias of a metric and its parameters, checked; `matcher` is the one for gold that is text."""
        metric = self.read(parse(name)).claim.declaration
        own = {key: value for key, value in values.items() if key != "matcher"}
        checked = check_parameters(f"metric {metric.alias!r}", metric.all_parameters, own)
        if "matcher" in values:
            checked["matcher"] = str(values["matcher"])
            self.matcher(str(values["matcher"]))
        return metric.alias, checked

    def short_name(self, metric: Metric) -> str | None:
        """Return the first short name, templates aside, that means a metric; None if it has none."""
        for name in metric.plain_short:
            claims = self._names.claims("metric", name)
            if len(claims) == 1 and claims[0].declaration is metric:
                return name
        return None

    def reporter(self, name: str) -> Claim[Reporter]:
        """Return the reporter of that name; `UnknownNameError` or `NameClashError` when there is none."""
        return self._get("reporter", name)

    def aggregate(self, name: str) -> Claim[Aggregate]:
        """Return the aggregate of that name; `UnknownNameError` or `NameClashError` when there is none."""
        return self._get("aggregate", name)

    def paired_test(self, name: str) -> Claim[PairedTest]:
        """Return the test of a difference of that name; `UnknownNameError` or `NameClashError` when there is none."""
        return self._get("test", name)

    def gate_kind(self, name: str) -> Claim[GateKind]:
        """Return the kind of gates of that name; `UnknownNameError` or `NameClashError` when there is none."""
        return self._get("gate kind", name)

    def gold_kind(self, name: str) -> GoldKind:
        """Return a kind of ground truth, built in or a plugin's; `UnknownNameError` or `NameClashError` for none."""
        return KINDS.get(name) or self.gold_kinds.named(self.declared_gold(name))

    def declared_gold(self, name: str) -> Claim[DeclaredGold]:
        """Return a plugin's kind of ground truth; `UnknownNameError` or `NameClashError` when there is none."""
        return self._names.get("gold kind", name, KINDS, self._made_with)

    @property
    def gold_kinds(self) -> DeclaredKinds:
        """Return the kinds of ground truth that plugins declare, for reading samples."""
        return DeclaredKinds(self._names, self._made_with)

    @property
    def gold_keys(self) -> tuple[str, ...]:
        """Return the keys of `expected_output` that hold ground truth: the built-in ones, then those of plugins."""
        return (*GOLD_KINDS, *self.gold_kinds.names())

    def ranking_filter(self, name: str) -> Claim[RankingFilter]:
        """Return the ranking filter of that name; `UnknownNameError` or `NameClashError` when there is none."""
        return self._get("filter", name)

    def metric_set(self, name: str) -> Claim[MetricSet]:
        """Return the set of metrics of that name; `UnknownNameError` or `NameClashError` when there is none."""
        return self._get("metric set", name)

    def reader(self, *endings: str) -> Claim[Reader] | None:
        """
        Return the reader for the first of some file endings, such as ``.jsonl``, that has one; None if none has.

        For an ending a built-in reader comes before any other.

        Raises:
            NameClashError: Several plugins read such files.
        """
        read = (ending for ending in endings if self._names.has("file ending", ending))
        return next((self._get("file ending", ending) for ending in read), None)

    def reader_named(self, name: str) -> Claim[Reader]:
        """Return the reader of that name; `UnknownNameError` or `NameClashError` when there is none."""
        return self._get("reader", name)

    def preset(self, name: str) -> Claim[Preset]:
        """Return the preset of that name; `UnknownNameError` or `NameClashError` when there is none."""
        return self._get("preset", name)

    def system(self, name: str) -> Claim[System]:
        """Return the kind of system of that name; `UnknownNameError` or `NameClashError` when there is none."""
        return self._get("system", name)

    def require(self, distributions: Collection[str]) -> None:
        """Raise `RequiredPluginError` for a distribution whose plugin is absent, disabled or broken."""
        if distributions:  # most need nothing of others, which would be loaded
            self._names.require(distributions)

    def not_installed(self, distributions: Collection[str]) -> dict[str, str]:
        """Return which distributions have no plugin here, each with what to say of it."""
        return self._names.not_installed(distributions) if distributions else {}

    def observers(self, hook: str) -> list[tuple[str, Callable[..., None]]]:
        """Return the observers of a run, each with its plugin's id."""
        return [(plugin.id, plugin.observers[hook]) for plugin in self._names.foreign() if hook in plugin.observers]

    @property
    def disabled(self) -> list[str]:
        """Return the distributions whose plugins are disabled, sorted; this loads none of rankgauge's own."""
        return sorted({plugin.distribution for plugin in self._names.foreign() if plugin.disabled})

    def without_observers(self) -> Catalog:
        """Return the same catalog for runs of our own, such as those of a check, without observers."""
        if not any(plugin.observers for plugin in self.plugins):
            return self
        silent = Catalog(dataclasses.replace(plugin, observers={}) for plugin in self.plugins)
        return silent._with(self._matchers, self._profiles)

    def _get(self, kind: str, name: str) -> Claim[Any]:
        more = (
            self._matchers
            if kind == "matcher"
            else (*PROFILES, *tool_names(), *self._profiles)
            if kind == "profile"
            else BUILT_IN_WORDS
            if kind == "gate kind"
            else ()
        )
        return self._names.get(kind, name, more, self._made_with)


def _found_again(
    wanted: Sequence[Plugin],
    given: Sequence[Plugin],
    matchers: Mapping[str, Matcher | str],
    profiles: Mapping[str, ProfileSpec],
) -> Catalog:
    """Return the catalog that another process had, with those of its plugins that are installed here."""
    return Catalog([*discover_again(wanted), *given])._with(matchers, profiles)  # noqa: SLF001  # the same module


@functools.lru_cache(maxsize=8)
def _installed(_state: object) -> Catalog:
    """Return what is installed in a state of the process."""
    return Catalog.discover()
