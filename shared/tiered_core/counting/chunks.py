"""Cuts a long text at places where no piece of a vocabulary's split pattern can reach across.

Why a cut is safe: the split patterns of cl100k and o200k (see `vocabulary`) are matched from left to right without
looking back, so a text may be cut wherever a piece must end, provided that the piece before sees no difference. No
alternative continues from a visible character into a space, from an ASCII digit into anything but a digit, or from a
letter into punctuation other than the apostrophe of a contraction; and the only look-aheads are those of white-space
runs, which such cuts don't touch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version


def _limits() -> tuple[int, int]:
    # Before 0.13.0 tiktoken takes quadratic time over one piece: 1.3 s for 40,000 equal letters, 0.014 s since then.
    try:
        fast = tuple(map(int, version("tiktoken").split(".")[:2])) >= (0, 13)
    except (PackageNotFoundError, ValueError):
        fast = False
    return (50_000, 400_000) if fast else (1_000, 2_000)


CHUNK, LONGEST = _limits()
"""Characters after which a safe cut is sought (tiktoken panics near 1,000,000 equal spaces), and characters after
which a chunk ends anywhere when there is none."""
UNSAFE_CUT_TOKENS = 8
"""Added for each such cut, so that the sum stays a bound."""

_LETTER_OR_DIGIT = r"A-Za-z0-9\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3"
_PUNCTUATION = r"!-&(-/:-@\[-`{-~\u3001\u3002\uff0c\uff01\uff1f"
SAFE_CUT = re.compile(rf"\S(?= )|[0-9](?=[A-Za-z\n])|[{_LETTER_OR_DIGIT}](?=[{_PUNCTUATION}])|[A-Za-z](?=\n)")
"""Matches the character before a safe cut; the cut is at the match's end."""


def split_safely(text: str, size: int = CHUNK) -> Iterator[tuple[str, bool]]:
    """The text in chunks of about `size` characters, each with whether the cut behind it is safe.

    The chunks joined give the text. The end of the text counts as a safe cut.
    """
    start, longest = 0, max(LONGEST, 2 * size)
    while len(text) - start > size:
        found = SAFE_CUT.search(text, start + size - 1, start + longest)
        if found is None and len(text) - start <= longest:
            break
        end = found.end() if found else start + longest
        yield text[start:end], found is not None
        start = end
    if start < len(text):
        yield text[start:], True


def split_safely_backward(text: str, size: int = CHUNK) -> Iterator[tuple[str, bool]]:
    """The same from the end of the text: the last chunk first, each with whether the cut before it is safe."""
    end = len(text)
    while end > 0:
        start, safe = _chunk_start(text, end, size)
        yield text[start:end], safe
        end = start


def _chunk_start(text: str, end: int, size: int) -> tuple[int, bool]:
    while end > size:
        found = SAFE_CUT.search(text, end - size, end - 1)
        if found is not None:
            return found.end(), True
        if size >= LONGEST:
            return end - size, False
        size = min(LONGEST, 2 * size)
    return 0, True


def last_safe_cut(text: str, start: int, end: int) -> int | None:
    """The last safe cut strictly between two positions, None where there is none."""
    cut = None
    for found in SAFE_CUT.finditer(text, start, end):
        if found.end() < end:
            cut = found.end()
    return cut


def first_safe_cut(text: str, start: int, end: int) -> int | None:
    """The first safe cut strictly between two positions, None where there is none."""
    found = SAFE_CUT.search(text, start, end)
    return found.end() if found is not None and found.end() < end else None
