"""Edited views, and calls of every kind at the same time."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.storage.chat_store import SimpleChatStore

from llama_tiered import TieredChatMemoryBuffer

TABLE = "id,carrier,delay\n" + "\n".join(f"{k},UA,{k * 7 % 50}" for k in range(200))


def _turn(k: int) -> list[ChatMessage]:
    return [
        ChatMessage(role="user", content=f"question {k}"),
        ChatMessage(role="assistant", blocks=[ToolCallBlock(tool_call_id=f"c{k}", tool_name="t", tool_kwargs={})]),
        ChatMessage(role="tool", content=TABLE, additional_kwargs={"tool_call_id": f"c{k}"}),
        ChatMessage(role="assistant", content=f"answer {k}"),
    ]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("taken", [0, 2])
async def test_set_of_an_edited_view(shared: bool, taken: int) -> None:
    """Setting the view, or the view less its end, keeps every original, wherever the transcript lives."""
    store: Any = SimpleChatStore() if shared else None
    memory = TieredChatMemoryBuffer.from_defaults(token_limit=1_500, chat_store=store)
    for k in range(14):
        memory.put_messages(_turn(k))
    before = memory.get_all()
    view = memory.get()
    assert len(view) < len(before)
    edited = view[: len(view) - taken]
    memory.set(edited)
    assert memory.get_all() == before[: len(before) - taken]
    await memory.aset(memory.get())
    assert await memory.aget_all() == before[: len(before) - taken]
    if shared:
        assert store.get_messages(memory.chat_store_key) == before[: len(before) - taken]


async def test_sync_calls_on_every_worker_thread(tmp_path: Any) -> None:
    """Async puts and as many synchronous reads as the loop has worker threads finish, on a store on disk."""
    memory = TieredChatMemoryBuffer.from_defaults(token_limit=1_500, store=f"sqlite:///{tmp_path}/c.db")
    workers = (os.cpu_count() or 1) + 4
    puts = [memory.aput(ChatMessage(role="user", content=f"note {k}")) for k in range(3)]
    more = [
        memory.chat_store.async_add_message(memory.chat_store_key, ChatMessage(role="user", content=f"more {k}"))
        for k in range(12)
    ]
    reads = [asyncio.to_thread(memory.get) for _ in range(2 * workers)]
    await asyncio.wait_for(asyncio.gather(*puts, *more, *reads), 30)
    assert len(memory.get_all()) == 15
    memory.context.close()
