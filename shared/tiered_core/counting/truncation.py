"""Cuts a text to a number of tokens, for any way of counting."""

from __future__ import annotations

from collections.abc import Callable

from tiered_core.types import Side


def cut(text: str, length: int, side: Side) -> str:
    """The head or tail of `length` characters."""
    return text[:length] if side == "head" else text[len(text) - length :]


def truncate_by_search(text: str, max_tokens: int, side: Side, count: Callable[[str], int]) -> str:
    """A head (or tail) with at most `max_tokens` tokens, the longest one if `count` grows with the text.

    Counts about 2·log2(length) pieces; none is more than twice as long as the answer, so a megabyte costs no more than
    its answer. Where `count` isn't monotone the answer may be shorter than the longest, never above the limit.
    """
    if max_tokens <= 0 or not text:
        return ""
    fits, high = 0, min(len(text), 4 * max_tokens)
    while count(cut(text, high, side)) <= max_tokens:
        fits = high
        if high == len(text):
            return text
        high = min(len(text), 2 * high)
    while high - fits > 1:
        middle = (fits + high) // 2
        if count(cut(text, middle, side)) <= max_tokens:
            fits = middle
        else:
            high = middle
    return cut(text, fits, side)
