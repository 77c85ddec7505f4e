from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field

from langchain_tiered import ContextBudgetExceededError
from tests.langchain_adapter.models import ScriptedModel, echo, replies, said, size
from tests.langchain_adapter.test_conformance import line_of
from tiered_core import TieredError
from tiered_core.testing import problems

pytest.importorskip("langchain.agents")
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest
from langchain.agents.structured_output import ToolStrategy
from langgraph.checkpoint.memory import InMemorySaver

from langchain_tiered import TieredContextMiddleware

T1: Any = {"configurable": {"thread_id": "t1"}}
ROWS = 400


@tool
def query(sql: str) -> str:
    """Runs SQL."""
    return "id,name,amount\n" + "\n".join(f"{n},name {n},{n * 3.5}" for n in range(ROWS))


def call(name: str, number: int, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"c{number}"}], id=f"a{number}")


def analyst(turns: int, start: int = 0) -> ScriptedModel:
    """Queries once per turn, then answers; turns count from `start`."""
    out: list[Any] = []
    for n in range(start, start + turns):
        out += [call("query", n, sql=f"SELECT {n}"), AIMessage(f"answer {n} " * 8, id=f"b{n}")]
    return replies(*out)


def wide_tools(count: int = 12) -> list[Any]:
    """About 3,000 tokens of definitions."""

    class Arguments(BaseModel):
        """What to do."""

        table: str = Field(description="Name of the table to be read. " * 6)
        columns: list[str] = Field(description="Names of the columns to be shown. " * 6)
        limit: int = Field(default=10, description="How many rows to show at the most. " * 6)

    made = []
    for n in range(count):

        @tool(f"look_{n}", args_schema=Arguments)
        def look(table: str, columns: list[str], limit: int = 10) -> str:
            """Looks at a table and gives rows of it, as they stand in the warehouse today."""
            return table

        made.append(look)
    return made


def request_size(model: ScriptedModel, messages: list[BaseMessage]) -> int:
    """Tokens of a request by a count of our own: messages, system message among them, and tool definitions as JSON."""
    tools = [json.dumps(convert_to_openai_tool(t), ensure_ascii=False, separators=(",", ":")) for t in model.tools]
    return sum(map(size, messages)) + sum(map(size, tools))


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_the_budget_holds(way: str) -> None:
    """Every request of a long session is legal and within the budget, system prompt and 3,000 tokens of tools too."""
    model = analyst(12)
    budget = 5_500
    middleware = TieredContextMiddleware(budget=budget, token_counter=size)
    tools, prompt, saver = [query, *wide_tools()], "You are an analyst. " * 10, InMemorySaver()
    agent = create_agent(model, tools, system_prompt=prompt, middleware=[middleware], checkpointer=saver)
    for n in range(12):
        question = {"messages": [("human", f"question {n} " * 10)]}
        if way == "invoke":
            agent.invoke(question, T1)
        elif way == "ainvoke":
            await agent.ainvoke(question, T1)
        elif way == "stream":
            list(agent.stream(question, T1))
        else:
            _ = [c async for c in agent.astream(question, T1)]
    definitions = request_size(model, [])
    assert 2_700 < definitions < 4_000
    assert len(model.seen) == 24
    state = agent.get_state(T1).values["messages"]
    for number, seen in enumerate(model.seen):
        assert request_size(model, seen) <= budget
        assert seen[0].content == prompt or seen[0].text.startswith(prompt + "\n\n")
        then = [SystemMessage(prompt), *state[: number * 2 + 1]]
        assert problems([line_of(m) for m in seen], [line_of(m) for m in then]) == []
    assert [m.content for m in state if isinstance(m, ToolMessage)] == [query.invoke({"sql": ""})] * 12
    assert middleware.context_for("t1").report().batches > 0


def test_the_log_in_the_state_stays_untouched() -> None:
    """The agent's state is the same with the middleware as without, and its input and output schemas too."""
    agents = [
        create_agent(analyst(4), [query], middleware=middleware, checkpointer=InMemorySaver())
        for middleware in ([], [TieredContextMiddleware(budget=2_000)])
    ]
    for n in range(4):
        for agent in agents:
            out = agent.invoke({"messages": [HumanMessage(f"question {n}", id=f"h{n}")]}, T1)
            assert set(out) == {"messages"}
    logs = [agent.get_state(T1).values["messages"] for agent in agents]
    plain, ours = ([(type(m), m.content, getattr(m, "tool_calls", None)) for m in log] for log in logs)
    assert plain == ours
    assert agents[0].get_input_jsonschema() == agents[1].get_input_jsonschema()
    assert agents[0].get_output_jsonschema() == agents[1].get_output_jsonschema()


def test_what_was_sent_stays_a_prefix() -> None:
    """Between batches each request begins with the one before it, message by message, so a prefix cache hits."""
    model = analyst(14)
    middleware = TieredContextMiddleware(budget=2_500, token_counter=size)
    agent = create_agent(model, [query], system_prompt="sys", middleware=[middleware], checkpointer=InMemorySaver())
    for n in range(14):
        agent.invoke({"messages": [("human", f"question {n} " * 10)]}, T1)
    broken = sum(later[: len(earlier)] != earlier for earlier, later in zip(model.seen, model.seen[1:], strict=False))
    batches = middleware.context_for("t1").report().batches
    assert 0 < batches < 8
    assert broken == batches


def test_system_message_stays_byte_equal() -> None:
    """The agent's system message, cache marks and all, is the first thing sent; notes of ours stand behind its text."""
    marked = SystemMessage([{"type": "text", "text": "sys", "cache_control": {"type": "ephemeral"}}])
    model = replies(*(f"answer {n} " * 30 for n in range(30)))
    middleware = TieredContextMiddleware(budget=900, token_counter=size, tools=False)
    agent = create_agent(model, [], system_prompt=marked, middleware=[middleware], checkpointer=InMemorySaver())
    for n in range(30):
        agent.invoke({"messages": [("human", f"question {n} " * 10)]}, T1)
    assert model.seen[0][0] == marked
    for seen in model.seen:
        assert seen[0].content[0] == marked.content[0]
        assert sum(isinstance(m, SystemMessage) for m in seen) == 1
    assert "earlier messages are not shown" in model.seen[-1][0].content[-1]["text"]
    assert marked.content == [{"type": "text", "text": "sys", "cache_control": {"type": "ephemeral"}}]


def test_without_a_system_prompt() -> None:
    """Without a system message of the agent's, a note of ours makes one, and there are never two."""
    model = replies(*(f"answer {n} " * 30 for n in range(30)))
    middleware = TieredContextMiddleware(budget=900, token_counter=size, tools=False)
    agent = create_agent(model, [], middleware=[middleware], checkpointer=InMemorySaver())
    for n in range(30):
        agent.invoke({"messages": [("human", f"question {n} " * 10)]}, T1)
    assert [sum(isinstance(m, SystemMessage) for m in seen) for seen in model.seen][-1] == 1
    assert sum(map(size, model.seen[-1])) <= 900


@pytest.mark.parametrize("checkpointer", [None, InMemorySaver()])
def test_recall_tool(checkpointer: Any) -> None:
    """The model reads an original piece by piece with `recall_context`; a piece enters the view as it is."""
    model = replies(
        call("query", 0, sql="SELECT 1"), call("recall_context", 1, handle="r1"),
        call("recall_context", 2, handle="r1", offset=1_000), call("recall_context", 3, handle="r99"), "done",
    )  # fmt: skip
    middleware = TieredContextMiddleware(budget=6_000)
    agent = create_agent(model, [query], middleware=[middleware], checkpointer=checkpointer)
    out = agent.invoke({"messages": [("human", "how much?")]}, T1 if checkpointer else None)
    results = [m.text for m in out["messages"] if isinstance(m, ToolMessage)]
    whole = query.invoke({"sql": ""})
    first = results[1].partition("\n")
    assert first[0].startswith("[r1: characters 0 to ")
    assert first[0].endswith(f"of {len(whole)}; go on with offset={len(first[2])}]")
    assert whole.startswith(first[2])
    assert whole[1_000:].startswith(results[2].partition("\n")[2])
    assert "no handle 'r99'" in results[3]
    assert [m.text for m in model.seen[-1] if isinstance(m, ToolMessage)][1:] == results[1:]


async def test_recall_tool_async() -> None:
    """See `test_recall_tool`."""
    model = replies(call("query", 0, sql="SELECT 1"), call("recall_context", 1, handle="r1"), "done")
    middleware = TieredContextMiddleware(budget=6_000)
    agent = create_agent(model, [query], middleware=[middleware], checkpointer=InMemorySaver())
    out = await agent.ainvoke({"messages": [("human", "how much?")]}, T1)
    assert out["messages"][-2].text.startswith("[r1: characters 0 to ")


def test_tools_are_fixed_at_construction() -> None:
    """The model gets `recall_context` with two arguments, in few tokens, or no tool at all."""
    (made,) = TieredContextMiddleware().tools
    definition = convert_to_openai_tool(made)
    assert set(definition["function"]["parameters"]["properties"]) == {"handle", "offset"}
    assert size(json.dumps(definition)) < 150
    assert TieredContextMiddleware(tools=False).tools == []


class Refusing(ScriptedModel):
    """A provider that refuses what is longer than its window, in the way of one or another."""

    window: int
    error: str

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        if sum(map(size, messages)) > self.window:
            self.seen.append(list(messages))
            if self.error == "host":
                raise ContextOverflowError("too long")
            raise ValueError(self.error)
        return super()._generate(messages, *args, **kwargs)


REFUSALS = [
    "host",
    "Error code: 400 - {'error': {'code': 400, 'type': 'exceed_context_size_error'}}",
    "This model's maximum context length is 8192 tokens. (context_length_exceeded)",
    "prompt is too long: 210000 tokens > 200000 maximum",
]


@pytest.mark.parametrize("error", REFUSALS)
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_overflow_is_compacted_and_tried_once_more(error: str, way: str) -> None:
    """A provider's refusal leads to one smaller request, and to room that is left free from then on."""
    model = Refusing(messages=iter(f"answer {n}" for n in range(20)), window=1_800, error=error)
    middleware = TieredContextMiddleware(budget=3_000, token_counter=size, tools=False)
    agent = create_agent(model, [], middleware=[middleware], checkpointer=InMemorySaver())
    for n in range(12):
        question = {"messages": [("human", f"question {n} " * 60)]}
        out = agent.invoke(question, T1) if way == "invoke" else await agent.ainvoke(question, T1)
        assert out["messages"][-1].text == f"answer {n}"
    refused = [seen for seen in model.seen if sum(map(size, seen)) > 1_800]
    assert len(refused) == 1
    assert len(model.seen) == 13
    assert agent.get_state(T1).values["tiered_context"]["margin"] > 0


def test_overflow_that_cant_be_helped() -> None:
    """When the smaller request is refused too, or can't be made, the provider's error comes through."""
    model = Refusing(messages=iter(["a"]), window=10, error="prompt is too long: 99 tokens")
    agent = create_agent(model, [], middleware=[TieredContextMiddleware(budget=3_000, token_counter=size)])
    with pytest.raises(ValueError, match="prompt is too long"):
        agent.invoke({"messages": [("human", "question " * 200)]})
    assert len(model.seen) == 2


def test_other_errors_come_through() -> None:
    """An error that has nothing to do with length is not tried again."""
    model = replies(ValueError("no credit"))
    agent = create_agent(model, [], middleware=[TieredContextMiddleware()])
    with pytest.raises(ValueError, match="no credit"):
        agent.invoke({"messages": [("human", "a")]})
    assert len(model.seen) == 1


def test_too_small_a_budget() -> None:
    """A budget that tool definitions alone exceed raises our error, with its sum, which is the host's as well."""
    agent = create_agent(echo(), wide_tools(), middleware=[TieredContextMiddleware(budget=1_000)])
    with pytest.raises(ContextBudgetExceededError, match="what stands around the view fills the window") as caught:
        agent.invoke({"messages": [("human", "a")]})
    assert isinstance(caught.value, ContextOverflowError)


def test_bad_options() -> None:
    """An option that can't be used raises when the middleware is built."""
    with pytest.raises(TieredError, match="budget"):
        TieredContextMiddleware(budget=-1)


class Answer(BaseModel):
    """The answer."""

    text: str = Field(description="What to say. " * 30)


def test_response_format_counts() -> None:
    """The definition of a structured answer is part of the overhead."""
    middleware = TieredContextMiddleware(budget=3_000, token_counter=size, tools=False)
    reply = AIMessage("", tool_calls=[{"name": "Answer", "args": {"text": "b"}, "id": "1"}])
    agent = create_agent(
        replies(reply), [], middleware=[middleware], response_format=ToolStrategy(Answer), checkpointer=InMemorySaver()
    )
    assert agent.invoke({"messages": [("human", "a")]}, T1)["structured_response"] == Answer(text="b")
    assert middleware.context_for("t1").report().overhead >= 90


class Watcher(AgentMiddleware[Any, Any, Any]):
    """Another middleware, nearer to the model, that sees what ours sends."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[ModelRequest[Any]] = []

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        self.requests.append(request)
        return handler(request)


def test_beside_another_middleware() -> None:
    """The state's own messages are never handed on: what is done to those behind ours doesn't reach the state."""

    class Meddler(Watcher):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            for message in request.messages:
                message.content = "meddled"
            return super().wrap_model_call(request, handler)

    middleware = [TieredContextMiddleware(budget=2_000), Meddler()]
    agent = create_agent(echo(), [], middleware=middleware, checkpointer=InMemorySaver())
    agent.invoke({"messages": [("human", "a")]}, T1)
    out = agent.invoke({"messages": [("human", "b")]}, T1)
    assert said(out["messages"]) == ["h:a", "a:answer 0", "h:b", "a:answer 1"]


def test_user_stream_holds_the_answers_tokens_only() -> None:
    """Nothing of ours leaks into the stream of tokens."""
    agent = create_agent(replies("one |two"), [], middleware=[TieredContextMiddleware(budget=2_000)])
    stream = agent.stream({"messages": [("human", "a")]}, stream_mode="messages")
    assert "".join(m.text for m, _ in stream if isinstance(m, AIMessageChunk)) == "one two"
