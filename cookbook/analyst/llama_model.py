"""LlamaIndex's side of the model: the scripted one, a real one, and how the meter reads what they receive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.llms.types import TextBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage, ChatResponse, CompletionResponse, CustomLLM, LLMMetadata, MessageRole
from llama_index.core.tools import FunctionTool
from pydantic import PrivateAttr

from analyst.desk import Desk, NoModelError
from analyst.messages import Message, ToolCall, compact
from analyst.meter import Meter

_ROLES = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_PACKAGES = {"openai": ("llama_index.llms.openai", "OpenAI"), "anthropic": ("llama_index.llms.anthropic", "Anthropic")}

Think = Callable[[Sequence[ChatMessage]], ChatMessage]


def neutral(message: ChatMessage) -> Message:
    """A LlamaIndex message without LlamaIndex."""
    text = "\n".join(block.text for block in message.blocks if isinstance(block, TextBlock))
    calls = tuple(
        ToolCall(str(block.tool_call_id), block.tool_name, _as_json(block.tool_kwargs))
        for block in message.blocks
        if isinstance(block, ToolCallBlock)
    )
    return Message(_ROLES[message.role.value], text, calls, message.additional_kwargs.get("tool_call_id"))


def _as_json(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else compact(arguments)


def result_message(call: ToolCall, text: str) -> ChatMessage:
    """A tool's result."""
    return ChatMessage(role="tool", content=text, additional_kwargs={"tool_call_id": call.id, "name": call.name})


class ToolLLM(CustomLLM):
    """A model that has its tools at hand in `chat`, so that any chat engine can use it; the meter sees what arrives."""

    _think: Think = PrivateAttr()
    _meter: Meter = PrivateAttr()
    _tools: list[dict[str, Any]] = PrivateAttr()

    def __init__(self, think: Think, meter: Meter, tools: Sequence[FunctionTool]) -> None:
        super().__init__()
        self._think, self._meter = think, meter
        self._tools = [tool.metadata.to_openai_tool() for tool in tools]

    @property
    def metadata(self) -> LLMMetadata:
        """What LlamaIndex wants to know of a model."""
        return LLMMetadata(is_chat_model=True, model_name="analyst")

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """The next message: text, or calls of tools."""
        self._meter.sees([neutral(message) for message in messages], self._tools)
        reply = self._think(messages)
        self._meter.note(neutral(reply))
        return ChatResponse(message=reply)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """A prompt as the only message."""
        reply = self.chat([ChatMessage(role="user", content=prompt)])
        return CompletionResponse(text=reply.message.content or "")

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        """The whole text at once."""
        yield self.complete(prompt)


def chat_llm(desk: Desk, tools: Sequence[FunctionTool]) -> ToolLLM:
    """The model of the session, with tools.

    Raises:
        NoModelError: the real model's package isn't installed, or it has no key.
    """
    if desk.model is None:
        mind = desk.mind()
        return ToolLLM(lambda messages: _written(mind.reply([neutral(m) for m in messages])), desk.meter, tools)
    llm = _real(desk.model)

    def think(messages: Sequence[ChatMessage]) -> ChatMessage:
        return llm.chat_with_tools(tools, chat_history=list(messages), allow_parallel_tool_calls=True).message

    return ToolLLM(think, desk.meter, tools)


def _written(reply: Message) -> ChatMessage:
    blocks: list[Any] = [TextBlock(text=reply.text)] if reply.text else []
    blocks += [ToolCallBlock(tool_call_id=c.id, tool_name=c.name, tool_kwargs=c.parsed()) for c in reply.calls]
    return ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks)


def _real(name: str) -> Any:
    provider, _, model = name.partition(":")
    if provider not in _PACKAGES:
        raise NoModelError(f"{name}: LlamaIndex is set up here for {' and '.join(_PACKAGES)}")
    module, kind = _PACKAGES[provider]
    try:
        return getattr(__import__(module, fromlist=[kind]), kind)(model=model, temperature=0)
    except ImportError:
        raise NoModelError(f"{name} needs a package: pip install llama-index-llms-{provider}") from None
    except Exception as error:  # each provider's client has its own error for a missing key
        raise NoModelError(f"{name} can't be used: {error}") from error
