"""Taking out what must not be stored, from everything in a message that can hold words."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tiered_core.codec import Codec
from tiered_core.errors import TieredError

Redact = Callable[[str], str]

# Links, sizes and bytes: altering them would break pairing or the message, and none is anybody's words.
_STRUCTURE = frozenset(
    "role type id index name tool_call_id call_id tool_id signature thought_signature encrypted_content data url "
    "image audio video base64 file_id media_type mime_type mimetype image_mimetype format detail status class_name "
    "block_type finish_reason stop_reason model model_name model_provider lc".split()
)
_ARGUMENTS = frozenset(("args", "arguments", "input", "tool_kwargs"))
_SIGNED = ("signature", "thought_signature", "encrypted_content")


def redacted(message: Any, codec: Codec, redact: Redact) -> Any:
    """The message with `redact` applied to texts, arguments, unsigned reasoning, unknown blocks and kwargs.

    Signed reasoning stays as it is: a provider refuses it when it is altered.

    Raises:
        TieredError: `redact` gave back something else than a string.
    """
    before = json.loads(codec.dump(message))
    after = _walk(before, redact, inside=False)
    return message if after == before else codec.load(json.dumps(after, ensure_ascii=False))


def _walk(value: Any, redact: Redact, *, inside: bool) -> Any:
    if isinstance(value, str):
        return _applied(value, redact) if value else value
    if isinstance(value, list):
        return [_walk(v, redact, inside=inside) for v in value]
    if not isinstance(value, dict) or (not inside and any(value.get(key) for key in _SIGNED)):
        return value
    out = {}
    for key, held in value.items():
        words = inside or key in _ARGUMENTS
        keep = not words and key in _STRUCTURE and not isinstance(held, dict | list)
        out[key] = held if keep else _walk(held, redact, inside=words)
    return out


def _applied(text: str, redact: Redact) -> str:
    made = redact(text)
    if not isinstance(made, str):
        raise TieredError(f"redact gave back {type(made).__name__} for a text; it has to give back the text to store")
    return made
