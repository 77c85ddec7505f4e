"""`bounded_llm`: every call is fitted, in every form, and answers come from the wrapped model."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from llama_index.core import PromptTemplate
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import LLM
from llama_index.core.llms.mock import MockLLM, MockLLMWithChatMemoryOfLastCall
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel

from llama_tiered import LlamaContextBudgetExceededError, TieredChatMemoryBuffer, bounded_llm
from tests.llama_adapter.scripted import TABLE, Recorder, call, calling_llm, result, run_query, system, talk, user
from tiered_core import TranscriptError

BUDGET = 900
TOOL = FunctionTool.from_defaults(run_query)


def tokens(memory: TieredChatMemoryBuffer, messages: Any) -> int:
    return memory.context.counter.count_messages([memory.context.codec.read(m) for m in messages])


def drained(stream: Any) -> list[Any]:
    return list(stream)


def run(coroutine: Any) -> Any:
    async def use() -> Any:
        response = await coroutine
        return [item async for item in response] if hasattr(response, "__aiter__") else response

    return asyncio.run(use())


CHATS: dict[str, Callable[[Any, list[ChatMessage]], Any]] = {
    "chat": lambda llm, m: llm.chat(m),
    "stream_chat": lambda llm, m: drained(llm.stream_chat(m)),
    "achat": lambda llm, m: run(llm.achat(m)),
    "astream_chat": lambda llm, m: run(llm.astream_chat(m)),
}
WITH_TOOLS: dict[str, Callable[[Any, list[ChatMessage], Any], Any]] = {
    "chat_with_tools": lambda llm, m, u: llm.chat_with_tools([TOOL], u, m),
    "stream_chat_with_tools": lambda llm, m, u: drained(llm.stream_chat_with_tools([TOOL], u, m)),
    "achat_with_tools": lambda llm, m, u: run(llm.achat_with_tools([TOOL], u, m)),
    "astream_chat_with_tools": lambda llm, m, u: run(llm.astream_chat_with_tools([TOOL], u, m)),
    "predict_and_call": lambda llm, m, u: llm.predict_and_call([TOOL], u, m, error_on_no_tool_call=False),
    "apredict_and_call": lambda llm, m, u: run(llm.apredict_and_call([TOOL], u, m, error_on_no_tool_call=False)),
}


@pytest.mark.parametrize("way", CHATS)
def test_chats(way: str) -> None:
    """chat, stream_chat, achat and astream_chat reach the wrapped model with at most the budget's tokens."""
    memory = TieredChatMemoryBuffer.from_defaults(token_limit=BUDGET)
    inner = MockLLMWithChatMemoryOfLastCall(max_tokens=3, is_chat_model=True)
    history = [*talk(9), user("So?")]
    assert CHATS[way](bounded_llm(inner, memory), history)
    sent = list(inner.last_chat_messages or [])
    assert way in inner.last_called_chat_function  # its async stream calls the synchronous one
    assert tokens(memory, sent) <= BUDGET < tokens(memory, history)
    assert sent[-1] == user("So?")
    assert (sent[0].content or "").startswith("You are a careful analyst.")
    assert history == [*talk(9), user("So?")]
    assert memory.get_all() == []


@pytest.mark.parametrize("way", WITH_TOOLS)
@pytest.mark.parametrize("question", ["So?", user("So?"), None])
def test_with_tools(way: str, question: Any) -> None:
    """Calls with tools are fitted beside the tools' definitions; the user's message may come apart from the history."""
    memory, recorder = TieredChatMemoryBuffer.from_defaults(token_limit=BUDGET), Recorder(rounds=0)
    llm = bounded_llm(calling_llm(recorder), memory)
    history = talk(9) if question else [*talk(9), user("So?")]
    WITH_TOOLS[way](llm, history, question)
    (sent,) = recorder.requests
    overhead = memory.context.count_tools([TOOL.metadata.to_openai_tool()])
    assert overhead > 20
    assert tokens(memory, sent) + overhead <= BUDGET
    assert sent[-1] == user("So?")


def test_definitions_in_a_plain_chat_count() -> None:
    """Tool definitions that are handed to `chat` itself count as well."""
    memory, recorder = TieredChatMemoryBuffer.from_defaults(token_limit=BUDGET), Recorder(rounds=0)
    bounded_llm(calling_llm(recorder), memory).chat([*talk(9), user("So?")], tools=[TOOL.metadata.to_openai_tool()] * 5)
    overhead = memory.context.count_tools([TOOL.metadata.to_openai_tool()] * 5)
    assert tokens(memory, recorder.requests[0]) + overhead <= BUDGET


def test_kind_and_metadata() -> None:
    """A FunctionCallingLLM stays one, a plain LLM doesn't become one; metadata and other attributes are the model's."""
    memory = TieredChatMemoryBuffer.from_defaults()
    calling, plain = calling_llm(Recorder(0)), MockLLM(max_tokens=7, system_prompt="sp")
    assert isinstance(bounded_llm(calling, memory), FunctionCallingLLM)
    bounded: LLM = bounded_llm(plain, memory)
    assert isinstance(bounded, LLM)
    assert not isinstance(bounded, FunctionCallingLLM)
    assert bounded.metadata == plain.metadata
    assert bounded.max_tokens == 7  # type: ignore[attr-defined]
    assert bounded.system_prompt == "sp"
    prepared = bounded_llm(calling, memory)._prepare_chat_with_tools([TOOL], chat_history=[user("x")])
    assert prepared["messages"] == [user("x")]
    with pytest.raises(AttributeError, match="no_such_thing"):
        bounded.no_such_thing  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("chats", [True, False])
def test_predict(chats: bool) -> None:
    """predict and its variants, which fill a template, are fitted as well, for chat and for completion models."""
    memory = TieredChatMemoryBuffer.from_defaults(token_limit=BUDGET)
    prompts: list[str] = []

    class Inner(MockLLM):
        def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
            prompts.append(prompt)
            return super().complete("ok", formatted, **kwargs)

        def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
            prompts.append(prompt)
            return super().stream_complete("ok", formatted, **kwargs)

    llm = bounded_llm(Inner(is_chat_model=chats), memory)
    template = PromptTemplate("Summarise: {text}")
    assert "ok" in llm.predict(template, text=TABLE * 3)
    assert "ok" in "".join(llm.stream(template, text=TABLE * 3))
    assert "ok" in run(llm.apredict(template, text=TABLE * 3))
    assert "ok" in "".join(run(llm.astream(template, text=TABLE * 3)))
    assert len(prompts) == 4
    assert all(memory.context.counter.count_text(p) <= BUDGET for p in prompts)
    assert all("Summarise" in p for p in prompts)


def test_completions() -> None:
    """complete and its variants shorten a prompt that doesn't fit and hand on one that does as it is."""
    memory = TieredChatMemoryBuffer.from_defaults(token_limit=BUDGET)
    llm = bounded_llm(MockLLM(), memory)
    ways: list[Callable[[str], str]] = [
        lambda p: llm.complete(p).text,
        lambda p: drained(llm.stream_complete(p))[-1].text,
        lambda p: run(llm.acomplete(p)).text,
        lambda p: run(llm.astream_complete(p))[-1].text,
    ]
    for way in ways:
        assert way("A short prompt.") == "A short prompt."
        assert memory.context.counter.count_text(way(TABLE * 3)) <= BUDGET


def test_prefix_is_kept_across_calls() -> None:
    """Calls that extend each other send the same beginning, byte for byte, until a batch; also beside other calls."""
    memory, recorder = TieredChatMemoryBuffer.from_defaults(token_limit=4_000), Recorder(rounds=0)
    llm = bounded_llm(calling_llm(recorder), memory)
    history = [system("You are an analyst."), user("Who is late?")]
    other = [system("You are an analyst."), user("Something else altogether"), call("x"), result("x")]
    mine: list[list[ChatMessage]] = []
    for k in range(6):
        llm.chat(history)
        mine.append(recorder.requests[-1])
        llm.chat(other)
        history += [call(f"c{k}"), result(f"c{k}")]
    for earlier, later in pairwise(mine):
        assert later[: len(earlier)] == earlier


def test_handles_are_their_own() -> None:
    """Handles in fitted calls aren't those of the memory; the bounded model recalls their originals."""
    memory, recorder = TieredChatMemoryBuffer.from_defaults(token_limit=4_000), Recorder(rounds=0)
    memory.put_messages([user("a"), call("m"), result("m", "memory's own\n" * 2_000)])
    llm = bounded_llm(calling_llm(recorder), memory)
    llm.chat([user("Who is late?"), call("c"), result("c")])
    shown = recorder.requests[0][-1].content or ""
    assert "r100001" in shown
    assert "r100001" not in (memory.get()[-1].content or "")
    assert llm.recall("r100001", limit_tokens=None).text == TABLE  # type: ignore[attr-defined]
    with pytest.raises(TranscriptError, match="r7"):
        llm.recall("r7")  # type: ignore[attr-defined]
    with pytest.raises(TranscriptError, match="r100001"):
        memory.context.recall("r100001")


def test_copies_and_new_limits() -> None:
    """A copied or unpickled model works and keeps the memory's budget, also one that was set later."""
    memory = TieredChatMemoryBuffer.from_defaults(token_limit=BUDGET)
    inner = MockLLMWithChatMemoryOfLastCall(max_tokens=1, is_chat_model=True)
    llm = bounded_llm(inner, memory)
    for other in (llm, copy.deepcopy(llm), pickle.loads(pickle.dumps(llm))):
        other.chat([*talk(9), user("So?")])
        assert tokens(memory, other.last_chat_messages) <= BUDGET
    memory.token_limit = 300
    llm.chat([*talk(9), user("So?")])
    assert tokens(memory, inner.last_chat_messages) <= 300


def test_structured_output() -> None:
    """Structured prediction goes through the fitted calls."""

    class Carrier(BaseModel):
        """An airline."""

        name: str

    requests: list[Any] = []

    def reply(messages: Any, **kwargs: Any) -> ChatMessage:
        requests.append(messages)
        block = ToolCallBlock(tool_call_id="1", tool_name="Carrier", tool_kwargs={"name": "UA"})
        return ChatMessage(role="assistant", blocks=[block])

    memory = TieredChatMemoryBuffer.from_defaults(token_limit=BUDGET)
    llm = bounded_llm(calling_llm(reply), memory)
    template = PromptTemplate("Which carrier is late? {rows}")
    assert llm.structured_predict(Carrier, template, rows=TABLE) == Carrier(name="UA")
    assert run(llm.astructured_predict(Carrier, template, rows=TABLE)) == Carrier(name="UA")
    assert len(requests) == 2
    assert all(tokens(memory, request) <= BUDGET for request in requests)


def test_conversations_in_parallel() -> None:
    """Calls of several conversations at once, from threads, each get their own messages."""
    memory = TieredChatMemoryBuffer.from_defaults(token_limit=BUDGET)
    recorder = Recorder(rounds=0)
    llm = bounded_llm(calling_llm(recorder), memory)

    async def use() -> None:
        for _ in range(3):
            await asyncio.gather(*(llm.achat([system("Same."), user(f"question {k}")]) for k in range(20)))

    asyncio.run(use())
    asked = [request[-1].content for request in recorder.requests]
    assert sorted(asked) == sorted(3 * [f"question {k}" for k in range(20)])
    assert all(len(request) == 2 for request in recorder.requests)


def test_too_much() -> None:
    """What can't be reduced is an error with the arithmetic, before the model is called; nothing in, nothing out."""
    memory, recorder = TieredChatMemoryBuffer.from_defaults(token_limit=60), Recorder(rounds=0)
    llm = bounded_llm(calling_llm(recorder), memory)
    with pytest.raises(LlamaContextBudgetExceededError, match="system"):
        llm.chat([system("word " * 100), user("hi")])
    assert recorder.requests == []
    inner = MockLLMWithChatMemoryOfLastCall(max_tokens=1, is_chat_model=True)
    bounded_llm(inner, memory).chat([])
    assert inner.last_chat_messages == []
