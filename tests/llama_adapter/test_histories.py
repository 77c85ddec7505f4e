"""Any order of writing, of changes by others and of restoring: transcript, chat store and context stay one."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.chat_store import SimpleChatStore

from llama_tiered import LlamaContextBudgetExceededError, TieredChatMemoryBuffer
from tests.llama_adapter.scripted import assistant, call, result, system, user

KEY = "chat_history"
_WORDS = st.sampled_from(["yes", "Who is late, and why?", "row " * 60, '[{"n": 1}, {"n": 2}]', "a,b\n" + "1,2\n" * 40])
MESSAGES = st.one_of(
    st.builds(user, _WORDS),
    st.builds(assistant, _WORDS),
    st.builds(call, st.sampled_from("ab")),
    st.builds(result, st.sampled_from("ab"), _WORDS),
    st.just(system("Be brief.")),
)


class Histories(RuleBasedStateMachine):
    """The model is a plain list of what has to be in the transcript."""

    @initialize(limit=st.sampled_from([150, 400, 2_000]))
    def open(self, limit: int) -> None:
        self.model: list[ChatMessage] = []
        self.store: Any = SimpleChatStore()
        self.memory = TieredChatMemoryBuffer.from_defaults(chat_store=self.store, token_limit=limit)

    @rule(message=MESSAGES)
    def put(self, message: ChatMessage) -> None:
        self.memory.put(message)
        self.model.append(message)

    @rule(messages=st.lists(MESSAGES, max_size=5))
    def put_messages(self, messages: list[ChatMessage]) -> None:
        self.memory.put_messages(messages)
        self.model += messages

    @rule(messages=st.lists(MESSAGES, max_size=5))
    def set(self, messages: list[ChatMessage]) -> None:
        self.memory.set(messages)
        self.model = list(messages)

    @rule(data=st.data())
    def set_to_a_part(self, data: st.DataObject) -> None:
        start, end = sorted(data.draw(st.lists(st.integers(0, len(self.model)), min_size=2, max_size=2)))
        self.model = self.model[start:end]
        self.memory.set(self.model)

    @rule(message=MESSAGES)
    def somebody_adds(self, message: ChatMessage) -> None:
        self.store.add_message(KEY, message.model_copy(deep=True))
        self.model.append(message)

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def somebody_edits_or_deletes(self, data: st.DataObject) -> None:
        place = data.draw(st.integers(0, len(self.model) - 1))
        if data.draw(st.booleans()):
            del self.model[place]
            self.store.delete_message(KEY, place)
        else:
            self.model[place] = user("edited")
            self.store.store[KEY][place] = user("edited")

    @rule()
    def reset(self) -> None:
        self.memory.reset()
        self.model = []

    @rule()
    def restore(self) -> None:
        view = self.view()
        self.memory = TieredChatMemoryBuffer.from_string(self.memory.to_string())
        self.store = self.memory.chat_store
        assert self.view() == view

    def view(self) -> list[ChatMessage] | None:
        try:
            return self.memory.get()
        except LlamaContextBudgetExceededError:
            return None

    @invariant()
    def all_hold_the_same(self) -> None:
        if hasattr(self, "memory"):
            assert self.memory.get_all() == self.model
            assert self.memory.context.transcript() == self.model

    @invariant()
    def view_is_within_the_limit(self) -> None:
        view = self.view() if hasattr(self, "memory") else None
        if view is not None:
            codec, counter = self.memory.context.codec, self.memory.context.counter
            assert counter.count_messages([codec.read(m) for m in view]) <= self.memory.token_limit


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=40, stateful_step_count=15)
