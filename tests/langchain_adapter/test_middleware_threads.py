from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import tool

from tests.langchain_adapter.models import ScriptedModel, echo, replies, said, size

pytest.importorskip("langchain.agents")
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver

from langchain_tiered import TieredContextMiddleware
from langchain_tiered.threads import Address
from tests.langchain_adapter.test_middleware import analyst, call, query

T1: Any = {"configurable": {"thread_id": "t1"}}


def sent(model: ScriptedModel) -> list[list[Any]]:
    """What reached the model, without ids."""
    return [[(m.type, m.content, getattr(m, "tool_calls", None)) for m in seen] for seen in model.seen]


def run(
    saver: InMemorySaver, middleware: TieredContextMiddleware, questions: list[str], start: int = 0
) -> ScriptedModel:
    """Asks questions in the thread t1, with a new model and agent; turns count from `start`."""
    model = analyst(len(questions), start)
    agent = create_agent(model, [query], middleware=[middleware], checkpointer=saver)
    for n, question in enumerate(questions, start):
        agent.invoke({"messages": [HumanMessage(question, id=f"h{n}")]}, T1)
    return model


def new_middleware(**options: Any) -> TieredContextMiddleware:
    return TieredContextMiddleware(budget=3_000, token_counter=size, **options)


QUESTIONS = [f"question {n} " * 10 for n in range(10)]


@pytest.mark.parametrize("cut", [1, 4, 7, 9])
def test_after_a_restart(cut: int) -> None:
    """A process that knows only the checkpoint sends byte for byte what the old one would have sent."""
    whole = run(InMemorySaver(), new_middleware(), QUESTIONS)
    saver = InMemorySaver()
    first = run(saver, new_middleware(), QUESTIONS[:cut])
    second = run(saver, new_middleware(), QUESTIONS[cut:], cut)
    assert sent(first) + sent(second) == sent(whole)


def test_a_fork_sees_what_was_decided_there() -> None:
    """From a checkpoint in the past, the same question leads to the same requests as then, whatever came after it."""
    saver, middleware = InMemorySaver(), new_middleware()
    first = run(saver, middleware, QUESTIONS)
    agent = create_agent(analyst(0), [query], middleware=[middleware], checkpointer=saver)
    at = next(s for s in agent.get_state_history(T1) if len(s.values["messages"]) == 20 and not s.next)
    model = analyst(1)
    fork = create_agent(model, [query], middleware=[middleware], checkpointer=saver)
    fork.invoke({"messages": [HumanMessage(QUESTIONS[5], id="h5")]}, at.config)
    assert sent(model)[0] == sent(first)[10]


def test_going_to_and_fro_between_forks() -> None:
    """Two branches of a thread, run in turn in one process, each send what they would send alone."""
    saver, middleware = InMemorySaver(), new_middleware()
    run(saver, middleware, QUESTIONS[:3])
    agent = create_agent(analyst(0), [query], middleware=[middleware], checkpointer=saver)
    start = agent.get_state(T1).config
    tips, seen = {"x": start, "y": start}, {"x": [], "y": []}
    for n in range(4):
        for branch in ("x", "y"):
            model = analyst(1)
            fork = create_agent(model, [query], middleware=[middleware], checkpointer=saver)
            fork.invoke({"messages": [HumanMessage(f"{branch}{n} " * 20, id=f"{branch}{n}")]}, tips[branch])
            tips[branch] = next(iter(fork.get_state_history(T1))).config
            seen[branch] += sent(model)
    for branch in ("x", "y"):
        alone_saver, alone = InMemorySaver(), new_middleware()
        run(alone_saver, alone, QUESTIONS[:3])
        expected = []
        for n in range(4):
            model = analyst(1)
            fork = create_agent(model, [query], middleware=[alone], checkpointer=alone_saver)
            fork.invoke({"messages": [HumanMessage(f"{branch}{n} " * 20, id=f"{branch}{n}")]}, T1)
            expected += sent(model)
        assert seen[branch] == expected


def test_a_regenerated_turn() -> None:
    """When the last answer is taken out and made anew, the model gets the same request; the log has one answer."""
    saver, middleware = InMemorySaver(), new_middleware()
    first = run(saver, middleware, QUESTIONS[:4])
    model = replies(AIMessage("another answer", id="b3x"))
    agent = create_agent(model, [query], middleware=[middleware], checkpointer=saver)
    agent.update_state(T1, {"messages": [RemoveMessage(id="b3")]}, as_node="tools")
    out = agent.invoke(None, T1)
    assert sent(model) == [sent(first)[-1]]
    assert said(out["messages"])[-1] == "a:another answer"
    assert said(middleware.context_for("t1").transcript())[-1].startswith("t:id,name")


def test_an_edited_question() -> None:
    """When a question is edited, the view shows the new one, and what stood behind it is gone from view."""
    saver, middleware = InMemorySaver(), new_middleware()
    run(saver, middleware, QUESTIONS[:4])
    model = echo()
    agent = create_agent(model, [query], middleware=[middleware], checkpointer=saver)
    messages = agent.get_state(T1).values["messages"]
    last = next(i for i, m in enumerate(messages) if m.id == "h3")
    agent.update_state(T1, {"messages": [RemoveMessage(id=m.id) for m in messages[last + 1 :]]}, as_node="__start__")
    agent.update_state(T1, {"messages": [HumanMessage("edited", id="h3")]}, as_node="__start__")
    agent.invoke(None, T1)
    assert said(model.seen[-1])[-1] == "h:edited"
    assert not any(QUESTIONS[3] in text for text in said(model.seen[-1]))


def test_threads_are_apart() -> None:
    """Each thread has a conversation of its own."""
    middleware = new_middleware()
    model = echo()
    agent = create_agent(model, [], middleware=[middleware], checkpointer=InMemorySaver())
    for n in range(6):
        agent.invoke({"messages": [("human", f"q{n}")]}, {"configurable": {"thread_id": f"t{n % 2}"}})
    assert [t[2:] for t in said(middleware.context_for("t0").transcript()) if t[0] == "h"] == ["q0", "q2", "q4"]
    assert said(model.seen[-1]) == ["h:q1", "a:answer 1", "h:q3", "a:answer 3", "h:q5"]
    assert middleware.context_for("other").transcript() == []


async def test_many_threads_at_once() -> None:
    """Threads that run at the same time, in tasks and in threads of the process, don't mix."""
    middleware = new_middleware()

    async def ask(thread: int) -> list[BaseMessage]:
        model = analyst(3)
        agent = create_agent(model, [query], middleware=[middleware], checkpointer=InMemorySaver())
        for n in range(3):
            config: Any = {"configurable": {"thread_id": f"t{thread}"}}
            await agent.ainvoke({"messages": [("human", f"thread {thread} question {n}")]}, config)
        return model.seen[-1]

    for number, seen in enumerate(await asyncio.gather(*(ask(n) for n in range(8)))):
        assert {m.text.split(" question")[0] for m in seen if isinstance(m, HumanMessage)} == {f"thread {number}"}


def test_without_a_thread() -> None:
    """Runs without a checkpointer are conversations of their own, also when they run at the same time."""
    middleware = new_middleware()
    seen: dict[int, list[Any]] = {}

    def ask(number: int) -> None:
        model = analyst(1)
        create_agent(model, [query], middleware=[middleware]).invoke({"messages": [("human", f"run {number}")]})
        seen[number] = said(model.seen[-1])

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {n: [t for t in texts if t[0] == "h"] for n, texts in seen.items()} == {n: [f"h:run {n}"] for n in range(8)}


def test_one_context_serves_a_whole_run_without_a_thread() -> None:
    """Within a run without a checkpointer the context is found again, so what was sent stays."""
    middleware = new_middleware()
    model = replies(*(call("query", n, sql="SELECT 1") for n in range(6)), "done")
    create_agent(model, [query], middleware=[middleware]).invoke({"messages": [("human", "go")]})
    for earlier, later in zip(model.seen[:4], model.seen[1:4], strict=False):
        assert later[: len(earlier)] == earlier


def test_the_process_holds_a_bounded_number_of_threads() -> None:
    """Threads that were not used for long are let go, and come back from their checkpoint."""
    middleware = new_middleware()
    middleware._threads._most = 3
    saver, model = InMemorySaver(), echo()
    agent = create_agent(model, [], middleware=[middleware], checkpointer=saver)
    for n in range(10):
        agent.invoke({"messages": [("human", f"q{n}")]}, {"configurable": {"thread_id": f"t{n}"}})
    assert len(middleware._threads._held) == 3
    agent.invoke({"messages": [("human", "again")]}, {"configurable": {"thread_id": "t0"}})
    assert said(model.seen[-1]) == ["h:q0", "a:answer 0", "h:again"]


def test_a_store_on_disk(tmp_path: Path) -> None:
    """With a store, originals of all threads outlive the process."""
    store = f"sqlite:///{tmp_path / 'agent.db'}"
    saver = InMemorySaver()
    first = new_middleware(store=store)
    run(saver, first, QUESTIONS[:3])
    first.close()
    second = new_middleware(store=store)
    recalled = second.context_for("t1").recall("r1", limit_tokens=None)
    assert recalled.text == query.invoke({"sql": ""})
    second.close()


def test_recall_after_a_restart() -> None:
    """A process that knows only the checkpoint recalls what the old one showed in short."""
    saver = InMemorySaver()
    run(saver, new_middleware(), QUESTIONS[:1])
    model = replies(call("recall_context", 5, handle="r1"), "done")
    agent = create_agent(model, [query], middleware=[new_middleware()], checkpointer=saver)
    out = agent.invoke({"messages": [("human", "show r1")]}, T1)
    results = [m.text for m in out["messages"] if isinstance(m, ToolMessage)]
    assert "id,name,amount" in results[-1]


def test_agent_in_an_agent() -> None:
    """An agent called by a tool of another one has its own conversation, though thread and middleware are the same."""
    middleware = new_middleware()
    inner_model = replies("inner one", "inner two")
    inner = create_agent(inner_model, [], middleware=[middleware])

    @tool
    def delegate(task: str) -> str:
        """Has another agent do it."""
        return str(inner.invoke({"messages": [("human", task)]})["messages"][-1].text)

    outer_model = replies(call("delegate", 0, task="t0"), call("delegate", 1, task="t1"), "outer done")
    outer = create_agent(outer_model, [delegate], middleware=[middleware], checkpointer=InMemorySaver())
    outer.invoke({"messages": [("human", "go")]}, T1)
    assert [said(s) for s in inner_model.seen] == [["h:t0"], ["h:t1"]]
    assert said(outer_model.seen[-1]) == ["h:go", "a:", "t:inner one", "a:", "t:inner two"]


def test_addresses() -> None:
    """A conversation's name in the store is that of its thread, unless it is inside of another one or has none."""
    assert Address("t1").session == "t1"
    assert Address("t1", "tools:9").session == "t1|tools:9"
    assert Address(None, run="abc").session == "abc"


STRICT = """
import os
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from tests.langchain_adapter.test_middleware import analyst, query
from langchain_tiered import TieredContextMiddleware
saver = InMemorySaver()
for n in range(3):
    middleware = TieredContextMiddleware(budget=2_000)
    agent = create_agent(analyst(1), [query], middleware=[middleware], checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}}
    agent.invoke({"messages": [HumanMessage(f"question {n}")]}, config)
    kept = agent.get_state(config).values["tiered_context"]
    assert isinstance(kept, dict) and set(kept) == {"state", "margin", "run"}, kept
"""


def test_strict_msgpack() -> None:
    """What we keep in the checkpoint is plain JSON: it passes LangGraph's strict serialiser without a warning."""
    subprocess.run([sys.executable, "-W", "error", "-c", STRICT], check=True)
