"""LangChain's `trim_messages`, and how its messages are read for the count and the oracle."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    trim_messages,
)

from langchain_tiered import fit_messages
from tests.benchmarks.corpora import Message
from tests.benchmarks.methods import Stateless
from tests.benchmarks.tokens import view_tokens
from tiered_core import get_token_counter

_ROLES = {"system": "system", "human": "user", "ai": "assistant", "tool": "tool"}


def to_langchain(message: Message) -> BaseMessage:
    """The message as LangChain has it."""
    text = message.get("content") or ""
    if message["role"] == "system":
        return SystemMessage(text)
    if message["role"] == "user":
        return HumanMessage(text)
    if message["role"] == "tool":
        return ToolMessage(text, tool_call_id=message["tool_call_id"], name=message.get("name"))
    return AIMessage(text, tool_calls=[_call(call) for call in message.get("tool_calls") or ()])


def _call(call: Message) -> ToolCall:
    function = call["function"]
    return ToolCall(type="tool_call", id=call["id"], name=function["name"], args=json.loads(function["arguments"]))


def from_langchain(message: BaseMessage) -> Message:
    """What is sent for it: the form that langchain-openai gives it."""
    out: Message = {"role": _ROLES[message.type], "content": message.content}
    if isinstance(message, AIMessage) and message.tool_calls:
        out["tool_calls"] = [
            {
                "id": c["id"],
                "type": "function",
                "function": {"name": c["name"], "arguments": json.dumps(c["args"], ensure_ascii=False)},
            }
            for c in message.tool_calls
        ]
    if isinstance(message, ToolMessage):
        out["tool_call_id"] = message.tool_call_id
    return out


def stateless(name: str, function: Callable[[list[BaseMessage], int], Sequence[BaseMessage]]) -> Stateless:
    """A function on LangChain messages as a method."""
    return Stateless(name, function, "langchain", to_langchain, from_langchain)


def adapter() -> Stateless:
    """`fit_messages` of the code under test."""
    counter = get_token_counter("cl100k_base")
    name = "tiered `fit_messages` (LangChain)"
    return stateless(name, lambda messages, budget: fit_messages(messages, budget, token_counter=counter))


def exact(messages: Sequence[BaseMessage]) -> int:
    """Tokens by the benchmarks' own count."""
    return view_tokens(map(from_langchain, messages))


def trimmers() -> list[Stateless]:
    """`trim_messages` with the exact counter, with its recommended settings, and with its default counter."""
    recommended: dict[str, Any] = {"strategy": "last", "include_system": True, "start_on": "human"}

    def trimmer(counter: Any, **settings: Any) -> Callable[[list[BaseMessage], int], Sequence[BaseMessage]]:
        return lambda messages, budget: trim_messages(messages, max_tokens=budget, token_counter=counter, **settings)

    return [
        stateless("`trim_messages`, exact count, no settings", trimmer(exact)),
        stateless("`trim_messages`, exact count, recommended", trimmer(exact, **recommended)),
        stateless("`trim_messages`, approximate count, recommended", trimmer("approximate", **recommended)),
    ]
