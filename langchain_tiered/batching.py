"""Many inputs at once: sessions side by side, the inputs of one session one after the other in their order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import nullcontext
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import get_executor_for_config

Outcome = tuple[int, Any]
"""The index of an input and what became of it: an output, or the exception that was raised."""


def run_in_order(
    keys: Sequence[Hashable], call: Callable[[int], Any], config: RunnableConfig | None
) -> Iterator[Outcome]:
    """Calls `call(index)` for each key in threads, and gives what became of each as soon as it is known.

    Args:
        keys: of the inputs; calls with equal keys never overlap.
        call: what to do; an exception is an outcome.
        config: tells how many threads there may be.
    """

    def outcome(index: int) -> Outcome:
        try:
            return index, call(index)
        except Exception as error:  # noqa: BLE001 - the caller decides what becomes of it
            return index, error

    with get_executor_for_config(config) as executor:
        running: dict[Future[Outcome], deque[int]] = {}
        for queue in _queues(keys):
            running[executor.submit(outcome, queue.popleft())] = queue
        try:
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    queue = running.pop(future)
                    if queue:
                        running[executor.submit(outcome, queue.popleft())] = queue
                    yield future.result()
        finally:
            for future in running:
                future.cancel()


async def arun_in_order(
    keys: Sequence[Hashable], call: Callable[[int], Awaitable[Any]], config: RunnableConfig | None
) -> AsyncIterator[Outcome]:
    """See `run_in_order`; in tasks."""
    most = (config or {}).get("max_concurrency")
    limit = asyncio.Semaphore(most) if most else nullcontext()

    async def outcome(index: int, before: asyncio.Task[Outcome] | None) -> Outcome:
        if before is not None:
            await asyncio.wait([before])
        async with limit:
            try:
                return index, await call(index)
            except Exception as error:  # noqa: BLE001 - the caller decides what becomes of it
                return index, error

    tasks: list[asyncio.Task[Outcome]] = []
    for queue in _queues(keys):
        before: asyncio.Task[Outcome] | None = None
        for index in queue:
            before = asyncio.create_task(outcome(index, before))
            tasks.append(before)
    try:
        for done in asyncio.as_completed(tasks):
            yield await done
    finally:
        for task in tasks:
            task.cancel()


def _queues(keys: Sequence[Hashable]) -> list[deque[int]]:
    queues: dict[Hashable, deque[int]] = {}
    for index, key in enumerate(keys):
        queues.setdefault(key, deque()).append(index)
    return list(queues.values())


def in_input_order(outcomes: Sequence[Outcome], return_exceptions: bool) -> list[Any]:
    """The outputs; raises the first exception unless they are asked for."""
    out = [value for _, value in sorted(outcomes, key=lambda outcome: outcome[0])]
    if not return_exceptions:
        for value in out:
            if isinstance(value, Exception):
                raise value
    return out
