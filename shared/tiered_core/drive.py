"""Runs the programs of a session against a store, synchronously or not.

A program is a generator that yields calls of store methods and is sent their results. So the steps of `add` or
`view` are written once; the two drivers below differ by `await` alone.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from tiered_core.stores.protocol import ConversationStore

T = TypeVar("T")
_POLL_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class StoreCall:
    """One call of a store method; the session's name is its first argument."""

    method: str
    args: tuple[Any, ...] = ()


Program = Generator[StoreCall, Any, T]


def run(program: Program[T], store: ConversationStore, session: str) -> T:
    """Runs a program to its end and returns what it returns; what a store raises is raised inside of the program."""
    step: Callable[[], StoreCall] = partial(next, program)
    try:
        while True:
            call = step()
            try:
                result = getattr(store, call.method)(session, *call.args)
            except Exception as error:  # noqa: BLE001 - raised again where the program waits for the result
                step = partial(program.throw, error)
            else:
                step = partial(program.send, result)
    except StopIteration as end:
        value: T = end.value
        return value


async def arun(program: Program[T], store: ConversationStore, session: str) -> T:
    """See `run`."""
    step: Callable[[], StoreCall] = partial(next, program)
    try:
        while True:
            call = step()
            try:
                result = await getattr(store, "a" + call.method)(session, *call.args)
            except Exception as error:  # noqa: BLE001 - raised again where the program waits for the result
                step = partial(program.throw, error)
            else:
                step = partial(program.send, result)
    except StopIteration as end:
        value: T = end.value
        return value


class Gate:
    """Lets one program of a session run at a time, called from threads or from event loops.

    It saves work, and keeps what this process has at hand in order; what keeps a session right is that stores compare
    before they write. So a synchronous call goes ahead where waiting would be for ever: when the program that runs
    belongs to this very thread, be it suspended on its event loop, or calling a hook.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder = 0
        self._sync = False

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Waits for the turn, and gives it up at the end."""
        mine = threading.get_ident()
        got = self._lock.acquire(blocking=False)
        while not got and self._holder != mine:
            got = self._lock.acquire(timeout=_POLL_SECONDS * 50)
        try:
            if got:
                self._holder, self._sync = mine, True
            yield
        finally:
            if got:
                self._holder = 0
                self._lock.release()

    @asynccontextmanager
    async def aentered(self) -> AsyncIterator[None]:
        """Waits for the turn, and gives it up at the end."""
        mine = threading.get_ident()
        got = self._lock.acquire(blocking=False)
        while not got and not (self._holder == mine and self._sync):
            await asyncio.sleep(_POLL_SECONDS)  # the holder may be a thread, or another loop
            got = self._lock.acquire(blocking=False)
        try:
            if got:
                self._holder, self._sync = mine, False
            yield
        finally:
            if got:
                self._holder = 0
                self._lock.release()
