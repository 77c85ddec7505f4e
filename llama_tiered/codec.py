"""Reads and writes `ChatMessage`s for the engine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    CachePoint,
    ChatMessage,
    CitableBlock,
    CitationBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)

from llama_tiered.calls import answered_id, places, set_arguments
from llama_tiered.cloning import clone_block
from llama_tiered.errors import LlamaContextBudgetExceededError
from llama_tiered.literal import LiteralMessage
from llama_tiered.media import media_of
from llama_tiered.message_text import MEDIA, nested_media, texts_of, with_texts, without_media
from llama_tiered.stored import dump_block, dump_message, load_message
from tiered_core.errors import TranscriptError
from tiered_core.redaction import Redact, applied, redact_values
from tiered_core.types import Call, Change, Media, Reading, Role

_ROLES: dict[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant", "chatbot": "assistant",
    "model": "assistant", "tool": "tool", "function": "tool",
}  # fmt: skip
_KNOWN: tuple[type, ...] = (TextBlock, ThinkingBlock, ToolCallBlock, CachePoint, *MEDIA)
# Keys under which integrations keep what a provider signed or encrypted, in `ThinkingBlock.additional_information`
# (Anthropic, Gemini, OpenAI's Responses API) or in a message's `additional_kwargs` (Gemini, older Anthropic).
_NO_WORDS = ("tool_calls", "function_call", "tool_call_id", "thought_signatures", "images")  # or done as calls
_SEALS = ("signature", "thought_signature", "thought_signatures", "encrypted_content", "redacted", "data")


class LlamaIndexCodec:
    """See `tiered_core.codec.Codec`; the messages are LlamaIndex `ChatMessage`s, which have no id."""

    name = "llama-index"
    overflow_error = LlamaContextBudgetExceededError

    def read(self, message: Any) -> Reading:
        """See `Codec.read`."""
        role = _role(message)
        name = message.additional_kwargs.get("name")
        return Reading(
            role,
            tuple(text for block in message.blocks for text in texts_of(block)),
            name=name if isinstance(name, str) and name else None,
            calls=tuple(place.call for place in places(message)),
            answers=(answered_id(message),) if role == "tool" else (),
            reasoning=tuple(_reasoning(message)),
            signed=_signed(message),
            media=tuple(_media(message)),
            extra=tuple(_extra(message)),
        )

    def write(self, message: Any, change: Change) -> Any:
        """See `Codec.write`."""
        out = self.copy(message)
        if change.arguments is not None:
            set_arguments(out, change.arguments)
        numbered = _rebuilt(out.blocks, change)
        signatures = out.additional_kwargs.get("thought_signatures")
        if isinstance(signatures, list):
            # Gemini's integration pairs them with blocks by index.
            out.additional_kwargs["thought_signatures"] = _realigned(signatures, [index for index, _ in numbered])
        out.blocks = [block for _, block in numbered]
        return out

    def redacted(self, message: Any, redact: Redact) -> Any:
        """See `Codec.redacted`."""
        reading = self.read(message)
        texts = tuple(applied(t, redact) if t else t for t in reading.texts)
        arguments = tuple(applied(c.arguments, redact) for c in reading.calls)
        out = self.write(message, Change(texts=texts or None, arguments=arguments or None))
        for block in out.blocks:
            sealed = isinstance(block, ThinkingBlock) and any(map(block.additional_information.get, _SEALS))
            if isinstance(block, ThinkingBlock) and block.content and not sealed:
                block.content = applied(block.content, redact)
        others = {k: v for k, v in out.additional_kwargs.items() if k not in _NO_WORDS}
        out.additional_kwargs.update(redact_values(others, redact))
        return out

    def compose(self, role: Role, text: str) -> Any:
        """See `Codec.compose`."""
        return ChatMessage.model_construct(role=MessageRole(role), blocks=[TextBlock.model_construct(text=text)])

    def answer(self, call: Call, text: str) -> Any:
        """See `Codec.answer`."""
        block = TextBlock.model_construct(text=text)
        kwargs = {"tool_call_id": call.id or ""}  # integrations look the key up without a default
        return ChatMessage.model_construct(role=MessageRole.TOOL, blocks=[block], additional_kwargs=kwargs)

    def copy(self, message: Any) -> Any:
        """See `Codec.copy`."""
        _role(message)
        out = clone_block(message)
        return out.plain() if isinstance(out, LiteralMessage) else out

    def dump(self, message: Any) -> str:
        """See `Codec.dump`."""
        return dump_message(message)

    def load(self, text: str) -> Any:
        """See `Codec.load`."""
        return load_message(text)


def _role(message: Any) -> Role:
    if not isinstance(message, ChatMessage):
        raise TranscriptError(f"expected a llama_index ChatMessage, got {type(message).__name__}")
    value = getattr(message.role, "value", message.role)
    try:
        return _ROLES[value]
    except (KeyError, TypeError):
        raise TranscriptError(f"unknown role {value!r}; known are {', '.join(_ROLES)}") from None


def _reasoning(message: ChatMessage) -> Iterator[str]:
    """What was thought; where a provider hides it, what it encrypts it to, which isn't shorter."""
    for block in message.blocks:
        if isinstance(block, ThinkingBlock):
            more = block.additional_information
            text = block.content or more.get("encrypted_content") or more.get("data") or ("…" if more else "")
            if text:
                yield str(text)
    legacy = message.additional_kwargs.get("thinking")
    if legacy:
        yield str(legacy.get("thinking") or "…") if isinstance(legacy, dict) else str(legacy)


def _signed(message: ChatMessage) -> bool:
    held = [b.additional_information for b in message.blocks if isinstance(b, ThinkingBlock)]
    held += [{"thought_signatures": message.additional_kwargs.get("thought_signatures")}]
    held += [v for k, v in message.additional_kwargs.items() if k == "thinking" and isinstance(v, dict)]
    return any(_filled(values.get(seal)) for values in held for seal in _SEALS)


def _filled(value: Any) -> bool:
    return any(value) if isinstance(value, list | tuple) else bool(value)


def _media(message: ChatMessage) -> Iterator[Media]:
    for block in message.blocks:
        for held in nested_media(block):
            yield media_of(held)


def _extra(message: ChatMessage) -> Iterator[str]:
    """What else reaches the model: titles and sources of citable blocks, citations, blocks not known here."""
    for block in message.blocks:
        if isinstance(block, CitableBlock):
            yield json.dumps([block.title, block.source])
        elif isinstance(block, CitationBlock):
            cited = block.cited_content.text if isinstance(block.cited_content, TextBlock) else ""
            yield json.dumps([block.title, block.source, cited], ensure_ascii=False)
        elif not isinstance(block, _KNOWN):
            yield dump_block(block)


def _rebuilt(blocks: Sequence[Any], change: Change) -> list[tuple[int | None, Any]]:
    """The blocks of a message that belongs to us, altered; each with its old index, None for a new one."""
    texts = iter(change.texts or ())
    had_text = any(texts_of(b) for b in blocks)
    out: list[tuple[int | None, Any]] = []
    for index, block in enumerate(blocks):
        held = block if change.texts is None else with_texts(block, lambda: next(texts, ""))
        held = without_media(held) if held is not None and change.without_media else held
        if held is not None:
            out.append((index, held))
    if not had_text and change.texts and change.texts[0]:
        _insert(out, _before(out), change.texts[:1])
    _insert(out, _behind(out), change.appended)
    _insert(out, _before(out), change.prepended)
    return out


def _insert(out: list[tuple[int | None, Any]], place: int, texts: Sequence[str]) -> None:
    out[place:place] = [(None, TextBlock.model_construct(text=text)) for text in texts]


def _before(out: Sequence[tuple[int | None, Any]]) -> int:
    """Where a text goes that shall stand first: behind the reasoning that leads, which providers want first."""
    return next((place for place, (_, block) in enumerate(out) if not isinstance(block, ThinkingBlock)), len(out))


def _behind(out: Sequence[tuple[int | None, Any]]) -> int:
    """Where a text goes that shall stand last: behind the last text, else before the calls, else at the end."""
    texts = [place for place, (_, block) in enumerate(out) if texts_of(block)]
    if texts:
        rest = range(texts[-1] + 1, len(out))
        # A cache point belongs to the text before it: what we append changes with batches, that text doesn't.
        return next((place for place in rest if not isinstance(out[place][1], CachePoint)), len(out))
    return next((place for place, (_, block) in enumerate(out) if isinstance(block, ToolCallBlock)), len(out))


def _realigned(signatures: Sequence[Any], indexes: Sequence[int | None]) -> list[Any]:
    moved = [signatures[i] if i is not None and i < len(signatures) else None for i in indexes]
    if list(indexes) == list(range(len(indexes))):
        return list(signatures)  # nothing moved; it may name more than there are blocks
    while moved and moved[-1] is None:
        moved.pop()
    return moved
