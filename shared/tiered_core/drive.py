"""Runs the programs of a session against a store, synchronously or not.

A program is a generator that yields calls of store methods and is sent their results. So the steps of `add` or
`view` are written once; the two drivers below differ by `await` alone.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from tiered_core.stores.protocol import ConversationStore

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoreCall:
    """One call of a store method; the session's name is its first argument."""

    method: str
    args: tuple[Any, ...] = ()


Program = Generator[StoreCall, Any, T]


def run(program: Program[T], store: ConversationStore, session: str) -> T:
    """Runs a program to its end and returns what it returns."""
    result: Any = None
    try:
        while True:
            call = program.send(result)
            result = getattr(store, call.method)(session, *call.args)
    except StopIteration as end:
        value: T = end.value
        return value


async def arun(program: Program[T], store: ConversationStore, session: str) -> T:
    """Runs a program to its end and returns what it returns."""
    result: Any = None
    try:
        while True:
            call = program.send(result)
            result = await getattr(store, "a" + call.method)(session, *call.args)
    except StopIteration as end:
        value: T = end.value
        return value


class Gate:
    """Lets one program of a session run at a time, called from threads or from event loops.

    It only saves work: what keeps a session right is that stores compare before they write. So a caller who waited for
    `patience` seconds goes ahead; this also ends the deadlock of synchronous code that is called from the very
    event loop on which another program is suspended.
    """

    def __init__(self, patience: float = 0.5) -> None:
        self._lock = threading.Lock()
        self._patience = patience

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Waits for the turn, and gives it up at the end."""
        got = self._lock.acquire(timeout=self._patience)
        try:
            yield
        finally:
            if got:
                self._lock.release()

    @asynccontextmanager
    async def aentered(self) -> AsyncIterator[None]:
        """Waits for the turn, and gives it up at the end."""
        until = time.monotonic() + self._patience
        got = self._lock.acquire(blocking=False)
        while not got and time.monotonic() < until:
            await asyncio.sleep(0.001)
            got = self._lock.acquire(blocking=False)
        try:
            yield
        finally:
            if got:
                self._lock.release()
