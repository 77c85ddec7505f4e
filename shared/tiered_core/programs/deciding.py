"""Deciding on a view: running the engine, and answering what it asks to have measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tiered_core.drive import Program
from tiered_core.engine import Fit, fit
from tiered_core.programs.known import Known
from tiered_core.state import ContextState
from tiered_core.strategies import CompactionStrategy
from tiered_core.types import Entry

_OVERHEAD_STEPS = 16
_KNOWN = 20_000


class Deciding(Known):
    """Programs that decide and write nothing."""

    def _fit(
        self, entries: Sequence[Entry], state: ContextState, overhead: int, strategy: CompactionStrategy,
        *, compact: bool | None = None,
    ) -> Program[Fit]:  # fmt: skip
        """Runs the engine, measuring what it asks for."""
        around = overhead + self._settings.reply_tokens
        fitting = fit(entries, state, self._settings.budget, around, strategy, self._measured, compact=compact)
        try:
            asks = next(fitting)
            while True:
                measured = yield from self.composer.measure(asks)
                if len(self._measured) > _KNOWN:
                    self._measured.clear()
                self._measured.update(measured)
                asks = fitting.send(measured)
        except StopIteration as end:
            made: Fit = end.value
            return made

    def _fit_for_reading(self, overhead: int, upcoming: int = 0) -> Program[Fit]:
        """The view as it was settled; deeper, for this read only, when more stands around it than was planned for.

        The last answer is kept: it holds as long as log, state and overhead are the same.
        """
        stored, state, _ = yield from self.load_state()
        own = overhead + upcoming
        for around in sorted({max(overhead, state.overhead) + upcoming, own}, reverse=True):
            key = (self.conversation.last, stored.version, around)
            known = self._read
            if known is not None and known[0] == key:
                made = known[1]
            else:
                made = yield from self._decide_for_reading(state, around)
                self._read = (key, made)
            if made.fits:
                break  # else what was planned for can't be had, and this call may have less around it
        return made

    def _decide_for_reading(self, state: ContextState, overhead: int) -> Program[Fit]:
        entries = yield from self._live(state)
        reading = replace(self._settings.strategy, trigger=1.0)
        made = yield from self._fit(entries, state, overhead, reading)
        if not made.compacted or overhead <= state.overhead:
            return made
        unit = max(1, self._settings.budget.available // _OVERHEAD_STEPS)
        coarse = -(-overhead // unit) * unit
        if coarse + self._settings.reply_tokens < self._settings.budget.available:
            deeper = yield from self._fit(entries, state, coarse, reading, compact=True)
            if deeper.fits:
                return deeper
        return made
