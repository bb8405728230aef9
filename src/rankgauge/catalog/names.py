"""
Names: what plugins claim, for which those that are not rankgauge's own load only if a name is not built in.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from rankgauge.catalog.claims import OWN, Claim, Fault, Plugin, indexed, normalized
from rankgauge.catalog.discovery import Installed
from rankgauge.catalog.other_tools import elsewhere_hint
from rankgauge.catalog.trec_eval import left_out_hint
from rankgauge.errors import NameClashError, RequiredPluginError, UnknownNameError, did_you_mean, listed, suggest

__all__ = ["NOT_INSTALLED", "Names"]

NOT_INSTALLED = "it may be one of a plugin that is not installed"
"""What is said of an unclaimed name if nothing else is known of it."""

_OF_PLUGINS = frozenset({"filter", "gate kind", "gold kind", "test"})
"""Kinds of which few names, or none, are built in."""

_NOTHING: Mapping[str, str] = {}


class Names:
    """The names that plugins claim, as far as these are loaded."""

    plugins: tuple[Plugin, ...]  # those that are loaded

    def __init__(self, plugins: Iterable[Plugin], installed: Installed | None) -> None:
        """Index what plugins offer; *installed* is what else there is, which is loaded when it is needed."""
        self._installed = installed
        self._loading = threading.RLock()
        self._index(plugins)

    def _index(self, plugins: Iterable[Plugin]) -> None:
        self.plugins = tuple(plugins)
        self._index_of_all = indexed(self.plugins)  # at once: other threads read it meanwhile

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Return what is wrong with any plugin that is loaded."""
        return self._index_of_all.faults

    def complete(self) -> Self:
        """Load everything that was not needed so far."""
        with self._loading:
            installed, self._installed = self._installed, None  # a plugin may ask for a name while it loads
            if installed is None:
                return self
            try:
                self._index(installed.all())
            except BaseException:
                self._installed = installed
                raise
        return self

    def foreign(self) -> Sequence[Plugin]:
        """Return all plugins but those of rankgauge's own that nothing was asked of, which observe no run."""
        with self._loading:
            installed, self._installed = self._installed, None  # as above
            try:
                return self.plugins if installed is None else (*self.plugins, *installed.others)
            finally:
                self._installed = installed

    @property
    def has_broken(self) -> bool:
        """Return whether a plugin that was needed so far could not be imported."""
        with self._loading:
            others = () if self._installed is None else self._installed.loaded_others
            faults = (*self.faults, *(fault for plugin in others for fault in plugin.faults))
        return any(fault.stage == "load" for fault in faults)

    def is_loaded(self, kind: str, name: str) -> bool:
        """Return whether a name is claimed, by something built in or by a plugin that is loaded."""
        with self._loading:
            part = None if self._installed is None else self._installed.part(kind, name.casefold())
            if part is not None:
                self._index((*self.plugins, part))
            return (kind, name.casefold()) in self._index_of_all.claims

    def has(self, kind: str, name: str) -> bool:
        """Return whether a name is claimed; only one that is not built in makes other plugins load."""
        return self.is_loaded(kind, name) or (kind, name.casefold()) in self.complete()._index_of_all.claims  # noqa: SLF001  # itself

    def claims(self, kind: str, name: str) -> Sequence[Claim[Any]]:
        """Return the claims of a name among what is loaded."""
        return self._index_of_all.claims.get((kind, name.casefold()), ())

    def get(
        self, kind: str, name: str, more: Iterable[str] = (), made_with: Mapping[str, str] = _NOTHING
    ) -> Claim[Any]:
        """Return the only claim of a name; the error that there is none is that of `unknown`."""
        if not self.has(kind, name):
            raise self.unknown(kind, name, more, made_with)
        claims = self.claims(kind, name)
        if len(claims) > 1:
            raise NameClashError(kind, name, [str(claim.provider) for claim in claims])
        return claims[0]

    def all(self, kind: str) -> dict[str, Claim[Any]]:
        """Return the claims of everything usable of one kind by name, sorted."""
        index = self._index_of_all
        found = {
            index.spelled[key]: claims[0] for key, claims in index.claims.items() if key[0] == kind and len(claims) == 1
        }
        return dict(sorted(found.items()))

    def distributions(self) -> list[tuple[str, str]]:
        """Return names and versions of the distributions whose plugins are not disabled, loaded or not."""
        with self._loading:
            found = {(plugin.distribution, plugin.version) for plugin in self.plugins if not plugin.disabled}
            return sorted(found if self._installed is None else found | self._installed.distributions)

    def unknown(
        self, kind: str, name: str, more: Iterable[str] = (), made_with: Mapping[str, str] = _NOTHING
    ) -> UnknownNameError:
        """
        Return the error of an unclaimed name, with what it may have been meant to be.

        There are *more* names than those of plugins; *made_with* is as for `absences`.
        """
        self.complete()
        known = [
            spelled for key, spelled in self._index_of_all.spelled.items() if key[0] == kind and "{k}" not in spelled
        ]
        known += more
        if kind == "metric":
            hints = [left_out_hint(name) or elsewhere_hint(name), "`rankgauge metrics list` lists the installed ones"]
        else:
            hints = [f"known are {', '.join(sorted(known))}" if known else f"no installed plugin has a {kind}"]
        if kind == "system" and "http" not in known:
            hints.append("`pip install rankgauge-systems` brings http, command, pipeline and engines")
        suggestions, absences = suggest(name, known), self.absences(made_with)
        if kind in _OF_PLUGINS and not (suggestions or absences):
            absences = [NOT_INSTALLED]
        return UnknownNameError(kind, name, suggestions=suggestions, hint="; ".join(filter(None, [*hints, *absences])))

    def absences(self, made_with: Mapping[str, str] = _NOTHING) -> list[str]:
        """
        Return why a name may be unknown that somebody uses: plugins that failed to load, or are disabled.

        Of the distributions that a result was *made with*, each with its version, it says what keeps them from being
        used.
        """
        self.complete()
        states = {name: self.state(name, version) for name, version in made_with.items()}
        of_result = {normalized(name) for name, state in states.items() if state}
        hints = [
            f"the result was made with {name} {made_with[name]}: {state}" for name, state in states.items() if state
        ]
        ours = [plugin for plugin in self.plugins if plugin.distribution not in of_result]
        broken = [f"{plugin.id}: {plugin.failure}" for plugin in ours if plugin.failure]
        disabled = sorted({plugin.distribution for plugin in ours if plugin.disabled})
        if broken:
            hints.append(f"it may come from a plugin that failed ({listed(broken, 3)}; see `rankgauge plugins check`)")
        if disabled:
            hints.append(f"it may come from one that is disabled ({', '.join(disabled)})")
        return hints

    def state(self, distribution: str, version: str = "") -> str:
        """Return what keeps the plugins of a distribution from being used, with what to do; empty if nothing does."""
        own = [plugin for plugin in self.complete().plugins if plugin.distribution == normalized(distribution)]
        install = f"`pip install {distribution}{f'=={version}' if version else ''}`"
        if not own:
            return f"it is not installed; {install}"
        if all(plugin.disabled for plugin in own):
            return "it is disabled; take it off the list of disabled plugins"
        if failures := [plugin.failure for plugin in own if plugin.failure]:
            return f"it failed to load: {'; '.join(failures)}"
        versions = {plugin.version for plugin in own}
        return f"installed is {', '.join(sorted(versions))}; {install}" if version and version not in versions else ""

    def require(self, distributions: Iterable[str]) -> None:
        """Raise `RequiredPluginError` for a distribution whose plugin is absent, disabled or broken."""
        self.complete()
        for wanted in distributions:
            own = [plugin for plugin in self.plugins if plugin.distribution == normalized(wanted)]
            ids = {plugin.id for plugin in own}
            if not own:
                state = f"not installed; `pip install {wanted}`"
            elif any(plugin.disabled for plugin in own):
                state = "disabled; take it off the list of disabled plugins"
            elif broken := [str(fault) for fault in self.faults if fault.plugin in ids]:
                state = f"broken: {'; '.join(broken)}"
            else:
                continue
            raise RequiredPluginError(f"the plugin {wanted!r} is required and {state}")

    def not_installed(self, distributions: Iterable[str]) -> dict[str, str]:
        """Return which distributions have no plugin here, each with what to say of it."""
        installed = sorted({plugin.distribution for plugin in self.complete().plugins} - {OWN, ""})
        known = f"installed are {', '.join(installed)}" if installed else "none is installed"
        return {
            name: (
                "rankgauge's own plugins cannot be disabled"
                if normalized(name) == OWN
                else f"no plugin {name!r} is installed{did_you_mean(normalized(name), installed)}; {known}"
            )
            for name in distributions
            if normalized(name) not in installed
        }
