"""Agents with the memory and with a bounded model; workflow contexts that are reused, written down and read again."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.mock import MockLLM
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context, JsonSerializer
from workflows.context.serializers import PickleSerializer

from llama_tiered import TieredChatMemoryBuffer, bounded_llm
from tests.llama_adapter.scripted import TABLE, Recorder, assistant, calling_llm, run_query, texts, user

# llama-index-workflows looks at every attribute of an agent, deprecated ones of pydantic included; ReActAgent uses a
# deprecated property.
pytestmark = pytest.mark.filterwarnings(
    "ignore::pydantic.PydanticDeprecatedSince20",
    "ignore::pydantic.PydanticDeprecatedSince211",
    "ignore:is_running called from within a step:DeprecationWarning",
)
BUDGET = 2_000


def agent_of(recorder: Recorder, memory: TieredChatMemoryBuffer, **kwargs: Any) -> FunctionAgent:
    return FunctionAgent(
        llm=bounded_llm(calling_llm(recorder), memory), tools=[FunctionTool.from_defaults(run_query)],
        system_prompt="You are a careful analyst.", **kwargs,
    )  # fmt: skip


def tokens(memory: TieredChatMemoryBuffer, messages: list[ChatMessage]) -> int:
    return memory.context.counter.count_messages([memory.context.codec.read(m) for m in messages])


def assert_legal(request: list[ChatMessage]) -> None:
    """System text first, then a user message; every call answered at once; nothing blank."""
    roles = [m.role.value for m in request]
    head = roles.index("user")
    assert set(roles[:head]) == {"system"}
    assert "system" not in roles[head:]
    for place, message in enumerate(request):
        called = [b.tool_call_id for b in message.blocks if b.block_type == "tool_call"]
        answers = [m.additional_kwargs.get("tool_call_id") for m in request[place + 1 : place + 1 + len(called)]]
        assert answers == called
        assert message.content or called


@pytest.mark.parametrize("streaming", [True, False])
async def test_function_agent(streaming: bool) -> None:
    """A FunctionAgent whose tool results are ten times the budget: every request fits and is legal, nothing is lost."""
    recorder, memory = Recorder(rounds=7), TieredChatMemoryBuffer.from_defaults(token_limit=BUDGET)
    agent = agent_of(recorder, memory, streaming=streaming)
    context = Context(agent)
    for k in range(3):
        response = await agent.run(f"question {k}", ctx=context, memory=memory)
        assert str(response) == "done after 7"
    tools = memory.context.count_tools([FunctionTool.from_defaults(run_query).metadata.to_openai_tool()])
    assert len(recorder.requests) == 24
    for request in recorder.requests:
        assert_legal(request)
        assert tokens(memory, request) + tools <= BUDGET
        assert request[0].content == "You are a careful analyst." or (request[0].content or "").startswith("You are a")
    everything = memory.get_all()
    assert [m.content for m in everything if m.role == "tool"] == [TABLE] * 21
    assert [m.content for m in everything if m.role == "user"] == [f"question {k}" for k in range(3)]
    assert tokens(memory, memory.get()) <= BUDGET


async def test_requests_extend_each_other() -> None:
    """Inside one run each request begins with the one before, so that the provider's prefix cache keeps hitting."""
    recorder, memory = Recorder(rounds=4), TieredChatMemoryBuffer.from_defaults(token_limit=20_000)
    await agent_of(recorder, memory).run("question", memory=memory)
    for earlier, later in pairwise(recorder.requests):
        assert later[: len(earlier)] == earlier


async def test_agent_state_prompt_leaves_the_memory_alone() -> None:
    """The agent writes its state into the last message that it was given; the transcript doesn't change."""
    recorder, memory = Recorder(rounds=0), TieredChatMemoryBuffer.from_defaults(token_limit=BUDGET)
    await agent_of(recorder, memory, initial_state={"mood": "good"}).run("question", memory=memory)
    assert "good" in (recorder.requests[0][-1].content or "")
    assert texts(memory.get_all()) == ["question", "done after 0"]


async def test_react_agent() -> None:
    """A ReActAgent, which keeps its reasoning as text, stays within the budget as well."""
    requests: list[list[ChatMessage]] = []

    class Thinking(MockLLM):
        def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
            raise AssertionError("the agent has to chat")

        async def achat(self, messages: Any, **kwargs: Any) -> Any:
            requests.append(list(messages))
            response = MockLLM(is_chat_model=True, max_tokens=1).chat([user("x")])
            if len(requests) % 6:
                text = 'Thought: I need data.\nAction: run_query\nAction Input: {"sql": "select 1"}'
            else:
                text = "Thought: I can answer.\nAnswer: UA"
            response.message = assistant(text)
            return response

        async def astream_chat(self, messages: Any, **kwargs: Any) -> Any:
            response = await self.achat(messages)

            async def stream() -> Any:
                yield response

            return stream()

    memory = TieredChatMemoryBuffer.from_defaults(token_limit=4_000)
    llm = bounded_llm(Thinking(is_chat_model=True), memory)
    agent = ReActAgent(llm=llm, tools=[FunctionTool.from_defaults(run_query)], streaming=False)
    for k in range(3):
        assert str(await agent.run(f"question {k}", memory=memory)) == "UA"
    assert len(requests) == 18
    assert all(tokens(memory, request) <= 4_000 for request in requests)
    assert texts(memory.get_all())[0] == "question 0"
    assert sum(m.role == "user" for m in memory.get_all()) == 3


async def test_agent_workflow_shares_the_memory() -> None:
    """Agents of one AgentWorkflow write to the same memory."""
    recorder, memory = Recorder(rounds=1), TieredChatMemoryBuffer.from_defaults(token_limit=BUDGET)
    agent = agent_of(recorder, memory, name="analyst", description="asks the data")
    workflow = AgentWorkflow(agents=[agent], root_agent="analyst")
    await workflow.run("question", memory=memory)
    assert [m.role.value for m in memory.get_all()] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("serializer", [JsonSerializer(), PickleSerializer()])
async def test_reused_context_keeps_the_users_memory(serializer: Any) -> None:
    """Between runs a workflow writes its memory and reads it again; the agent goes on with the user's own object."""
    recorder, memory = Recorder(rounds=1), TieredChatMemoryBuffer.from_defaults(token_limit=BUDGET)
    agent = agent_of(recorder, memory)
    context = Context(agent, serializer=serializer)
    await agent.run("one", ctx=context, memory=memory)
    await agent.run("two", ctx=context)
    assert await context.store.get("memory") is memory
    assert [m.content for m in memory.get_all() if m.role == "user"] == ["one", "two"]


async def test_context_is_restored_at_its_point_in_time() -> None:
    """A context written down earlier goes on from there, although the live memory has moved on; both stay apart."""
    recorder, memory = Recorder(rounds=1), TieredChatMemoryBuffer.from_defaults(token_limit=BUDGET)
    agent = agent_of(recorder, memory)
    context = Context(agent)
    await agent.run("one", ctx=context, memory=memory)
    written = json.loads(json.dumps(context.to_dict(serializer=JsonSerializer())))
    view, state = memory.get(), memory.context.state()
    await agent.run("two", ctx=context)
    back = Context.from_dict(agent, written, serializer=JsonSerializer())
    restored = await back.store.get("memory")
    assert restored is not memory
    assert restored.get() == view
    assert restored.context.state().rungs.keys() == state.rungs.keys()
    await agent.run("another two", ctx=back)
    assert [m.content for m in memory.get_all() if m.role == "user"] == ["one", "two"]
    assert [m.content for m in restored.get_all() if m.role == "user"] == ["one", "another two"]


async def test_state_edits_share_the_memory() -> None:
    """`ctx.store.edit_state()` copies the state, but not the memory in it."""
    recorder, memory = Recorder(rounds=0), TieredChatMemoryBuffer.from_defaults(token_limit=BUDGET)
    agent = agent_of(recorder, memory)
    context = Context(agent)
    await agent.run("one", ctx=context, memory=memory)
    async with context.store.edit_state() as state:
        assert state["memory"] is memory
        state["memory"].put(user("note"))
    assert texts(memory.get_all())[-1] == "note"
