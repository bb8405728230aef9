"""
Repairing labels: records with new places for what moved, and each change as a readable difference.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankgauge.errors import counted
from rankgauge.features.labels.label_findings import GoldReport, LabelFinding
from rankgauge.io.corpus import Corpus
from rankgauge.policy import DEFAULT_CONTRACT
from rankgauge.samples import GOLD_KINDS
from rankgauge.samples.gold_sets import kind_of_item, objects_in_sets
from rankgauge.samples.gold_spans import read_place
from rankgauge.samples.sample_values import is_real

__all__ = ["LabelChange", "Repaired", "change_lines", "repair_labels"]

_OF_LABELS = {"moved", "edited", "split", "ambiguous", "gone"}
_WITH_PLACES = {"moved", "edited"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelChange:
    """One label that was changed: what it was, what it is now, and the text of the corpus there if it has one."""

    finding: LabelFinding
    was: str
    now: tuple[str, ...]
    text: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        finding = self.finding
        place = {"sample": finding.sample, "kind": finding.kind, "number": finding.number}
        why = {"status": finding.status, "reason": finding.reason, "difference": finding.difference}
        return {**place, "was": self.was, "now": list(self.now), **why}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """Records with repaired labels, what was changed in them, and what is left to a person, each with the reason."""

    records: tuple[Mapping[str, Any], ...]
    changes: tuple[LabelChange, ...]
    left: tuple[LabelFinding, ...]
    reasons: tuple[str, ...]


def repair_labels(
    records: Iterable[Mapping[str, Any]],
    report: GoldReport,
    corpus: Corpus,
    *,
    edited: bool = False,
    twins: bool = False,
    to_other_documents: bool = False,
) -> Repaired:
    """
    Return records in which ids and spans that moved have their new place; the records given stay as they are.

    With *edited*, texts that were edited get the wording of the corpus, in another document than before only with
    *to_other_documents*; with *twins*, near-duplicates of relevant documents become relevant, too. All parts of what
    is forbidden are forbidden. Where a label may be in several places, it is left to a person.
    """
    by_sample: dict[str, list[LabelChange]] = defaultdict(list)
    changes: list[LabelChange] = []
    left: list[LabelFinding] = []
    reasons: list[str] = []
    for finding in report.findings:
        if reason := _reason_left(finding, edited=edited, twins=twins, to_other_documents=to_other_documents):
            left.append(finding)
            reasons.append(reason)
            continue
        was = finding.label if finding.kind != "passages" else ""
        text = _text_there(finding, corpus)
        changes.append(LabelChange(finding=finding, was=was, now=_now(finding, text), text=text))
        by_sample[finding.sample].append(changes[-1])
    rows = []
    final: list[LabelChange] = []
    for record in records:
        row = dict(record)
        own = by_sample.get(str(record.get("id")), [])
        if own:
            row["expected_output"], done = _changed(record.get("expected_output"), own)
            final += done
        rows.append(row)
    return Repaired(records=tuple(rows), changes=tuple(final), left=tuple(left), reasons=tuple(reasons))


def _reason_left(finding: LabelFinding, *, edited: bool, twins: bool, to_other_documents: bool) -> str:
    """Return why a label is left to a person; empty for one that is changed."""
    match finding.status, finding.kind:
        case "twin", _:
            return "" if twins else "--twins makes it relevant"
        case (("moved" | "split"), "forbidden"):
            return ""
        case "moved", "passages":
            return "its text is as it was; the relevant ids, or the text, have to be corrected"
        case "moved", "relevant" | "spans":
            several = len(finding.documents) > 1 or (finding.kind == "spans" and finding.place is None)
            return "it may be any of these places" if several else ""
        case "edited", "relevant" if not finding.is_elsewhere:
            return "its id holds; look whether the document still answers the question"
        case "edited", "relevant" | "passages" | "spans":
            if not edited:
                return "read the difference; --edited takes the new wording"
            elsewhere = finding.is_elsewhere and not to_other_documents
            return "it is another document; --to-other-documents takes it" if elsewhere else ""
    return "it has to be judged again" if finding.status in _OF_LABELS else "a person has to decide"


def _text_there(finding: LabelFinding, corpus: Corpus) -> str | None:
    """Return the text at the new place of a passage or a span; None if there is none."""
    number = corpus.number_of.get(finding.documents[0]) if finding.documents else None
    if finding.place is None or number is None or finding.kind not in {"passages", "spans"}:
        return None
    start, end = finding.place
    return corpus.texts[number][start:end]


def _now(finding: LabelFinding, text: str | None) -> tuple[str, ...]:
    """Return what a label becomes: the ids, the place or the text."""
    if finding.status == "twin":
        return (finding.label, *finding.documents)
    if finding.kind == "spans":
        start, end = finding.place or (0, 0)
        return (f"{finding.documents[0]}[{start}:{end}]",)
    return (text,) if finding.kind == "passages" and text is not None else finding.documents


def _changed(expected: Any, changes: Sequence[LabelChange]) -> tuple[Any, list[LabelChange]]:  # noqa: ANN401  # any JSON value
    """Return ground truth in the form that it has, with changes, and these with what was there."""
    is_full = isinstance(expected, Mapping) and (
        set(expected) <= set(GOLD_KINDS) or not all(map(is_real, expected.values()))
    )
    full: dict[str, Any] = dict(expected) if is_full else {"relevant": expected}
    ids: dict[str, dict[str, tuple[str, ...]]] = {"relevant": {}, "forbidden": {}}
    by_name: dict[str, LabelChange] = {}  # of passages and spans, by their texts and places before
    done = []
    for change in changes:
        kind = change.finding.kind
        if kind in ids:
            if change.was not in ids[kind]:
                ids[kind][change.was] = change.now
                done.append(change)
            continue
        made = _replaced(full, change)
        by_name[made.was] = made
        done.append(made)
    if ids["relevant"] and full.get("relevant") is not None:  # otherwise the sets say what is relevant
        full["relevant"] = _with_ids(full["relevant"], ids["relevant"])
    if full.get("sets") is not None:
        full["sets"] = _in_sets(full["sets"], ids["relevant"], by_name)
    if ids["forbidden"]:
        full["forbidden"] = _with_forbidden(full["forbidden"], ids["forbidden"])
    return full if is_full else full["relevant"], done


def _replaced(full: dict[str, Any], change: LabelChange) -> LabelChange:
    """Put a passage or span in the place of another one in ground truth; return the change with what was there."""
    kind, number = change.finding.kind, change.finding.number
    listed = full.get(kind)
    entries: list[Any] = [listed] if isinstance(listed, str) else list(listed or _only_in_sets(full["sets"], kind))
    if kind == "passages":
        number = _place_of(entries, number)
    was = entries[number]
    if kind != "passages":
        entries[number] = _moved_span(was, change)
    elif isinstance(was, Mapping):
        entries[number], was = {**was, "text": change.now[0]}, was["text"]
    else:
        entries[number] = change.now[0]
    if listed is not None:
        full[kind] = entries[0] if isinstance(listed, str) else entries
    return replace(change, was=was) if kind == "passages" else change


def _place_of(entries: Sequence[Any], number: int) -> int:
    """Return where a passage is listed first, by its number; where some are objects, each text has one number."""
    if not any(isinstance(entry, Mapping) for entry in entries):
        return number
    texts = [entry["text"] if isinstance(entry, Mapping) else entry for entry in entries]
    return texts.index(list(dict.fromkeys(texts))[number])


def _moved_span(span: Mapping[str, Any], change: LabelChange) -> dict[str, Any]:
    """Return a span at its new place, with the text there if it has one."""
    start, end = change.finding.place or (0, 0)
    moved = {**span, "document": change.finding.documents[0], "start": start, "end": end}
    return moved | {"text": change.text} if span.get("text") is not None and change.text is not None else moved


def _with_ids(relevant: Any, ids: Mapping[str, Sequence[str]]) -> Any:  # noqa: ANN401  # any JSON value
    """Return gold ids with others in their place, in the form that they have, each of them once."""
    if isinstance(relevant, Mapping):
        gains: dict[str, Any] = {}
        for name, gain in relevant.items():
            for other in ids.get(str(name), (name,)):
                gains[other] = max(gain, gains.get(other, gain))
        return gains
    entries: dict[tuple[str, object], Any] = {}
    for other, entry in _entries(relevant, ids):
        intent = entry.get("intent") if isinstance(entry, Mapping) else None
        entries.setdefault((other, intent), entry)
    return list(entries.values())


def _in_sets(part: Any, ids: Mapping[str, Sequence[str]], by_name: Mapping[str, LabelChange]) -> Any:  # noqa: ANN401  # any JSON value
    """Return sets with other items in the place of some; of several ids, the first."""
    if isinstance(part, list | tuple):
        return [_in_sets(each, ids, by_name) for each in part]
    if not isinstance(part, Mapping):
        change = by_name.get(str(part))
        return ids.get(str(part), (part,))[0] if change is None else change.now[0]
    if not (kind := kind_of_item(part)):
        return {name: _in_sets(items, ids, by_name) for name, items in part.items()}
    change = by_name.get(_name_of(part, kind))
    if change is None:
        return part
    return _moved_span(part, change) if kind == "spans" else {**part, "text": change.now[0]}


def _only_in_sets(sets: Any, kind: str) -> list[Mapping[str, Any]]:  # noqa: ANN401  # any JSON value
    """Return the passages or spans that sets have as objects, each once, if the ground truth lists none."""
    entries = (each for each in objects_in_sets(sets) if kind_of_item(each) == kind)
    first: dict[str, Mapping[str, Any]] = {}
    for entry in entries:
        first.setdefault(_name_of(entry, kind), entry)
    return list(first.values())


def _name_of(entry: Mapping[str, Any], kind: str) -> str:
    """Return the text of a passage, or the place of a span."""
    return str(read_place(entry, "", DEFAULT_CONTRACT)) if kind == "spans" else entry["text"]


def _with_forbidden(forbidden: Any, ids: Mapping[str, Sequence[str]]) -> list[Any]:  # noqa: ANN401  # any JSON value
    """Return what is forbidden with other ids in the place of some; rules on texts and metadata stay as they are."""
    rows: list[Any] = []
    for entry in [forbidden] if isinstance(forbidden, Mapping) else forbidden:
        name = entry.get("id") if isinstance(entry, Mapping) else entry
        others = ids.get(str(name), ()) if name is not None else ()
        rows += [{**entry, "id": other} if isinstance(entry, Mapping) else other for other in others] or [entry]
    return rows


def _entries(relevant: Iterable[Any], ids: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, Any]]:
    for entry in relevant:
        name = entry["id"] if isinstance(entry, Mapping) else entry
        for other in ids.get(str(name), (name,)):
            yield str(other), {**entry, "id": other} if isinstance(entry, Mapping) else other


def change_lines(repaired: Repaired) -> Iterator[str]:
    """Yield each change as a difference, and what is left to a person; with the reason if a new place is known."""
    for change in repaired.changes:
        yield from _difference(change)
    for finding, reason in zip(repaired.left, repaired.reasons, strict=True):
        if finding.status in _WITH_PLACES:
            yield f"{_headed(finding)} (left: {reason})"
            yield from [f"  {finding.difference}"] if finding.difference else []
            yield ""
    left = Counter(finding.status for finding in repaired.left)
    yield f"{counted(len(repaired.changes), 'change')}" + (
        f"; left as they are: {', '.join(f'{number:,} {status}' for status, number in left.most_common())}"
        if left
        else ""
    )


def _headed(finding: LabelFinding) -> str:
    return f"{finding.sample}, {finding.kind} {finding.label}: {finding.status}, {finding.reason}"


def _difference(change: LabelChange) -> Sequence[str]:
    finding = change.finding
    head = f"{finding.sample}, {finding.kind}: {finding.status}, {finding.reason}"
    if finding.kind == "passages":
        return [head, f"  {finding.difference}", ""]
    kept = [f"  + {name}" for name in change.now if name != change.was]
    shown = [f"  {finding.difference}"] if finding.difference else []
    return [head, f"  {' ' if change.was in change.now else '-'} {change.was}", *kept, *shown, ""]
