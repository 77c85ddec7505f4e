"""Messages, tools and models with scripted replies that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM

TABLE = "id,carrier,delay\n" + "\n".join(f"{k},{'AA' if k % 3 else 'UA'},{k * 7 % 50}" for k in range(400))


def system(text: str) -> ChatMessage:
    return ChatMessage(role="system", content=text)


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def assistant(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


def call(id: str, sql: str = "select 1") -> ChatMessage:
    block = ToolCallBlock(tool_call_id=id, tool_name="run_query", tool_kwargs={"sql": sql})
    return ChatMessage(role="assistant", blocks=[block])


def result(id: str, text: str = TABLE) -> ChatMessage:
    return ChatMessage(role="tool", content=text, additional_kwargs={"tool_call_id": id})


def talk(turns: int, body: str = TABLE) -> list[ChatMessage]:
    """A conversation in which every question needs one query."""
    out = [system("You are a careful analyst.")]
    for k in range(turns):
        out += [
            user(f"Question {k}: who is late?"),
            call(f"c{k}"),
            result(f"c{k}", body),
            assistant(f"Answer {k}: UA."),
        ]
    return out


def run_query(sql: str) -> str:
    """Runs a query and returns the rows as CSV."""
    del sql
    return TABLE


class Recorder:
    """A `response_generator` that keeps what reached the model and calls `run_query` a number of times per question."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.requests: list[list[ChatMessage]] = []

    def __call__(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatMessage:
        del kwargs
        self.requests.append([m.model_copy(deep=True) for m in messages])
        asked = max(k for k, m in enumerate(messages) if m.role == "user")
        done = sum(1 for m in messages[asked:] if m.role == "tool")
        if done >= self.rounds:
            return assistant(f"done after {done}")
        blocks = [TextBlock(text=f"step {done}"), call(f"c{len(self.requests)}").blocks[0]]
        return ChatMessage(role="assistant", blocks=blocks)


def calling_llm(generator: Callable[..., ChatMessage]) -> MockFunctionCallingLLM:
    return MockFunctionCallingLLM(response_generator=generator, is_chat_model=True)


def texts(messages: Sequence[ChatMessage]) -> list[str]:
    return [m.content or "" for m in messages]
