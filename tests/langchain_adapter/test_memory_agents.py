from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import tool

from langchain_tiered import TieredChatMessageHistory, TieredMemory
from tests.langchain_adapter.models import PlainHistory, ScriptedModel, replies, said

create_agent = pytest.importorskip("langchain.agents").create_agent


@tool
def query(sql: str) -> str:
    """Runs SQL."""
    return "id,amount\n" + "\n".join(f"{n},{n * 2}" for n in range(300))


TURN = ["h:sure?", "a:", "t:" + query.invoke({"sql": ""}), "a:yes"]


def _agent_replies(turns: int) -> ScriptedModel:
    out: list[Any] = []
    for n in range(turns):
        out.append(AIMessage("", tool_calls=[{"name": "query", "args": {"sql": "SELECT 1"}, "id": f"c{n}"}]))
        out.append("yes")
    return replies(*out)


@pytest.mark.parametrize("history", [TieredChatMessageHistory, PlainHistory])
@pytest.mark.parametrize("way", ["invoke", "stream", "values"])
def test_agent(way: str, history: Any) -> None:
    """An agent gives back all that it got; only what is new is stored, however it is run; equal turns stay apart."""
    agent = create_agent(_agent_replies(3), [query], system_prompt="sys")
    kept = history() if history is PlainHistory else history(budget=3_000)
    chain = TieredMemory(agent, lambda: kept, input_messages_key="messages", output_messages_key="messages")
    for _ in range(3):
        if way == "invoke":
            chain.invoke({"messages": "sure?"})
        else:
            list(chain.stream({"messages": "sure?"}, **({"stream_mode": "values"} if way == "values" else {})))
    stored = kept.messages if history is PlainHistory else kept.all_messages
    assert said(stored) == TURN * 3
    assert [m.tool_call_id for m in stored if isinstance(m, ToolMessage)] == ["c0", "c1", "c2"]


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
def test_agent_under_the_hosts_wrapper() -> None:
    """The host's own wrapper adds the whole transcript after each run; the history keeps every message once."""
    agent = create_agent(_agent_replies(3), [query], system_prompt="sys")
    history = TieredChatMessageHistory(budget=3_000)
    chain = RunnableWithMessageHistory(
        agent, lambda: history, input_messages_key="messages", output_messages_key="messages"
    )
    for _ in range(3):
        chain.invoke({"messages": [HumanMessage("sure?")]}, {"configurable": {"session_id": "1"}})
    assert said(history.all_messages) == TURN * 3
