"""`TieredChatMemoryBuffer`: the methods of a LlamaIndex memory, synchronous and async."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.llms.mock import MockLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.utils import get_tokenizer

from llama_tiered import LlamaContextBudgetExceededError, TieredChatMemoryBuffer
from tests.llama_adapter.scripted import TABLE, assistant, call, result, system, talk, texts, user
from tiered_core import CompactionStrategy, ContextBudgetExceededError, TieredError, TokenBudget


def used(memory: TieredChatMemoryBuffer, messages: list[ChatMessage]) -> int:
    return memory.context.counter.count_messages([memory.context.codec.read(m) for m in messages])


def test_is_a_chat_memory_buffer() -> None:
    """It is a ChatMemoryBuffer, truthy and without a length also when empty."""
    memory = TieredChatMemoryBuffer.from_defaults()
    assert isinstance(memory, ChatMemoryBuffer)
    assert memory
    assert not hasattr(memory, "__len__")
    assert memory.class_name() == "TieredChatMemoryBuffer"


def test_methods_are_overridden_in_both_forms() -> None:
    """Neither the synchronous nor the async methods are those of ChatMemoryBuffer, which would bypass the context."""
    for name in ("get", "get_all", "put", "put_messages", "set", "reset"):
        for method in (name, "a" + name):
            assert method in vars(TieredChatMemoryBuffer)


async def test_sync_and_async_do_the_same() -> None:
    """The same steps through the synchronous and the async methods give equal views and transcripts."""
    one, two = (TieredChatMemoryBuffer.from_defaults(token_limit=800) for _ in range(2))
    history = talk(6)
    one.set(history[:5])
    await two.aset(history[:5])
    one.put(history[5])
    await two.aput(history[5])
    one.put_messages(history[6:])
    await two.aput_messages(history[6:])
    assert one.get() == await two.aget()
    assert one.get_all() == await two.aget_all() == history
    assert one.view("who?") == await two.aview("who?")
    one.reset()
    await two.areset()
    assert one.get() == one.get_all() == await two.aget() == await two.aget_all() == []


async def test_51_concurrent_puts_lose_nothing() -> None:
    """All of 51 concurrent puts are there once, while others read."""
    memory = TieredChatMemoryBuffer.from_defaults(token_limit=500)
    await asyncio.gather(*(memory.aput(user(f"note {k}")) for k in range(51)), *(memory.aget() for _ in range(10)))
    assert sorted(texts(memory.get_all())) == sorted(f"note {k}" for k in range(51))


async def test_puts_from_threads_and_tasks_lose_nothing() -> None:
    """Synchronous puts from worker threads and async ones may be mixed."""
    memory = TieredChatMemoryBuffer.from_defaults(token_limit=500)
    threads = [asyncio.to_thread(memory.put, user(f"thread {k}")) for k in range(20)]
    await asyncio.gather(*threads, *(memory.aput(user(f"task {k}")) for k in range(20)))
    assert len(set(texts(memory.get_all()))) == 40


def test_two_equal_messages_both_stay() -> None:
    """What was said twice is there twice."""
    memory = TieredChatMemoryBuffer.from_defaults()
    for _ in range(2):
        memory.put(user("yes"))
        memory.put(assistant("fine"))
    assert texts(memory.get_all()) == ["yes", "fine", "yes", "fine"]


def test_set_to_a_shorter_history() -> None:
    """`set` with the head of the transcript takes the rest back; the view is that of the head."""
    memory, history = TieredChatMemoryBuffer.from_defaults(talk(6), token_limit=2_000), talk(6)
    memory.set(history[:9])
    assert memory.get_all() == history[:9]
    assert memory.get()[-1] == history[8]
    memory.put(user("and now?"))
    assert memory.get_all() == [*history[:9], user("and now?")]


def test_set_to_another_history() -> None:
    """`set` with something else makes that the transcript."""
    memory = TieredChatMemoryBuffer.from_defaults(talk(3), token_limit=2_000)
    other = [system("Speak French."), user("Bonjour"), assistant("Salut")]
    memory.set(other)
    assert memory.get_all() == other == memory.get()
    memory.set([])
    assert memory.get_all() == [] == memory.get()


def test_identity_below_the_watermark() -> None:
    """A history that fits is shown as it is, equal both ways round."""
    history = talk(3, "42")
    memory = TieredChatMemoryBuffer.from_defaults(history, token_limit=4_000)
    assert memory.get() == history
    assert history == memory.get()


def test_system_text_stays_first() -> None:
    """However long the conversation, the view begins with the system text (ChatMemoryBuffer evicts it first)."""
    memory = TieredChatMemoryBuffer.from_defaults(talk(40, "row " * 30), token_limit=400)
    assert (memory.get()[0].content or "").startswith("You are a careful analyst.")
    assert used(memory, memory.get()) <= 400


def test_initial_token_count_is_part_of_the_budget() -> None:
    """`initial_token_count` comes off the same sum; above the budget the error shows the sum and is a ValueError."""
    memory = TieredChatMemoryBuffer.from_defaults(talk(10, "row " * 30), token_limit=600)
    assert used(memory, memory.get(initial_token_count=200)) <= 400
    assert memory.get(initial_token_count=200) == memory.view(overhead_tokens=200)
    assert memory.get(initial_token_count=-5) == memory.get()
    with pytest.raises(LlamaContextBudgetExceededError, match=r"overhead takes 703") as caught:
        memory.get(initial_token_count=700)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, ContextBudgetExceededError)


def test_views_are_copies() -> None:
    """Editing what get, get_all and view return, or what was put, changes nothing."""
    message = ChatMessage(role="user", blocks=[TextBlock(text="hi")], additional_kwargs={"a": [1]})
    memory = TieredChatMemoryBuffer.from_defaults([message])
    for held in (message, *memory.get(), *memory.get_all(), *memory.view()):
        held.blocks[0].text = "changed"  # type: ignore[union-attr]
        held.additional_kwargs["a"].append(2)
    assert memory.get_all() == [ChatMessage(content="hi", additional_kwargs={"a": [1]})]


def test_large_result_enters_small_and_comes_back_whole() -> None:
    """A tool result over the cap is shown small, marked, and recalled byte for byte by its handle."""
    memory = TieredChatMemoryBuffer.from_defaults(token_limit=4_000)
    memory.put_messages([user("who?"), call("c1"), result("c1")])
    shown = memory.get()[-1]
    assert len(shown.content or "") < len(TABLE) / 4
    assert shown.additional_kwargs == {"tool_call_id": "c1"}
    (event,) = [e for e in memory.events() if e.kind == "rendered"]
    assert memory.context.recall(event.handle or "", limit_tokens=None).text == TABLE
    assert memory.report().cuts == {"rendered": 1}


def test_budget_spellings() -> None:
    """`token_limit` and `budget` mean the same; different values are an error that names both."""
    assert TieredChatMemoryBuffer.from_defaults(token_limit=700).token_limit == 700
    assert TieredChatMemoryBuffer.from_defaults(budget=700).token_limit == 700
    assert TieredChatMemoryBuffer.from_defaults(budget=700, token_limit=700).token_limit == 700
    window = TokenBudget(context_window=1_000, response_reserve=200)
    assert TieredChatMemoryBuffer.from_defaults(budget=window, token_limit=800).token_limit == 800
    with pytest.raises(TieredError, match=r"800 tokens, token_limit 700"):
        TieredChatMemoryBuffer.from_defaults(budget=window, token_limit=700)


def test_budget_from_the_model() -> None:
    """With an llm alone views have three quarters of its window, as in ChatMemoryBuffer; else the default budget."""
    llm = MockLLM()
    host = ChatMemoryBuffer.from_defaults(llm=llm).token_limit
    assert TieredChatMemoryBuffer.from_defaults(llm=llm).token_limit == host
    assert TieredChatMemoryBuffer.from_defaults(llm=llm, token_limit=90).token_limit == 90
    assert TieredChatMemoryBuffer.from_defaults(llm=llm, budget=90).token_limit == 90
    assert TieredChatMemoryBuffer.from_defaults().token_limit == TokenBudget().available


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, "90"])
def test_bad_limits(limit: Any) -> None:
    """A limit that is no number of tokens is refused, as a TieredError and as a ValueError."""
    for kind in (TieredError, ValueError):
        with pytest.raises(kind, match="token_limit"):
            TieredChatMemoryBuffer.from_defaults(token_limit=limit)


def test_unknown_arguments() -> None:
    """An argument nobody knows is refused by name, with those that are known."""
    with pytest.raises(ValueError, match=r"unknown argument tokenlimit.*token_counter"):
        TieredChatMemoryBuffer.from_defaults(tokenlimit=5)


def test_new_token_limit() -> None:
    """Setting `token_limit` on a memory changes the budget from the next view on; the transcript stays."""
    memory = TieredChatMemoryBuffer.from_defaults(talk(8, "row " * 30), token_limit=4_000)
    memory.token_limit = 500
    assert used(memory, memory.get()) <= 500
    assert memory.get_all() == talk(8, "row " * 30)
    memory.put(user("more?"))
    assert used(memory, memory.get()) <= 500
    assert memory.chat_store.get_messages("chat_history") == memory.get_all()


def test_tokenizer_fn_counts() -> None:
    """`tokenizer_fn` counts the texts; without one the field counts with the context's counter."""
    words = TieredChatMemoryBuffer.from_defaults(tokenizer_fn=str.split, token_limit=200)
    assert words.context.count_message(user("one two three")) - words.context.count_message(user("one")) == 2
    assert words.tokenizer_fn is str.split
    memory = TieredChatMemoryBuffer.from_defaults(token_limit=200)
    text = "The quick brown fox"
    assert len(memory.tokenizer_fn(text)) == memory.context.counter.count_text(text) == len(get_tokenizer()(text))


def test_tokenizer_fn_bounds_the_view() -> None:
    """With a tokenizer of one's own the view is bounded in its tokens, framing included."""
    memory = TieredChatMemoryBuffer.from_defaults(talk(10, "row " * 50), tokenizer_fn=str.split, token_limit=300)
    assert used(memory, memory.get()) <= 300


def test_context_arguments() -> None:
    """All arguments of TieredContext are taken: counter, strategy, redaction, hooks, session."""
    heard: list[str] = []
    memory = TieredChatMemoryBuffer.from_defaults(
        token_limit=600, token_counter=lambda m: len(str(m)) // 4, strategy=CompactionStrategy("mine", 0.8, 0.5),
        redact=lambda text: text.replace("secret", "***"), hooks=[lambda event: heard.append(event.kind)],
        chat_store_key="conversation-7",
    )  # fmt: skip
    memory.put_messages([user("my secret"), call("c"), result("c")])
    assert texts(memory.get_all())[0] == "my ***"
    assert "rendered" in heard
    assert memory.context.session_id == "conversation-7"
    named = TieredChatMemoryBuffer.from_defaults(chat_store_key="a", session_id="b")
    assert named.context.session_id == "b"


def test_persistent_store(tmp_path: Any) -> None:
    """A second memory on the same store and session sees the conversation; an empty `chat_history` leaves it alone."""
    address = f"sqlite:///{tmp_path}/talk.db"
    first = TieredChatMemoryBuffer.from_defaults(talk(5), store=address, token_limit=1_000)
    second = TieredChatMemoryBuffer.from_defaults([], store=address, token_limit=1_000)
    assert second.get_all() == talk(5)
    assert second.get() == first.get()
    first.put(user("seen?"))
    assert texts(second.get_all())[-1] == "seen?"
    assert TieredChatMemoryBuffer.from_defaults(store=address, session_id="other").get_all() == []
    first.context.close()
    second.context.close()


def test_copies_are_the_memory_itself() -> None:
    """`deepcopy` gives the memory itself, a shallow copy one that shares the conversation."""
    memory = TieredChatMemoryBuffer.from_defaults(talk(1, "42"))
    assert copy.deepcopy(memory) is memory
    assert copy.deepcopy({"memory": [memory]})["memory"][0] is memory
    shallow = copy.copy(memory)
    shallow.put(user("both"))
    assert texts(memory.get_all())[-1] == "both"


def test_chat_store_shows_the_context() -> None:
    """Without one of the user's, `chat_store` is one over the context; other keys are empty and can't be written."""
    memory = TieredChatMemoryBuffer.from_defaults(talk(1, "42"))
    store, key = memory.chat_store, memory.chat_store_key
    assert store.get_messages(key) == memory.get_all()
    assert store.get_keys() == [key]
    store.add_message(key, user("by the store"))
    assert texts(memory.get_all())[-1] == "by the store"
    assert (store.delete_last_message(key) or user("")).content == "by the store"
    assert (store.delete_message(key, 0) or user("")).role == "system"
    assert store.delete_message(key, 99) is None
    assert [m.role.value for m in memory.get_all()] == ["user", "assistant", "tool", "assistant"]
    store.set_messages(key, [user("new")])
    assert texts(memory.get_all()) == ["new"]
    assert store.get_messages("other") == []
    with pytest.raises(TieredError, match="holds 'chat_history' only, not 'other'"):
        store.add_message("other", user("x"))
    assert store.store == {key: [user("new")]}  # type: ignore[attr-defined]
    assert store.delete_messages(key) == [user("new")]
    assert memory.get_all() == []


def test_chat_store_can_be_persisted(tmp_path: Any) -> None:
    """`memory.chat_store.persist(path)` writes a file that `SimpleChatStore.from_persist_path` reads."""
    memory, path = TieredChatMemoryBuffer.from_defaults(talk(2), token_limit=900), str(tmp_path / "new" / "chat.json")
    memory.chat_store.persist(persist_path=path)  # type: ignore[attr-defined]
    restored = SimpleChatStore.from_persist_path(path)
    assert restored.get_messages("chat_history") == memory.get_all()
    assert TieredChatMemoryBuffer.from_defaults(chat_store=restored, token_limit=900).get() == memory.get()


def test_picture_is_counted() -> None:
    """A picture costs its tokens, not 0 as in ChatMemoryBuffer, and is left out with a note where it doesn't fit."""
    picture = ImageBlock(url="https://example.org/chart.png")
    memory = TieredChatMemoryBuffer.from_defaults(token_limit=600)
    memory.put(ChatMessage(role="user", blocks=[TextBlock(text="What is this?"), picture]))
    assert memory.context.count_message(memory.get_all()[0]) > 1_000
    (shown,) = memory.get()
    assert [b.block_type for b in shown.blocks] == ["text", "text"]
    assert "left out" in (shown.content or "")


_TEXT = st.text(max_size=60)
_STEP = st.one_of(
    st.tuples(st.just("user"), _TEXT),
    st.tuples(st.just("assistant"), _TEXT),
    st.tuples(st.just("call"), st.sampled_from(["a", "b"])),
    st.tuples(st.just("result"), st.sampled_from(["a", "b"])),
    st.tuples(st.just("system"), _TEXT),
    st.tuples(st.just("function"), _TEXT),
)


@given(st.lists(_STEP, max_size=14), st.integers(60, 2_000))
def test_get_works_wherever_the_host_does(steps: list[tuple[str, str]], limit: int) -> None:
    """Whatever stands in the transcript, `get` gives a view within the limit, or says that it can't."""
    made = {"call": call, "result": lambda id: result(id, "n,m\n1,2")}
    history = [made[kind](x) if kind in made else ChatMessage(role=kind, content=x) for kind, x in steps]
    memory = TieredChatMemoryBuffer.from_defaults(token_limit=limit)
    for message in history:
        memory.put(message)
    assert memory.get_all() == history
    try:
        view = memory.get()
    except LlamaContextBudgetExceededError:
        return
    assert used(memory, view) <= limit
