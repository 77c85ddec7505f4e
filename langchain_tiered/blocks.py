"""The content of a message, taken apart: which block is text, reasoning, a picture, a call, or something unknown.

Block shapes: OpenAI (chat and responses), Anthropic, Bedrock Converse, Google, and both of LangChain's own, see
`langchain_core.messages.content` and `langchain_core.messages.block_translators` (1.8.3).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from langchain_tiered.media import is_media
from tiered_core.types import Change

PartKind = Literal["text", "reasoning", "media", "call", "extra"]

TEXT_TYPES = (None, "text", "input_text", "output_text", "text-plain")
REASONING_TYPES = ("thinking", "redacted_thinking", "reasoning", "reasoning_content")
CALL_TYPES = (
    "tool_use", "tool_call", "function_call", "custom_tool_call", "tool_call_chunk", "invalid_tool_call",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """One block of a content list.

    Attributes:
        kind: what it is.
        siblings: the list that holds the block, at `index`.
        index: of the block.
        path: keys from the block to its text; () when the block itself is the text or when it has none.
    """

    kind: PartKind
    siblings: list[Any]
    index: int
    path: tuple[str, ...] = ()

    @property
    def block(self) -> Any:
        """The block."""
        return self.siblings[self.index]

    @property
    def text(self) -> str:
        """The text of a "text" part."""
        value = self.block
        for key in self.path:
            value = value[key]
        return str(value)

    def put(self, text: str) -> None:
        """Puts another text in place."""
        if not self.path:
            self.siblings[self.index] = text
            return
        holder = self.block
        for key in self.path[:-1]:
            holder = holder[key]
        holder[self.path[-1]] = text


def parts_of(content: Any) -> Iterator[Part]:
    """The parts of a content list in order, those inside of tool results included; nothing for other content."""
    if not isinstance(content, list):
        return
    for index, block in enumerate(content):
        if isinstance(block, Mapping) and block.get("type") == "tool_result":
            yield from _parts_of_result(content, index, block)
        else:
            kind, path = _kind(block)
            yield Part(kind, content, index, path)


def _parts_of_result(siblings: list[Any], index: int, block: Mapping[str, Any]) -> Iterator[Part]:
    inner = block.get("content")
    if isinstance(inner, str):
        yield Part("text", siblings, index, ("content",))
    elif isinstance(inner, list):
        yield from parts_of(inner)
    else:
        yield Part("extra", siblings, index)


def _kind(block: Any) -> tuple[PartKind, tuple[str, ...]]:
    if isinstance(block, str):
        return "text", ()
    if not isinstance(block, Mapping):
        return "extra", ()
    kind = block.get("type")
    if kind in TEXT_TYPES and isinstance(block.get("text"), str):
        return "text", ("text",)
    source = block.get("source") if kind == "document" else None
    if isinstance(source, Mapping) and source.get("type") == "text" and isinstance(source.get("data"), str):
        return "text", ("source", "data")
    if kind in REASONING_TYPES:
        return "reasoning", ()
    if kind in CALL_TYPES:
        return "call", ()
    return ("media" if is_media(block) else "extra"), ()


def as_json(value: Any) -> str:
    """Any value as compact JSON text; what JSON can't hold stands there as its `str`. Never raises on odd values."""
    try:
        return json.dumps(value, separators=(",", ":"), default=str)
    except (TypeError, ValueError, RecursionError):  # keys that are no strings, cycles, nesting without end
        return repr(value)


def is_signed(block: Any) -> bool:
    """Whether a provider signed or encrypted the block, or keeps its content under the block's id."""
    if not isinstance(block, Mapping):
        return False
    if block.get("type") == "redacted_thinking" or str(block.get("id") or "").startswith("rs_"):
        return True
    if any(block.get(key) for key in ("signature", "encrypted_content", "thought_signature")):
        return True
    return any(is_signed(block.get(key)) for key in ("extras", "reasoning_content"))


def answered_ids(content: Any) -> tuple[str | None, ...] | None:
    """The call ids that a content answers if it is made of tool results only, else None (Anthropic's form)."""
    if not isinstance(content, list) or not content:
        return None
    if not all(isinstance(b, Mapping) and b.get("type") == "tool_result" for b in content):
        return None
    return tuple(str(b["tool_use_id"]) if b.get("tool_use_id") else None for b in content)


def written(content: Any, change: Change) -> Any:
    """The content with a change made to it; a list is altered in place, so it has to be a copy."""
    if not isinstance(content, list):
        own = content if isinstance(content, str) else ""
        if change.texts:
            own = change.texts[0]
        return "\n\n".join(t for t in (*change.prepended, own, *change.appended) if t)
    parts = list(parts_of(content))
    was_empty = not content
    removed = [p for p in parts if p.kind == "media"] if change.without_media else []
    if change.texts is not None:
        removed += _put_texts(content, [p for p in parts if p.kind == "text"], change.texts)
    for part in sorted(removed, key=lambda p: -p.index):
        del part.siblings[part.index]
    start = _behind_reasoning(content)
    content[start:start] = map(_text_block, change.prepended)
    content += map(_text_block, change.appended)
    return content if content or was_empty else ""


def _put_texts(content: list[Any], parts: list[Part], texts: tuple[str, ...]) -> list[Part]:
    """Puts texts in place; gives back the parts that are empty now and have to go."""
    if not parts and texts and texts[0]:
        start = _behind_reasoning(content)
        content.insert(start, _text_block(texts[0]))
        return []
    emptied = []
    for part, text in zip(parts, texts, strict=False):
        if text == part.text:
            continue
        part.put(text)
        if not text and part.path != ("content",):
            emptied.append(part)
    return emptied


def _behind_reasoning(content: list[Any]) -> int:
    """Where a new text may stand: providers want reasoning first."""
    start = 0
    while start < len(content) and _kind(content[start])[0] == "reasoning":
        start += 1
    return start


def _text_block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
