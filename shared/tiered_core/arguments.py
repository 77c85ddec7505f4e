"""Shortening the arguments of tool calls, so that they stay JSON and tell what the call was about."""

from __future__ import annotations

import json
from typing import Any

from tiered_core.counting import TokenCounter

_CAPS = (256, 64, 16, 6, 2)


def shorten_arguments(arguments: str, max_tokens: int, counter: TokenCounter, handle: str) -> str:
    """The arguments within a number of tokens: long strings and lists give way, largest caps first; at worst `{}`.

    Args:
        arguments: JSON text; what is no JSON is wrapped into an object.
        max_tokens: of the returned text.
        counter: whose tokens.
        handle: of the message, named where something was cut.
    """
    if counter.count_text(arguments) <= max_tokens:
        return arguments
    try:
        value = json.loads(arguments)
        json.dumps(_cut(value, 1, counter, handle))
    except (ValueError, RecursionError):
        value = {"arguments": arguments}
    if not isinstance(value, dict):
        value = {"arguments": value}
    for cap in _CAPS:
        text = json.dumps(_cut(value, cap, counter, handle), separators=(",", ":"), ensure_ascii=False)
        if counter.count_text(text) <= max_tokens:
            return text
    return "{}"


def _cut(value: Any, cap: int, counter: TokenCounter, handle: str) -> Any:
    if isinstance(value, str):
        if len(value.encode("utf-8", "surrogatepass")) <= cap or counter.count_text(value) <= cap:
            return value
        return f"{counter.truncate(value, cap)}…[{handle}]"
    if isinstance(value, list):
        kept = [_cut(v, cap, counter, handle) for v in value[:cap]]
        return kept if len(value) <= cap else [*kept, f"…[{handle}: {cap} of {len(value)} items]"]
    if isinstance(value, dict):
        return {k: _cut(v, cap, counter, handle) for k, v in value.items()}
    return value
