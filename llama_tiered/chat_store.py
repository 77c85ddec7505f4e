"""A chat store that shows one context, for code that reaches for `memory.chat_store`; and chat stores as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import fsspec  # type: ignore[import-untyped]
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.chat_store import BaseChatStore, SimpleChatStore
from pydantic import PrivateAttr, model_serializer

from llama_tiered.errors import LlamaArgumentError
from tiered_core import TieredContext


class ContextChatStore(BaseChatStore):
    """The transcript of a context under one key; other keys are empty and can't be written."""

    key: str
    _context: TieredContext = PrivateAttr()

    @classmethod
    def over(cls, context: TieredContext, key: str) -> ContextChatStore:
        """The chat store of a context."""
        out = cls(key=key)
        out.show(context)
        return out

    def show(self, context: TieredContext) -> None:
        """Shows another context from now on."""
        self._context = context

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex knows it."""
        return "ContextChatStore"

    @model_serializer(mode="plain")
    def custom_model_dump(self) -> dict[str, Any]:  # type: ignore[override]
        """What `SimpleChatStore` would give."""
        held = {key: [m.model_dump(mode="json") for m in messages] for key, messages in self.store.items()}
        return {"store": held, "class_name": self.class_name()}

    @property
    def store(self) -> dict[str, list[ChatMessage]]:
        """Copies of all messages by key, as `SimpleChatStore` holds them."""
        return {self.key: self._context.transcript()}

    def persist(self, persist_path: str = "chat_store.json", fs: Any = None) -> None:
        """Writes the messages into a file (of an fsspec file system) that `SimpleChatStore.from_persist_path` reads."""
        files = fs or fsspec.filesystem("file")
        folder = str(PurePath(persist_path).parent)
        if not files.exists(folder):
            files.makedirs(folder)
        with files.open(persist_path, "w", encoding="utf-8") as file:
            file.write(self.model_dump_json())

    def _own(self, key: str) -> None:
        if key != self.key:
            raise LlamaArgumentError(
                f"the memory's own chat store holds {self.key!r} only, not {key!r}: give it chat_store="
            )

    def set_messages(self, key: str, messages: list[ChatMessage]) -> None:
        """Makes these messages the transcript."""
        self._own(key)
        self._context.replace(messages)

    def get_messages(self, key: str) -> list[ChatMessage]:
        """Copies of all messages; [] for another key."""
        return self._context.transcript() if key == self.key else []

    def add_message(self, key: str, message: ChatMessage, idx: int | None = None) -> None:
        """Adds a message, at the end or before an index."""
        self._own(key)
        if idx is None:
            self._context.add([message])
            return
        messages = self._context.transcript()
        messages.insert(idx, message)
        self._context.replace(messages)

    def delete_messages(self, key: str) -> list[ChatMessage] | None:
        """Deletes the conversation and returns its messages."""
        messages = self.get_messages(key)
        if key == self.key:
            self._context.clear()
        return messages or None

    def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Takes a message out and returns it."""
        messages = self.get_messages(key)
        if not -len(messages) <= idx < len(messages):
            return None
        taken = messages.pop(idx)
        self._context.replace(messages)
        return taken

    def delete_last_message(self, key: str) -> ChatMessage | None:
        """Takes the last message out and returns it."""
        return self.delete_message(key, -1)

    async def aset_messages(self, key: str, messages: list[ChatMessage]) -> None:
        """See `set_messages`."""
        self._own(key)
        await self._context.areplace(messages)

    async def aget_messages(self, key: str) -> list[ChatMessage]:
        """See `get_messages`."""
        return await self._context.atranscript() if key == self.key else []

    async def async_add_message(self, key: str, message: ChatMessage, idx: int | None = None) -> None:
        """See `add_message`."""
        self._own(key)
        if idx is None:
            await self._context.aadd([message])
            return
        messages = await self._context.atranscript()
        messages.insert(idx, message)
        await self._context.areplace(messages)

    async def adelete_messages(self, key: str) -> list[ChatMessage] | None:
        """See `delete_messages`."""
        messages = await self.aget_messages(key)
        if key == self.key:
            await self._context.aclear()
        return messages or None

    async def adelete_message(self, key: str, idx: int) -> ChatMessage | None:
        """See `delete_message`."""
        messages = await self.aget_messages(key)
        if not -len(messages) <= idx < len(messages):
            return None
        taken = messages.pop(idx)
        await self._context.areplace(messages)
        return taken

    async def adelete_last_message(self, key: str) -> ChatMessage | None:
        """See `delete_last_message`."""
        return await self.adelete_message(key, -1)

    async def aget_keys(self) -> list[str]:
        """See `get_keys`."""
        return [self.key] if await self._context.atranscript() else []

    def get_keys(self) -> list[str]:
        """The one key, if there is a message."""
        return [self.key] if self._context.transcript() else []


def chat_store_to_json(chat_store: BaseChatStore) -> dict[str, Any]:
    """Class name and, for other than simple chat stores, the plain fields; messages travel with the memory."""
    name = chat_store.class_name()
    if isinstance(chat_store, SimpleChatStore):
        return {"class_name": name}
    try:
        return {**chat_store.to_dict(), "class_name": name}
    except Exception:  # noqa: BLE001 - a chat store of somebody else's; it then has to be given anew
        return {"class_name": name}


def chat_store_from_json(value: Mapping[str, Any], key: str, messages: list[ChatMessage]) -> BaseChatStore | None:
    """The chat store, None when it can't be made anew from what was written down.

    Only classes that are imported already are considered, so a stored text makes nothing be imported.
    """
    if value["class_name"] == SimpleChatStore.class_name():
        return SimpleChatStore(store={key: messages})
    fields = {k: v for k, v in value.items() if k != "class_name"}
    waiting = list(BaseChatStore.__subclasses__())
    while waiting:
        cls = waiting.pop()
        waiting.extend(cls.__subclasses__())
        if cls.class_name() == value["class_name"] and fields:
            try:
                return cls.from_dict(fields)
            except Exception:  # noqa: BLE001 - see above
                return None
    return None
