"""Remembers what texts cost, so that a stored text is tokenised once."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

from tiered_core.counting.framing import NEUTRAL, FramedCounter
from tiered_core.counting.pictures import OPENAI_TILES
from tiered_core.counting.plain import compact_json, text_of
from tiered_core.counting.protocol import TokenCounter
from tiered_core.types import Media, Side

_KEPT_AS_TEXT = 64
"""Characters up to which a text is its own key; hashing a shorter one costs more than it saves."""


class MemoCounter(FramedCounter):
    """A counter in front of another one: equal texts are counted once. Safe for use by several threads.

    Attributes:
        inner: the counter that is asked.
        characters: characters handed to `inner` so far.
        hits: texts that were answered from memory so far.

    Args:
        inner: the counter to wrap.
        entries: texts that are remembered; the least recently used one goes first. Longer texts are kept by length and
            128-bit hash only.
    """

    def __init__(self, inner: TokenCounter, entries: int = 20_000) -> None:
        framing = inner.framing if isinstance(inner, FramedCounter) else NEUTRAL
        pictures = inner.pictures if isinstance(inner, FramedCounter) else OPENAI_TILES
        super().__init__(inner.name, inner.exact, framing, pictures)
        self.inner = inner
        self.characters = 0
        self.hits = 0
        self._entries = max(1, entries)
        self._known: OrderedDict[str | tuple[int, bytes], int] = OrderedDict()
        self._lock = threading.Lock()

    def count_text(self, text: str) -> int:
        """Tokens of a text, from memory where it was counted before."""
        text = text_of(text)
        if not text:
            return 0
        key = _key(text)
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                self.hits += 1
                return known
        tokens = self.inner.count_text(text)
        with self._lock:
            self.characters += len(text)
            self._known[key] = tokens
            while len(self._known) > self._entries:
                self._known.popitem(last=False)
        return tokens

    def count_data(self, data: Any) -> int:
        """Tokens of structured data, as the inner counter counts them."""
        with self._lock:
            self.characters += len(compact_json(data))
        return self.inner.count_data(data)

    def count_image(self, media: Media) -> int:
        """Tokens of a picture, recording or file, as the inner counter counts them."""
        return self.inner.count_image(media)

    def count_tools(self, tools: Iterable[Mapping[str, Any]]) -> int:
        """Tokens of tool definitions, as the inner counter counts them."""
        return self.inner.count_tools(tools)

    def truncate(self, text: str, max_tokens: int, side: Side = "head") -> str:
        """The inner counter's cut; what it reads for it is not part of `characters`."""
        return self.inner.truncate(text, max_tokens, side)


def _key(text: str) -> str | tuple[int, bytes]:
    if len(text) <= _KEPT_AS_TEXT:
        return text
    raw = text.encode("utf-8", "surrogatepass")
    return len(text), hashlib.blake2b(raw, digest_size=16).digest()
