"""Room for what a chat engine puts around a view without saying so.

An engine that works with retrieved text asks its memory with `input=` before it puts the question, and says nothing of
its system prompt, of the retrieved text, or of the question itself. An agent asks with `input=` too, but its question
is in the memory by then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llama_index.core.base.llms.types import ChatMessage

from llama_tiered.codec import LlamaIndexCodec
from tiered_core import ContextBudgetExceededError, TieredContext

RETRIEVED = 2_200
"""Tokens of two chunks of 1,024 tokens, which retrievers give by default, and of the longest default template around
them (llama-index-core 0.14.25; `test_engine_overhead_is_what_engines_add` measures it)."""
_COMPARED = 24


def headrooms(
    context: TieredContext, view: Sequence[ChatMessage], asked: Any, setting: int | None
) -> tuple[tuple[int, bool], ...]:
    """Overheads to try in turn, in tokens, each with whether it is the last one; () when nothing is ahead.

    Args:
        context: whose counter counts the question.
        view: without any headroom.
        asked: the `input` of `get`.
        setting: the memory's `engine_overhead`. With None the guess gives way where it would leave no view at all.
    """
    if not isinstance(asked, str) or not asked.strip() or _stands_last(view, asked):
        return ()
    question = context.count_message(context.codec.compose("user", asked))
    if setting is not None:
        return ((question + setting, True),)
    return (question + min(RETRIEVED, context.budget.available // 4), False), (question, True)


@contextmanager
def roomiest(last: bool) -> Iterator[None]:
    """Passes over a view that can't be made, unless there is nothing else to try."""
    try:
        yield
    except ContextBudgetExceededError:
        if last:
            raise


def _stands_last(view: Sequence[ChatMessage], asked: str) -> bool:
    """Whether the question is the last message already, maybe shortened."""
    last = LlamaIndexCodec().read(view[-1]) if view else None
    return last is not None and last.role == "user" and asked[:_COMPARED] == last.text[:_COMPARED]
