"""`fit_messages`: where `trim_messages` stood."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, overload

from langchain_core.messages import BaseMessage, MessageLikeRepresentation, convert_to_messages
from langchain_core.runnables import Runnable, RunnableLambda

from langchain_tiered.options import for_langchain
from tiered_core import TokenBudget, fit


@overload
def fit_messages(
    messages: None = None, budget: int | TokenBudget = ..., **options: Any
) -> Runnable[Sequence[MessageLikeRepresentation], list[BaseMessage]]: ...


@overload
def fit_messages(
    messages: Sequence[MessageLikeRepresentation], budget: int | TokenBudget = ..., **options: Any
) -> list[BaseMessage]: ...


def fit_messages(
    messages: Sequence[MessageLikeRepresentation] | None = None, budget: int | TokenBudget = 50_000, **options: Any
) -> list[BaseMessage] | Runnable[Sequence[MessageLikeRepresentation], list[BaseMessage]]:
    """Fits messages into a token budget; nothing is kept between calls, and the given messages are not altered.

    Unlike `trim_messages` it keeps calls and results together, keeps the system text and the current request, makes
    large tool results small instead of dropping them, and never gives back an empty list for a conversation.

    Args:
        messages: the conversation, oldest first, in any form that LangChain takes for a message. Without it, a Runnable
            is returned that takes the messages.
        budget: tokens of the result as a whole number, or a `TokenBudget`.
        options: `overhead_tokens`, `question`, `token_counter`, `strategy` and the like, see `tiered_core.fit`.

    Raises:
        ContextBudgetExceededError: what can't be reduced is larger than the budget.
    """
    if messages is None:
        return RunnableLambda(partial(_fitted, budget=budget, **options), name="fit_messages")
    return _fitted(messages, budget=budget, **options)


def _fitted(messages: Any, budget: int | TokenBudget, **options: Any) -> list[BaseMessage]:
    own = {name: options.pop(name) for name in ("overhead_tokens", "question") if name in options}
    return fit(convert_to_messages(messages), budget, **own, **for_langchain(options)).messages
