"""`TieredMemoryBlock`: what leaves the queue of LlamaIndex's `Memory`, kept whole and shown within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, TextBlock
from llama_index.core.memory import BaseMemoryBlock
from pydantic import PrivateAttr

from llama_tiered.codec import LlamaIndexCodec
from llama_tiered.errors import LlamaArgumentError
from tiered_core import ContextBudgetExceededError, TieredContext, TokenBudget

_TRIES = 6


class TieredMemoryBlock(BaseMemoryBlock[list[ChatMessage]]):
    """A memory block that gives the earlier conversation as messages, in front of the short-term ones.

    Under pressure it gives way step by step: results become smaller, then stubs, then the oldest turns leave; only what
    can't be reduced goes as a whole. Nothing is lost; `context` recalls it.

    Args:
        context: holds the messages; its budget bounds the block. Its codec has to be a `LlamaIndexCodec`.
        data: fields of `BaseMemoryBlock`. `name` is "earlier_conversation" and `priority` 1 by default: a block of
            priority 0 is never asked to give way.

    Raises:
        LlamaArgumentError: the context is one for other messages.
    """

    _context: TieredContext = PrivateAttr()

    def __init__(self, context: TieredContext, **data: Any) -> None:
        if not isinstance(context.codec, LlamaIndexCodec):
            raise LlamaArgumentError(
                "the context holds other messages: make it with TieredContext(…, codec=LlamaIndexCodec())"
            )
        super().__init__(**{"name": "earlier_conversation", "priority": 1, **data})
        self._context = context

    @property
    def context(self) -> TieredContext:
        """The conversation behind the block."""
        return self._context

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> TieredMemoryBlock:
        """The block itself: a conversation has one place."""
        return self

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> list[ChatMessage]:
        """The view; [] while nothing has left the short-term memory."""
        del messages, block_kwargs
        return await self._context.aview()

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Takes in messages that leave the short-term memory."""
        await self._context.aadd(messages)

    async def atruncate(self, content: list[ChatMessage], tokens_to_truncate: int) -> list[ChatMessage] | None:
        """A view at least that many tokens smaller, as `Memory` counts; None when only an empty one would be."""
        before = self._host_tokens(content)
        room = sum(self._context.count_message(m) for m in content)
        excess = tokens_to_truncate
        for _ in range(_TRIES):
            room -= max(1, excess)
            if room < 1:
                return None
            try:
                smaller = await self._within(room).aview()
            except ContextBudgetExceededError:
                return None
            excess = tokens_to_truncate - (before - self._host_tokens(smaller))
            if excess <= 0:
                return smaller
        return None

    def _within(self, tokens: int) -> TieredContext:
        """The same conversation with another budget, for reading."""
        held = self._context
        budget = TokenBudget(context_window=tokens, response_reserve=0)
        return TieredContext(budget, held.session_id, held.store, held.counter, codec=held.codec)

    def _host_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """As `Memory` counts: texts and `additional_kwargs`, no calls."""
        count = self._context.counter.count_text
        texts = [b.text for m in messages for b in m.blocks if isinstance(b, TextBlock)]
        return sum(map(count, texts)) + sum(count(str(m.additional_kwargs)) for m in messages if m.additional_kwargs)
