"""LlamaIndex's `ChatMemoryBuffer` and `Memory`, and how its messages are read for the count and the oracle."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer, Memory
from sqlalchemy.ext.asyncio import create_async_engine

from llama_tiered import TieredChatMemoryBuffer
from tests.benchmarks.corpora import Conversation, Message
from tests.benchmarks.methods import Method, Seen, Stateless, attempt, user
from tests.benchmarks.tokens import SuffixTokenizer, count_text
from tiered_core import get_token_counter


def to_llama(message: Message) -> ChatMessage:
    """The message as LlamaIndex has it; calls stand in `additional_kwargs`, where `Memory` counts them."""
    kwargs = {k: message[k] for k in ("tool_calls", "tool_call_id", "name") if message.get(k)}
    return ChatMessage(role=message["role"], content=message.get("content") or "", additional_kwargs=kwargs)


def from_llama(message: ChatMessage) -> Message:
    """What is sent for it."""
    kwargs = message.additional_kwargs
    links: Message = {k: kwargs[k] for k in ("tool_calls", "tool_call_id") if k in kwargs}
    return {"role": message.role.value, "content": message.content or "", **links}


def _buffered(messages: list[ChatMessage], budget: int) -> list[ChatMessage]:
    tokenizer: Any = SuffixTokenizer()
    return ChatMemoryBuffer.from_defaults(chat_history=messages, token_limit=budget, tokenizer_fn=tokenizer).get()


class TieredBuffer:
    """`TieredChatMemoryBuffer` of the code under test; every message is put on its own."""

    name = "tiered `TieredChatMemoryBuffer` (LlamaIndex)"

    def views(self, talk: Conversation, budget: int, prefixes: Sequence[int]) -> Iterator[Seen]:
        messages, done = talk.form("llama", to_llama), 0
        counter = get_token_counter("cl100k_base")
        memory = TieredChatMemoryBuffer.from_defaults(token_limit=budget, token_counter=counter)
        for length in prefixes:
            for message in messages[done:length]:
                memory.put(message)
            done = length
            yield attempt(memory.get, from_llama)


class QueuedMemory:
    """`Memory` with its default store; every message is put on its own."""

    name = "`Memory` (LlamaIndex)"

    def views(self, talk: Conversation, budget: int, prefixes: Sequence[int]) -> Iterator[Seen]:
        yield from asyncio.run(self._views(talk.form("llama", to_llama), budget, prefixes))

    async def _views(self, messages: list[ChatMessage], budget: int, prefixes: Sequence[int]) -> list[Seen]:
        done, out = 0, []
        async with _memory(budget) as memory:
            for length in prefixes:
                for message in messages[done:length]:
                    await memory.aput(message)
                done = length
                out.append(_seen(await memory.aget()))
        return out

    def asked(self, talk: Conversation, budget: int, questions: Sequence[str]) -> Iterator[Seen]:
        """The conversation is put as one list, the question behind it, into a memory of its own per question."""
        for question in questions:
            yield asyncio.run(self._asked([*talk.form("llama", to_llama), to_llama(user(question))], budget))

    async def _asked(self, messages: list[ChatMessage], budget: int) -> Seen:
        async with _memory(budget) as memory:
            await memory.aput_messages(messages[:-1])
            await memory.aput(messages[-1])
            return _seen(await memory.aget())


def _seen(messages: Sequence[ChatMessage]) -> Seen:
    return Seen([from_llama(message) for message in messages])


@asynccontextmanager
async def _memory(budget: int) -> AsyncIterator[Memory]:
    """A memory with the store that it has by default, whose connection is closed in the end."""

    def tokens(text: str) -> range:
        return range(count_text(text))

    tokenizer: Any = tokens
    engine = create_async_engine("sqlite+aiosqlite:///:memory:")
    try:
        yield Memory.from_defaults(uuid.uuid4().hex, token_limit=budget, tokenizer_fn=tokenizer, async_engine=engine)
    finally:
        await engine.dispose()


def memories() -> list[Method]:
    """Both memories."""
    return [Stateless("`ChatMemoryBuffer` (LlamaIndex)", _buffered, "llama", to_llama, from_llama), QueuedMemory()]
