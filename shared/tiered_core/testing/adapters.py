"""What every adapter must satisfy, whatever the host's messages look like."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from tiered_core.testing.oracle import Line, problems

TABLE = "id,carrier,delay\n" + "\n".join(f"{k},{'AA' if k % 3 else 'UA'},{k * 7 % 50}" for k in range(400))


class AdapterConformance:
    """Subclass it, name the class `Test…`, and give the methods that raise NotImplementedError."""

    def open(self, budget: int) -> Any:
        """A new, empty adapter whose views have at most `budget` tokens by its default counter."""
        raise NotImplementedError(f"{type(self).__name__} has to give open(budget)")

    def add(self, adapter: Any, messages: Sequence[Any]) -> None:
        """Adds host messages."""
        raise NotImplementedError(f"{type(self).__name__} has to give add(adapter, messages)")

    async def aadd(self, adapter: Any, messages: Sequence[Any]) -> None:
        """Adds host messages, asynchronously."""
        raise NotImplementedError(f"{type(self).__name__} has to give aadd(adapter, messages)")

    def view(self, adapter: Any) -> list[Any]:
        """The view."""
        raise NotImplementedError(f"{type(self).__name__} has to give view(adapter)")

    async def aview(self, adapter: Any) -> list[Any]:
        """The view, asynchronously."""
        raise NotImplementedError(f"{type(self).__name__} has to give aview(adapter)")

    def transcript(self, adapter: Any) -> list[Any]:
        """All messages."""
        raise NotImplementedError(f"{type(self).__name__} has to give transcript(adapter)")

    def context(self, adapter: Any) -> Any:
        """The `TieredContext` behind the adapter."""
        raise NotImplementedError(f"{type(self).__name__} has to give context(adapter)")

    def message(self, line: Line) -> Any:
        """A host message with the role, text, calls (of a tool named "run_query") and answers of the line."""
        raise NotImplementedError(f"{type(self).__name__} has to give message(line)")

    def line(self, message: Any) -> Line:
        """A host message as the oracle sees it, read without the adapter's codec."""
        raise NotImplementedError(f"{type(self).__name__} has to give line(message)")

    def tokens(self, messages: Sequence[Any]) -> int:
        """Tokens of host messages by a count that does not call the adapter."""
        raise NotImplementedError(f"{type(self).__name__} has to give tokens(messages)")

    def _talk(self, turns: int, body: str = TABLE) -> list[Any]:
        lines = [Line("system", "You are a careful analyst.")]
        for k in range(turns):
            lines += [
                Line("user", f"Question {k}: which carrier is late?"),
                Line("assistant", "", (f"c{k}",)),
                Line("tool", body, answers=(f"c{k}",)),
                Line("assistant", f"Answer {k}: UA."),
            ]
        return [self.message(line) for line in lines]

    def test_identity_below_the_watermark(self) -> None:
        """A short conversation is shown as it is, equal in the host's sense."""
        adapter, talk = self.open(50_000), self._talk(3, "42")
        self.add(adapter, talk)
        assert self.view(adapter) == talk

    def test_views_are_legal_and_within_budget(self) -> None:
        """Message by message, at several budgets, every view is legal and has at most the budget's tokens."""
        for budget in (300, 1_000, 4_000):
            adapter, talk = self.open(budget), self._talk(8)
            for count, message in enumerate(talk, 1):
                self.add(adapter, [message])
                view = self.view(adapter)
                assert self.tokens(view) <= budget
                assert problems([self.line(m) for m in view], [self.line(m) for m in talk[:count]]) == []

    def test_nothing_is_lost(self) -> None:
        """The transcript comes back equal, and the first result byte for byte through its handle."""
        adapter, talk = self.open(1_000), self._talk(8)
        self.add(adapter, talk)
        assert self.transcript(adapter) == talk
        handle = next(e.handle for e in self.context(adapter).events() if e.handle and 3 in e.positions)
        assert self.context(adapter).recall(handle, limit_tokens=None).text == TABLE

    def test_views_share_nothing_with_the_transcript(self) -> None:
        """Altering a message of a view, or the message that was added, changes neither transcript nor later views."""
        adapter, talk = self.open(50_000), self._talk(2, "42")
        kept = self._talk(2, "42")
        self.add(adapter, talk)
        for message in [*self.view(adapter), *talk, *self.transcript(adapter)]:
            message.additional_kwargs["altered"] = True
        assert self.transcript(adapter) == kept
        assert self.view(adapter) == kept

    def test_reading_is_idempotent(self) -> None:
        """Two reads give equal views and write nothing."""
        adapter = self.open(1_000)
        self.add(adapter, self._talk(6))
        state = self.context(adapter).state()
        assert self.view(adapter) == self.view(adapter)
        assert self.context(adapter).state() == state

    def test_prefix_is_stable(self) -> None:
        """Between reported batches the old view is a prefix of the new one."""
        adapter, batches = self.open(3_000), 0
        last: list[Any] = []
        for message in self._talk(12):
            self.add(adapter, [message])
            view = self.view(adapter)
            reported = sum(e.kind == "batch" for e in self.context(adapter).events())
            if reported == batches:
                assert view[: len(last)] == last
            last, batches = view, reported
        assert batches

    def test_async_does_the_same(self) -> None:
        """The async methods give the same views as the synchronous ones."""
        sync, other, talk = self.open(1_000), self.open(1_000), self._talk(5)
        self.add(sync, talk)

        async def use() -> list[Any]:
            await self.aadd(other, talk)
            return await self.aview(other)

        assert asyncio.run(use()) == self.view(sync)

    def test_concurrent_adds_lose_nothing(self) -> None:
        """51 concurrent adds are all there once."""
        adapter = self.open(50_000)

        async def use() -> None:
            talk = [self.message(Line("user", f"note {k}")) for k in range(51)]
            await asyncio.gather(*(self.aadd(adapter, [m]) for m in talk))

        asyncio.run(use())
        texts = sorted(self.line(m).text for m in self.transcript(adapter))
        assert texts == sorted(f"note {k}" for k in range(51))
