from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_tiered import LangChainCodec, TieredChatMessageHistory
from tiered_core.testing import AdapterConformance, Line

_ROLES: dict[str, Any] = {"system": "system", "human": "user", "ai": "assistant", "tool": "tool"}


def line_of(message: BaseMessage) -> Line:
    """A message as the oracle sees it, read without our codec."""
    calls = tuple(c["id"] for c in message.tool_calls) if isinstance(message, AIMessage) else ()
    answers = (message.tool_call_id,) if isinstance(message, ToolMessage) else ()
    other = isinstance(message.content, list) and any(isinstance(b, dict) and "text" not in b for b in message.content)
    return Line(_ROLES[message.type], str(message.text), calls, answers, other)


class TestHistory(AdapterConformance):
    """The contract that every adapter satisfies, on `TieredChatMessageHistory`."""

    def open(self, budget: int) -> TieredChatMessageHistory:
        return TieredChatMessageHistory(budget=budget)

    def add(self, adapter: TieredChatMessageHistory, messages: Sequence[BaseMessage]) -> None:
        adapter.add_messages(messages)

    async def aadd(self, adapter: TieredChatMessageHistory, messages: Sequence[BaseMessage]) -> None:
        await adapter.aadd_messages(messages)

    def view(self, adapter: TieredChatMessageHistory) -> list[BaseMessage]:
        return adapter.messages

    async def aview(self, adapter: TieredChatMessageHistory) -> list[BaseMessage]:
        return await adapter.aget_messages()

    def transcript(self, adapter: TieredChatMessageHistory) -> list[BaseMessage]:
        return adapter.all_messages

    def context(self, adapter: TieredChatMessageHistory) -> Any:
        return adapter.context

    def message(self, line: Line) -> BaseMessage:
        if line.role == "assistant":
            calls = [{"name": "run_query", "args": {"sql": "select 1"}, "id": c} for c in line.calls]
            return AIMessage(line.text, tool_calls=calls)
        if line.role == "tool":
            return ToolMessage(line.text, tool_call_id=line.answers[0] or "")
        return (SystemMessage if line.role == "system" else HumanMessage)(line.text)

    def line(self, message: BaseMessage) -> Line:
        return line_of(message)

    def tokens(self, messages: Sequence[BaseMessage]) -> int:
        codec, counter = LangChainCodec(), self.open(100).context.counter
        return counter.count_messages([codec.read(m) for m in messages])


class TestHistoryOnDisk(TestHistory):
    """The same on a store on disk."""

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path
        self.opened = 0

    def open(self, budget: int) -> TieredChatMessageHistory:
        self.opened += 1
        return TieredChatMessageHistory(f"s{self.opened}", budget=budget, store=f"sqlite:///{self.folder / 'chat.db'}")


class TestHistoryOfBlocks(TestHistory):
    """The same with content that is a list of blocks."""

    def message(self, line: Line) -> BaseMessage:
        message = super().message(line)
        if line.text:
            message.content = [{"type": "text", "text": line.text}]
        return message
