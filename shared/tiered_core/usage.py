"""What a provider says that a request's input cost, in whatever shape it says so.

Field names were read in the installed packages on 2026-11-30: langchain-core 1.8.3, langchain-anthropic 1.7.10, openai
2.54.0, anthropic 2.14.0, google-genai 3.6.1, and LlamaIndex's integrations of these three with core 0.14.25.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TOTALS = ("prompt_tokens", "prompt_token_count", "promptTokenCount")
"""OpenAI's chat completions (and what speaks like them), Gemini in Python and in JSON: cached tokens are included."""
_CACHED = ("cache_creation_input_tokens", "cache_read_input_tokens")
"""Anthropic's `input_tokens` leaves these out. OpenAI's Responses and LangChain use that name too, cached tokens
included, and have neither of these fields."""
_HOLDERS = ("usage_metadata", "usage", "token_usage", "response_metadata", "raw", "additional_kwargs")
"""Where a message or a response keeps its usage, the most telling first."""
_DEPTH = 3


def reported_input_tokens(usage: Any) -> int | None:
    """Input tokens of one request as its provider counted them, cached ones included.

    Reads LangChain's `usage_metadata` and the `AIMessage` that carries it (else its `response_metadata`), OpenAI's,
    Anthropic's and Gemini's usage and the responses that carry them, and LlamaIndex's `ChatResponse` by its `raw`;
    each as an object or as a dict. A whole number is returned as it is.

    Returns:
        Tokens, at least 1; None for what can't be read, and where nothing or 0 was reported. Never raises.
    """
    own = _positive(usage)
    return own if own is not None else _search(usage, _DEPTH)


def _search(value: Any, depth: int) -> int | None:
    own = _own(value)
    if own is not None or depth == 0:
        return own
    for name in _HOLDERS:
        held = _field(value, name)
        found = None if held is None else _search(held, depth - 1)
        if found is not None:
            return found
    return None


def _own(value: Any) -> int | None:
    """The figure in a usage itself."""
    for name in _TOTALS:
        total = _positive(_field(value, name))
        if total is not None:
            return total
    fresh = _field(value, "input_tokens")
    if isinstance(fresh, bool) or not isinstance(fresh, int) or fresh < 0:
        return None
    return _positive(fresh + sum(_positive(_field(value, name)) or 0 for name in _CACHED))


def _field(value: Any, name: str) -> Any:
    try:
        return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    except Exception:  # noqa: BLE001 - a property of a foreign object
        return None


def _positive(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
