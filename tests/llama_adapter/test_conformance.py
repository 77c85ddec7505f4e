"""The contract that every adapter satisfies, on `TieredChatMemoryBuffer`, with and without a chat store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.storage.chat_store import SimpleChatStore

from llama_tiered import LlamaIndexCodec, TieredChatMemoryBuffer
from tiered_core.testing import AdapterConformance, Line

_ROLES: dict[str, Any] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}


class TestBuffer(AdapterConformance):
    """A memory that keeps its messages itself."""

    def open(self, budget: int) -> TieredChatMemoryBuffer:
        return TieredChatMemoryBuffer.from_defaults(token_limit=budget)

    def add(self, adapter: TieredChatMemoryBuffer, messages: Sequence[ChatMessage]) -> None:
        adapter.put_messages(list(messages))

    async def aadd(self, adapter: TieredChatMemoryBuffer, messages: Sequence[ChatMessage]) -> None:
        await adapter.aput_messages(list(messages))

    def view(self, adapter: TieredChatMemoryBuffer) -> list[ChatMessage]:
        return adapter.get()

    async def aview(self, adapter: TieredChatMemoryBuffer) -> list[ChatMessage]:
        return await adapter.aget()

    def transcript(self, adapter: TieredChatMemoryBuffer) -> list[ChatMessage]:
        return adapter.get_all()

    def context(self, adapter: TieredChatMemoryBuffer) -> Any:
        return adapter.context

    def message(self, line: Line) -> ChatMessage:
        blocks: list[Any] = [TextBlock(text=line.text)] if line.text else []
        blocks += [
            ToolCallBlock(tool_call_id=c, tool_name="run_query", tool_kwargs={"sql": "select 1"}) for c in line.calls
        ]
        kwargs = {"tool_call_id": line.answers[0]} if line.answers else {}
        return ChatMessage(role=_ROLES[line.role], blocks=blocks, additional_kwargs=kwargs)

    def line(self, message: ChatMessage) -> Line:
        calls = tuple(b.tool_call_id for b in message.blocks if isinstance(b, ToolCallBlock))
        answer = message.additional_kwargs.get("tool_call_id")
        role: Any = message.role.value
        return Line(role, message.content or "", calls, (answer,) if role == "tool" else ())

    def tokens(self, messages: Sequence[ChatMessage]) -> int:
        codec, counter = LlamaIndexCodec(), self.open(100).context.counter
        return counter.count_messages([codec.read(m) for m in messages])


class TestBufferWithChatStore(TestBuffer):
    """A memory whose messages live in a chat store."""

    def open(self, budget: int) -> TieredChatMemoryBuffer:
        return TieredChatMemoryBuffer.from_defaults(token_limit=budget, chat_store=SimpleChatStore())
