"""The tool calls of a message. One call may stand in several places; it is counted once and altered in all of them.

Places: `tool_calls`, `invalid_tool_calls` (providers resend them), `tool_call_chunks`, blocks of the content, and
`additional_kwargs["tool_calls"]` or `["function_call"]`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_tiered.blocks import parts_of
from tiered_core.types import Call

_ARGUMENT_KEYS = ("args", "input", "arguments")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call's arguments stand: `holder[key]`, as JSON text or as a mapping.

    Attributes:
        source: what kind of place; a call stands at most once in each.
        id: the call's id in this place.
        name: the tool's name in this place.
        holder: the mapping that holds the arguments.
        key: under which.
    """

    source: str
    id: str | None
    name: str
    holder: dict[str, Any]
    key: str

    @property
    def arguments(self) -> str:
        """The arguments as the JSON text that is sent."""
        value = self.holder.get(self.key)
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        try:
            return json.dumps(value, ensure_ascii=False, default=str)
        except (TypeError, ValueError, RecursionError):
            return repr(value)

    def put(self, arguments: str) -> None:
        """Puts other arguments in place, in the form in which they stood there."""
        if isinstance(self.holder.get(self.key), Mapping):
            self.holder[self.key] = _as_mapping(arguments)
        else:
            self.holder[self.key] = arguments


@dataclass(slots=True)
class _Found:
    places: list[Place] = field(default_factory=list)

    def is_in(self, source: str) -> bool:
        return any(p.source == source for p in self.places)

    def same_as(self, place: Place) -> bool:
        mine = self.places[0]
        if mine.id and place.id:
            return mine.id == place.id
        return mine.name == place.name


def calls_of(message: Any) -> tuple[Call, ...]:
    """The calls in order: those of `tool_calls`, invalid ones, then those that stand elsewhere only."""
    return tuple(_call(found.places[0]) for found in _found(message))


def _call(place: Place) -> Call:
    # OpenAI's old `function_call` has no id; its results name the function, so the name stands for the id.
    id = place.name or None if place.source == "legacy" else place.id
    return Call(id, place.name, place.arguments)


def put_arguments(message: Any, arguments: Sequence[str]) -> None:
    """Alters a message's calls in place, in the order of `calls_of`; what doesn't change keeps its form."""
    for found, text in zip(_found(message), arguments, strict=False):
        if text != found.places[0].arguments:
            for place in found.places:
                place.put(text)


def _found(message: Any) -> list[_Found]:
    calls: list[_Found] = []
    for place in _places(message):
        mirrored = next((c for c in calls if not c.is_in(place.source) and c.same_as(place)), None)
        if mirrored is None:
            mirrored = _Found()
            calls.append(mirrored)
        mirrored.places.append(place)
    return calls


def _places(message: Any) -> Iterator[Place]:
    for source in ("tool_calls", "invalid_tool_calls", "tool_call_chunks"):
        for call in _mappings(getattr(message, source, None)):
            # A call is either valid or invalid, so both lists are one kind of place.
            kind = "chunks" if source == "tool_call_chunks" else "parsed"
            yield Place(kind, _text(call.get("id")), str(call.get("name") or ""), call, "args")
    for part in parts_of(message.content):
        if part.kind == "call":
            yield _in_block(part.block)
    extra = message.additional_kwargs if isinstance(message.additional_kwargs, Mapping) else {}
    for call in _mappings(extra.get("tool_calls")):
        function = call.get("function")
        if isinstance(function, dict):
            yield Place("raw", _text(call.get("id")), str(function.get("name") or ""), function, "arguments")
    legacy = extra.get("function_call")
    if isinstance(legacy, dict):
        name = str(legacy.get("name") or "")
        yield Place("legacy", None, name, legacy, "arguments")


def _in_block(block: Any) -> Place:
    key = next((k for k in _ARGUMENT_KEYS if k in block), _ARGUMENT_KEYS[0])
    return Place("block", _text(block.get("call_id") or block.get("id")), str(block.get("name") or ""), block, key)


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list | tuple) else []


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _as_mapping(arguments: str) -> Mapping[str, Any]:
    try:
        value = json.loads(arguments)
    except ValueError:
        value = arguments
    return value if isinstance(value, dict) else {"arguments": value}
