"""What a store keeps: one append-only log, one state, renderings, handles and events per session.

The log is the transcript: rows are numbered 1, 2, 3, … in the order in which they were acknowledged. A row adds a
message, rewinds the transcript to a length (the rows stay), or clears it (everything before is deleted). Text comes
back exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

RowKind = Literal["message", "rewind", "clear"]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the log, without its body.

    Attributes:
        seq: number of the row in its session, from 1.
        kind: what it does.
        id: the entry's id, "" for rows that add no message.
        meta: numbers and links of the entry as JSON text.
        keep: for "rewind": how many messages of the transcript stay.
    """

    seq: int
    kind: RowKind
    id: str = ""
    meta: str = ""
    keep: int = 0


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row to be appended; `body` is the message as JSON text."""

    kind: RowKind
    id: str = ""
    meta: str = ""
    body: str = ""
    keep: int = 0


@dataclass(frozen=True, slots=True)
class StoredState:
    """A state with the number of times it was written; 0 and "" before the first time."""

    version: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Commit:
    """What is written together, or not at all.

    Attributes:
        version: the version of the state that this commit builds on.
        state: the new state as JSON text.
        renderings: (seq, rung as text, rendering as JSON text).
        handles: (handle number, seq).
        events: events as JSON text, in order.
    """

    version: int
    state: str
    renderings: Sequence[tuple[int, str, str]] = field(default_factory=tuple)
    handles: Sequence[tuple[int, int]] = field(default_factory=tuple)
    events: Sequence[str] = field(default_factory=tuple)


class ConversationStore(Protocol):
    """Keeps any number of sessions. Safe to use from several threads; instances in other processes may share the data.

    Every method has an async twin with an `a` before its name that does the same. A failure raises `StoreError` and
    leaves nothing half written.
    """

    def read(self, session: str, after: int = 0) -> Sequence[Row]:
        """The rows with a number above `after`, ascending. After a clear, numbering goes on."""

    async def aread(self, session: str, after: int = 0) -> Sequence[Row]:
        """See `read`."""

    def bodies(self, session: str, seqs: Sequence[int]) -> dict[int, str]:
        """The bodies of these rows, also of rewound ones; those that don't exist are left out."""

    async def abodies(self, session: str, seqs: Sequence[int]) -> dict[int, str]:
        """See `bodies`."""

    def append(self, session: str, after: int, rows: Sequence[NewRow]) -> bool:
        """Appends all rows, numbered from `after + 1`, if `after` is the number of the last row; else does nothing.

        Returns:
            Whether it appended. When False, somebody else was faster: read again and decide anew.
        """

    async def aappend(self, session: str, after: int, rows: Sequence[NewRow]) -> bool:
        """See `append`."""

    def state(self, session: str) -> StoredState:
        """The newest state."""

    async def astate(self, session: str) -> StoredState:
        """See `state`."""

    def commit(self, session: str, commit: Commit) -> bool:
        """Writes everything if the stored state still has the version the commit builds on; else does nothing.

        Returns:
            Whether it wrote; the state then has the next version.
        """

    async def acommit(self, session: str, commit: Commit) -> bool:
        """See `commit`."""

    def renderings(self, session: str, keys: Sequence[tuple[int, str]]) -> dict[tuple[int, str], str]:
        """The renderings by (seq, rung as text); those that don't exist are left out."""

    async def arenderings(self, session: str, keys: Sequence[tuple[int, str]]) -> dict[tuple[int, str], str]:
        """See `renderings`."""

    def handle(self, session: str, number: int) -> int | None:
        """The row to which a handle number belongs, None when there is none."""

    async def ahandle(self, session: str, number: int) -> int | None:
        """See `handle`."""

    def events(self, session: str) -> Sequence[str]:
        """All events as JSON text, oldest first."""

    async def aevents(self, session: str) -> Sequence[str]:
        """See `events`."""

    def clear(self, session: str) -> None:
        """Deletes bodies, state, renderings, handles and events of a session, and appends a "clear" row."""

    async def aclear(self, session: str) -> None:
        """See `clear`."""

    def sessions(self) -> Sequence[str]:
        """Names of all sessions that have a row, sorted."""

    async def asessions(self) -> Sequence[str]:
        """See `sessions`."""

    def close(self) -> None:
        """Releases connections; what was acknowledged stays. Closing twice is harmless."""

    async def aclose(self) -> None:
        """See `close`."""
