"""Taking out what must not be stored, from everything in a message that can hold words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tiered_core.errors import TieredError

Redact = Callable[[str], str]

# Links, sizes and bytes: altering them would break pairing or the message, and none is anybody's words.
_STRUCTURE = frozenset(
    "role type id index name tool_call_id call_id tool_id signature thought_signature encrypted_content data url "
    "image audio video base64 file_id media_type mime_type mimetype image_mimetype format detail status class_name "
    "block_type finish_reason stop_reason model model_name model_provider lc_source".split()
)
_ARGUMENTS = frozenset(("args", "arguments", "input", "tool_kwargs"))
_SIGNED = ("signature", "thought_signature", "encrypted_content")


def redact_values(value: Any, redact: Redact, *, words: bool = False) -> Any:
    """A copy of a plain value (dicts, lists, tuples, strings) with `redact` applied to all words in it.

    Ids, kinds, links and bytes stay, and so does what a provider signed: it would be refused when it is altered.
    Inside of call arguments every string counts as words.

    Args:
        value: whatever; what is no dict, list, tuple or string is returned as it is.
        redact: from a text to the text to store.
        words: whether `value` belongs to call arguments.

    Raises:
        TieredError: `redact` gave back something else than a string.
    """
    if isinstance(value, str):
        return applied(value, redact) if value else value
    if isinstance(value, list | tuple):
        return type(value)([redact_values(v, redact, words=words) for v in value])
    if not isinstance(value, dict) or (not words and any(value.get(key) for key in _SIGNED)):
        return value
    out = {}
    for key, held in value.items():
        inside = words or key in _ARGUMENTS
        keep = not inside and key in _STRUCTURE and not isinstance(held, dict | list)
        out[key] = held if keep else redact_values(held, redact, words=inside)
    return out


def applied(text: str, redact: Redact) -> str:
    """What `redact` makes of a text.

    Raises:
        TieredError: it gave back something else than a string.
    """
    made = redact(text)
    if not isinstance(made, str):
        raise TieredError(f"redact gave back {type(made).__name__} for a text; it has to give back the text to store")
    return made
