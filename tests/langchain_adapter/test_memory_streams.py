from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableGenerator, RunnableLambda, RunnablePassthrough

from langchain_tiered import TieredChatMessageHistory, TieredMemory
from tests.langchain_adapter.models import PlainHistory, replies, said

SESSION: Any = {"configurable": {"session_id": "s1"}}


@pytest.fixture(params=[TieredChatMessageHistory, PlainHistory])
def history(request: pytest.FixtureRequest) -> Any:
    return request.param()


def partial_flags(history: Any) -> list[bool]:
    return [m.additional_kwargs.get("tiered_partial", False) for m in history.messages]


def test_full_stream(history: Any) -> None:
    """A stream that is read to its end stores a message, not a chunk, with no mark on it."""
    chain = TieredMemory(replies("one |two |three"), lambda: history)
    assert [c.text for c in chain.stream("a")][:3] == ["one ", "two ", "three"]
    assert said(history.messages) == ["h:a", "a:one two three"]
    assert [type(m) for m in history.messages] == [HumanMessage, AIMessage]
    assert partial_flags(history) == [False, False]


def test_closed_stream(history: Any) -> None:
    """A stream that is closed stores the question and the answer so far, marked."""
    stream = TieredMemory(replies("one |two |three"), lambda: history).stream("a")
    next(stream)
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert said(history.messages) == ["h:a", "a:one two "]
    assert partial_flags(history) == [False, True]
    assert type(history.messages[1]) is AIMessage


def test_forgotten_stream(history: Any) -> None:
    """A stream that is left and collected stores the question and the answer so far, marked."""
    for chunk in TieredMemory(replies("one |two |three"), lambda: history).stream("a"):
        assert chunk.text == "one "
        break
    gc.collect()
    assert said(history.messages) == ["h:a", "a:one "]
    assert partial_flags(history) == [False, True]


def test_consumer_that_raises(history: Any) -> None:
    """When the reader raises, the question and the answer so far are stored."""

    def read() -> None:
        for _ in TieredMemory(replies("one |two |three"), lambda: history).stream("a"):
            raise KeyError

    with pytest.raises(KeyError):
        read()
    gc.collect()
    assert said(history.messages) == ["h:a", "a:one "]


def test_stream_that_is_never_read(history: Any) -> None:
    """A stream of which nothing was read has asked nothing, and stores nothing."""
    TieredMemory(replies("one"), lambda: history).stream("a").close()  # type: ignore[attr-defined]
    assert history.messages == []


async def test_closed_async_stream(history: Any) -> None:
    """An async stream that is closed stores the question and the answer so far, marked."""
    stream = TieredMemory(replies("one |two |three"), lambda: history).astream("a")
    assert [(await anext(stream)).text for _ in range(2)] == ["one ", "two "]
    await stream.aclose()  # type: ignore[attr-defined]
    assert said(history.messages) == ["h:a", "a:one two "]
    assert partial_flags(history) == [False, True]


async def test_forgotten_async_stream(history: Any) -> None:
    """An async stream that is left and collected stores the question and the answer so far."""

    async def read_one() -> None:
        async for _ in TieredMemory(replies("one |two |three"), lambda: history).astream("a"):
            break

    await read_one()
    gc.collect()
    for _ in range(20):
        await asyncio.sleep(0.005)
    assert said(history.messages) == ["h:a", "a:one "]


def slow_model(pause: float = 30) -> Any:
    """Says one word, then thinks for long."""

    async def words(_: AsyncIterator[Any]) -> AsyncIterator[AIMessageChunk]:
        yield AIMessageChunk("one ")
        await asyncio.sleep(pause)
        yield AIMessageChunk("two")

    def never(_: Iterator[Any]) -> Iterator[Any]:
        yield from ()

    return RunnableGenerator(never, words)


async def test_cancelled_task(history: Any) -> None:
    """When the task that reads is cancelled while the model thinks, the question and the answer so far are stored."""

    async def read() -> None:
        async for _ in TieredMemory(slow_model(), lambda: history).astream("a"):
            pass

    task = asyncio.create_task(read())
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert said(history.messages) == ["h:a", "a:one "]
    assert partial_flags(history) == [False, True]


class SlowHistory(PlainHistory):
    """A history whose writing takes time."""

    async def aadd_messages(self, messages: Any) -> None:
        await asyncio.sleep(0.05)
        self.messages.extend(messages)


async def test_cancelled_twice() -> None:
    """A second cancellation, while the partial answer is being written, doesn't lose it."""
    history = SlowHistory()

    async def read() -> None:
        async for _ in TieredMemory(slow_model(), lambda: history).astream("a"):
            pass

    task = asyncio.create_task(read())
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.1)
    assert said(history.messages) == ["h:a", "a:one "]


async def test_timeout(history: Any) -> None:
    """A time-out around a stream keeps what had come."""

    async def read() -> None:
        async with asyncio.timeout(0.05):
            async for _ in TieredMemory(slow_model(), lambda: history).astream("a"):
                pass

    with pytest.raises(TimeoutError):
        await read()
    assert said(history.messages) == ["h:a", "a:one "]


def test_stream_of_text(history: Any) -> None:
    """A streamed text is stored as one answer, whole or partial."""
    chain = TieredMemory(replies("one |two", "three |four") | StrOutputParser(), lambda: history)
    assert "".join(chain.stream("a")) == "one two"
    stream = chain.stream("b")
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert said(history.messages) == ["h:a", "a:one two", "h:b", "a:three "]
    assert partial_flags(history) == [False, False, False, True]


def test_stream_of_dicts(history: Any) -> None:
    """A streamed dict is added up; one that is left before its answer began has an empty answer."""
    inner = RunnablePassthrough.assign(answer=RunnableLambda(lambda d: d["input"]) | replies("one |two", "x"))
    chain = TieredMemory(inner, lambda: history, input_messages_key="input", output_messages_key="answer")
    list(chain.stream({"input": "a"}))
    assert said(history.messages) == ["h:a", "a:one two"]
    stream = chain.stream({"input": "b"})
    assert "answer" not in next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert said(history.messages[2:]) in (["h:b", "a:"], ["h:b", "a:[empty message]"])
    assert partial_flags(history)[3]


def test_stream_after_an_abandoned_one() -> None:
    """The next turn sees the partial answer, in a legal order."""
    history = TieredChatMessageHistory()
    model = replies("one |two", "three")
    chain = TieredMemory(model, lambda: history)
    next(chain.stream("a"))
    gc.collect()
    chain.invoke("b")
    assert said(model.seen[1]) == ["h:a", "a:one ", "h:b"]


def test_transform(history: Any) -> None:
    """In a chain that streams, the chunks of its input are put together first."""

    def words(_: Iterator[Any]) -> Iterator[str]:
        yield from ("what ", "is ", "it?")

    chain = RunnableGenerator(words) | TieredMemory(replies("one |two"), lambda: history)
    assert len(list(chain.stream("x"))) >= 2
    assert said(history.messages) == ["h:what is it?", "a:one two"]


async def test_atransform(history: Any) -> None:
    """See `test_transform`."""

    async def words(_: AsyncIterator[Any]) -> AsyncIterator[str]:
        for word in ("what ", "is ", "it?"):
            yield word

    chain = RunnableGenerator(words) | TieredMemory(replies("one |two"), lambda: history)
    assert len([c async for c in chain.astream("x")]) >= 2
    assert said(history.messages) == ["h:what is it?", "a:one two"]


async def test_stream_events(history: Any) -> None:
    """The model's tokens are seen in the event stream, under the memory's run."""
    chain = TieredMemory(replies("one |two"), lambda: history).with_config(run_name="mine")
    events = [e async for e in chain.astream_events("a", version="v2")]
    tokens = [e["data"]["chunk"].text for e in events if e["event"] == "on_chat_model_stream"]
    assert "".join(tokens) == "one two"
    assert events[0]["name"] == "mine"
    root = events[0]["run_id"]
    assert all(root in e["parent_ids"] for e in events if e["event"] == "on_chat_model_stream")
    assert said(history.messages) == ["h:a", "a:one two"]


def test_nested_calls_on_one_session(history: Any) -> None:
    """While a stream is being read, another call on the same session goes through."""
    chain = TieredMemory(replies("one |two", "inner"), lambda: history)
    stream = chain.stream("a")
    next(stream)
    chain.invoke("b")
    list(stream)
    assert said(history.messages) == ["h:b", "a:inner", "h:a", "a:one two"]
