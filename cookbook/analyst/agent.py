"""Second way in: a LangChain agent. `TieredContextMiddleware` fits each of its requests into the budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from analyst.desk import MOST_ROUNDS, Desk
from analyst.langchain_model import chat_model, langchain_tool, neutral
from analyst.messages import Message
from analyst.meter import Meter
from analyst.script import SYSTEM
from langchain_tiered import TieredContextMiddleware
from tiered_core import TieredContext

_THREAD = "analyst"


class _ResultsNoted(AgentMiddleware):
    """Lets the meter take down what the tools gave."""

    def __init__(self, meter: Meter) -> None:
        super().__init__()
        self._meter = meter

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Around each call of a tool."""
        result = handler(request)
        if isinstance(result, ToolMessage):
            self._meter.note(neutral(result))
        return result


class Agent:
    """An agent with all tools of the toolbox: some 3,000 tokens of definitions stand in each of its requests."""

    title = "LangChain agent"

    def __init__(self, desk: Desk) -> None:
        self._meter = desk.meter
        self.middleware = TieredContextMiddleware(budget=desk.budget)
        self.agent = create_agent(
            chat_model(desk),
            [langchain_tool(method) for method in desk.toolbox.all],
            system_prompt=SYSTEM,
            middleware=[self.middleware, _ResultsNoted(desk.meter)],
            checkpointer=InMemorySaver(),
        )
        self._meter.note(Message("system", SYSTEM))

    @property
    def context(self) -> TieredContext:
        """See `Way.context`."""
        return self.middleware.context_for(_THREAD)

    def ask(self, question: str) -> str:
        """See `Way.ask`."""
        self._meter.note(Message("user", question))
        config: Any = {"configurable": {"thread_id": _THREAD}, "recursion_limit": 4 * MOST_ROUNDS}
        state = self.agent.invoke({"messages": [HumanMessage(question)]}, config)
        return str(state["messages"][-1].text)
