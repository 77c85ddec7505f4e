"""A memory over somebody's chat store: the transcript lives there, and what others do there is seen."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.mock import MockLLM
from llama_index.core.storage.chat_store import BaseChatStore, SimpleChatStore
from pydantic import Field

from llama_tiered import TieredChatMemoryBuffer
from tests.llama_adapter.scripted import assistant, call, result, system, talk, texts, user
from tiered_core import MemoryStore, TranscriptError
from tiered_core.stores.protocol import NewRow

KEY = "user-1"


def over(chat_store: Any, **kwargs: Any) -> TieredChatMemoryBuffer:
    return TieredChatMemoryBuffer.from_defaults(
        chat_store=chat_store, chat_store_key=KEY, **{"token_limit": 2_000, **kwargs}
    )


class CountingStore(MemoryStore):
    """Counts what is written."""

    written = 0

    def append(self, session: str, after: int, rows: Any) -> bool:
        self.written += sum(isinstance(row, NewRow) for row in rows)
        return super().append(session, after, rows)


async def test_writes_through() -> None:
    """Everything that is put, set or reset arrives in the chat store, under the memory's key only."""
    store = SimpleChatStore()
    store.add_message("user-2", user("not mine"))
    memory = over(store)
    memory.put(user("one"))
    await memory.aput(assistant("two"))
    memory.put_messages([user("three")])
    await memory.aput_messages([assistant("four")])
    assert texts(store.get_messages(KEY)) == ["one", "two", "three", "four"] == texts(memory.get_all())
    memory.set([user("five")])
    assert texts(store.get_messages(KEY)) == ["five"]
    await memory.aset([user("six"), assistant("seven")])
    assert texts(store.get_messages(KEY)) == ["six", "seven"] == texts(await memory.aget())
    await memory.areset()
    assert store.get_messages(KEY) == [] == memory.get()
    assert texts(store.get_messages("user-2")) == ["not mine"]


def test_chat_history_is_written_there() -> None:
    """`chat_history` replaces what the chat store holds; an empty one leaves it alone."""
    store = SimpleChatStore(store={KEY: [user("old")]})
    assert texts(over(store, chat_history=[]).get_all()) == ["old"]
    over(store, chat_history=[user("new")])
    assert texts(store.get_messages(KEY)) == ["new"]


async def test_changes_of_others_are_seen() -> None:
    """Messages that others append, delete, replace or edit in place are seen by the next read, in either form."""
    store = SimpleChatStore(store={KEY: [system("Be brief."), user("a"), assistant("b")]})
    memory = over(store)
    assert memory.get() == store.get_messages(KEY)
    store.add_message(KEY, user("c"))
    assert memory.get()[-1] == user("c")
    store.get_messages(KEY)[1].blocks[0].text = "edited"  # type: ignore[union-attr]
    assert texts(await memory.aget())[1] == "edited"
    store.delete_last_message(KEY)
    assert texts(memory.get()) == ["Be brief.", "edited", "b"]
    store.set_messages(KEY, [user("all new")])
    assert texts(await memory.aget_all()) == ["all new"]
    store.delete_messages(KEY)
    assert memory.get() == await memory.aget() == []


def test_old_messages_deleted_by_others_are_gone() -> None:
    """When others leave only what the view happens to show, the context holds just that, too."""
    store = SimpleChatStore()
    memory = over(store, token_limit=300, chat_history=talk(8, "row " * 20))
    shown = [m for m in memory.get() if m.role != "system"]
    assert len(shown) < 32
    store.set_messages(KEY, store.get_messages(KEY)[-len(shown) :])
    assert memory.get() == store.get_messages(KEY) == memory.context.transcript()


def test_two_memories_on_one_chat_store() -> None:
    """Two memories with one chat store and key see each other's messages, whoever writes."""
    store = SimpleChatStore()
    one, two = over(store), over(store)
    for k in range(4):
        one.put(user(f"q{k}"))
        two.put(assistant(f"a{k}"))
    assert one.get() == two.get() == one.get_all()
    assert len(one.get()) == 8


def test_two_workers_share_chat_store_and_state() -> None:
    """Two memories that share chat store and state store hold each message once, and show the same view."""
    store, state = SimpleChatStore(), MemoryStore()
    one, two = over(store, store=state, token_limit=700), over(store, store=state, token_limit=700)
    for message in talk(6):
        (one if message.role == "user" else two).put(message)
        assert one.get() == two.get()
    assert one.context.transcript() == talk(6) == one.get_all()


def test_unchanged_messages_are_not_stored_again() -> None:
    """Reading writes nothing, and one more message writes one row."""
    state = CountingStore()
    memory = over(SimpleChatStore(), store=state, chat_history=talk(5))
    before = state.written
    for _ in range(3):
        memory.get()
        memory.get_all()
    assert state.written == before
    memory.put(user("more"))
    assert state.written == before + 1


def test_redaction_comes_before_the_chat_store() -> None:
    """`redact` is applied before a message goes into the chat store, so what it removes is kept nowhere."""
    store = SimpleChatStore()
    memory = over(store, redact=lambda text: text.replace("secret", "***"), chat_history=[user("my secret")])
    memory.put(call("c1", "select secret"))
    assert "secret" not in str(store.get_messages(KEY)) + memory.to_string()
    assert texts(store.get_messages(KEY))[0] == "my ***"


def test_messages_in_the_chat_store_are_apart() -> None:
    """Editing what was put, or what a view gave, doesn't reach the chat store."""
    store, message = SimpleChatStore(), user("mine")
    memory = over(store)
    memory.put(message)
    for held in (message, *memory.get(), *memory.get_all()):
        held.blocks[0].text = "changed"  # type: ignore[union-attr]
    assert texts(store.get_messages(KEY)) == ["mine"]


def test_what_cannot_be_stored_does_not_get_in() -> None:
    """A message that can't be stored is refused before it reaches the chat store, which stays usable."""
    store = SimpleChatStore()
    memory = over(store)
    with pytest.raises(TranscriptError, match="object"):
        memory.put(ChatMessage(role="assistant", additional_kwargs={"tool_calls": [{"id": object()}]}))
    assert store.get_messages(KEY) == [] == memory.get()


async def test_51_concurrent_puts_lose_nothing() -> None:
    """All of 51 concurrent puts are in chat store and view."""
    store = SimpleChatStore()
    memory = over(store)
    await asyncio.gather(*(memory.aput(user(f"note {k}")) for k in range(51)))
    notes = sorted(f"note {k}" for k in range(51))
    assert sorted(texts(memory.get())) == sorted(texts(store.get_messages(KEY))) == notes


class TextStore(BaseChatStore):
    """Keeps JSON texts as a database would: every read gives new objects."""

    rows: dict[str, list[str]] = Field(default_factory=dict)

    def set_messages(self, key: str, messages: list[ChatMessage]) -> None:
        self.rows[key] = [m.model_dump_json() for m in messages]

    def get_messages(self, key: str) -> list[ChatMessage]:
        return [ChatMessage.model_validate_json(row) for row in self.rows.get(key, [])]

    def add_message(self, key: str, message: ChatMessage) -> None:
        self.set_messages(key, [*self.get_messages(key), message])

    def delete_messages(self, key: str) -> list[ChatMessage] | None:
        return self.rows.pop(key, None) and None

    def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        raise NotImplementedError

    def delete_last_message(self, key: str) -> ChatMessage | None:
        raise NotImplementedError

    def get_keys(self) -> list[str]:
        return list(self.rows)


async def test_store_that_gives_new_objects() -> None:
    """With a chat store that reads from a database, nothing is stored again just because the objects are new."""
    state, rows = CountingStore(), TextStore()
    one, two = over(rows, store=state, token_limit=900), over(rows, token_limit=900)
    await one.aput_messages([user("who?"), call("c1"), result("c1")])
    await two.aput(assistant("UA"))
    assert await one.aget() == await two.aget()
    before = state.written
    assert await one.aget_all() == [user("who?"), call("c1"), result("c1"), assistant("UA")] == one.get_all()
    assert state.written == before == 4
    restored = TieredChatMemoryBuffer.from_string(one.to_string())
    assert isinstance(restored.chat_store, TextStore)
    assert restored.get() == one.get()


def test_with_an_engine() -> None:
    """A chat engine's conversation stands in the chat store."""
    store = SimpleChatStore()
    engine = SimpleChatEngine.from_defaults(llm=MockLLM(max_tokens=3), memory=over(store))
    engine.chat("hello")
    assert [m.role.value for m in store.get_messages(KEY)] == ["user", "assistant"]
