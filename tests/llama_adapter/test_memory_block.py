"""`TieredMemoryBlock` in LlamaIndex's newer `Memory`."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store.base_db import MessageStatus
from sqlalchemy.ext.asyncio import create_async_engine

from llama_tiered import LlamaIndexCodec, TieredMemoryBlock
from tests.llama_adapter.scripted import TABLE, talk, texts
from tiered_core import TieredContext, TieredError

ACTIVE = MessageStatus.ACTIVE


def block_of(budget: int, **kwargs: object) -> TieredMemoryBlock:
    return TieredMemoryBlock(TieredContext(budget, codec=LlamaIndexCodec()), **kwargs)


@asynccontextmanager
async def memory_of(block: TieredMemoryBlock, limit: int) -> AsyncIterator[Memory]:
    engine = create_async_engine("sqlite+aiosqlite:///:memory:")
    yield Memory.from_defaults(
        token_limit=limit, token_flush_size=limit // 10, chat_history_token_ratio=0.4, memory_blocks=[block],
        async_engine=engine,
    )  # fmt: skip
    await engine.dispose()


async def test_takes_what_leaves_the_queue() -> None:
    """Messages that leave the short-term memory are kept whole and shown in front of it, system text first."""
    block = block_of(1_000)
    async with memory_of(block, 2_000) as memory:
        for message in talk(8, "row " * 120):
            await memory.aput(message)
        kept = block.context.transcript()
        assert len(kept) > 10
        assert texts(kept) == texts(talk(8, "row " * 120))[: len(kept)]
        view = await memory.aget()
    roles = [m.role.value for m in view]
    assert roles[0] == "system"
    assert texts(view)[-1] == "Answer 7: UA."
    for place, role in enumerate(roles):
        assert role != "tool" or roles[place - 1] in ("assistant", "tool")


async def test_gives_way_step_by_step() -> None:
    """Asked to give way, the block gives a smaller view, not nothing; the more it is asked, the less it shows."""
    block = block_of(4_000)
    await block.aput(talk(8))
    whole = await block.aget()
    sizes = [block._host_tokens(whole)]
    for wanted in (100, 500, sizes[0] // 2):
        smaller = await block.atruncate(whole, wanted)
        assert smaller
        assert smaller[0].role == "system"
        assert sizes[0] - block._host_tokens(smaller) >= wanted
        sizes.append(block._host_tokens(smaller))
    assert sizes == sorted(sizes, reverse=True)
    assert await block.atruncate(whole, sizes[0]) is None
    assert await block.aget() == whole
    assert [m.content for m in block.context.transcript() if m.role == "tool"] == [TABLE] * 8


async def test_memory_keeps_it_under_pressure() -> None:
    """`Memory` keeps its limit with a block that is larger than its room, and still shows part of the block."""
    block = block_of(5_000)
    async with memory_of(block, 1_500) as memory:
        for message in talk(12, "row " * 60):
            await memory.aput(message)
        view, queue = await memory.aget(), await memory.sql_store.get_messages(memory.session_id, status=ACTIVE)
        assert sum(memory._estimate_token_count(m) for m in view) <= 1_500
    assert len(queue) < len(view)


def test_copies_and_errors() -> None:
    """Copies are the block itself; a context for other messages is refused with the way out."""
    block = block_of(1_000, name="before", priority=2)
    assert copy.deepcopy(block) is block
    assert (block.name, block.priority) == ("before", 2)
    with pytest.raises(TieredError, match="codec=LlamaIndexCodec"):
        TieredMemoryBlock(TieredContext(1_000))
