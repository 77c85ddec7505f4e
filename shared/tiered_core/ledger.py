"""What is known of tokens and handles while one `fit` runs: the ladders of all entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tiered_core.calibration import Calibration
from tiered_core.state import ContextState
from tiered_core.types import FULL, Entry, Rung, Slot, Step


@dataclass(frozen=True, slots=True)
class Ask:
    """A slot whose tokens are needed, with the handle number that its rendering carries (0 for none)."""

    slot: Slot
    handle: int = 0


Measured = Mapping[Ask, int]


class Ledger:
    """Tokens by entry and rung, and the numbers of the handles that are given out on the way.

    Figures of the counter (`counted`, and what is measured) are kept apart from what is planned with (`step`,
    `tokens`): those are the counter's figures, corrected by what was learned from a provider's reports.
    """

    def __init__(
        self, entries: Sequence[Entry], state: ContextState, known: Measured, calibration: Calibration | None
    ) -> None:
        self._correct = None if calibration is None else calibration.apply
        self._entries = entries
        self._by_id = {e.id: e for e in entries}
        self._marks = state.rungs
        self._measured = dict(known)
        self._handles: dict[str, int] = {i: m.handle for i, m in state.rungs.items() if m.handle}
        self.next_handle = state.next_handle

    def handle(self, entry: str) -> int:
        """The number of the entry's handle; a new one when it has none yet."""
        if entry not in self._handles:
            self._handles[entry] = self.next_handle
            self.next_handle += 1
        return self._handles[entry]

    @property
    def handles(self) -> Mapping[str, int]:
        """All handle numbers by entry id, those given out on the way included."""
        return self._handles

    def step(self, index: int, rung: Rung) -> Step:
        """The entry's step at a rung, corrected: measured where somebody did, else estimated."""
        step = self.counted(index, rung)
        if self._correct is None:
            return step
        return Step(rung, self._correct(self._entries[index].kind, step.tokens), step.measured)

    def counted(self, index: int, rung: Rung) -> Step:
        """The entry's step at a rung, as the counter has it."""
        entry = self._entries[index]
        mark = self._marks.get(entry.id)
        if mark is not None and mark.rung == rung:
            return Step(rung, mark.tokens, True)
        if rung != FULL and entry.id in self._handles:
            tokens = self._measured.get(Ask(Slot(entry.id, rung), self._handles[entry.id]))
            if tokens is not None:
                return Step(rung, tokens, True)
        return entry.estimate(rung)

    def ask(self, slot: Slot) -> Ask:
        """The question for the tokens of a slot."""
        hides = slot.kind in ("message", "opening") and slot.rung != FULL
        return Ask(slot, self.handle(slot.entry) if hides else 0)

    def tokens(self, ask: Ask) -> int | None:
        """Tokens of a slot, corrected; None when it has to be measured."""
        tokens = self._counted(ask)
        if tokens is None or self._correct is None:
            return tokens
        own = ask.slot.kind != "message"
        return self._correct("other" if own else self._by_id[ask.slot.entry].kind, tokens)

    def _counted(self, ask: Ask) -> int | None:
        if ask.slot.kind == "message":
            mark = self._marks.get(ask.slot.entry)
            if mark is not None and mark.rung == ask.slot.rung:
                return mark.tokens
            if ask.slot.rung == FULL:
                return self._by_id[ask.slot.entry].tokens
        return self._measured.get(ask)

    def counted_slot(self, slot: Slot) -> int:
        """Tokens of a measured slot, as the counter has it."""
        return self._counted(self.ask(slot)) or 0

    def learn(self, measured: Measured) -> None:
        """Takes in what was measured."""
        self._measured.update(measured)
