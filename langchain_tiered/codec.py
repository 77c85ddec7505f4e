"""The codec for LangChain messages: every subclass of `BaseMessage`, chunks included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_tiered.blocks import Part, answered_ids, as_json, is_signed, parts_of, written
from langchain_tiered.calls import calls_of, put_arguments
from langchain_tiered.copying import copy_message
from langchain_tiered.errors import ContextBudgetExceededError
from langchain_tiered.json_form import dump_message, load_message
from langchain_tiered.media import media_of
from tiered_core.errors import TranscriptError
from tiered_core.redaction import Redact, redact_values
from tiered_core.types import Call, Change, Reading, Role

SOURCE = "tiered_context"
"""`additional_kwargs["lc_source"]` of messages of ours: the host's mark for what no person typed; no model sees it."""

_ROLES: tuple[tuple[type[BaseMessage], Role], ...] = (
    (HumanMessage, "user"), (AIMessage, "assistant"), (ToolMessage, "tool"), (SystemMessage, "system"),
    (FunctionMessage, "tool"),
)  # fmt: skip
_CHAT_ROLES: Mapping[str, Role] = {
    "system": "system", "developer": "system", "assistant": "assistant", "ai": "assistant", "model": "assistant",
    "tool": "tool", "function": "tool",
}  # fmt: skip
_REASONING_KWARGS = ("reasoning_content", "reasoning", "thinking", "thinking_blocks")
_RESENT_KWARGS = ("refusal", "tool_outputs")
_SIGNATURES = "__gemini_function_call_thought_signatures__"


class LangChainCodec:
    """Reads and writes LangChain messages; see `tiered_core.codec.Codec`."""

    name = "langchain"
    overflow_error = ContextBudgetExceededError
    """What the session raises when the budget is exceeded; a `ContextOverflowError` of LangChain as well."""

    def read(self, message: Any) -> Reading:
        """See `Codec.read`."""
        role = _role(message)
        content = message.content
        parts = list(parts_of(content))
        texts = (content,) if isinstance(content, str) and content else tuple(p.text for p in parts if p.kind == "text")
        results = answered_ids(content) if role == "user" else None
        reasoning = [as_json(p.block) for p in parts if p.kind == "reasoning"]
        return Reading(
            role if results is None else "tool",
            texts,
            id=message.id or None,
            name=message.name or None,
            calls=calls_of(message) if role == "assistant" else (),
            answers=_answers(message) if results is None else results,
            reasoning=(*reasoning, *_reasoning_beside(message, reasoning)),
            signed=_signed(message, parts),
            media=tuple(media_of(p.block) for p in parts if p.kind == "media"),
            extra=tuple(_extra(message, parts)),
        )

    def write(self, message: Any, change: Change) -> Any:
        """See `Codec.write`."""
        out = self.copy(message)
        if change.arguments is not None:
            put_arguments(out, change.arguments)
        out.content = written(out.content, change)
        return out

    def redacted(self, message: Any, redact: Redact) -> Any:
        """See `Codec.redacted`; an artifact made of plain values is redacted too."""
        out = self.copy(message)
        for name in (
            "content",
            "additional_kwargs",
            "tool_calls",
            "invalid_tool_calls",
            "tool_call_chunks",
            "artifact",
        ):
            if getattr(out, name, None):
                setattr(out, name, redact_values(getattr(out, name), redact))
        return out

    def compose(self, role: Role, text: str) -> Any:
        """See `Codec.compose`; the message carries the host's mark for what no person typed."""
        kind = {"system": SystemMessage, "assistant": AIMessage}.get(role, HumanMessage)
        return kind(content=text, additional_kwargs={"lc_source": SOURCE})

    def answer(self, call: Call, text: str) -> Any:
        """See `Codec.answer`."""
        mark = {"lc_source": SOURCE}
        return ToolMessage(content=text, tool_call_id=call.id or "", name=call.name or None, additional_kwargs=mark)

    def copy(self, message: Any) -> Any:
        """See `Codec.copy`; an artifact stays the same object."""
        _role(message)
        return copy_message(message)

    def dump(self, message: Any) -> str:
        """See `Codec.dump`."""
        return dump_message(message)

    def load(self, text: str) -> Any:
        """See `Codec.load`."""
        return load_message(text)


def is_ours(message: BaseMessage) -> bool:
    """Whether `LangChainCodec.compose` made the message."""
    return message.additional_kwargs.get("lc_source") == SOURCE


def _role(message: Any) -> Role:
    for kind, role in _ROLES:
        if isinstance(message, kind):
            return role
    if isinstance(message, ChatMessage):
        return _CHAT_ROLES.get(str(message.role).lower(), "user")
    raise TranscriptError(
        f"expected a LangChain message (HumanMessage, AIMessage, SystemMessage, ToolMessage, FunctionMessage or "
        f"ChatMessage), got {type(message).__name__}"
    )


def _answers(message: Any) -> tuple[str | None, ...]:
    """The calls that a message answers; a `FunctionMessage` answers the call of its name."""
    if isinstance(message, ToolMessage):
        return (message.tool_call_id or None,)
    if isinstance(message, FunctionMessage):
        return (message.name or None,)
    if isinstance(message, ChatMessage) and _role(message) == "tool":
        id = message.additional_kwargs.get("tool_call_id") or message.name
        return (str(id) if id else None,)
    return ()


def _kwargs(message: Any) -> Mapping[Any, Any]:
    return message.additional_kwargs if isinstance(message.additional_kwargs, Mapping) else {}


def _reasoning_beside(message: Any, inside: list[str]) -> Iterator[str]:
    """Reasoning in `additional_kwargs`, unless the content holds it as well."""
    for key in _REASONING_KWARGS:
        value = _kwargs(message).get(key)
        if not value:
            continue
        text = value if isinstance(value, str) else as_json(value)
        if not any(text in block or as_json(text)[1:-1] in block for block in inside):
            yield text


def _signed(message: Any, parts: list[Part]) -> bool:
    kwargs = _kwargs(message)
    beside = [kwargs.get(key) for key in _REASONING_KWARGS]
    blocks = [p.block for p in parts if p.kind in ("reasoning", "text", "call")]
    blocks += [b for value in beside for b in (value if isinstance(value, list) else [value])]
    return bool(kwargs.get(_SIGNATURES)) or any(map(is_signed, blocks))


def _extra(message: Any, parts: list[Part]) -> Iterator[str]:
    """What reaches the model besides: unknown blocks, content that is no list, and kwargs that providers resend."""
    yield from (as_json(p.block) for p in parts if p.kind == "extra")
    if message.content is not None and not isinstance(message.content, str | list):
        yield as_json(message.content)
    yield from (as_json(value) for key in _RESENT_KWARGS if (value := _kwargs(message).get(key)))
