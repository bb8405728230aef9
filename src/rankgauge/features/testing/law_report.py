"""
Reports: which laws hold, which are broken, and the smallest example of each broken one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from rankgauge.base.frozen import freeze_fields
from rankgauge.errors import BrokenLawError, counted

__all__ = ["Exhibit", "PluginReport", "Report", "State", "Verdict"]

Exhibit = Mapping[str, object]
"""One observation of an example, such as ``{gold: {doc-0: 1}, retrieved: [doc-0], k: 2, score: 0.5}``."""

State = Literal["holds", "broken", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """
    The outcome of one law.

    Attributes:
        law: Its name.

        says: What it says.

        state: `holds` for every case drawn, `broken`, or `skipped`.

        reason: What is wrong, or why it was skipped.

        example: The smallest example found that breaks it, one mapping an observation.
    """

    law: str
    says: str
    state: State
    reason: str = ""
    example: tuple[Exhibit, ...] = ()

    def __post_init__(self) -> None:
        freeze_fields(self)

    def __str__(self) -> str:
        if self.state == "holds":
            return f"holds    {self.law}: {self.says}"
        if self.state == "skipped":
            return f"skipped  {self.law}: {self.reason}"
        return "\n".join([f"broken   {self.law}: {self.says}", *_shown(self.example), f"    -> {self.reason}"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """
    The outcome of every law of one metric, normalizer, comparer, matcher or tokenizer.

    Attributes:
        kind: `metric`, `normalizer`, `comparer` or `matcher`.

        name: What was checked.

        called: How it was called, for a function from elsewhere.

        verdicts: One for each law, in order.

        could_declare: Laws that hold without being declared; the author could declare them.

        unusable: Why it cannot work here, so that no law was checked, such as a model that is not installed; empty
            where it can.
    """

    kind: str
    name: str
    called: str = ""
    verdicts: tuple[Verdict, ...]
    could_declare: tuple[str, ...] = ()
    unusable: str = ""

    @property
    def ok(self) -> bool:
        """Return whether no law is broken; an unusable one breaks none."""
        return not self.broken

    @property
    def broken(self) -> tuple[str, ...]:
        """Return the names of the laws that are broken, in order."""
        return tuple(verdict.law for verdict in self.verdicts if verdict.state == "broken")

    @property
    def holds(self) -> tuple[str, ...]:
        """Return the names of the laws that hold, in order."""
        return tuple(verdict.law for verdict in self.verdicts if verdict.state == "holds")

    @property
    def skipped(self) -> Mapping[str, str]:
        """Return why laws were skipped, by name."""
        return {verdict.law: verdict.reason for verdict in self.verdicts if verdict.state == "skipped"}

    def __getitem__(self, law: str) -> Verdict:
        for verdict in self.verdicts:
            if verdict.law == law:
                return verdict
        checked = ", ".join(verdict.law for verdict in self.verdicts)
        raise KeyError(f"{self.name!r} was not checked for {law!r}, only for {checked}")

    def raise_if_broken(self) -> None:
        """
        Raise if a law is broken.

        Raises:
            BrokenLawError: A law is broken; the message is this report.
        """
        if self.broken:
            raise BrokenLawError(str(self), self)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        laws = [{**asdict(verdict), "example": list(map(dict, verdict.example))} for verdict in self.verdicts]
        return {
            "kind": self.kind,
            "name": self.name,
            "called": self.called,
            "ok": self.ok,
            "laws": laws,
            "could_declare": list(self.could_declare),
            "unusable": self.unusable,
        }

    def __str__(self) -> str:
        if self.unusable:
            return f"{self.kind} {self.name}: not checked, because it cannot work here\n  {self.unusable}"
        holding = counted(len(self.holds), "law holds", "laws hold")
        broken = f", {counted(len(self.broken), 'is', 'are')} broken" if self.broken else ""
        lines = [f"{self.kind} {self.name}: {holding}{broken}"]
        if self.called:
            lines.append(f"  called   {self.called}")
        for verdict in self.verdicts:
            if verdict.state == "broken":
                lines += [f"  {line}" for line in str(verdict).splitlines()]
        if self.holds:
            lines.append(f"  holds    {', '.join(self.holds)}")
        lines += [f"  {verdict}" for verdict in self.verdicts if verdict.state == "skipped"]
        if self.could_declare:
            lines.append(f"  it could declare {', '.join(self.could_declare)}: they hold for every case that was tried")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginReport:
    """
    The outcome of every law of everything that a plugin offers.

    Attributes:
        name: The plugin.

        faults: What is wrong with how it loads and with its names.

        reports: One for each metric, normalizer, comparer, matcher and tokenizer.
    """

    name: str
    faults: tuple[str, ...]
    reports: tuple[Report, ...]

    @property
    def ok(self) -> bool:
        """Return whether there is no fault, and no law is broken."""
        return not self.faults and all(report.ok for report in self.reports)

    @property
    def broken(self) -> Mapping[str, tuple[str, ...]]:
        """Return the names of broken laws, by the name of what breaks them."""
        return {report.name: report.broken for report in self.reports if report.broken}

    def __getitem__(self, name: str) -> Report:
        for report in self.reports:
            if report.name == name:
                return report
        offered = ", ".join(report.name for report in self.reports)
        raise KeyError(f"plugin {self.name!r} offers no {name!r}; it offers {offered}")

    def __iter__(self) -> Iterator[Report]:
        return iter(self.reports)

    def raise_if_broken(self) -> None:
        """
        Raise if there is a fault, or a law is broken.

        Raises:
            BrokenLawError: There is a fault, or a law is broken; the message is this report.
        """
        if not self.ok:
            raise BrokenLawError(str(self), self)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        offers = [report.to_dict() for report in self.reports]
        return {"plugin": self.name, "ok": self.ok, "faults": list(self.faults), "offers": offers}

    def __str__(self) -> str:
        lines = [f"fault: {fault}" for fault in self.faults]
        lines += [str(report) for report in self.reports]
        bad = sum(not report.ok for report in self.reports)
        unusable = sum(bool(report.unusable) for report in self.reports)
        broken = f"{counted(len(self.faults), 'fault')}, {bad} of them {'breaks' if bad == 1 else 'break'} a law"
        verdict = "nothing wrong" if self.ok else broken
        if unusable:
            verdict = f"{unusable} of them not checked, {'nothing wrong with the others' if self.ok else verdict}"
        lines.append(f"plugin {self.name}: {len(self.reports)} offered, {verdict}")
        return "\n".join(lines)


def _shown(example: Sequence[Exhibit]) -> Iterator[str]:
    """Lay an example out: one line for each observation, and the ground truth if it changes."""
    before: dict[str, str] = {}
    for exhibit in example:
        fields = {name: _plain(value) for name, value in exhibit.items() if value != ""}
        context = [name for name in ("gold", "text") if name in fields]
        for name in context:
            if before.get(name) != fields[name]:
                yield f"    {name:<9}  {fields[name]}"
        rest = [(name, text) for name, text in fields.items() if name not in {*context, "note"}]
        line = "   ".join(f"{name:<9}  {text}" if name == "retrieved" else f"{name} = {text}" for name, text in rest)
        note = f"   ({fields['note']})" if "note" in fields else ""
        yield f"    {line}{note}"
        before = fields


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        if value and all(grade == 1 for grade in value.values()):
            return ", ".join(value)
        return ", ".join(f"{name} = {_plain(each)}" for name, each in value.items()) or "(nothing)"
    if isinstance(value, list | tuple):
        return ", ".join(_plain(each) for each in value) or "(nothing)"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e6:
        return str(int(value))
    return str(value)
