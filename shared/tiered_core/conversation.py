"""The log of a session as this process knows it: rows in, entries out.

Rows are decoded when they are asked for, so that opening a long session costs little.
"""

from __future__ import annotations

import json
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tiered_core.stores.protocol import Row
from tiered_core.types import Entry

_ROLES = {"s": "system", "u": "user", "a": "assistant", "t": "tool"}


def encode_meta(entry: Entry, counter: str) -> str:
    """Numbers and links of an entry as text; the first letter is that of its role."""
    values = [
        entry.kind, entry.tokens, entry.fixed, entry.calls, entry.answers, int(entry.signed), int(entry.blank),
        entry.digest, counter,
    ]  # fmt: skip
    return entry.role[0] + json.dumps(values, separators=(",", ":"))


def decode_meta(id: str, meta: str) -> tuple[Entry, str]:
    """The entry (position and turn left at 0) and the name of the counter that counted it."""
    kind, tokens, fixed, calls, answers, signed, blank, digest, counter = json.loads(meta[1:])
    role = _ROLES[meta[0]]
    entry = Entry(
        id, role, kind, tokens, fixed, tuple(calls), tuple(answers), bool(signed), bool(blank), digest  # type: ignore[arg-type]
    )  # fmt: skip
    return entry, counter


@dataclass(frozen=True, slots=True)
class Removed:
    """A message that a rewind took out of the transcript: its entry, its row number, and that of the rewind."""

    entry: Entry
    seq: int
    by: int


class Conversation:
    """The transcript of the current branch. Positions count from 0 and index all lists.

    Attributes:
        last: number of the last row that was applied.
        seqs: row numbers of the messages, ascending.
    """

    def __init__(self, counter: str) -> None:
        self.last = 0
        self.seqs: list[int] = []
        self._counter = counter
        self._rows: list[Row] = []
        self._entries: list[Entry | None] = []
        self._turns: list[int] = []
        self._systems: list[int] = []
        self._index: dict[str, int] = {}
        self._removed: list[Removed] = []
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self.seqs)

    def apply(self, rows: Sequence[Row]) -> None:
        """Takes in rows; those that are known already are passed over."""
        with self._lock:
            for row in rows:
                if row.seq <= self.last:
                    continue
                self.last = row.seq
                if row.kind == "message":
                    self._append(row)
                elif row.kind == "rewind":
                    removed = range(row.keep, len(self))
                    self._removed += [Removed(self.entry(p), self.seqs[p], row.seq) for p in removed]
                    self._truncate(row.keep)
                else:
                    self._removed.clear()
                    self._truncate(0)

    def _append(self, row: Row) -> None:
        position = len(self.seqs)
        self.seqs.append(row.seq)
        self._rows.append(row)
        self._entries.append(None)
        self._index[row.id] = position
        letter = row.meta[0]
        if letter == "s":
            self._systems.append(position)
        before = self._turns[-1] if self._turns else 0
        self._turns.append(before + (letter == "u"))

    def _truncate(self, keep: int) -> None:
        for row in self._rows[keep:]:
            self._index.pop(row.id, None)
        for values in (self.seqs, self._rows, self._entries, self._turns):
            del values[keep:]
        self._systems = [p for p in self._systems if p < keep]

    def entry(self, position: int) -> Entry:
        """The entry at a position."""
        found = self._entries[position]
        if found is None:
            row = self._rows[position]
            found, _ = decode_meta(row.id, row.meta)
            found = replace(found, position=position, turn=self._turns[position])
            self._entries[position] = found
        return found

    def recounted(self, position: int, entry: Entry) -> None:
        """Puts an entry in place that was counted anew."""
        self._entries[position] = replace(entry, position=position, turn=self._turns[position])

    def counted_otherwise(self, positions: Sequence[int]) -> list[int]:
        """Those of the positions whose tokens were counted by another counter and not yet anew."""
        mine = f',"{self._counter}"]'
        return [p for p in positions if self._entries[p] is None and not self._rows[p].meta.endswith(mine)]

    def removed(self, after: int) -> list[Removed]:
        """Messages that were taken out of the transcript by rows above `after`; older ones are forgotten."""
        self._removed = [r for r in self._removed if r.by > after]
        return list(self._removed)

    def live(self, first: int) -> list[int]:
        """Positions of all system messages, and of everything from `first` on."""
        return [p for p in self._systems if p < first] + list(range(first, len(self)))

    def find(self, id: str) -> int | None:
        """The position of an entry, None when it is not in the current branch."""
        return self._index.get(id)

    def seq(self, id: str) -> int:
        """The row number of an entry of the current branch."""
        return self.seqs[self._index[id]]

    def born(self, seq: int) -> int:
        """How many messages of the current branch came with a row number up to `seq`."""
        return bisect_right(self.seqs, seq)

    def start_of_turn(self, before: int) -> int:
        """The position of the newest user message among the first `before` messages, 0 when there is none."""
        if not before or not self._turns[before - 1]:
            return 0
        return bisect_left(self._turns, self._turns[before - 1])

    def digests(self, start: int = 0) -> list[str]:
        """The content digests of the messages from a position on, in order."""
        return [self.entry(p).digest for p in range(start, len(self))]
