"""Reading the view of a history for a question, by itself or as a Runnable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableLambda

from langchain_tiered.copying import copy_message
from langchain_tiered.exchange import input_messages, question_of
from langchain_tiered.history import TieredChatMessageHistory
from tiered_core import TieredContext, fit


def read_view(history: Any, asked: Sequence[BaseMessage], tools: Sequence[Mapping[str, Any]] = ()) -> list[BaseMessage]:
    """The messages to show before these: the view that fits beside them, or copies of all that a plain history has.

    Args:
        history: of the session.
        asked: messages that stand behind the view and are added later.
        tools: definitions of the tools that the model gets.
    """
    question = question_of(asked)
    if isinstance(history, TieredChatMessageHistory):
        context = history.context
        return context.view(question, context.count_tools(tools), upcoming_tokens=_tokens(context, asked))
    if callable(view := getattr(history, "view", None)):
        return list(view(question=question))
    return list(map(copy_message, history.messages))


async def aread_view(
    history: Any, asked: Sequence[BaseMessage], tools: Sequence[Mapping[str, Any]] = ()
) -> list[BaseMessage]:
    """See `read_view`."""
    question = question_of(asked)
    if isinstance(history, TieredChatMessageHistory):
        context = history.context
        return await context.aview(question, context.count_tools(tools), upcoming_tokens=_tokens(context, asked))
    if callable(view := getattr(history, "aview", None)):
        return list(await view(question=question))
    return list(map(copy_message, await history.aget_messages()))


def shortened(
    context: TieredContext,
    held: Sequence[BaseMessage],
    asked: Sequence[BaseMessage],
    tools: Sequence[Mapping[str, Any]],
) -> list[BaseMessage]:
    """What to send where a question is so large that no view fits beside it: talk and question as one, in the budget.

    Raises:
        ContextBudgetExceededError: even so it does not fit.
    """
    whole = [*held, *asked]
    overhead = context.count_tools(tools)
    made = fit(whole, context.budget, overhead_tokens=overhead, codec=context.codec, token_counter=context.counter)
    return list(made.messages)


def _tokens(context: TieredContext, asked: Sequence[BaseMessage]) -> int:
    """Tokens of messages that stand beside the view."""
    return sum(map(context.count_message, asked))


def view_of(history: Any) -> Runnable[Any, list[BaseMessage]]:
    """A Runnable from a question to the messages of the view; see `TieredMemory.view_of`."""

    def view(question: Any) -> list[BaseMessage]:
        return read_view(history, _asked(question))

    async def aview(question: Any) -> list[BaseMessage]:
        return await aread_view(history, _asked(question))

    return RunnableLambda(view, aview, name="tiered_view")


def _asked(question: Any) -> list[BaseMessage]:
    if isinstance(question, Mapping):
        key = "question" if "question" in question else "input"
        return input_messages(question, key)
    return input_messages(question, None)
