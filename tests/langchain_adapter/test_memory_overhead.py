"""What stands beside the view in a chain: the question, and the tools that are bound to the model."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool

from langchain_tiered import TieredChatMessageHistory, TieredMemory
from tests.langchain_adapter.models import replies

CONFIG: Any = {"configurable": {"session_id": "s"}}


@tool
def query(sql: str) -> str:
    """Runs SQL on the flights of one year and returns rows; use it for every question about numbers."""
    return sql


def test_question_and_bound_tools_fit_beside_the_view() -> None:
    """View, question and the definitions of bound tools together stay within the budget, call by call."""
    history = TieredChatMessageHistory(budget=1_000)
    context = history.context
    model = replies(*["fine " * 20] * 20)
    seen: list[int] = []

    def spy(messages: list[Any]) -> list[Any]:
        seen.append(sum(map(context.count_message, messages)) + 3)
        return messages

    tools = [query] * 4
    chain = TieredMemory(RunnableLambda(spy) | model.bind(tools=tools), lambda: history, history_factory_config=())
    around = context.count_tools(_definitions(tools))
    for k in range(20):
        chain.invoke([HumanMessage(f"{k} " + "word " * 240)])
    assert around > 150
    assert max(seen) + around <= 1_000


def _definitions(tools: list[Any]) -> list[Any]:
    from langchain_core.utils.function_calling import convert_to_openai_tool

    return [convert_to_openai_tool(t) for t in tools]


def test_one_large_question_is_not_planned_for_ever() -> None:
    """A large question makes room for its own call; the next small one sees the earlier talk again."""
    history = TieredChatMessageHistory(budget=2_000)
    model = RunnableLambda(lambda messages: AIMessage(f"{len(messages)} seen"))
    chain = TieredMemory(model, lambda session_id: history)
    for k in range(8):
        chain.invoke([HumanMessage(f"question {k}: " + "word " * 60)], CONFIG)
    before = len(history.messages)
    history.context.view(upcoming_tokens=1_700)
    chain.invoke([HumanMessage("short")], CONFIG)
    assert len(history.messages) == before + 2
    assert history.context.state().overhead == 0


async def test_a_question_larger_than_the_budget_is_shortened() -> None:
    """A question that alone exceeds the budget reaches the model shortened, and is stored whole, sync and async."""
    history = TieredChatMessageHistory(budget=400)
    seen: list[list[Any]] = []

    def model(messages: list[Any]) -> AIMessage:
        seen.append(list(messages))
        return AIMessage("ok")

    chain = TieredMemory(RunnableLambda(model), lambda session_id: history)
    chain.invoke([HumanMessage("hello")], CONFIG)
    question = "Summarise this: " + "word " * 3_000
    chain.invoke([HumanMessage(question)], CONFIG)
    await chain.ainvoke([HumanMessage(question)], CONFIG)
    for messages in seen[1:]:
        assert sum(map(history.context.count_message, messages)) + 3 <= 400
        assert messages[-1].content.startswith("Summarise this: word")
    assert [m.content for m in history.all_messages] == ["hello", "ok", question, "ok", question, "ok"]
