"""What this process knows of a session; the store has the last word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tiered_core.branch import on_branch
from tiered_core.budget import TokenBudget
from tiered_core.calibration import Calibration
from tiered_core.composer import Composer
from tiered_core.conversation import Conversation
from tiered_core.drive import Program, StoreCall
from tiered_core.engine import Fit
from tiered_core.events import ContextEvent
from tiered_core.ledger import Ask
from tiered_core.rendering import Renderer
from tiered_core.shelf import Shelf
from tiered_core.state import ContextState
from tiered_core.stores.protocol import StoredState
from tiered_core.strategies import CompactionStrategy
from tiered_core.types import Entry


@dataclass(frozen=True, slots=True)
class Settings:
    """What a session was opened with."""

    budget: TokenBudget
    strategy: CompactionStrategy
    renderer: Renderer
    reply_tokens: int
    hooks: tuple[Callable[[ContextEvent], None], ...] = ()


class Known:
    """The log, the state and the renderings of one session, as far as they are at hand."""

    def __init__(self, settings: Settings, keep: int | None) -> None:
        self._settings = settings
        self.renderer = settings.renderer
        self.conversation = Conversation(settings.renderer.counter.name)
        self.shelf = Shelf(settings.renderer.codec, keep)
        self.composer = Composer(settings.renderer, self.conversation, self.shelf)
        self._overhead = 0
        self._state = (StoredState(), ContextState())
        self._measured: dict[Ask, int] = {}
        self._read: tuple[tuple[int, int, int], Fit] | None = None
        self._sent: dict[str, int] = {}
        self._around = 0
        self._calibration: Calibration | None = None
        self._handles: dict[int, int] = {}

    def catch_up(self) -> Program[None]:
        """Takes in rows that this or another process has appended since."""
        rows = yield StoreCall("read", (self.conversation.last,))
        if any(row.kind == "clear" for row in rows):
            self.shelf.forget()
            self._handles.clear()
            self._overhead, self._calibration = 0, None
        if any(row.kind != "message" for row in rows):
            self.composer.forget()
            self._measured.clear()
        self.conversation.apply(rows)

    def load_state(self) -> Program[tuple[StoredState, ContextState, tuple[int, ...]]]:
        """The stored state, what it means for the current branch, and positions that came back into view with that."""
        stored = yield StoreCall("state", ())
        known, parsed = self._state
        if stored != known:
            parsed = ContextState.from_json(stored.text) if stored.text else ContextState()
            self._state = (stored, parsed)
        state, back = on_branch(parsed, self.conversation)
        return stored, state, back

    def _live(self, state: ContextState) -> Program[list[Entry]]:
        """Entries of all system messages and from the first kept message on; counted anew where another counter did."""
        positions = self.conversation.live(state.first)
        foreign = self.conversation.counted_otherwise(positions)
        if foreign:
            messages = yield from self.shelf.messages([self.conversation.seqs[p] for p in foreign])
            for position in foreign:
                message = messages[self.conversation.seqs[position]]
                id = self.conversation.entry(position).id
                entry = self.renderer.entry(message, self.renderer.codec.read(message), id)
                self.conversation.recounted(position, entry)
        return [self.conversation.entry(p) for p in positions]
