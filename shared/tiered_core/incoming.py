"""A message on its way in: redacted, copied, read and counted before anything is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tiered_core.codec import Codec
from tiered_core.errors import TranscriptError
from tiered_core.types import Change, Reading

Redact = Callable[[str], str]


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
    if isinstance(messages, str | bytes | dict) or not isinstance(messages, Sequence):
        raise TranscriptError(f"expected a list of messages, got {type(messages).__name__}; put a single one into a list")
    out = []
    for index, message in enumerate(messages):
        try:
            own = codec.copy(message)
            reading = codec.read(own)
            if redact is not None:
                own = codec.write(own, _redaction(reading, redact))
                reading = codec.read(own)
            out.append(Incoming(own, reading, reading.digest(), codec.dump(own)))
        except TranscriptError as error:
            raise TranscriptError(f"message {index} of {len(messages)}: {error}") from error
    return out


def _redaction(reading: Reading, redact: Redact) -> Change:
    return Change(
        texts=tuple(redact(t) for t in reading.texts) or None,
        arguments=tuple(redact(c.arguments) for c in reading.calls) or None,
    )
