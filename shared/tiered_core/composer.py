"""Slots → host messages, and the tokens of a slot that nobody has measured yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tiered_core.conversation import Conversation
from tiered_core.drive import Program
from tiered_core.ledger import Ask
from tiered_core.rendering import DEAD_ANSWER, GAP, Renderer
from tiered_core.shelf import Shelf
from tiered_core.types import FULL, Change, Entry, Rung, Slot, SlotKind

_BLOCKS: tuple[SlotKind, ...] = ("notice", "opening")


def handle_name(number: int) -> str:
    """A handle as it is written."""
    return f"r{number}"


def notice(hidden: int) -> str:
    """The line that says how many messages are out of view."""
    noun = "message is" if hidden == 1 else "messages are"
    return f"[{hidden} earlier {noun} not shown here; nothing is lost, the whole conversation is kept.]"


class Composer:
    """Renders slots of one conversation. Renderings that were made and are not stored yet are in `pending`."""

    def __init__(self, renderer: Renderer, conversation: Conversation, shelf: Shelf) -> None:
        self._renderer = renderer
        self._codec = renderer.codec
        self._conversation = conversation
        self._shelf = shelf
        self.pending: dict[Ask, Change] = {}
        self.rendered: dict[Ask, Any] = {}

    def measure(self, asks: Sequence[Ask]) -> Program[Mapping[Ask, int]]:
        """Tokens of slots; renders those that need it."""
        yield from self._fetch(asks)
        out: dict[Ask, int] = {}
        for ask in asks:
            out[ask] = yield from self._tokens(ask)
        return out

    def _fetch(self, asks: Sequence[Ask]) -> Program[None]:
        """Brings the messages of the asks that are not rendered yet onto the shelf, in one call of the store."""
        known = self.rendered
        wanted = [a for a in asks if a.slot.entry and a not in known and a.slot.kind != "gap"]
        yield from self._shelf.messages([self._conversation.seq(a.slot.entry) for a in wanted])

    def _tokens(self, ask: Ask) -> Program[int]:
        if ask.slot.kind in _BLOCKS:
            text = yield from self._block(ask)
            # As a message of its own a block costs at least what it adds to one, but for the blank line before it.
            return self._renderer.count(self._codec.compose("system", text)) + 2
        return self._renderer.count((yield from self._message(ask)))

    def _message(self, ask: Ask) -> Program[Any]:
        """The host message of a slot; not to be handed out."""
        if ask not in self.rendered:
            self.rendered[ask] = yield from self._render(ask)
        return self.rendered[ask]

    def _render(self, ask: Ask) -> Program[Any]:
        slot = ask.slot
        if slot.kind == "gap":
            return self._codec.compose(slot.role or "user", GAP)
        message = yield from self._original(slot)
        if slot.kind == "dead":
            return self._codec.answer(self._codec.read(message).calls[slot.number], DEAD_ANSWER)
        change = yield from self._change(ask, message)
        return message if change is None else self._codec.write(message, change)

    def _original(self, slot: Slot) -> Program[Any]:
        seq = self._conversation.seq(slot.entry)
        messages = yield from self._shelf.messages([seq])
        return messages[seq]

    def _change(self, ask: Ask, message: Any) -> Program[Change | None]:
        """How the slot's message is altered: as stored, as made before, or made now."""
        slot = ask.slot
        reading = self._codec.read(message)
        if slot.rung == FULL:
            return self._renderer.full(message, reading)
        if ask not in self.pending:
            seq = self._conversation.seq(slot.entry)
            stored = yield from self._shelf.changes([(seq, slot.rung)])
            if (seq, slot.rung) in stored:
                return stored[seq, slot.rung]
            position = self._conversation.find(slot.entry)
            entry = self._conversation.entry(position or 0)
            question = yield from self._question(entry)
            handle = handle_name(ask.handle)
            self.pending[ask] = self._renderer.lowered(message, reading, entry, slot.rung, handle, question)
        return self.pending[ask]

    def renderings(self, asks: Sequence[Ask]) -> Program[list[tuple[int, Rung, Change]]]:
        """(row, rung, change) of lowered slots, as they are to be stored."""
        out = []
        for ask in asks:
            message = yield from self._original(ask.slot)
            change = yield from self._change(ask, message)
            if change is not None:
                out.append((self._conversation.seq(ask.slot.entry), ask.slot.rung, change))
        return out

    def _question(self, entry: Entry) -> Program[str | None]:
        """The user message of the entry's turn, if a machine made the entry."""
        if not entry.machine:
            return None
        for position in range(entry.position, -1, -1):
            if self._conversation.entry(position).role == "user":
                readings = yield from self._shelf.readings([self._conversation.seqs[position]])
                return readings[self._conversation.seqs[position]].text or None
        return None

    def _block(self, ask: Ask) -> Program[str]:
        if ask.slot.kind == "notice":
            return notice(ask.slot.number)
        message = yield from self._message(ask)
        return f"[The assistant opened the conversation with: {self._codec.read(message).text}]"

    def compose(self, slots: Sequence[Slot], handles: Mapping[str, int]) -> Program[list[Any]]:
        """The host messages of a view, none of which shares anything with what is held here."""
        asks = [Ask(s, handles.get(s.entry, 0) if s.rung != FULL else 0) for s in slots]
        yield from self._fetch(asks)
        blocks: list[str] = []
        out: list[Any] = []
        systems = 0
        for ask in asks:
            if ask.slot.kind in _BLOCKS:
                blocks.append((yield from self._block(ask)))
                continue
            out.append(self._codec.copy((yield from self._message(ask))))
            systems += ask.slot.kind == "message" and self._role(ask.slot) == "system"
        if blocks and systems:
            out[systems - 1] = self._codec.write(out[systems - 1], Change(appended=tuple(blocks)))
        elif blocks:
            out.insert(0, self._codec.compose("system", "\n\n".join(blocks)))
        self._tidy(asks)
        return out

    def _tidy(self, asks: Sequence[Ask]) -> None:
        """Lets go of renderings that no view of late has shown."""
        if len(self.rendered) > 2 * len(asks) + 64:
            self.rendered = {a: self.rendered[a] for a in asks if a in self.rendered}

    def forget(self) -> None:
        """Lets go of all renderings: the transcript was rewound or cleared."""
        self.rendered = {}
        self.pending = {}

    def _role(self, slot: Slot) -> str:
        return self._conversation.entry(self._conversation.find(slot.entry) or 0).role
