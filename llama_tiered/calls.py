"""Tool calls of a message, wherever a host or an integration has put them.

LlamaIndex holds calls in `ToolCallBlock`s; older integrations in `additional_kwargs["tool_calls"]` (dicts of OpenAI's,
Anthropic's or Gemini's shape, objects of a provider's client, LlamaIndex's own `ToolSelection`) and in
`additional_kwargs["function_call"]`. Some fill both; an entry that mirrors a block is the same call.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock

from tiered_core.types import Call

_NAMES = ("name", "tool_name")
_IDS = ("id", "tool_call_id", "tool_id")
_ARGUMENTS = ("arguments", "input", "args", "tool_kwargs")


@dataclass(frozen=True, slots=True)
class Place:
    """A call and all objects (blocks, dicts, client objects) in the message that hold it."""

    call: Call
    holders: tuple[Any, ...]


def places(message: ChatMessage) -> list[Place]:
    """The calls of a message in order: its blocks, or what stands in `additional_kwargs` where there are none."""
    blocks = [b for b in message.blocks if isinstance(b, ToolCallBlock)]
    items = list(_items(message))
    mirrors = _mirrors(blocks, items)
    out = [Place(_call(b), (b, *(items[k] for k in mirrors if mirrors[k] == n))) for n, b in enumerate(blocks)]
    # Where there are blocks, integrations send those alone: an entry beside them that mirrors none is a call that
    # was dropped before the message came to us (OpenAI's `chat_with_tools` keeps one call of several so).
    return out or [Place(_call(item), (item,)) for item in items]


def answered_id(message: ChatMessage) -> str | None:
    """The id of the call that a tool message answers, None where it names none."""
    return _text(message.additional_kwargs.get("tool_call_id"))


def set_arguments(message: ChatMessage, arguments: Sequence[str]) -> None:
    """Puts new arguments (JSON text, one per call) everywhere into a message that belongs to the caller."""
    known = places(message)
    for place, text in zip(known, arguments, strict=False):
        for holder in place.holders:
            _set(_inner(holder), text)
    held = message.additional_kwargs.get("tool_calls")
    if isinstance(held, list) and any(isinstance(b, ToolCallBlock) for b in message.blocks):
        # An entry that is no call of ours keeps its old arguments, which may be what was to be taken out.
        ours = {id(holder) for place in known for holder in place.holders}
        message.additional_kwargs["tool_calls"] = [item for item in held if id(item) in ours]


def plain_call(item: Any) -> Any:
    """An entry of `tool_calls` that can be stored: dicts and pydantic objects as they are, others as OpenAI's dict."""
    if isinstance(item, Mapping) or hasattr(item, "model_dump"):
        return item
    call = _call(item)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _items(message: ChatMessage) -> Iterator[Any]:
    held = message.additional_kwargs.get("tool_calls")
    if isinstance(held, list | tuple):
        yield from held
    legacy = message.additional_kwargs.get("function_call")
    if legacy:
        yield legacy


def _mirrors(blocks: Sequence[ToolCallBlock], items: Sequence[Any]) -> dict[int, int]:
    """Index of the block that an entry mirrors, by index of the entry: the same id, or no id and the same content."""
    out: dict[int, int] = {}
    for k, item in enumerate(items):
        call = _call(item)
        for n, block in enumerate(blocks):
            other = _call(block)
            same = call.id == other.id if call.id and other.id else _content(call) == _content(other)
            if same and n not in out.values():
                out[k] = n
                break
    return out


def _content(call: Call) -> tuple[str, Any]:
    try:
        return call.name, json.loads(call.arguments)
    except ValueError:
        return call.name, call.arguments


def _call(item: Any) -> Call:
    inner = _inner(item)
    arguments = _get(inner, _ARGUMENTS)
    return Call(_text(_get(item, _IDS)), str(_get(inner, _NAMES) or ""), _as_json(arguments))


def _inner(item: Any) -> Any:
    """Where name and arguments stand: OpenAI nests them in `function`."""
    nested = item.get("function") if isinstance(item, Mapping) else getattr(item, "function", None)
    return item if nested is None else nested


def _get(item: Any, names: Sequence[str]) -> Any:
    name = _name(item, names)
    if name is None:
        return None
    return item[name] if isinstance(item, Mapping) else getattr(item, name)


def _name(item: Any, names: Sequence[str]) -> str | None:
    """The first of the names that the item has."""
    if isinstance(item, Mapping):
        return next((n for n in names if n in item), None)
    return next((n for n in names if getattr(item, n, None) is not None), None)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _as_json(arguments: Any) -> str:
    """Arguments as integrations send them: text as it is, else `json.dumps`."""
    if isinstance(arguments, str):
        return arguments
    return "{}" if arguments is None else json.dumps(arguments, ensure_ascii=False, default=str)


def _set(item: Any, text: str) -> None:
    name = _name(item, _ARGUMENTS)
    if name is None:
        return
    old = _get(item, (name,))
    value: Any = text
    if not isinstance(old, str):
        try:
            value = json.loads(text)
        except ValueError:
            value = {"arguments": text}
        if not isinstance(value, dict):
            value = {"arguments": value}
    if isinstance(item, dict):
        item[name] = value
    elif not isinstance(item, Mapping):
        setattr(item, name, value)
