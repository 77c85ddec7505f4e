"""A memory as plain JSON: its arguments, where its messages are, and, unless a store keeps them, messages and state."""

from __future__ import annotations

import uuid
import warnings
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory.types import DEFAULT_CHAT_STORE_KEY
from llama_index.core.storage.chat_store import BaseChatStore

from llama_tiered.arguments import Arguments
from llama_tiered.chat_store import chat_store_from_json, chat_store_to_json
from llama_tiered.codec import LlamaIndexCodec
from llama_tiered.errors import LlamaArgumentError
from tiered_core import TieredContext

VERSION = 1
_BESIDE = ("chat_store", "tokenizer_fn")
_LIVE: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What has to be known to open a memory again.

    Attributes:
        arguments: of its context.
        key: of the conversation in a chat store.
        engine_overhead: as set.
        identity: of the memory in the process that wrote this.
        chat_store: class and fields of a chat store that was given, None where there was none.
        messages: as the codec stores them; None where a store keeps them.
        state: the context's export, None where a store keeps it.
    """

    arguments: Arguments
    key: str
    engine_overhead: int | None
    identity: str
    chat_store: Mapping[str, Any] | None = None
    messages: tuple[str, ...] | None = None
    state: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON value."""
        return {
            "version": VERSION,
            "arguments": self.arguments.to_json(),
            "chat_store_key": self.key,
            "engine_overhead": self.engine_overhead,
            "identity": self.identity,
            "chat_store": None if self.chat_store is None else dict(self.chat_store),
            "messages": None if self.messages is None else list(self.messages),
            "state": self.state,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any], options: Mapping[str, Any]) -> Snapshot:
        """The snapshot of which `to_json` gave the value, with the given options in place of the written ones.

        Raises:
            LlamaArgumentError: it was written by a newer version.
        """
        if value["version"] > VERSION:
            raise LlamaArgumentError(
                f"the memory was written in version {value['version']}, this tiered-context knows up to {VERSION}: "
                "upgrade tiered-context to read it"
            )
        messages = None if value["messages"] is None else tuple(value["messages"])
        arguments = Arguments.from_json(value["arguments"], options)
        return cls(
            arguments, value["chat_store_key"], value["engine_overhead"], value["identity"], value["chat_store"],
            messages, value["state"],
        )  # fmt: skip

    def _loaded(self) -> list[ChatMessage]:
        codec = LlamaIndexCodec()
        return [codec.load(text) for text in self.messages or ()]

    def constructor_arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Keywords for the memory's class; what is given stands in place of what was written."""
        beside = {k: given[k] for k in _BESIDE if k in given}
        if beside.get("chat_store") is None and self.chat_store is not None:
            beside["chat_store"] = self._chat_store(self.chat_store)
        return {
            **beside, "budget": self.arguments.budget, "session_id": self.arguments.session_id,
            "chat_store_key": self.key, "engine_overhead": self.engine_overhead, **self.arguments.options,
        }  # fmt: skip

    def _chat_store(self, written: Mapping[str, Any]) -> BaseChatStore | None:
        made = chat_store_from_json(written, self.key, self._loaded())
        if made is None:
            warnings.warn(
                f"the chat store {written['class_name']} can't be made anew, the memory goes on with a copy: "
                "give chat_store= to from_dict, or import its class before",
                stacklevel=5,
            )
        return made

    def fill(self, context: TieredContext, chat_store: BaseChatStore | None) -> None:
        """Puts messages and state into a context, unless a store keeps them."""
        if self.state is not None:
            messages = self._loaded() if chat_store is None else chat_store.get_messages(self.key)
            context.restore(self.state, messages)
        elif self.messages is not None and chat_store is None:
            context.replace(self._loaded())


def read_snapshot(value: Mapping[str, Any], given: Mapping[str, Any]) -> Snapshot:
    """The snapshot in a memory's dict, see `Snapshot.from_json`."""
    return Snapshot.from_json(value, {k: v for k, v in given.items() if k not in _BESIDE})


def take_snapshot(
    arguments: Arguments, context: TieredContext, key: str, engine_overhead: int | None, identity: str,
    chat_store: BaseChatStore | None, read: Callable[[], list[ChatMessage]],
) -> Snapshot:  # fmt: skip
    """The snapshot of a memory.

    Args:
        arguments: of the context; with a store at an address only that and the session's name travel.
        context: of the memory.
        key: of the conversation in a chat store.
        engine_overhead: as set.
        identity: of the memory.
        chat_store: as given, None where there was none.
        read: gives the messages.
    """
    held = None if chat_store is None else chat_store_to_json(chat_store)
    kept = isinstance(arguments.options.get("store"), str)
    if kept and chat_store is None:
        return Snapshot(arguments, key, engine_overhead, identity)
    messages = tuple(context.codec.dump(m) for m in read())
    return Snapshot(arguments, key, engine_overhead, identity, held, messages, None if kept else context.export())


def register(memory: Any, identity: str) -> str:
    """Makes a memory known in this process, as long as somebody holds it; another one may bear the name already.

    Returns:
        The name under which it is known.
    """
    while _LIVE.setdefault(identity, memory) is not memory:
        identity = uuid.uuid4().hex
    return identity


def live(value: Mapping[str, Any]) -> Any | None:
    """The memory that wrote this value, if it is alive in this process and hasn't changed since.

    A reused workflow `Context` writes and reads its memory between runs; so the user's memory and the agent's stay one.
    A memory that has moved on is left alone: what was written is an earlier point in time, to which somebody returns.
    """
    memory = _LIVE.get(value.get("identity", ""))
    return memory if memory is not None and memory.to_dict() == value else None


def from_host(value: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `from_defaults` from what `ChatMemoryBuffer.to_dict` wrote, old forms included."""
    key = value.get("chat_store_key", DEFAULT_CHAT_STORE_KEY)
    stored = value.get("chat_store", {}).get("store", {}).get(key, [])
    messages = [ChatMessage.model_validate(m) for m in value.get("chat_history", stored)]
    return {"token_limit": value.get("token_limit"), "chat_store_key": key, "chat_history": messages}
