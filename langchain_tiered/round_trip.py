"""One call of a chain with memory: the history goes in before the input, and what was said is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig, ensure_config

from langchain_tiered.copying import copy_message
from langchain_tiered.exchange import input_messages, output_messages, partial, said, streamed
from langchain_tiered.view_runnable import aread_view, read_view, shortened
from tiered_core import ContextBudgetExceededError


@dataclass(frozen=True, slots=True)
class Keys:
    """Where input, output and history stand in dicts; None where there is no dict."""

    input: str | None
    output: str | None
    history: str | None


@dataclass(slots=True)
class RoundTrip:
    """What one call has to remember between its start and its end.

    Attributes:
        history: of the session.
        keys: where things stand.
        config: for the Runnable that is called.
        tools: definitions of the tools that the model gets.
        shown: copies of the history's messages that went in.
        asked: the messages that came in.
        chunks: what was streamed so far.
        saved: whether what was said is stored, or on its way.
    """

    history: Any
    keys: Keys
    config: RunnableConfig
    tools: Sequence[Mapping[str, Any]] = ()
    shown: list[BaseMessage] = field(default_factory=list)
    asked: list[BaseMessage] = field(default_factory=list)
    chunks: list[Any] = field(default_factory=list)
    saved: bool = False

    def __post_init__(self) -> None:
        configurable = {**self.config.get("configurable", {}), "message_history": self.history}
        self.config = ensure_config({**self.config, "configurable": configurable})

    def enter(self, value: Any) -> Any:
        """What the Runnable gets for an input."""
        self.asked = input_messages(value, self.keys.input)
        try:
            self.shown = read_view(self.history, self.asked, self.tools)
        except ContextBudgetExceededError:
            if self.keys.history:
                raise  # the question stands in a prompt that only the Runnable knows
            return self._put(value, shortened(self.history.context, self.history.all_messages, self.asked, self.tools))
        return self._sent(value)

    async def aenter(self, value: Any) -> Any:
        """See `enter`."""
        self.asked = input_messages(value, self.keys.input)
        try:
            self.shown = await aread_view(self.history, self.asked, self.tools)
        except ContextBudgetExceededError:
            if self.keys.history:
                raise  # the question stands in a prompt that only the Runnable knows
            whole = await self.history.aall_messages()
            return self._put(value, shortened(self.history.context, whole, self.asked, self.tools))
        return self._sent(value)

    def _sent(self, value: Any) -> Any:
        if (self.keys.history or self.keys.input) and not isinstance(value, Mapping):
            raise ValueError(f"Expected a dict with the key {self.keys.input or 'input'!r}. Got {value}.")
        if self.keys.history:
            return {**value, self.keys.history: list(self.shown)}
        # Agents give ids to the messages they get, so the caller's own objects don't go in.
        return self._put(value, [*self.shown, *map(copy_message, self.asked)])

    def _put(self, value: Any, messages: list[BaseMessage]) -> Any:
        return {**value, self.keys.input: messages} if self.keys.input else messages

    def save(self, output: Any) -> None:
        """Stores the input and a whole output."""
        self.saved = True
        self.history.add_messages(self._said(output))

    async def asave(self, output: Any) -> None:
        """See `save`; what has begun to be stored is stored, even if the caller is cancelled."""
        self.saved = True
        await _unless_cancelled(self.history.aadd_messages(self._said(output)))

    def _said(self, output: Any) -> list[BaseMessage]:
        return said(self.shown, self.asked, output_messages(output, self.keys.output))

    def save_stream(self) -> None:
        """Stores the input and all that was streamed."""
        if self.chunks:
            self.save(streamed(self.chunks, self.keys.output))

    async def asave_stream(self) -> None:
        """See `save_stream`."""
        if self.chunks:
            await self.asave(streamed(self.chunks, self.keys.output))

    def save_partial(self) -> None:
        """Stores the input and what was streamed so far, marked as partial, unless that is done or nothing came."""
        if self.chunks and not self.saved:
            self.saved = True
            self.history.add_messages(self._partly_said())

    async def asave_partial(self) -> None:
        """See `save_partial`."""
        if self.chunks and not self.saved:
            self.saved = True
            await _unless_cancelled(self.history.aadd_messages(self._partly_said()))

    def _partly_said(self) -> list[BaseMessage]:
        value = streamed(self.chunks, self.keys.output)
        try:
            output = output_messages(value, self.keys.output)
        except ValueError:  # the part that holds the answer had not begun
            output = []
        everything = said(self.shown, self.asked, output)
        return [*everything[: len(self.asked)], *partial(everything[len(self.asked) :])]


_saving: set[asyncio.Task[None]] = set()


async def _unless_cancelled(work: Coroutine[Any, Any, None]) -> None:
    """Awaits work that goes on by itself when the caller is cancelled."""
    task = asyncio.create_task(work)
    _saving.add(task)
    task.add_done_callback(_saving.discard)
    await asyncio.shield(task)
