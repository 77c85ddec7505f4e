"""Writing: what is new is stored first, then the view is settled, and what was decided is stored."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from tiered_core.conversation import encode_meta
from tiered_core.drive import Program, StoreCall
from tiered_core.engine import Fit
from tiered_core.events import ContextEvent
from tiered_core.incoming import Incoming
from tiered_core.ledger import Ask
from tiered_core.portable import read_portable
from tiered_core.programs.deciding import Deciding
from tiered_core.recognise import Seen, common_prefix, new_messages
from tiered_core.rendering import change_to_json
from tiered_core.shelf import rung_key
from tiered_core.state import ContextState
from tiered_core.stores.protocol import Commit, NewRow, Row, StoredState
from tiered_core.types import Change, Rung, Slot

_log = logging.getLogger("tiered_core")


class Writing(Deciding):
    """Programs that write."""

    def add(self, incoming: Sequence[Incoming]) -> Program[None]:
        """Stores what is new of these messages, then settles."""
        while True:
            yield from self.catch_up()
            new = yield from self._new_of(incoming)
            if not new or (yield from self._append(new, None)):
                break
        yield from self.settle()

    def _new_of(self, incoming: Sequence[Incoming]) -> Program[list[Incoming]]:
        seen = [Seen(i.reading.id, i.digest, i.reading.role == "system") for i in incoming]
        stored = [self._is_stored(i) for i in incoming]
        known: list[list[str]] = []
        if len(incoming) > 1 and len(self.conversation):
            view = yield from self._view_digests(len(incoming))
            known = [d for d in (view, self._digests_within(len(incoming))) if d]
        return [incoming[k] for k in new_messages(seen, known, stored)]

    def _is_stored(self, item: Incoming) -> bool:
        """Whether the host's id is stored with this content, or with a rendering of it."""
        position = None if item.reading.id is None else self.conversation.find(item.reading.id)
        if position is None:
            return False
        if self.conversation.entry(position).digest == item.digest:
            return True
        return item.digest in self._rendered_digests({item.reading.id or ""})

    def _rendered_digests(self, ids: Iterable[str]) -> set[str]:
        wanted = set(ids)
        return {
            self.renderer.codec.read(message).digest()
            for ask, message in list(self.composer.rendered.items())
            if ask.slot.entry in wanted and ask.slot.kind == "message"
        }

    def _digests_within(self, size: int) -> list[str]:
        """The digests of the whole transcript, if it isn't longer than a batch of this size."""
        return self.conversation.digests() if len(self.conversation) <= size else []

    def _view_digests(self, size: int) -> Program[list[str]]:
        """The digests of the whole view, if it isn't longer than a batch of this size."""
        made = yield from self._fit_for_reading(0)
        if sum(s.kind not in ("notice", "opening") for s in made.slots) > size:
            return []
        messages = yield from self.composer.compose(made.slots, made.handles)
        return [self.renderer.codec.read(m).digest() for m in messages]

    def _shown(self) -> Program[tuple[tuple[Slot, ...], list[Any]]]:
        made = yield from self._fit_for_reading(0)
        messages = yield from self.composer.compose(made.slots, made.handles)
        return made.slots, messages

    def _append(self, new: Sequence[Incoming], keep: int | None) -> Program[bool]:
        """Appends messages, after a rewind to `keep` messages if that is given; False when another was faster."""
        after = self.conversation.last
        rows: list[NewRow] = [] if keep is None else [NewRow("rewind", keep=keep)]
        taken: set[str] = set()
        for item in new:
            seq = after + len(rows) + 1
            id = item.reading.id
            used = id is None or id in taken or self._stays(id, keep)
            entry = self.renderer.entry(item.message, item.reading, f"#{seq}" if used or id is None else id)
            taken.add(entry.id)
            rows.append(NewRow("message", entry.id, encode_meta(entry, self.renderer.counter.name), item.body))
        if not (yield StoreCall("append", (after, rows))):
            return False
        if keep is not None:
            self.composer.forget()
            self._measured.clear()
        numbered = [Row(after + 1 + k, r.kind, r.id, r.meta, r.keep) for k, r in enumerate(rows)]
        self.conversation.apply(numbered)
        messages = (row.seq for row in numbered if row.kind == "message")
        for seq, item in zip(messages, new, strict=True):
            self.shelf.put(seq, item.message)
        return True

    def _stays(self, id: str, keep: int | None) -> bool:
        position = self.conversation.find(id)
        return position is not None and (keep is None or position < keep)

    def replace(self, incoming: Sequence[Incoming], known: int = 0, at: int = 0) -> Program[bool]:
        """Makes messages the transcript: keeps what they have in common with it from the start, then settles.

        Args:
            incoming: the messages, but for the first `known` ones.
            known: how many messages stand at the head of the transcript already.
            at: the last row of the log for which that is so.

        Returns:
            False, and nothing is done, when the log has gone on since that row: all messages are needed then.
        """
        if not (yield from self.become(incoming, known, at)):
            return False
        yield from self.settle()
        return True

    def become(self, incoming: Sequence[Incoming], known: int = 0, at: int = 0) -> Program[bool]:
        """What `replace` does, without deciding anything on the view."""
        while True:
            yield from self.catch_up()
            if known and self.conversation.last != at:
                return False
            digests = [i.digest for i in incoming]
            shared = known + common_prefix(digests, self.conversation.digests(known))
            taken = shared - known
            if shared < len(self.conversation) and taken < len(digests) and not known:
                shared, taken = yield from self._shared_with_view(digests, shared)
            new = list(incoming[taken:])
            keep = None if shared == len(self.conversation) else shared
            if (not new and keep is None) or (yield from self._append(new, keep)):
                return True

    def _shared_with_view(self, digests: Sequence[str], shared: int) -> Program[tuple[int, int]]:
        """(messages that stay, messages of the batch they stand for), when the batch may be a view that was edited."""
        slots, messages = yield from self._shown()
        view = [self.renderer.codec.read(m).digest() for m in messages]
        same = common_prefix(digests, view)
        places = [self.conversation.find(s.entry) for s in slots if s.kind not in ("notice", "opening")]
        if len(places) < len(view):
            places.insert(0, None)
        talk = [p for p in places[:same] if p is not None and self.conversation.entry(p).role != "system"]
        if same <= shared or not talk:
            return shared, shared
        return max(talk) + 1, same

    def settle(self) -> Program[None]:
        """Gives new messages their rungs, makes a batch where one is due, and stores what was decided."""
        while True:
            stored, state, back = yield from self.load_state()
            entries = yield from self._live(state)
            planned = state.with_overhead(self._overhead)
            if self._calibration is not None:
                planned = replace(planned, calibration=MappingProxyType(self._calibration.to_dict()))
            made = yield from self._fit(entries, planned, planned.overhead, self._settings.strategy)
            if not made.fits:
                # Nothing that could be given up would help now; what is not given up can be shown when it fits again.
                made = yield from self._fit(entries, planned, planned.overhead, self._settings.strategy, compact=False)
            new = replace(made.state, seq=self.conversation.last)
            events = (*self._restored(back, new.turn), *self._failed(new.turn), *made.events)
            if new == self._state[1] or (not events and not len(self.conversation)):
                return
            fresh = [Ask(Slot(i, m.rung), m.handle) for i, m in new.rungs.items() if state.rungs.get(i) != m]
            renderings = yield from self.composer.renderings(fresh)
            commit = self._commit_of(stored, new, renderings, made, events)
            if (yield StoreCall("commit", (commit,))):
                self._committed(stored, new, commit, renderings)
                if made.fits:
                    self._read = ((self.conversation.last, stored.version + 1, new.overhead), made)
                self._tell(events)
                return
            yield from self.catch_up()

    def _restored(self, back: Sequence[int], turn: int) -> list[ContextEvent]:
        entries = [self.conversation.entry(p) for p in back]
        why = "the messages behind it were taken back"
        return [
            ContextEvent("restored", (e.id,), (e.position,), e.tier.value, 0, e.tokens, why, turn=turn) for e in entries
        ]

    def _failed(self, turn: int) -> list[ContextEvent]:
        """What went wrong while rendering, each once."""
        failures, self.renderer.failures[:] = list(dict.fromkeys(self.renderer.failures)), []
        return [ContextEvent("failed", reason=reason, turn=turn) for reason in failures]

    def _commit_of(
        self, stored: StoredState, state: ContextState, renderings: Sequence[tuple[int, Rung, Change]], made: Fit,
        events: Sequence[ContextEvent],
    ) -> Commit:  # fmt: skip
        texts = [(seq, rung_key(rung), change_to_json(change)) for seq, rung, change in renderings]
        handles = [(number, self.conversation.seq(id)) for number, id in made.archived]
        return Commit(stored.version, state.to_json(), texts, handles, [e.to_json() for e in events])

    def _committed(
        self, stored: StoredState, state: ContextState, commit: Commit, renderings: Sequence[tuple[int, Rung, Change]]
    ) -> None:
        for seq, rung, change in renderings:
            self.shelf.put_change(seq, rung, change)
        self.composer.pending.clear()
        self._handles.update(commit.handles)
        self._state = (StoredState(stored.version + 1, commit.state), state)

    def _tell(self, events: Sequence[ContextEvent]) -> None:
        """Calls the hooks. What they do wrong is logged: everything is stored, and the chat goes on."""
        for hook in self._settings.hooks:
            for event in events:
                try:
                    hook(event)
                except Exception:  # noqa: BLE001 - whatever an observer does, it is logged with its traceback
                    _log.exception("a hook failed on %s", event)

    def restore(self, text: str, incoming: Sequence[Incoming]) -> Program[None]:
        """Makes these messages the transcript, and what was exported its state; then settles."""
        yield from self.become(incoming)
        while True:
            stored = yield StoreCall("state", ())
            found = read_portable(text, self.conversation)
            renderings = [(seq, rung_key(rung), change_to_json(c)) for (seq, rung), c in found.renderings.items()]
            commit = Commit(stored.version, found.state.to_json(), renderings, found.handles)
            if (yield StoreCall("commit", (commit,))):
                break
        self.composer.forget()
        self._measured.clear()
        self._handles.update(found.handles)
        for (seq, rung), change in found.renderings.items():
            self.shelf.put_change(seq, rung, change)
        yield from self.settle()

    def clear(self) -> Program[None]:
        """Deletes the session."""
        yield StoreCall("clear", ())
        yield from self.catch_up()
