"""First way in: a LangChain chain. `TieredMemory` puts the history before the question and stores what was said."""

from __future__ import annotations

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from analyst.desk import MOST_ROUNDS, Desk
from analyst.langchain_model import chat_model, definitions, langchain_tool, neutral
from analyst.messages import Message, tool_tokens
from analyst.script import SYSTEM
from langchain_tiered import TieredChatMessageHistory, TieredMemory
from tiered_core import TieredContext

_SESSION = {"configurable": {"session_id": "analyst"}}
_QUESTION = 100
"""Tokens to leave for the question, which stands behind the view until it is answered."""


class Chain:
    """A chain that calls `run_sql`: the model's call, the tool's result and the answer all go through the history."""

    title = "LangChain chain"

    def __init__(self, desk: Desk) -> None:
        self._meter = desk.meter
        self._tool = langchain_tool(desk.toolbox.run_sql)
        self.history = TieredChatMessageHistory("analyst", budget=desk.budget)
        self.history.context.plan_for(tool_tokens(definitions([self._tool])) + _QUESTION)
        self.history.add_messages([SystemMessage(SYSTEM)])
        self._meter.note(Message("system", SYSTEM))
        self.chain = TieredMemory(chat_model(desk).bind_tools([self._tool]), lambda session_id: self.history)

    @property
    def context(self) -> TieredContext:
        """See `Way.context`."""
        return self.history.context

    def ask(self, question: str) -> str:
        """See `Way.ask`."""
        self._meter.note(Message("user", question))
        reply: AIMessage = self.chain.invoke([HumanMessage(question)], _SESSION)
        for _ in range(MOST_ROUNDS):
            if not reply.tool_calls:
                break
            results = [self._result(call) for call in reply.tool_calls]
            self.history.add_messages(results)
            reply = self.chain.invoke([], _SESSION)
        return str(reply.text)

    def _result(self, call: dict) -> ToolMessage:
        result: ToolMessage = self._tool.invoke(call)
        self._meter.note(neutral(result))
        return result
