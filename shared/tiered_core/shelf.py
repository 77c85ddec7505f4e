"""Host messages and renderings that this process has at hand; the rest is fetched from the store when it is needed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tiered_core.codec import Codec
from tiered_core.drive import Program, StoreCall
from tiered_core.errors import StoreError
from tiered_core.rendering import change_from_json
from tiered_core.types import Change, Reading, Rung


def rung_key(rung: Rung) -> str:
    """A rung as the store names it."""
    return f"{rung.level}:{rung.cap}:{rung.rows}"


class Shelf:
    """A bounded cache in front of the store.

    Args:
        codec: of the host.
        keep: messages held at the most; None for all (a store in memory, whose messages are at hand anyway).
    """

    def __init__(self, codec: Codec, keep: int | None) -> None:
        self._codec = codec
        self._keep = keep
        self._lock = threading.RLock()
        self._messages: OrderedDict[int, Any] = OrderedDict()
        self._changes: OrderedDict[tuple[int, str], Change] = OrderedDict()

    def put(self, seq: int, message: Any) -> None:
        """Holds a message (which nobody else may alter)."""
        with self._lock:
            self._messages[seq] = message
            self._messages.move_to_end(seq)
            while self._keep is not None and len(self._messages) > self._keep:
                self._messages.popitem(last=False)

    def put_change(self, seq: int, rung: Rung, change: Change) -> None:
        """Holds a rendering that is stored."""
        with self._lock:
            self._changes[seq, rung_key(rung)] = change
            while self._keep is not None and len(self._changes) > self._keep:
                self._changes.popitem(last=False)

    def forget(self) -> None:
        """Lets go of everything."""
        with self._lock:
            self._messages.clear()
            self._changes.clear()

    def messages(self, seqs: Iterable[int]) -> Program[Mapping[int, Any]]:
        """The host messages of these rows; they must not be altered or handed out."""
        wanted = list(dict.fromkeys(seqs))
        with self._lock:
            out = {s: self._messages[s] for s in wanted if s in self._messages}
        missing = [s for s in wanted if s not in out]
        if missing:
            bodies = yield StoreCall("bodies", (missing,))
            for seq in missing:
                if seq not in bodies:
                    raise StoreError(f"the store has no body for message {seq}: the store was altered from outside")
                out[seq] = self._codec.load(bodies[seq])
                self.put(seq, out[seq])
        return out

    def readings(self, seqs: Sequence[int]) -> Program[Mapping[int, Reading]]:
        """The readings of these rows."""
        messages = yield from self.messages(seqs)
        return {s: self._codec.read(m) for s, m in messages.items()}

    def changes(self, keys: Sequence[tuple[int, Rung]]) -> Program[Mapping[tuple[int, Rung], Change]]:
        """The stored renderings of (row, rung)."""
        named = {(seq, rung_key(rung)): (seq, rung) for seq, rung in keys}
        with self._lock:
            out = {key: self._changes[name] for name, key in named.items() if name in self._changes}
        missing = [name for name, key in named.items() if key not in out]
        if missing:
            texts = yield StoreCall("renderings", (missing,))
            for name, text in texts.items():
                out[named[name]] = change_from_json(text)
                self.put_change(*named[name], out[named[name]])
        return out
