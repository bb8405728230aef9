"""
Outputs that do not name their sample: each belongs to the one with its input, the text of the query.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from rankgauge.errors import Problem, counted, listed
from rankgauge.io.problems import refuse
from rankgauge.samples import Sample

__all__ = ["InputJoin"]

_MOST = 5


def _query(value: object) -> str:
    """Return an input as it is compared, with blanks folded; empty for one that is no text."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


@dataclass(slots=True)
class InputJoin:
    """
    Finds the output of a sample by its id or, if none has that id, by its input.

    Attributes:
        inputs: The input of each output that can be found by it, by the name of the output.

        numbered: Outputs among these that are called by their place, because they have no id. A sample that happens to
            have that number is another one, unless it has no input.

        samples: The samples that each output was given to.

        first: The input of the first sample.
    """

    inputs: dict[str, str] = field(default_factory=dict)
    numbered: set[str] = field(default_factory=set)
    samples: dict[str, list[str]] = field(default_factory=dict)
    first: str = ""
    _by_input: dict[str, list[str]] = field(default_factory=dict)

    @staticmethod
    def has_input(row: Mapping[str, object]) -> bool:
        """Return whether a row has an input that can be looked for."""
        return bool(_query(row.get("input")))

    def add(self, name: str, row: Mapping[str, object], *, is_numbered: bool) -> None:
        """Take an output that can be found by the input in its row, if there is one."""
        text = _query(row.get("input"))
        if not text:
            return
        if name not in self.inputs:
            self._by_input.setdefault(text, []).append(name)
        self.inputs[name] = text
        if is_numbered:
            self.numbered.add(name)

    def name_of(self, sample: Sample, outputs: Mapping[str, object]) -> str | None:
        """Return the name of a sample's output, None if there is none; raise `DataError` if there are several."""
        text = _query(sample.input)
        self.first = self.first or text
        if sample.id in outputs and (sample.id not in self.numbered or not text):
            names = [sample.id]
        else:
            names = self._by_input.get(text, [])
            if self._differ(names, outputs):
                self._refuse(outputs)
        for name in names:
            given = self.samples.setdefault(name, [])
            given.extend([] if sample.id in given else [sample.id])
        return next(iter(names), None)

    def is_known(self, name: str, sample_ids: Collection[str]) -> bool:
        """Return whether an output belongs to a sample."""
        return name in self.samples or (name in sample_ids and name not in self.numbered)

    def shown(self, name: str) -> str:
        """Return an output as messages show it: by its input, or by its id."""
        return _shown(self.inputs[name]) if name in self.inputs else repr(name)

    def note(self) -> str:
        """Return which samples share an output because they have one input; empty if none do."""
        shared = [
            (self.inputs[name], samples)
            for name, samples in self.samples.items()
            if name in self.inputs and samples[1:]
        ]
        if not shared:
            return ""
        text, samples = shared[0]
        who = listed([repr(sample) for sample in samples], _MOST)
        return (
            f"{counted(len(shared), 'output belongs', 'outputs belong')} to several samples with the same input, such "
            f"as {_shown(text)} ({who}): each of them was given it"
        )

    @staticmethod
    def _differ(names: list[str], outputs: Mapping[str, object]) -> bool:
        return any(outputs[name] != outputs[names[0]] for name in names[1:])

    def _refuse(self, outputs: Mapping[str, object]) -> None:
        several = [
            f"{_shown(text)} ({listed([repr(name) for name in names], _MOST)})"
            for text, names in self._by_input.items()
            if self._differ(names, outputs)
        ]
        problem = (
            f"{counted(len(several), 'input has', 'inputs have')} several outputs, which differ, such as "
            f"{several[0]}; keep one of each, such as those of one version of the system, or give them ids of samples"
        )
        refuse("the outputs cannot be joined to samples by their input:", [Problem(problem)])
