"""The longest head or tail within a number of tokens, for a byte-pair vocabulary.

The text is tokenised only as far as the answer reaches. The ids are then cut and their bytes give the place; because
a shorter piece of text may have other tokens than it had inside the longer one, the characters around that place are
counted again. No longer head (or tail) up to 32 characters beyond the answer has as few tokens, unless there is no
safe cut near it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tiered_core.counting.chunks import (
    CHUNK,
    UNSAFE_CUT_TOKENS,
    first_safe_cut,
    last_safe_cut,
    split_safely,
    split_safely_backward,
)
from tiered_core.counting.truncation import cut, truncate_by_search
from tiered_core.types import Side

Encode = Callable[[str], list[int]]
Decode = Callable[[Sequence[int]], bytes]

STRETCH = 32
"""Characters by which the answer may still grow: "international" has fewer tokens than "interna"."""
REACH = 512
"""Characters around the cut in which a safe cut is sought, so that only few are counted again."""


def head_within(text: str, max_tokens: int, encode: Encode, decode: Decode) -> str:
    """The longest head of the text with at most `max_tokens` tokens."""
    start, left = 0, max_tokens
    for chunk, safe in split_safely(text, _chunk_size(max_tokens)):
        part, ids = _needed(chunk, left, "head", encode)
        cost = len(ids) + (0 if safe else UNSAFE_CUT_TOKENS)
        if cost > left:
            kept = _characters(ids[:left], decode) if _is_utf8(part) else None
            return text[:start] + _settle_head(part, kept, left, encode)
        left -= cost
        start += len(chunk)
    return text


def tail_within(text: str, max_tokens: int, encode: Encode, decode: Decode) -> str:
    """The longest tail of the text with at most `max_tokens` tokens."""
    end, left = len(text), max_tokens
    for chunk, safe in split_safely_backward(text, _chunk_size(max_tokens)):
        part, ids = _needed(chunk, left, "tail", encode)
        cost = len(ids) + (0 if safe else UNSAFE_CUT_TOKENS)
        if cost > left:
            kept = _characters(ids[len(ids) - left :], decode) if _is_utf8(part) else None
            return _settle_tail(part, kept, left, encode) + text[end:]
        left -= cost
        end -= len(chunk)
    return text


def _needed(chunk: str, left: int, side: Side, encode: Encode) -> tuple[str, list[int]]:
    """So much of a chunk that it has more than `left` tokens, or all of it; with its ids."""
    length = min(len(chunk), 8 * left + 1_024)
    while True:
        part = cut(chunk, length, side)
        ids = encode(part)
        if length == len(chunk) or len(ids) > left + UNSAFE_CUT_TOKENS:
            return part, ids
        length = min(len(chunk), 4 * length)


def _chunk_size(max_tokens: int) -> int:
    return min(CHUNK, 6 * max_tokens + 64)


def _characters(ids: Sequence[int], decode: Decode) -> int:
    return len(decode(ids).decode("utf-8", "ignore"))


def _is_utf8(text: str) -> bool:
    # Lone surrogates are encoded as something else, so positions can't be read off the decoded bytes.
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _settle_head(chunk: str, kept: int | None, room: int, encode: Encode) -> str:
    if kept is None:
        return truncate_by_search(chunk, room, "head", lambda text: len(encode(text)))
    anchor = last_safe_cut(chunk, max(0, kept - REACH), kept) or 0
    if anchor:
        room -= len(encode(chunk[:anchor]))
    farthest = kept + STRETCH if kept - anchor <= REACH else kept
    for end in range(min(farthest, len(chunk)), anchor, -1):
        if len(encode(chunk[anchor:end])) <= room:
            return chunk[:end]
    return chunk[:anchor]


def _settle_tail(chunk: str, kept: int | None, room: int, encode: Encode) -> str:
    if kept is None:
        return truncate_by_search(chunk, room, "tail", lambda text: len(encode(text)))
    place = len(chunk) - kept
    anchor = first_safe_cut(chunk, place, min(len(chunk), place + REACH)) or len(chunk)
    if anchor < len(chunk):
        room -= len(encode(chunk[anchor:]))
    farthest = place - STRETCH if anchor - place <= REACH else place
    for start in range(max(0, farthest), anchor):
        if len(encode(chunk[start:anchor])) <= room:
            return chunk[start:]
    return chunk[anchor:]
