"""What the engine needs from a host: reading its messages and writing altered copies of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from tiered_core.types import Call, Change, Reading, Role


class Codec(Protocol):
    """Reads and writes the messages of one host.

    A codec never alters an object that it is given and never hands out one that shares mutable parts with it.
    Messages are opaque to the engine (`Any`).
    """

    name: str
    """Short name of the host, stored beside every message ("openai", "langchain", "llama-index")."""

    def read(self, message: Any) -> Reading:
        """The message as numbers, links and texts.

        Raises:
            TranscriptError: when it is no message of this host; the text says what was expected.
        """

    def write(self, message: Any, change: Change) -> Any:
        """A copy of the message, altered; all else (ids, names, artifacts, reasoning, kwargs) as it was."""

    def redacted(self, message: Any, redact: Callable[[str], str]) -> Any:
        """A copy with `redact` applied to all words in it: texts, call arguments, unsigned reasoning, whatever else.

        Ids, kinds, links, bytes and signed reasoning stay as they are; see `redaction.redact_values`.
        """

    def compose(self, role: Role, text: str) -> Any:
        """A new message of ours: plain text in the given role ("system", "user" or "assistant")."""

    def answer(self, call: Call, text: str) -> Any:
        """A new tool result of ours that answers the call."""

    def copy(self, message: Any) -> Any:
        """An equal message that shares no mutable content with the given one."""

    def dump(self, message: Any) -> str:
        """The message as JSON text; `load(dump(m)) == m` in the host's sense for all that JSON can hold.

        Raises:
            TranscriptError: when a part that reaches the model can't be held by JSON.
        """

    def load(self, text: str) -> Any:
        """The message that was dumped."""
