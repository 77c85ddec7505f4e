from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda

from langchain_tiered import TieredChatMessageHistory, TieredMemory
from tests.langchain_adapter.models import PlainHistory, said


class Chain:
    """A memory over a Runnable that answers with the number of messages that it got, and counts overlapping calls."""

    def __init__(self, kind: Any = TieredChatMessageHistory) -> None:
        self.histories: dict[str, Any] = {}
        self.running: dict[str, int] = {}
        self.overlaps = 0
        self.most = 0
        self.lock = threading.Lock()
        self.kind = kind
        self.memory = TieredMemory(RunnableLambda(self.answer, self.aanswer), self.history)

    def history(self, session_id: str) -> Any:
        with self.lock:
            return self.histories.setdefault(session_id, self.kind())

    def _enter(self, session: str, by: int) -> None:
        with self.lock:
            self.running[session] = self.running.get(session, 0) + by
            self.overlaps += self.running[session] > 1
            self.most = max(self.most, sum(self.running.values()))

    def answer(self, messages: list[BaseMessage], config: Any) -> str:
        session = config["configurable"]["session_id"]
        self._enter(session, 1)
        time.sleep(0.005)
        self._enter(session, -1)
        if messages[-1].text == "bad":
            raise ValueError("bad question")
        return f"saw {len(messages)}"

    async def aanswer(self, messages: list[BaseMessage], config: Any) -> str:
        session = config["configurable"]["session_id"]
        self._enter(session, 1)
        await asyncio.sleep(0.005)
        self._enter(session, -1)
        if messages[-1].text == "bad":
            raise ValueError("bad question")
        return f"saw {len(messages)}"


def config(session: str, **more: Any) -> Any:
    return {"configurable": {"session_id": session}, **more}


@pytest.mark.parametrize("kind", [TieredChatMessageHistory, PlainHistory])
@pytest.mark.parametrize("way", ["batch", "abatch"])
async def test_one_session(way: str, kind: Any) -> None:
    """A batch on one session runs in its order: each input sees all before it, and nothing is lost or mixed."""
    chain = Chain(kind)
    inputs = [f"q{n}" for n in range(20)]
    run = chain.memory.batch(inputs, config("s")) if way == "batch" else await chain.memory.abatch(inputs, config("s"))
    assert run == [f"saw {2 * n + 1}" for n in range(20)]
    assert said(chain.histories["s"].messages) == [t for n in range(20) for t in (f"h:q{n}", f"a:saw {2 * n + 1}")]
    assert chain.overlaps == 0


@pytest.mark.parametrize("way", ["batch", "abatch"])
async def test_sessions_run_side_by_side(way: str) -> None:
    """Inputs of different sessions run at the same time, those of one never do."""
    chain = Chain()
    configs = [config(f"s{n % 4}") for n in range(16)]
    inputs = [f"q{n}" for n in range(16)]
    run = chain.memory.batch(inputs, configs) if way == "batch" else await chain.memory.abatch(inputs, configs)
    assert run == [f"saw {2 * (n // 4) + 1}" for n in range(16)]
    assert chain.overlaps == 0
    assert chain.most > 1


@pytest.mark.parametrize("way", ["batch", "abatch"])
async def test_max_concurrency(way: str) -> None:
    """`max_concurrency` bounds how many run at once."""
    chain = Chain()
    configs = [config(f"s{n}", max_concurrency=2) for n in range(10)]
    inputs = ["q"] * 10
    run = chain.memory.batch(inputs, configs) if way == "batch" else await chain.memory.abatch(inputs, configs)
    assert run == ["saw 1"] * 10
    assert chain.most <= 2


@pytest.mark.parametrize("way", ["batch", "abatch"])
async def test_errors(way: str) -> None:
    """An input that fails stores nothing and doesn't stop those behind it; its error is raised, or returned."""
    chain = Chain()
    inputs = ["a", "bad", "b"]

    async def run(**more: Any) -> Any:
        if way == "batch":
            return chain.memory.batch(inputs, config("s"), **more)
        return await chain.memory.abatch(inputs, config("s"), **more)

    with pytest.raises(ValueError, match="bad question"):
        await run()
    assert said(chain.histories["s"].messages) == ["h:a", "a:saw 1", "h:b", "a:saw 3"]
    first, error, last = await run(return_exceptions=True)
    assert (first, last) == ("saw 5", "saw 7")
    assert isinstance(error, ValueError)


async def test_as_completed() -> None:
    """Outcomes come with the index of their input, in the order of each session."""
    chain = Chain()
    configs = [config(f"s{n % 2}") for n in range(6)]
    inputs = [f"q{n}" for n in range(6)]
    done = list(chain.memory.batch_as_completed(inputs, configs))
    assert sorted(done) == [(n, f"saw {2 * (n // 2) + 1}") for n in range(6)]
    assert [n for n, _ in done if n % 2 == 0] == [0, 2, 4]
    later = [outcome async for outcome in chain.memory.abatch_as_completed(inputs, configs)]
    assert sorted(n for n, _ in later) == list(range(6))
    with pytest.raises(ValueError, match="bad question"):
        list(chain.memory.batch_as_completed(["bad"], config("s")))
    ((_, error),) = chain.memory.batch_as_completed(["bad"], config("s"), return_exceptions=True)
    assert isinstance(error, ValueError)


async def test_nothing_to_do() -> None:
    """An empty batch gives an empty list; a missing session raises as for one input."""
    chain = Chain()
    assert chain.memory.batch([]) == await chain.memory.abatch([]) == []
    with pytest.raises(ValueError, match="Missing keys"):
        chain.memory.batch(["a", "b"])


def test_threads_on_one_history() -> None:
    """Calls from several threads keep each question beside its answer, and lose none."""
    chain = Chain()
    threads = [threading.Thread(target=chain.memory.invoke, args=(f"q{n}", config("s"))) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stored = said(chain.histories["s"].all_messages)
    assert sorted(stored[::2]) == sorted(f"h:q{n}" for n in range(12))
    assert all(text.startswith("a:saw") for text in stored[1::2])
