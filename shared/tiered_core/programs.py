"""What a session does, step by step: programs that yield calls of the store (see `drive`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from tiered_core.branch import on_branch
from tiered_core.budget import TokenBudget
from tiered_core.calibration import LEAST, Calibration
from tiered_core.composer import Composer
from tiered_core.conversation import Conversation, encode_meta
from tiered_core.drive import Program, StoreCall
from tiered_core.engine import Fit, fit
from tiered_core.errors import ContextBudgetExceededError
from tiered_core.events import ContextEvent
from tiered_core.incoming import Incoming
from tiered_core.ledger import Ask
from tiered_core.portable import read_portable, write_portable
from tiered_core.recognise import Seen, common_prefix, new_messages
from tiered_core.rendering import Renderer, change_to_json
from tiered_core.report import tokens_by_tier
from tiered_core.shelf import Shelf, rung_key
from tiered_core.state import ContextState
from tiered_core.stores.protocol import Commit, NewRow, Row, StoredState
from tiered_core.strategies import CompactionStrategy
from tiered_core.types import Change, Entry, Rung, Slot

_OVERHEAD_STEPS = 16
_KNOWN = 20_000


@dataclass(frozen=True, slots=True)
class Settings:
    """What a session was opened with."""

    budget: TokenBudget
    strategy: CompactionStrategy
    renderer: Renderer
    reply_tokens: int
    hooks: tuple[Callable[[ContextEvent], None], ...] = ()


class Programs:
    """The programs of one session. Attributes are what this process knows of it; the store has the last word."""

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

    # --- what the store says -------------------------------------------------------------------------------------

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

    # --- writing -------------------------------------------------------------------------------------------------

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
            new = replace(made.state, seq=self.conversation.last)
            events = (*self._restored(back, new.turn), *made.events)
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
        for hook in self._settings.hooks:
            for event in events:
                hook(event)

    # --- deciding ------------------------------------------------------------------------------------------------

    def _fit(
        self, entries: Sequence[Entry], state: ContextState, overhead: int, strategy: CompactionStrategy,
        *, force: bool = False,
    ) -> Program[Fit]:  # fmt: skip
        """Runs the engine, measuring what it asks for."""
        around = overhead + self._settings.reply_tokens
        fitting = fit(entries, state, self._settings.budget, around, strategy, self._measured, force=force)
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
        overhead = max(overhead, state.overhead) + upcoming
        key = (self.conversation.last, stored.version, overhead)
        if self._read is not None and self._read[0] == key:
            return self._read[1]
        made = yield from self._decide_for_reading(state, overhead)
        self._read = (key, made)
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
            deeper = yield from self._fit(entries, state, coarse, reading, force=True)
            if deeper.fits:
                return deeper
        return made

    # --- reading -------------------------------------------------------------------------------------------------

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
        self.note_overhead(overhead)
        made = yield from self._fit_for_reading(overhead, upcoming)
        if not made.fits:
            raise self._too_much(made)
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
        messages = yield from self.shelf.messages([seq])
        return messages[seq]

    def clear(self) -> Program[None]:
        """Deletes the session."""
        yield StoreCall("clear", ())
        yield from self.catch_up()

    # --- hosts that keep the state themselves --------------------------------------------------------------------

    def export(self) -> Program[str]:
        """State and renderings of the current view as text."""
        yield from self.catch_up()
        _, state, _ = yield from self.load_state()
        keys = [(self.conversation.seq(i), m.rung) for i, m in state.rungs.items()]
        changes: Mapping[tuple[int, Rung], Any] = yield from self.shelf.changes(keys)
        return write_portable(state, self.conversation, changes, self._handles)

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
