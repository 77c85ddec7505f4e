"""Async twins for stores whose work is synchronous: the same methods, in a worker thread where they may block."""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ClassVar, ParamSpec, TypeVar

from tiered_core.stores.protocol import Commit, NewRow, Row, StoredState

P = ParamSpec("P")
T = TypeVar("T")
_WORKERS = 8
_executors: dict[int, ThreadPoolExecutor] = {}


def _workers() -> ThreadPoolExecutor:
    """Threads for stores alone, by process.

    On the event loop's own executor a store's work could wait for ever behind calls that wait for that work.
    """
    return _executors.setdefault(os.getpid(), ThreadPoolExecutor(_WORKERS, thread_name_prefix="tiered-store"))


class AsyncTwins(ABC):
    """Gives a synchronous store its async methods; see `ConversationStore` for what each does."""

    blocking: ClassVar[bool] = True
    """Whether the synchronous methods may wait for a disk or a lock; if so they run in a worker thread."""

    async def _twin(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self.blocking:
            return await asyncio.get_running_loop().run_in_executor(_workers(), partial(method, *args, **kwargs))
        return method(*args, **kwargs)

    @abstractmethod
    def read(self, session: str, after: int = 0) -> Sequence[Row]:
        """See `ConversationStore.read`."""

    @abstractmethod
    def bodies(self, session: str, seqs: Sequence[int]) -> dict[int, str]:
        """See `ConversationStore.bodies`."""

    @abstractmethod
    def append(self, session: str, after: int, rows: Sequence[NewRow]) -> bool:
        """See `ConversationStore.append`."""

    @abstractmethod
    def state(self, session: str) -> StoredState:
        """See `ConversationStore.state`."""

    @abstractmethod
    def commit(self, session: str, commit: Commit) -> bool:
        """See `ConversationStore.commit`."""

    @abstractmethod
    def renderings(self, session: str, keys: Sequence[tuple[int, str]]) -> dict[tuple[int, str], str]:
        """See `ConversationStore.renderings`."""

    @abstractmethod
    def handle(self, session: str, number: int) -> int | None:
        """See `ConversationStore.handle`."""

    @abstractmethod
    def events(self, session: str) -> Sequence[str]:
        """See `ConversationStore.events`."""

    @abstractmethod
    def clear(self, session: str) -> None:
        """See `ConversationStore.clear`."""

    @abstractmethod
    def sessions(self) -> Sequence[str]:
        """See `ConversationStore.sessions`."""

    @abstractmethod
    def close(self) -> None:
        """See `ConversationStore.close`."""

    async def aread(self, session: str, after: int = 0) -> Sequence[Row]:
        """See `ConversationStore.read`."""
        return await self._twin(self.read, session, after)

    async def abodies(self, session: str, seqs: Sequence[int]) -> dict[int, str]:
        """See `ConversationStore.bodies`."""
        return await self._twin(self.bodies, session, seqs)

    async def aappend(self, session: str, after: int, rows: Sequence[NewRow]) -> bool:
        """See `ConversationStore.append`."""
        return await self._twin(self.append, session, after, rows)

    async def astate(self, session: str) -> StoredState:
        """See `ConversationStore.state`."""
        return await self._twin(self.state, session)

    async def acommit(self, session: str, commit: Commit) -> bool:
        """See `ConversationStore.commit`."""
        return await self._twin(self.commit, session, commit)

    async def arenderings(self, session: str, keys: Sequence[tuple[int, str]]) -> dict[tuple[int, str], str]:
        """See `ConversationStore.renderings`."""
        return await self._twin(self.renderings, session, keys)

    async def ahandle(self, session: str, number: int) -> int | None:
        """See `ConversationStore.handle`."""
        return await self._twin(self.handle, session, number)

    async def aevents(self, session: str) -> Sequence[str]:
        """See `ConversationStore.events`."""
        return await self._twin(self.events, session)

    async def aclear(self, session: str) -> None:
        """See `ConversationStore.clear`."""
        await self._twin(self.clear, session)

    async def asessions(self) -> Sequence[str]:
        """See `ConversationStore.sessions`."""
        return await self._twin(self.sessions)

    async def aclose(self) -> None:
        """See `ConversationStore.close`."""
        await self._twin(self.close)
