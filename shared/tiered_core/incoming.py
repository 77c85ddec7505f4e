"""A message on its way in: redacted, copied, read and counted before anything is stored."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tiered_core.codec import Codec
from tiered_core.conversation import Conversation
from tiered_core.errors import TranscriptError
from tiered_core.redaction import Redact
from tiered_core.types import Reading


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message that belongs to us alone, with its reading, its content digest and its JSON text."""

    message: Any
    reading: Reading
    digest: str
    body: str


def take_in(messages: Sequence[Any], codec: Codec, redact: Redact | None) -> list[Incoming]:
    """Copies and reads all messages; none is kept if one can't be read.

    Raises:
        TranscriptError: a message can't be read or stored; the text names its index.
    """
    checked(messages)
    out = []
    for index, message in enumerate(messages):
        try:
            out.append(_taken(message, codec, redact))
        except TranscriptError as error:
            raise TranscriptError(f"message {index} of {len(messages)}: {error}") from error
        except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise TranscriptError(
                f"message {index} of {len(messages)} has not the form of a {codec.name} message: {error!r}"
            ) from error
    return out


def checked(messages: Any) -> None:
    """Refuses what is no list of messages.

    Raises:
        TranscriptError: it is something else; the text says what.
    """
    if isinstance(messages, str | bytes | dict) or not isinstance(messages, Sequence):
        raise TranscriptError(
            f"expected a list of messages, got {type(messages).__name__}; put a single one into a list"
        )


def _taken(message: Any, codec: Codec, redact: Redact | None) -> Incoming:
    own = codec.copy(message)
    if redact is not None:
        own = codec.redacted(own, redact)
    reading = codec.read(own)
    return Incoming(own, reading, reading.digest(), codec.dump(own))


class Mirror:
    """The list of messages that a host handed over last as its whole transcript.

    A host that keeps the transcript hands over the same objects again and again, with some new ones at the end.
    Those that are the same objects, with the same content and calls in them, need not be copied, read and compared.
    """

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._seen: list[tuple[Any, Any]] = []
        self._at = 0

    @contextmanager
    def following(self, messages: Sequence[Any]) -> Iterator[tuple[int, int]]:
        """(how many messages are known from last time, at which row of the log that was); remembers them at the end."""
        known, seen = 0, self._seen
        if isinstance(messages, list | tuple):
            for message, (old, content) in zip(messages, seen, strict=False):
                if message is not old or not _same(_content(message), content):
                    break
                known += 1
        at, self._seen = self._at, []
        yield known, at
        if isinstance(messages, list | tuple):
            self._seen = [*seen[:known], *((m, _content(m)) for m in messages[known:])]
            self._at = self._conversation.last


def _content(message: Any) -> tuple[Any, ...]:
    """The objects that hold a message's content and calls, whatever the host: they change when somebody edits them."""
    held = message if isinstance(message, Mapping) else getattr(message, "__dict__", {})
    out: list[Any] = []
    for name in ("content", "blocks", "tool_calls"):
        value = held.get(name)
        out.append(None if isinstance(value, list) else value)
        for part in value if isinstance(value, list) else ():
            inner = part if isinstance(part, Mapping) else getattr(part, "__dict__", {})
            out += [part, inner.get("text"), inner.get("args"), inner.get("function")]
    return tuple(out)


def _same(one: tuple[Any, ...], two: tuple[Any, ...]) -> bool:
    return len(one) == len(two) and all(map(operator.is_, one, two))
