"""Originals by handle, whole or piece by piece."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tiered_core.codec import Codec
from tiered_core.errors import TranscriptError
from tiered_core.types import Recalled, Side

DEFAULT_LIMIT = 2_000
_HANDLE = re.compile(r"\[?r([1-9][0-9]{0,11})\]?\Z")


def number_of(handle: str) -> int:
    """The number of a handle such as `r12`.

    Raises:
        TranscriptError: it has not the form of a handle.
    """
    match = _HANDLE.match(handle.strip()) if isinstance(handle, str) else None
    if match is None:
        raise TranscriptError(f"{handle!r} is no handle; a handle is an r and a number, such as r12")
    return int(match[1])


def original_text(codec: Codec, message: Any) -> str:
    """The body exactly as it came when the message holds nothing but text; else the message as JSON text."""
    reading = codec.read(message)
    if len(reading.texts) == 1 and not (reading.calls or reading.media or reading.reasoning or reading.extra):
        return reading.texts[0]
    return codec.dump(message)


def piece(
    text: str, handle: str, offset: int, limit_tokens: int | None, truncate: Callable[[str, int, Side], str]
) -> Recalled:
    """The piece of an original that starts at a character and has at most a number of tokens (all when None).

    Raises:
        TranscriptError: the offset lies outside of the text, or the limit is not positive.
    """
    for name, value in (("offset", offset), ("limit_tokens", limit_tokens)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise TranscriptError(f"{name} must be a whole number, got {value!r}")
    if offset < 0 or offset > len(text):
        raise TranscriptError(f"offset {offset} lies outside of {handle}, which has {len(text)} characters")
    if limit_tokens is None:
        return Recalled(text[offset:], None, len(text), handle)
    if limit_tokens < 1:
        raise TranscriptError(f"limit_tokens must be at least 1, got {limit_tokens}")
    rest = text[offset:]
    part = truncate(rest, limit_tokens, "head")
    if rest and not part:
        part = rest[0]  # one character may need more tokens than asked for; without it there is no way on
    end = offset + len(part)
    return Recalled(part, None if end >= len(text) else end, len(text), handle)
