"""Reading: views, transcripts, originals, reports. Nothing here writes to the store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiered_core.calibration import LEAST, Calibration
from tiered_core.drive import Program, StoreCall
from tiered_core.engine import Fit
from tiered_core.errors import ContextBudgetExceededError, StoreError
from tiered_core.events import ContextEvent
from tiered_core.portable import write_portable
from tiered_core.programs.deciding import Deciding
from tiered_core.report import tokens_by_tier
from tiered_core.state import ContextState
from tiered_core.types import Entry, Rung


class Reading(Deciding):
    """Programs that read."""

    def note_overhead(self, overhead: int) -> None:
        """Keeps in mind how much stood around a view, for the next time something is settled."""
        self._overhead = max(self._overhead, overhead)

    def view(self, overhead: int, upcoming: int = 0) -> Program[list[Any]]:
        """The view; raises when it can't be made to fit.

        Args:
            overhead: tokens around the view, now and in calls to come.
            upcoming: tokens around it in this call only.
        """
        yield from self.catch_up()
        made = yield from self._fit_for_reading(overhead, upcoming)
        if not made.fits:
            raise self._too_much(made)
        self.note_overhead(overhead)
        self._sent, self._around = self._by_class(made), overhead + upcoming
        messages = yield from self.composer.compose(made.slots, made.handles)
        return messages

    def _by_class(self, made: Fit) -> dict[str, int]:
        """The counter's figures for a view by class of content, with what a request adds by itself."""
        out = {"other": self._settings.reply_tokens}
        for slot, tokens in zip(made.slots, made.counted, strict=True):
            kind = self._entry(slot.entry).kind if slot.kind == "message" else "other"
            out[kind] = out.get(kind, 0) + tokens
        return out

    def calibrate(self, reported: int, around: int | None) -> Program[None]:
        """Learns from the input tokens that a provider reported for the view that was read last.

        Args:
            reported: tokens of the whole request.
            around: tokens around the view in it; None for what was given when it was read.
        """
        if not self._sent:
            return
        _, state, _ = yield from self.load_state()
        if self._calibration is None:
            floor = 1.0 if self.renderer.counter.exact else LEAST
            known = Calibration.from_dict(state.calibration) if state.calibration else Calibration(floor=floor)
            self._calibration = known
        other = self._sent["other"] + (self._around if around is None else around)
        self._calibration = self._calibration.observe({**self._sent, "other": other}, reported)

    def _too_much(self, made: Fit) -> Exception:
        around = made.limits.overhead
        budget = self._settings.budget
        entries = {s.entry: self._entry(s.entry) for s in made.slots if s.entry}
        sized = sorted(made.slots, key=lambda s: -s.tokens)[:5]
        biggest = [
            (f"message {entries[s.entry].position} ({entries[s.entry].role})", s.tokens) for s in sized if s.entry
        ]
        kind = getattr(self.renderer.codec, "overflow_error", ContextBudgetExceededError)
        error: Exception = kind(
            needed=made.used + around, window=budget.effective_window, reserve=budget.response_reserve, overhead=around,
            per_tier=tokens_by_tier(made.slots, entries, budget.response_reserve), biggest=biggest,
        )  # fmt: skip
        return error

    def _entry(self, id: str) -> Entry:
        return self.conversation.entry(self.conversation.find(id) or 0)

    def transcript(self) -> Program[list[Any]]:
        """Copies of all messages."""
        yield from self.catch_up()
        messages = yield from self.shelf.messages(self.conversation.seqs)
        return [self.renderer.codec.copy(messages[s]) for s in self.conversation.seqs]

    def snapshot(self) -> Program[tuple[ContextState, Fit, list[ContextEvent]]]:
        """State, view and events, for reports."""
        yield from self.catch_up()
        _, state, _ = yield from self.load_state()
        made = yield from self._fit_for_reading(state.overhead)
        texts = yield StoreCall("events", ())
        return state, made, [ContextEvent.from_json(t) for t in texts]

    def original(self, number: int) -> Program[Any | None]:
        """The message to which a handle number belongs, None when there is none."""
        seq = yield StoreCall("handle", (number,))
        if seq is None:
            return None
        try:
            messages = yield from self.shelf.messages([seq])
        except StoreError:
            again = yield StoreCall("handle", (number,))
            if again is None:
                return None  # the session was cleared in between
            raise
        return messages[seq]

    def export(self) -> Program[str]:
        """State and renderings of the current view as text."""
        yield from self.catch_up()
        _, state, _ = yield from self.load_state()
        keys = [(self.conversation.seq(i), m.rung) for i, m in state.rungs.items()]
        changes: Mapping[tuple[int, Rung], Any] = yield from self.shelf.changes(keys)
        return write_portable(state, self.conversation, changes, self._handles)
