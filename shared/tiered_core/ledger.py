"""What is known of tokens and handles while one `fit` runs: the ladders of all entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tiered_core.state import ContextState
from tiered_core.types import FULL, Entry, Rung, Slot, Step


@dataclass(frozen=True, slots=True)
class Ask:
    """A slot whose tokens are needed, with the handle number that its rendering carries (0 for none)."""

    slot: Slot
    handle: int = 0


Measured = Mapping[Ask, int]


class Ledger:
    """Tokens by entry and rung, and the numbers of the handles that are given out on the way."""

    def __init__(self, entries: Sequence[Entry], state: ContextState, known: Measured) -> None:
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
        """The entry's step at a rung: measured where somebody did, else estimated."""
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
        """Tokens of a slot, None when it has to be measured."""
        if ask.slot.kind == "message":
            mark = self._marks.get(ask.slot.entry)
            if mark is not None and mark.rung == ask.slot.rung:
                return mark.tokens
            if ask.slot.rung == FULL:
                return self._by_id[ask.slot.entry].tokens
        return self._measured.get(ask)

    def learn(self, measured: Measured) -> None:
        """Takes in what was measured."""
        self._measured.update(measured)
