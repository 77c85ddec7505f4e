"""Token counters and rooms for the tests of the compactors: exact ones, and fakes of every temper."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from tiered_core.compactors import Body, Room, classify
from tiered_core.types import Side

Count = Callable[[str], int]

_CHUNK = 50_000
_URL = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"


def thirds(text: str) -> int:
    """A third of the characters, at least one token."""
    return len(text) // 3 + 1


def bumpy(text: str) -> int:
    """Neither additive nor smooth: words, signs and a penalty for each kind of white space."""
    return len(text.split()) + sum(not c.isalnum() for c in text) + 2 * len({c for c in text if c.isspace()})


def steep(text: str) -> int:
    """Joining two texts costs more than both."""
    return int(len(text) ** 1.15)


def _vocabulary() -> Count | None:
    """Counts with o200k_base where llama-index carries it; never asks the network."""
    spec = importlib.util.find_spec("llama_index")
    for place in (spec.submodule_search_locations or []) if spec else []:
        cache = Path(place) / "core" / "_static" / "tiktoken_cache"
        if not (cache / hashlib.sha1(_URL.encode()).hexdigest()).exists():
            continue
        import tiktoken
        from tiktoken_ext.openai_public import o200k_base  # type: ignore[import-untyped]

        with patch.dict(os.environ, TIKTOKEN_CACHE_DIR=str(cache)):
            encoding = tiktoken.Encoding(**o200k_base())
        return lambda text: sum(
            len(encoding.encode_ordinary(text[i : i + _CHUNK])) for i in range(0, len(text), _CHUNK)
        )
    return None


COUNTERS: dict[str, Count] = {"characters": len, "thirds": thirds, "bumpy": bumpy, "steep": steep}
if (_exact := _vocabulary()) is not None:
    COUNTERS["o200k"] = _exact


def room(max_tokens: int, count: Count = thirds, rows: int = 20) -> Room:
    """A room whose truncation finds the longest head or tail by halving."""

    def truncate(text: str, most: int, side: Side) -> str:
        if most <= 0:
            return ""
        low, high = 0, min(len(text), 64 * most + 64)
        while low < high:
            middle = (low + high + 1) // 2
            if count(text[:middle] if side == "head" else text[len(text) - middle :]) <= most:
                low = middle
            else:
                high = middle - 1
        return text[:low] if side == "head" else text[len(text) - low :]

    return Room(max_tokens, rows, count, truncate)


def body(text: str, count: Count = thirds, question: str | None = None, machine: bool = True) -> Body:
    """The text as a body with handle `r12`."""
    return Body(text, classify(text), count(text), "r12", question, machine)
