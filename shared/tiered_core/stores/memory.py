"""A store in this process's memory; it ends with the process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from tiered_core.stores.protocol import Commit, NewRow, Row, StoredState
from tiered_core.stores.twins import AsyncTwins


@dataclass(slots=True)
class _Session:
    rows: list[Row] = field(default_factory=list)
    last: int = 0
    bodies: dict[int, str] = field(default_factory=dict)
    state: StoredState = field(default_factory=StoredState)
    renderings: dict[tuple[int, str], str] = field(default_factory=dict)
    handles: dict[int, int] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)


class MemoryStore(AsyncTwins):
    """Keeps sessions in dictionaries; see `ConversationStore`."""

    blocking = False

    def __init__(self) -> None:
        self._sessions: dict[str, _Session] = {}
        self._lock = threading.Lock()

    def _of(self, session: str) -> _Session:
        return self._sessions.setdefault(session, _Session())

    def read(self, session: str, after: int = 0) -> Sequence[Row]:
        """See `ConversationStore.read`."""
        with self._lock:
            held = self._of(session)
            if after >= held.last:
                return ()
            first = held.rows[0].seq if held.rows else held.last
            return tuple(held.rows[max(0, after + 1 - first) :])

    def bodies(self, session: str, seqs: Sequence[int]) -> dict[int, str]:
        """See `ConversationStore.bodies`."""
        with self._lock:
            held = self._of(session).bodies
            return {s: held[s] for s in seqs if s in held}

    def append(self, session: str, after: int, rows: Sequence[NewRow]) -> bool:
        """See `ConversationStore.append`."""
        with self._lock:
            held = self._of(session)
            if held.last != after:
                return False
            for row in rows:
                held.last += 1
                held.rows.append(Row(held.last, row.kind, row.id, row.meta, row.keep))
                if row.kind == "message":
                    held.bodies[held.last] = row.body
            return True

    def state(self, session: str) -> StoredState:
        """See `ConversationStore.state`."""
        with self._lock:
            return self._of(session).state

    def commit(self, session: str, commit: Commit) -> bool:
        """See `ConversationStore.commit`."""
        with self._lock:
            held = self._of(session)
            if held.state.version != commit.version:
                return False
            held.state = StoredState(commit.version + 1, commit.state)
            held.renderings.update({(seq, rung): text for seq, rung, text in commit.renderings})
            held.handles.update(commit.handles)
            held.events.extend(commit.events)
            return True

    def renderings(self, session: str, keys: Sequence[tuple[int, str]]) -> dict[tuple[int, str], str]:
        """See `ConversationStore.renderings`."""
        with self._lock:
            held = self._of(session).renderings
            return {k: held[k] for k in keys if k in held}

    def handle(self, session: str, number: int) -> int | None:
        """See `ConversationStore.handle`."""
        with self._lock:
            return self._of(session).handles.get(number)

    def events(self, session: str) -> Sequence[str]:
        """See `ConversationStore.events`."""
        with self._lock:
            return tuple(self._of(session).events)

    def clear(self, session: str) -> None:
        """See `ConversationStore.clear`."""
        with self._lock:
            old = self._of(session)
            last = old.last + 1
            state = StoredState(old.state.version + 1)
            self._sessions[session] = _Session([Row(last, "clear")], last, state=state)

    def sessions(self) -> Sequence[str]:
        """See `ConversationStore.sessions`."""
        with self._lock:
            return tuple(sorted(name for name, held in self._sessions.items() if held.rows))

    def close(self) -> None:
        """Does nothing: there is nothing to release."""
