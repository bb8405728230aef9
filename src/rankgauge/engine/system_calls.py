"""
The calls of one run: a system under test answers every sample that has no kept output, until gates are decided.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

from rankgauge.engine.calls import call_figures, kept_answer, system_facts, unwritten
from rankgauge.engine.run_options import Calls
from rankgauge.engine.sample_reading import SampleReading
from rankgauge.judging.filtered import narrowed
from rankgauge.planning.plan import Plan
from rankgauge.samples import Fault, KeptOutput, Sample

if TYPE_CHECKING:
    from rankgauge.engine.early_stop import EarlyStop
    from rankgauge.io.datasets import DataSource

__all__ = ["SystemCalls"]


class SystemCalls:
    """
    Calls a system under test for the samples of a run, and keeps what it answers.

    Attributes:
        calls: The system, and how it is called.

        outputs: What each call came to, by sample id.

        stopped: Why no more calls were made, if something went wrong.

        early: What ends the calls before every sample was answered; None if nothing does.
    """

    def __init__(self, calls: Calls, plan: Plan, data: DataSource, reading: SampleReading) -> None:
        self.calls = calls
        self.outputs: dict[str, KeptOutput] = {}
        self.stopped = ""
        self.early: EarlyStop | None = None
        self._plan, self._reading = plan, reading
        self._shape = data.shape(plan.catalog)
        self._samples: list[Sample] = []
        self._answered: dict[tuple[int, int], Sample] = {}  # by place and repeat

    @property
    def answered(self) -> list[Sample]:
        """Return the samples with their answers, in order of the data."""
        return [self._answered[place] for place in sorted(self._answered)]

    @property
    def n_wanted(self) -> int:
        """Return how many calls there are, those of earlier runs included."""
        return len(self._samples) * self.calls.repeat

    @property
    def n_saved(self) -> int:
        """Return how many calls were not made."""
        return self.n_wanted - len(self._answered)

    @property
    def is_cut_short(self) -> bool:
        """Return whether calls are missing that no decided gate saved."""
        return self.n_saved > 0 and not self._is_decided

    @property
    def _is_decided(self) -> bool:
        return self.early is not None and self.early.is_decided

    def notes(self, *, called: int) -> list[str]:
        """Return what a result says of the calls, of which so many were scored; some may be empty."""
        early = "" if self.early is None else self.early.note(saved=self.n_saved, called=called)
        return [self.stopped, early]

    def early_entry(self) -> dict[str, Any]:
        """Return what a manifest says of gates that ended the calls; empty if none could."""
        return {} if self.early is None else self.early.entry(saved=self.n_saved)

    def facts(self) -> dict[str, Any]:
        """Return what a manifest says of the system and its calls."""
        failed = sum(isinstance(sample.output, Fault) for sample in self._answered.values())
        return {**system_facts(self.calls.sut), "calls": call_figures(self.outputs.values(), failed)}

    async def each(self, earlier: Mapping[str, KeptOutput], batch_size: int) -> AsyncIterator[int]:
        """
        Read all samples and call for each, once before any again; yield how many calls are done.

        Outputs of *earlier* runs are taken over.
        """
        from rankgauge.scoring.sut import call_each  # asyncio loads only when it is used

        calls, contract = self.calls, self._plan.profile.contract
        for batch in self._reading.reader.batches(batch_size):
            self._samples += batch
        self._reading.check_known(earlier, str(calls.keep))
        self.early = calls.early_stop(self._plan, self._samples)
        still_open = self._still_open(earlier)
        waiting = [self._samples[place] for place, _ in still_open]
        calling = calls.calling()
        held: list[tuple[str, KeptOutput]] = []
        file = calls.file(self._samples)
        try:
            async for at, call in call_each(waiting, calls.sut, calling):
                place, repeat = still_open[at]
                if self._is_decided and calls.would_retry(call):
                    continue
                output = kept_answer(call.found, contract, self._shape.output)
                output = output._replace(seconds=call.seconds, attempt=call.attempt, repeat=repeat)
                self._answer(place, output)
                if self._looked_at_last():
                    calling.stop.request()  # calls that are under way are paid for, and kept
                if file is not None and (why := unwritten(file, waiting[at].id, output)):
                    held.append((waiting[at].id, output))
                    if not self.stopped:  # those that are under way are waited for, as they are paid for
                        self.stopped = f"no more calls were made: outputs cannot be kept ({why})"
                        calling.stop.request()
                yield len(self._answered)
        finally:
            if file is not None and (remark := file.close_with(held)):
                self.stopped = "; ".join(filter(None, [self.stopped, remark]))

    def _still_open(self, earlier: Mapping[str, KeptOutput]) -> list[tuple[int, int]]:
        """Take over the outputs of earlier runs; return the calls that are left, by place and repeat."""
        contract = self._plan.profile.contract
        known = {(name, one.repeat): one for name, output in earlier.items() for one in output.every}
        left = []
        for place, repeat in self.calls.in_order(len(self._samples), self.early):
            output = known.get((self._samples[place].id, repeat))
            if output is None or (self.calls.retry_failed and isinstance(output.read(contract), Fault)):
                left.append((place, repeat))
            else:
                self._answer(place, output)
        return [] if self._looked_at_last() else left

    def _looked_at_last(self) -> bool:
        """Look at what was answered; return whether that decides the gates that end a run, and nothing did before."""
        return self.early is not None and not self.early.is_decided and self.early.look(self._answered)

    def _answer(self, place: int, output: KeptOutput) -> None:
        sample = self._samples[place]
        others = self.outputs[sample.id].every if sample.id in self.outputs else ()
        self.outputs[sample.id] = KeptOutput.of_repeats([*others, output])
        self._reading.overlap += sample.output is not None and not others
        answered = sample._replace(output=output.read(self._plan.profile.contract))
        self._answered[place, output.repeat] = narrowed(answered, self._plan.profile.policy)
