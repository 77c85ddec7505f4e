"""The codec for plain OpenAI-style dicts: `{"role": …, "content": …, "tool_calls": …, "tool_call_id": …}`."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tiered_core.counting.pictures import media_from_data_url
from tiered_core.errors import TranscriptError
from tiered_core.redaction import Redact, redact_values
from tiered_core.types import Call, Change, Media, Reading, Role

_ROLES: dict[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool",
    "function": "tool",
}  # fmt: skip
_TEXT_TYPES = ("text", "input_text", "output_text")
_REASONING_TYPES = ("thinking", "redacted_thinking", "reasoning")
_MEDIA_TYPES = {"image_url": "image", "input_image": "image", "image": "image", "input_audio": "audio", "file": "file"}


class NeutralCodec:
    """Reads and writes OpenAI-style dicts; a message may carry an "id", which becomes the entry's id."""

    name = "openai"

    def read(self, message: Any) -> Reading:
        """See `Codec.read`."""
        role = _role(message)
        blocks = list(_blocks(message))
        texts = tuple(text for kind, text in blocks if kind == "text")
        reasoning = tuple(text for kind, text in blocks if kind == "reasoning")
        thought = message.get("reasoning_content")
        answers = (message.get("tool_call_id") or message.get("name") or None,) if role == "tool" else ()
        return Reading(
            role, texts, id=_text_or_none(message.get("id")), name=_text_or_none(message.get("name")),
            calls=tuple(_calls(message)), answers=answers,
            reasoning=(*reasoning, thought) if isinstance(thought, str) and thought else reasoning,
            signed=any(kind == "reasoning" and '"signature"' in text for kind, text in blocks),
            media=tuple(_media(text) for kind, text in blocks if kind == "media"),
            extra=tuple(text for kind, text in blocks if kind == "extra"),
        )  # fmt: skip

    def write(self, message: Any, change: Change) -> Any:
        """See `Codec.write`."""
        out = copy.deepcopy(message)
        content = out.get("content")
        if isinstance(content, list):
            out["content"] = _written_blocks(content, change)
        else:
            text = content if isinstance(content, str) else ""
            own = change.texts[0] if change.texts else text
            whole = "\n\n".join(t for t in (*change.prepended, own, *change.appended) if t)
            out["content"] = content if content is None and not whole else whole
        if change.arguments is not None:
            for call, arguments in zip(out.get("tool_calls") or (), change.arguments, strict=False):
                call["function"]["arguments"] = arguments
            if isinstance(out.get("function_call"), dict) and change.arguments:
                out["function_call"]["arguments"] = change.arguments[-1]
        return out

    def redacted(self, message: Any, redact: Redact) -> Any:
        """See `Codec.redacted`."""
        return redact_values(message, redact)

    def compose(self, role: Role, text: str) -> Any:
        """See `Codec.compose`."""
        return {"role": role, "content": text}

    def answer(self, call: Call, text: str) -> Any:
        """See `Codec.answer`."""
        return {"role": "tool", "tool_call_id": call.id or "", "content": text}

    def copy(self, message: Any) -> Any:
        """See `Codec.copy`."""
        return copy.deepcopy(message)

    def dump(self, message: Any) -> str:
        """See `Codec.dump`."""
        try:
            return json.dumps(message, separators=(",", ":"), ensure_ascii=False)  # see change_to_json
        except (TypeError, ValueError, RecursionError) as error:
            raise TranscriptError(
                f"a {message.get('role')!r} message can't be stored as JSON: {error}; use plain JSON values in it"
            ) from error

    def load(self, text: str) -> Any:
        """See `Codec.load`."""
        return json.loads(text)


def _role(message: Any) -> Role:
    if not isinstance(message, Mapping):
        raise TranscriptError(
            f"expected a dict with 'role' and 'content', got {type(message).__name__}; "
            "for LangChain or LlamaIndex messages use langchain_tiered or llama_tiered"
        )
    try:
        return _ROLES[message["role"]]
    except (KeyError, TypeError):
        raise TranscriptError(f"unknown role {message.get('role')!r}; known are {', '.join(_ROLES)}") from None


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), default=str)


def _kind(block: Any) -> str:
    """Which of "text", "reasoning", "media" and "extra" a block is."""
    if isinstance(block, str):
        return "text"
    kind = block.get("type") if isinstance(block, Mapping) else None
    if kind in _TEXT_TYPES and isinstance(block.get("text"), str):
        return "text"
    if kind in _REASONING_TYPES:
        return "reasoning"
    return "media" if kind in _MEDIA_TYPES else "extra"


def _blocks(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(kind, text or JSON text) of every content block."""
    content = message.get("content")
    if content is None:
        return
    if isinstance(content, str):
        yield "text", content
        return
    for block in content if isinstance(content, list | tuple) else [content]:
        kind = _kind(block)
        if kind == "text":
            yield kind, block if isinstance(block, str) else block["text"]
        else:
            yield kind, _json(block)


def _calls(message: Mapping[str, Any]) -> Iterator[Call]:
    calls = message.get("tool_calls") or ()
    legacy = message.get("function_call")
    for call in [*calls, *([{"id": legacy.get("name"), "function": legacy}] if isinstance(legacy, Mapping) else [])]:
        function = call.get("function") or call.get("custom") or {}
        arguments = function.get("arguments", function.get("input", ""))
        text = arguments if isinstance(arguments, str) else _json(arguments)
        yield Call(_text_or_none(call.get("id")), str(function.get("name") or ""), text)


def _media(text: str) -> Media:
    block = json.loads(text)
    kind = _MEDIA_TYPES[block["type"]]
    held = block.get("image_url") or block.get("source") or block.get(block["type"]) or {}
    url = held if isinstance(held, str) else str(held.get("url") or "")
    detail = held.get("detail") if isinstance(held, Mapping) else block.get("detail")
    if kind == "image" and url.startswith("data:"):
        return media_from_data_url(url, detail=detail)
    if kind == "image" and isinstance(held, Mapping) and held.get("type") == "base64":
        url = f"data:{held.get('media_type', 'image/png')};base64,{held.get('data', '')}"
        return media_from_data_url(url, detail=detail)
    digest = hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
    return Media(kind, detail=detail, digest=digest)  # type: ignore[arg-type]


def _written_blocks(content: list[Any], change: Change) -> list[Any]:
    out: list[Any] = []
    texts = iter(change.texts or ())
    found = False
    for block in content:
        kind = _kind(block)
        if kind == "media" and change.without_media:
            continue
        if kind == "text" and change.texts is not None:
            found = True
            text = next(texts, "")
            if text:
                out.append(text if isinstance(block, str) else {**block, "text": text})
            continue
        out.append(block)
    if not found and change.texts and change.texts[0]:
        out.insert(0, {"type": "text", "text": change.texts[0]})
    before = [{"type": "text", "text": t} for t in change.prepended]
    return before + out + [{"type": "text", "text": t} for t in change.appended]
