"""Chat engines with the memory, in all four ways to ask: what reaches the model is legal and within the budget."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core import MockEmbedding, PromptTemplate, VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.llms.mock import MockLLM, MockLLMWithChatMemoryOfLastCall
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from llama_tiered import LlamaContextBudgetExceededError, TieredChatMemoryBuffer
from llama_tiered.headroom import RETRIEVED
from tests.llama_adapter.scripted import assistant, system, talk, texts, user

WAYS = ["chat", "stream_chat", "achat", "astream_chat"]
CHUNK = "Delays by carrier: UA 12 minutes, AA 9 minutes."


class OneChunk(BaseRetriever):
    """Always finds the same text."""

    def __init__(self, text: str = CHUNK, count: int = 1) -> None:
        super().__init__()
        self.nodes = [NodeWithScore(node=TextNode(text=text), score=1.0) for _ in range(count)]

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.nodes


def ask(engine: Any, way: str, question: str, **kwargs: Any) -> str:
    """The engine's answer, streams read to their end."""
    if way == "chat":
        return str(engine.chat(question, **kwargs))
    if way == "stream_chat":
        return "".join(engine.stream_chat(question, **kwargs).response_gen)

    async def use() -> str:
        if way == "achat":
            return str(await engine.achat(question, **kwargs))
        response = await engine.astream_chat(question, **kwargs)
        return "".join([token async for token in response.async_response_gen()])

    return asyncio.run(use())


def recording() -> MockLLMWithChatMemoryOfLastCall:
    return MockLLMWithChatMemoryOfLastCall(max_tokens=5, is_chat_model=True)


@pytest.mark.parametrize("way", WAYS)
def test_simple_engine(way: str) -> None:
    """SimpleChatEngine keeps every turn, and each request to the model is system text, view and question."""
    llm, memory = recording(), TieredChatMemoryBuffer.from_defaults(token_limit=200)
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory, system_prompt="Be brief.")
    for k in range(12):
        assert ask(engine, way, f"Question {k}, with some words around it?")
        sent = list(llm.last_chat_messages or [])
        assert sent[0].content == "Be brief."
        assert sent[-1] == user(f"Question {k}, with some words around it?")
        assert memory.context.counter.count_messages([memory.context.codec.read(m) for m in sent]) <= 200 + 4
    assert len(memory.get_all()) == 24
    assert len(memory.get()) < 24


@pytest.mark.parametrize("way", WAYS)
def test_chat_history_argument_replaces_the_transcript(way: str) -> None:
    """`chat_history=` makes that history the transcript, also a shorter one."""
    memory = TieredChatMemoryBuffer.from_defaults(token_limit=4_000)
    engine = SimpleChatEngine.from_defaults(llm=recording(), memory=memory)
    ask(engine, way, "one")
    ask(engine, way, "two")
    ask(engine, way, "three", chat_history=[user("before"), assistant("yes")])
    assert texts(memory.get_all())[:3] == ["before", "yes", "three"]
    assert len(memory.get_all()) == 4


def test_engine_makes_its_own_memory() -> None:
    """`memory_cls=` works: the engine calls `from_defaults(chat_history=[], token_limit=…)`."""
    engine = SimpleChatEngine.from_defaults(llm=recording(), memory_cls=TieredChatMemoryBuffer)
    engine.chat("hello")
    assert texts(engine.chat_history)[0] == "hello"
    engine.reset()
    assert engine.chat_history == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [ContextChatEngine, CondensePlusContextChatEngine])
def test_context_engines(kind: Any, way: str) -> None:
    """Engines with retrieved text: history, retrieved text and question together keep the budget."""
    llm, memory = recording(), TieredChatMemoryBuffer.from_defaults(token_limit=600)
    engine = kind.from_defaults(retriever=OneChunk(), llm=llm, memory=memory, system_prompt="Be brief.")
    for k in range(20):
        assert ask(engine, way, f"Question {k}, with some words around it?")
        sent = list(llm.last_chat_messages or [])
        assert CHUNK in (sent[0].content or "")
        assert sent[-1] == user(f"Question {k}, with some words around it?")
        assert memory.context.counter.count_messages([memory.context.codec.read(m) for m in sent]) <= 600
    assert len(memory.get_all()) == 40


@pytest.mark.parametrize("way", WAYS)
def test_condense_question_engine(way: str) -> None:
    """CondenseQuestionChatEngine works on the view and keeps every turn."""
    index = VectorStoreIndex.from_documents([], embed_model=MockEmbedding(embed_dim=4))
    index.insert_nodes([TextNode(text=CHUNK)])
    memory = TieredChatMemoryBuffer.from_defaults(token_limit=300)
    llm = MockLLM(max_tokens=5)
    streaming = way in ("stream_chat", "astream_chat")
    engine = CondenseQuestionChatEngine.from_defaults(
        query_engine=index.as_query_engine(llm=llm, streaming=streaming), llm=llm, memory=memory
    )
    for k in range(4):
        assert ask(engine, way, f"Question {k}?")
    assert len(memory.get_all()) == 8


@pytest.mark.parametrize("kind", [ContextChatEngine, CondensePlusContextChatEngine])
def test_braces_in_the_history_stay(kind: Any) -> None:
    """`{query_str}` and `{context_str}` in what was said before reach the model as they were said."""
    said = 'format("{query_str}", {context_str}) {{query_str}} {"a": 1}'
    llm, memory = recording(), TieredChatMemoryBuffer.from_defaults([user(said), assistant(said)], token_limit=4_000)
    engine = kind.from_defaults(retriever=OneChunk(), llm=llm, memory=memory, skip_condense=True)
    engine.chat("what now?")
    sent = list(llm.last_chat_messages or [])
    assert texts(sent)[1:] == [said, said, "what now?"]
    assert all(type(m) is ChatMessage for m in sent)
    assert memory.get()[:2] == [user(said), assistant(said)]
    assert [user(said), assistant(said)] == memory.get()[:2]


def test_engine_overhead_is_what_engines_add() -> None:
    """The default head-room is two retrieved chunks of 1,024 tokens in the longest default template."""
    llm, memory = recording(), TieredChatMemoryBuffer.from_defaults(token_limit=20_000)
    counter = memory.context.counter
    chunk = counter.truncate("delay minutes carrier airport " * 2_000, 1_024)
    biggest = 0
    for kind in (ContextChatEngine, CondensePlusContextChatEngine):
        engine = kind.from_defaults(retriever=OneChunk(chunk, 2), llm=llm, memory=memory)
        engine.chat("why?")
        sent = list(llm.last_chat_messages or [])
        biggest = max(biggest, counter.count_message(memory.context.codec.read(sent[0])))
    assert biggest <= RETRIEVED <= 2 * biggest  # some versions send the two chunks one after the other


def test_head_room_is_taken_off_only_while_the_question_is_ahead() -> None:
    """`get(input=…)` leaves room for question and engine, unless the question stands in the memory already."""
    memory = TieredChatMemoryBuffer.from_defaults(talk(4, "42"), token_limit=400, engine_overhead=150)
    context = memory.context
    assert sum(map(context.count_message, memory.get(input="And who is early?"))) <= 400 - 150
    memory.put(user("And who is early?"))
    assert memory.get(input="And who is early?") == memory.get()


def test_head_room_gives_way() -> None:
    """The default head-room is a guess: where it leaves no view, it is given up; one that was set is kept."""
    history = [system("word " * 70), user("hello"), assistant("hi")]
    memory = TieredChatMemoryBuffer.from_defaults(history, token_limit=110)
    assert memory.get(input="and?")[0] == history[0]
    memory.engine_overhead = 60
    with pytest.raises(LlamaContextBudgetExceededError, match="overhead"):
        memory.get(input="and?")


def test_question_prompt_is_formatted_once() -> None:
    """A prompt template that is filled with a history string isn't filled again by what stands in it."""
    llm, memory = (
        MockLLM(),
        TieredChatMemoryBuffer.from_defaults([user("{question}"), assistant("ok")], token_limit=900),
    )
    index = VectorStoreIndex.from_documents([], embed_model=MockEmbedding(embed_dim=4))
    engine = CondenseQuestionChatEngine.from_defaults(
        query_engine=index.as_query_engine(llm=llm), llm=llm, memory=memory,
        condense_question_prompt=PromptTemplate("{chat_history} / {question}"),
    )  # fmt: skip
    assert "{question}" in engine._condense_question(memory.get(), "why?")
