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
from tiered_core.errors import StoreError
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
from tiered_core.types import FULL, Change, Entry, Rung, Slot

_BLOCKS = ("notice", "opening")
_MOST_TRIES = 1_000
_log = logging.getLogger("tiered_core")


class Writing(Deciding):
    """Programs that write."""

    def add(self, incoming: Sequence[Incoming]) -> Program[None]:
        """Stores what is new of these messages, then settles."""
        for _ in range(_MOST_TRIES):
            yield from self.catch_up()
            new = yield from self._new_of(incoming)
            if not new or (yield from self._append(new, None)):
                break
        else:
            raise _refused("append")
        yield from self.settle_later()

    def _new_of(self, incoming: Sequence[Incoming]) -> Program[list[Incoming]]:
        seen = [Seen(i.reading.id, i.digest, i.reading.role == "system") for i in incoming]
        stored = [self._is_stored(i) for i in incoming]
        known: list[list[Seen]] = []
        if len(incoming) > 1 and len(self.conversation):
            view = yield from self._view_within(len(incoming))
            known = [view, self._transcript_within(len(incoming))]
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

    def _transcript_within(self, size: int) -> list[Seen]:
        """The whole transcript as it is compared, if it isn't longer than a batch of this size."""
        if len(self.conversation) > size:
            return []
        entries = map(self.conversation.entry, range(len(self.conversation)))
        return [Seen(None if e.id.startswith("#") else e.id, e.digest, e.role == "system") for e in entries]

    def _view_within(self, size: int) -> Program[list[Seen]]:
        """The whole view as it is compared, if it isn't longer than a batch of this size.

        A view without anything of ours in it could as well be what is said next, word for word the same as before.
        """
        made = yield from self._fit_for_reading(0)
        ours = any(s.kind != "message" or s.rung != FULL for s in made.slots)
        if not ours or sum(s.kind not in ("notice", "opening") for s in made.slots) > size:
            return []
        messages = yield from self.composer.compose(made.slots, made.handles)
        readings = map(self.renderer.codec.read, messages)
        return [Seen(r.id, r.digest(), r.role == "system") for r in readings]

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
        yield from self.settle_later()
        return True

    def become(
        self, incoming: Sequence[Incoming], known: int = 0, at: int = 0, *, exact: bool = False
    ) -> Program[bool]:
        """What `replace` does, without deciding anything on the view; `exact` takes no list for an edited view."""
        for _ in range(_MOST_TRIES):
            yield from self.catch_up()
            if known and self.conversation.last != at:
                return False
            digests = [i.digest for i in incoming]
            shared = known + common_prefix(digests, self.conversation.digests(known))
            taken = shared - known
            if shared < len(self.conversation) and taken < len(digests) and not known and not exact:
                shared, taken = yield from self._shared_with_view(digests, shared)
            new = list(incoming[taken:])
            keep = None if shared == len(self.conversation) else shared
            if (not new and keep is None) or (yield from self._append(new, keep)):
                return True
        raise _refused("append")

    def _shared_with_view(self, digests: Sequence[str], shared: int) -> Program[tuple[int, int]]:
        """(messages that stay, messages of the batch they stand for), when the batch is a view that was edited.

        It is one only if it begins like the view and that beginning holds something of ours: no transcript does.
        """
        slots, messages = yield from self._shown()
        view = [self.renderer.codec.read(m).digest() for m in messages]
        same = common_prefix(digests, view)
        shown = [s for s in slots if s.kind not in _BLOCKS]
        blocks = len(shown) < len(slots)
        own_system = blocks and len(shown) < len(view)
        taken = shown[: max(0, same - own_system)]
        systems = sum(self._talk_at(s) is None for s in shown)
        ours = any(s.kind != "message" or s.rung != FULL for s in taken)
        if not ours and not (blocks and same >= max(systems, 1)):
            return shared, shared
        talk = [p for p in map(self._talk_at, shown) if p is not None]
        kept = [p for p in map(self._talk_at, taken) if p is not None]
        stays = max(kept) + 1 if kept else min(talk, default=0)
        if same == len(view):
            stays = len(self.conversation)  # with a call at its end that is not shown before it has its results
        return (stays, same) if stays > shared else (shared, shared)

    def _talk_at(self, slot: Slot) -> int | None:
        """The position of a slot's message, None for system text."""
        position = self.conversation.find(slot.entry)
        return None if position is None or self.conversation.entry(position).role == "system" else position

    def settle_later(self) -> Program[None]:
        """Settles; a store that fails now, after the messages are stored, fails nobody: the next call settles."""
        try:
            yield from self.settle()
        except StoreError:
            _log.warning("the messages are stored, the state is not: the next call settles", exc_info=True)

    def settle(self) -> Program[None]:
        """Gives new messages their rungs, makes a batch where one is due, and stores what was decided."""
        for _ in range(_MOST_TRIES):
            stored, state, back = yield from self.load_state()
            entries = yield from self._live(state)
            planned = state.with_overhead(self._overhead)
            if self._calibration is not None:
                planned = replace(planned, calibration=MappingProxyType(self._calibration.to_dict()))
            made, around = yield from self._decide(entries, planned)
            new = replace(made.state, seq=self.conversation.last)
            taken, handles = self._taken_back(made)
            new = replace(new, next_handle=new.next_handle + len(handles))
            events = (*taken, *self._restored(back, new.turn), *self._failed(new.turn), *made.events)
            if new == self._state[1] or (not events and not len(self.conversation)):
                return
            fresh = [Ask(Slot(i, m.rung), m.handle) for i, m in new.rungs.items() if state.rungs.get(i) != m]
            renderings = yield from self.composer.renderings(fresh)
            commit = self._commit_of(stored, new, renderings, [*self._hidden(made), *handles], events)
            if (yield StoreCall("commit", (commit,))):
                self._committed(stored, new, commit, renderings)
                if made.fits:
                    self._read = ((self.conversation.last, stored.version + 1, around), made)
                self._tell(events)
                return
            yield from self.catch_up()
        raise _refused("commit")

    def _decide(self, entries: Sequence[Entry], planned: ContextState) -> Program[tuple[Fit, int]]:
        """What is to be stored, and for how much around the view it was decided."""
        strategy = self._settings.strategy
        for around in sorted({planned.overhead, 0}, reverse=True):
            # Where what is planned for can't be had, a call with less around it can.
            made = yield from self._fit(entries, planned, around, strategy)
            if made.fits:
                return made, around
        # Nothing that could be given up would help now; what is not given up can be shown when it fits again.
        made = yield from self._fit(entries, planned, planned.overhead, strategy, compact=False)
        return made, planned.overhead

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

    def _taken_back(self, made: Fit) -> tuple[list[ContextEvent], list[tuple[int, int]]]:
        """Events and handles of messages that an edit took out of the transcript; those that have a handle keep it."""
        before = self._state[1]
        gone = self.conversation.removed(before.seq)
        named = {seq: number for number, seq in self._handles.items()} if gone else {}
        events: list[ContextEvent] = []
        handles: list[tuple[int, int]] = []
        for removed in gone:
            entry, mark = removed.entry, before.rungs.get(removed.entry.id)
            number = mark.handle if mark is not None else named.get(removed.seq)
            if number is None:
                number = made.state.next_handle + len(handles)
                handles.append((number, removed.seq))
            shown = 0 if entry.position < before.first else entry.tokens if mark is None else mark.tokens
            events.append(
                ContextEvent(
                    "evicted", (entry.id,), (entry.position,), entry.tier.value, shown, 0,
                    "an edit took it out of the transcript", f"r{number}", made.state.turn,
                )
            )  # fmt: skip
        return events, handles

    def _hidden(self, made: Fit) -> list[tuple[int, int]]:
        """(handle number, row) of what is hidden from now on."""
        return [(number, self.conversation.seq(id)) for number, id in made.archived]

    def _commit_of(
        self, stored: StoredState, state: ContextState, renderings: Sequence[tuple[int, Rung, Change]],
        handles: Sequence[tuple[int, int]], events: Sequence[ContextEvent],
    ) -> Commit:  # fmt: skip
        texts = [(seq, rung_key(rung), change_to_json(change)) for seq, rung, change in renderings]
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
        yield from self.become(incoming, exact=True)
        for _ in range(_MOST_TRIES):
            stored = yield StoreCall("state", ())
            found = read_portable(text, self.conversation)
            renderings = [(seq, rung_key(rung), change_to_json(c)) for (seq, rung), c in found.renderings.items()]
            commit = Commit(stored.version, found.state.to_json(), renderings, found.handles)
            if (yield StoreCall("commit", (commit,))):
                break
        else:
            raise _refused("commit")
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


def _refused(method: str) -> StoreError:
    return StoreError(
        f"the store refused to {method} {_MOST_TRIES:,} times in a row as if somebody else was always faster: "
        f"check its {method} method"
    )
