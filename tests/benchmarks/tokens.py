"""Tokens as the benchmarks count them, without the code under test: content, the JSON of calls, and 4 per message."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import tiktoken

PER_MESSAGE = 4
_KEPT_TEXTS = 200_000
_counts: dict[str, int] = {}


def use_vocabulary_on_disk() -> None:
    """Points tiktoken of this process, and of those it starts, to the vocabulary that llama-index-core carries."""
    spec = importlib.util.find_spec("llama_index")
    for place in (spec and spec.submodule_search_locations) or ():
        folder = Path(place) / "core" / "_static" / "tiktoken_cache"
        if folder.is_dir():
            os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))
    os.environ.setdefault("TIERED_OFFLINE", "1")


@cache
def encoding() -> tiktoken.Encoding:
    """cl100k_base."""
    import tiktoken

    return tiktoken.get_encoding("cl100k_base")


def count_text(text: str) -> int:
    """Tokens of a text; counted once per text."""
    found = _counts.get(text)
    if found is None:
        if len(_counts) > _KEPT_TEXTS:
            _counts.clear()
        found = _counts[text] = len(encoding().encode_ordinary(text))
    return found


def text_of(message: Mapping[str, Any]) -> str:
    """All text of a message."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(block if isinstance(block, str) else str(block.get("text", "")) for block in content)
    return content or ""


def message_tokens(message: Mapping[str, Any]) -> int:
    """Tokens of an OpenAI-style message."""
    calls = message.get("tool_calls") or ()
    return PER_MESSAGE + count_text(text_of(message)) + sum(count_text(_json(call)) for call in calls)


def view_tokens(messages: Iterable[Mapping[str, Any]]) -> int:
    """Tokens of OpenAI-style messages together."""
    return sum(map(message_tokens, messages))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class SuffixTokenizer:
    """`len(tokenizer(text))` is exact, and cheap when the text is the end of the one before.

    `ChatMemoryBuffer` joins the whole history and tokenises it again for each message it drops, minutes where only
    what it returns matters. No token reaches across a visible character that is followed by a space.
    """

    def __init__(self) -> None:
        self._text = ""
        self._tokens = 0

    def __call__(self, text: str) -> range:
        dropped = self._text[: len(self._text) - len(text)]
        cut_is_safe = len(dropped) > 1 and dropped[-1] == " " and not dropped[-2].isspace()
        if text and cut_is_safe and self._text.endswith(text):
            spaced = self._tokens - _exact(dropped[:-1])
            found = re.search(r"\S(?= )", text)
            head = text[: found.end()] if found else text
            self._tokens = spaced - _exact(f" {head}") + _exact(head)
        elif text != self._text:
            self._tokens = _exact(text)
        self._text = text
        return range(self._tokens)


def _exact(text: str) -> int:
    return len(encoding().encode_ordinary(text))
