from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage

from langchain_tiered import ContextBudgetExceededError, LangChainCodec, TieredChatMessageHistory
from tests.langchain_adapter.messages import messages
from tests.langchain_adapter.models import size

# Texts that hold the two halves of a character apart come back from a store with the character in one.
stored = messages.filter(lambda m: '"pieces"' not in LangChainCodec().dump(m))


def view_of(history: TieredChatMessageHistory) -> list[BaseMessage] | None:
    try:
        return history.messages
    except ContextBudgetExceededError:
        return None


@settings(max_examples=60)
@given(st.lists(stored, max_size=10), st.integers(40, 800), st.booleans(), st.integers(1, 4))
def test_any_messages(added: list[BaseMessage], budget: int, own_counter: bool, step: int) -> None:
    """Whatever is added, in whatever pieces, the view is within the budget, and a restored state gives it again."""
    options: dict[str, Any] = {"token_counter": size} if own_counter else {}
    history = TieredChatMessageHistory(budget=budget, **options)
    codec = LangChainCodec()
    for start in range(0, len(added), step):
        history.add_messages(added[start : start + step])
        view = view_of(history) or []
        counter = history.context.counter
        tokens = sum(map(size, view)) if own_counter else counter.count_messages([codec.read(m) for m in view])
        assert tokens <= budget
    other = TieredChatMessageHistory(budget=budget, **options)
    other.context.restore(history.context.export(), history.all_messages)
    assert view_of(other) == view_of(history)
