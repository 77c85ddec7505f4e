"""Where a memory's transcript lives: in its context, or in a chat store that others may write to as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.chat_store import BaseChatStore

from tiered_core import TieredContext
from tiered_core.drive import Gate
from tiered_core.incoming import take_in
from tiered_core.recognise import common_prefix
from tiered_core.redaction import Redact

_ONE_BY_ONE = 32


class Transcript(Protocol):
    """The messages behind a context. After each call the context knows them all; every method has an async twin."""

    def settle(self) -> None:
        """Lets the context see what others have done to the messages."""

    async def asettle(self) -> None:
        """See `settle`."""

    def read(self) -> list[ChatMessage]:
        """Copies of all messages, oldest first."""

    async def aread(self) -> list[ChatMessage]:
        """See `read`."""

    def append(self, messages: Sequence[ChatMessage]) -> None:
        """Adds copies of messages."""

    async def aappend(self, messages: Sequence[ChatMessage]) -> None:
        """See `append`."""

    def become(self, messages: Sequence[ChatMessage]) -> None:
        """Makes copies of these messages the transcript."""

    async def abecome(self, messages: Sequence[ChatMessage]) -> None:
        """See `become`."""

    def clear(self) -> None:
        """Deletes everything."""

    async def aclear(self) -> None:
        """See `clear`."""


class OwnTranscript:
    """The context's own; see `Transcript`."""

    def __init__(self, context: TieredContext) -> None:
        self._context = context

    def settle(self) -> None:
        """Nothing to do."""

    async def asettle(self) -> None:
        """Nothing to do."""

    def read(self) -> list[ChatMessage]:
        """See `Transcript.read`."""
        return self._context.transcript()

    async def aread(self) -> list[ChatMessage]:
        """See `Transcript.read`."""
        return await self._context.atranscript()

    def append(self, messages: Sequence[ChatMessage]) -> None:
        """See `Transcript.append`."""
        self._context.add(messages)

    async def aappend(self, messages: Sequence[ChatMessage]) -> None:
        """See `Transcript.append`."""
        await self._context.aadd(messages)

    def become(self, messages: Sequence[ChatMessage]) -> None:
        """See `Transcript.become`."""
        self._context.replace(messages)

    async def abecome(self, messages: Sequence[ChatMessage]) -> None:
        """See `Transcript.become`."""
        await self._context.areplace(messages)

    def clear(self) -> None:
        """See `Transcript.clear`."""
        self._context.clear()

    async def aclear(self) -> None:
        """See `Transcript.clear`."""
        await self._context.aclear()


class SharedTranscript:
    """A chat store's messages under one key; the chat store has the last word. See `Transcript`.

    Args:
        context: follows the chat store.
        chat_store: holds the messages.
        key: of the conversation in the chat store.
        redact: applied before a message goes into the chat store.
        alone: whether nobody else uses the context's session, so that what it holds is what was put there last.
    """

    def __init__(
        self, context: TieredContext, chat_store: BaseChatStore, key: str, redact: Redact | None, *, alone: bool
    ) -> None:  # fmt: skip
        self._context = context
        self._redact = redact
        self._chat_store = chat_store
        self._key = key
        self._alone = alone
        self._seen: list[ChatMessage] | None = None
        self._gate = Gate()

    def settle(self) -> None:
        """See `Transcript.settle`; costs one comparison per message when nothing has changed."""
        with self._gate.entered():
            messages = list(self._chat_store.get_messages(self._key) or ())
            changed, added = self._changed(messages)
            if not changed:
                return
            if added is None:
                for part in self._steps(messages, self._context.transcript()):
                    self._context.replace(part)
            for message in added or ():
                self._context.add([message])
            self._seen = self._copies(messages)

    async def asettle(self) -> None:
        """See `settle`."""
        async with self._gate.aentered():
            messages = list(await self._chat_store.aget_messages(self._key) or ())
            changed, added = self._changed(messages)
            if not changed:
                return
            if added is None:
                for part in self._steps(messages, await self._context.atranscript()):
                    await self._context.areplace(part)
            for message in added or ():
                await self._context.aadd([message])
            self._seen = self._copies(messages)

    def _changed(self, messages: Sequence[ChatMessage]) -> tuple[bool, Sequence[ChatMessage] | None]:
        """Whether there is anything new, and what was appended if nothing else has happened."""
        seen = self._seen
        if seen is None:
            return True, None
        if len(messages) < len(seen) or any(a != b for a, b in zip(messages, seen, strict=False)):
            return True, None
        added = messages[len(seen) :]
        # Adding costs less than replacing, but a session that others fill as well may hold these messages already.
        return bool(added), added if self._alone and len(added) <= _ONE_BY_ONE else None

    def _steps(self, messages: Sequence[ChatMessage], held: Sequence[ChatMessage]) -> list[list[ChatMessage]]:
        """What to replace the context's transcript with, in turn: first what stays of it, then the messages.

        In one step `replace` might take them for an edited view, and keep what is out of view and gone from the store.
        """
        digests, known = ([self._context.codec.read(m).digest() for m in side] for side in (messages, held))
        shared = common_prefix(digests, known)
        kept = [list(messages[:shared])] if shared < len(known) else []
        return [*kept, list(messages)] if shared < len(messages) else kept

    def _copies(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        return [self._context.codec.copy(m) for m in messages]

    def read(self) -> list[ChatMessage]:
        """See `Transcript.read`."""
        self.settle()
        return self._copies(self._chat_store.get_messages(self._key) or [])

    async def aread(self) -> list[ChatMessage]:
        """See `Transcript.read`."""
        await self.asettle()
        return self._copies(await self._chat_store.aget_messages(self._key) or [])

    def _storable(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Redacted copies, none of which the context will refuse once they stand in the chat store."""
        return [taken.message for taken in take_in(messages, self._context.codec, self._redact)]

    def append(self, messages: Sequence[ChatMessage]) -> None:
        """See `Transcript.append`."""
        for message in self._storable(messages):
            self._chat_store.add_message(self._key, message)
        self.settle()

    async def aappend(self, messages: Sequence[ChatMessage]) -> None:
        """See `Transcript.append`."""
        for message in self._storable(messages):
            await self._chat_store.async_add_message(self._key, message)
        await self.asettle()

    def become(self, messages: Sequence[ChatMessage]) -> None:
        """See `Transcript.become`; the context knows an edited view, so that no rendering takes an original's place."""
        storable = self._storable(messages)
        if self._seen is not None:
            self.settle()
        self._context.replace(storable)
        held = self._context.transcript()
        self._chat_store.set_messages(self._key, held)
        self._seen = self._copies(held)

    async def abecome(self, messages: Sequence[ChatMessage]) -> None:
        """See `become`."""
        storable = self._storable(messages)
        if self._seen is not None:
            await self.asettle()
        await self._context.areplace(storable)
        held = await self._context.atranscript()
        await self._chat_store.aset_messages(self._key, held)
        self._seen = self._copies(held)

    def clear(self) -> None:
        """See `Transcript.clear`."""
        self._chat_store.delete_messages(self._key)
        self._context.clear()
        self._seen = None

    async def aclear(self) -> None:
        """See `Transcript.clear`."""
        await self._chat_store.adelete_messages(self._key)
        await self._context.aclear()
        self._seen = None
