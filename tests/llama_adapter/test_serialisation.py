"""Memories written down and read again, by hand, by pickle and by another process, on both sides of pydantic 2.14."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import warnings
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock, ThinkingBlock
from llama_index.core.storage.chat_store import SimpleChatStore

from llama_tiered import TieredChatMemoryBuffer
from tests.llama_adapter.scripted import assistant, talk, texts, user
from tiered_core import CompactionStrategy, MemoryStore, PressureThresholds, TieredError, TokenBudget

VIEW_OF = """
import json, sys
from llama_tiered import LlamaIndexCodec, TieredChatMemoryBuffer
memory = TieredChatMemoryBuffer.from_string(sys.stdin.read())
print(json.dumps([LlamaIndexCodec().dump(m) for m in memory.get()]))
"""


def shortened() -> TieredChatMemoryBuffer:
    """A memory in which results are small, turns have left and a batch has run."""
    memory = TieredChatMemoryBuffer.from_defaults(token_limit=900)
    for message in talk(9):
        memory.put(message)
    assert {"rendered", "batch", "evicted"} <= {e.kind for e in memory.events()}
    return memory


def dumped(memory: TieredChatMemoryBuffer) -> list[str]:
    return [memory.context.codec.dump(m) for m in memory.get()]


def by_string(memory: TieredChatMemoryBuffer) -> TieredChatMemoryBuffer:
    return TieredChatMemoryBuffer.from_string(memory.to_string())


def by_pickle(memory: TieredChatMemoryBuffer) -> TieredChatMemoryBuffer:
    return pickle.loads(pickle.dumps(memory))  # type: ignore[no-any-return]


WAYS = [by_string, by_pickle]


@pytest.mark.parametrize("way", WAYS)
def test_same_view_and_transcript(way: Any) -> None:
    """A restored memory gives the same view byte for byte and the same transcript, and goes on in the same way."""
    memory = shortened()
    restored = way(memory)
    assert restored is not memory
    assert dumped(restored) == dumped(memory)
    assert restored.get_all() == memory.get_all()
    assert restored.token_limit == memory.token_limit
    for one in (memory, restored):
        one.put_messages([user("And now?"), assistant("Still UA.")])
    assert dumped(restored) == dumped(memory)


def test_same_view_in_another_process() -> None:
    """Another process gives the same view byte for byte."""
    memory = shortened()
    out = subprocess.run(
        [sys.executable, "-c", VIEW_OF], input=memory.to_string(), capture_output=True, check=True, text=True,
        env={"PYTHONPATH": os.pathsep.join(sys.path), "TIERED_OFFLINE": "1", "PYTHONHASHSEED": "7"},
    )  # fmt: skip
    assert json.loads(out.stdout) == dumped(memory)


def test_handles_survive() -> None:
    """What was hidden before can be recalled after."""
    memory = shortened()
    restored = by_string(memory)
    shown = {e.handle for e in memory.events() if e.kind == "rendered"} & set(_handles(restored))
    assert shown
    for handle in shown:
        assert restored.context.recall(handle, limit_tokens=None) == memory.context.recall(handle, limit_tokens=None)


def _handles(memory: TieredChatMemoryBuffer) -> list[str]:
    return [f"r{mark.handle}" for mark in memory.context.state().rungs.values()]


def test_plain_json() -> None:
    """`to_dict` is plain JSON, and reading it doesn't alter it."""
    memory = shortened()
    memory.put(ChatMessage(role="user", blocks=[TextBlock(text="\ud800"), ImageBlock(image=b"\xff\xd8\xff00")]))
    memory.put(
        ChatMessage(role="assistant", blocks=[ThinkingBlock(content="t", additional_information={"signature": b"\1"})])
    )
    data = memory.to_dict()
    assert json.loads(json.dumps(data)) == data
    kept = json.dumps(data)
    TieredChatMemoryBuffer._restored(data, {})
    assert json.dumps(data) == kept
    assert memory.to_json() == memory.json() == memory.to_string()


def test_from_dict_finds_the_live_memory() -> None:
    """`from_dict` gives the living, unchanged memory itself; a changed one is left alone and a new one made."""
    memory = shortened()
    data = memory.to_dict()
    assert TieredChatMemoryBuffer.from_dict(data) is memory
    memory.put(user("later"))
    earlier = TieredChatMemoryBuffer.from_dict(data)
    assert earlier is not memory
    assert earlier.get_all() == memory.get_all()[:-1]
    assert TieredChatMemoryBuffer.from_dict(memory.to_dict()) is memory
    assert TieredChatMemoryBuffer.from_dict(earlier.to_dict()) is earlier


def test_settings_travel() -> None:
    """Budget, strategy, session, key and head-room come back."""
    budget = TokenBudget.preset("analytics")
    strategy = CompactionStrategy("mine", 0.8, 0.4)
    memory = TieredChatMemoryBuffer.from_defaults(
        budget=budget, strategy=strategy, session_id="s", chat_store_key="k", engine_overhead=77
    )
    restored = by_string(memory)
    assert restored.context.budget == budget
    assert restored._arguments.options["strategy"] == strategy
    assert (restored.context.session_id, restored.chat_store_key, restored.engine_overhead) == ("s", "k", 77)
    odd = TokenBudget(context_window=9_000, practical_limit=8_000, pressure=PressureThresholds(0.4, 0.6, 0.8))
    assert by_string(TieredChatMemoryBuffer.from_defaults(budget=odd)).context.budget == odd
    written = json.loads(json.dumps(memory.to_dict()))
    assert TieredChatMemoryBuffer.from_dict(written) is memory


def test_callables_are_given_again() -> None:
    """What can't be written down is given to `from_dict`; pickle takes along what it can."""
    memory = TieredChatMemoryBuffer.from_defaults(talk(3), tokenizer_fn=str.split, token_limit=400, redact=str.lower)
    assert TieredChatMemoryBuffer.from_string(memory.to_string()).tokenizer_fn is not str.split
    again = TieredChatMemoryBuffer.from_dict(memory.to_dict(), tokenizer_fn=str.split, redact=str.lower)
    assert again is not memory
    assert again.tokenizer_fn is str.split
    assert dumped(again) == dumped(memory) == dumped(by_pickle(memory))
    again.put(user("LOUD"))
    assert texts(again.get_all())[-1] == "loud"
    local = TieredChatMemoryBuffer.from_defaults(talk(1), hooks=[lambda event: None])
    assert by_pickle(local).get_all() == local.get_all()


@pytest.mark.parametrize("way", WAYS)
def test_store_at_an_address(way: Any, tmp_path: Any) -> None:
    """With a store at an address only the address and the session's name travel."""
    address = f"sqlite:///{tmp_path}/talk.db"
    memory = TieredChatMemoryBuffer.from_defaults(talk(6), store=address, session_id="s", token_limit=900)
    written = memory.to_string()
    assert "Question" not in written
    assert address in written
    restored = way(memory)
    assert restored is not memory
    assert dumped(restored) == dumped(memory)
    restored.put(user("seen by both"))
    assert texts(memory.get_all())[-1] == "seen by both"
    for one in (memory, restored):
        one.context.close()


def test_store_object() -> None:
    """A store object doesn't travel: the content does; given again, the store is used."""
    store = MemoryStore()
    memory = TieredChatMemoryBuffer.from_defaults(talk(6), store=store, token_limit=900)
    assert dumped(by_string(memory)) == dumped(memory)
    again = TieredChatMemoryBuffer.from_dict(memory.to_dict(), store=store)
    assert dumped(again) == dumped(memory)
    again.put(user("seen by both"))
    assert texts(memory.get_all())[-1] == "seen by both"


@pytest.mark.parametrize("way", WAYS)
def test_simple_chat_store(way: Any) -> None:
    """A simple chat store is made anew with this conversation's messages, and is still the authority."""
    store = SimpleChatStore(store={"other": [user("of somebody else")]})
    memory = TieredChatMemoryBuffer.from_defaults(talk(6), chat_store=store, chat_store_key="k", token_limit=900)
    assert "somebody else" not in memory.to_string()
    restored = way(memory)
    assert dumped(restored) == dumped(memory)
    assert isinstance(restored.chat_store, SimpleChatStore)
    assert restored.chat_store is not store
    restored.chat_store.add_message("k", user("by the store"))
    assert texts(restored.get_all())[-1] == "by the store"


class KeptElsewhere(SimpleChatStore):
    """A chat store of somebody's own."""

    store_name: str = "here"

    @classmethod
    def class_name(cls) -> str:
        return "KeptElsewhere"


def test_other_chat_stores() -> None:
    """A chat store that can't be made anew gives way to a copy of the messages, with a warning, unless it is given."""
    store = KeptElsewhere()
    memory = TieredChatMemoryBuffer.from_defaults(talk(6), chat_store=store, token_limit=900)
    data = memory.to_dict()
    data["chat_store"] = {"class_name": "NotImported"}
    with pytest.warns(UserWarning, match="NotImported"):
        restored = TieredChatMemoryBuffer.from_dict(data)
    assert dumped(restored) == dumped(memory)
    given = TieredChatMemoryBuffer.from_dict(memory.to_dict(), chat_store=store)
    assert given.chat_store is store
    assert dumped(given) == dumped(memory)


def test_reads_what_the_host_wrote() -> None:
    """A dict of LlamaIndex's own ChatMemoryBuffer becomes a tiered memory, its oldest form included."""
    messages = [{"role": "user", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "hi"}]}]
    host = {
        "chat_store": {"store": {"k": messages}, "class_name": "SimpleChatStore"},
        "chat_store_key": "k",
        "token_limit": 70,
        "class_name": "ChatMemoryBuffer",
    }
    memory = TieredChatMemoryBuffer.from_dict(host)
    assert (texts(memory.get_all()), memory.token_limit, memory.chat_store_key) == (["hi"], 70, "k")
    assert texts(TieredChatMemoryBuffer.from_dict({"chat_history": messages, "token_limit": 70}).get_all()) == ["hi"]


def test_newer_version() -> None:
    """A dict of a newer version is refused by its number."""
    with pytest.raises(TieredError, match="version 9"):
        TieredChatMemoryBuffer.from_dict({**shortened().to_dict(), "version": 9})


def test_pydantic_methods_work() -> None:
    """`model_dump`, `dict` and `model_dump_json` work on a memory that holds messages, without a warning."""
    for store in (None, SimpleChatStore()):
        memory = TieredChatMemoryBuffer.from_defaults(talk(1, "42"), chat_store=store, token_limit=900)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for value in (memory.model_dump(), memory.dict(), json.loads(memory.model_dump_json())):
                assert len(value["chat_store"]["store"]["chat_history"]) == 5
                assert value["token_limit"] == 900
