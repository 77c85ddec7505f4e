from __future__ import annotations

import asyncio
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import pytest
from langchain_core.load import dumps
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import ConfigurableFieldSpec, Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory

from langchain_tiered import TieredChatMessageHistory, TieredMemory
from tests.langchain_adapter.models import PlainHistory, echo, replies, said, size

SESSION: Any = {"configurable": {"session_id": "s1"}}
PROMPT = ChatPromptTemplate.from_messages([("system", "sys"), MessagesPlaceholder("past"), ("human", "{ask}")])


def memory(
    runnable: Any, history: Any = None, **keys: Any
) -> tuple[TieredMemory, Callable[[], list[str]], dict[str, Any]]:
    """A memory with one history per session; what the first session holds; and all histories."""
    held: dict[str, Any] = {"s1": history or TieredChatMessageHistory("s1")}

    def history_of(session_id: str) -> Any:
        return held.setdefault(session_id, TieredChatMessageHistory(session_id))

    return TieredMemory(runnable, history_of, **keys), lambda: said(all_of(held["s1"])), held


def all_of(history: Any) -> list[BaseMessage]:
    return history.all_messages if isinstance(history, TieredChatMessageHistory) else history.messages


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
@pytest.mark.parametrize("history", [TieredChatMessageHistory, PlainHistory])
async def test_two_turns(way: str, history: Any) -> None:
    """Sync or async, streamed or not, the second turn sees the first; both are stored once, as messages, not chunks."""
    model = echo()
    chain, stored, held = memory(model, history())
    for question in ("a", "b"):
        if way == "invoke":
            assert chain.invoke(question, SESSION).text.startswith("answer")
        elif way == "ainvoke":
            assert (await chain.ainvoke(question, SESSION)).text.startswith("answer")
        elif way == "stream":
            assert "".join(c.text for c in chain.stream(question, SESSION)).startswith("answer")
        else:
            assert "".join([c.text async for c in chain.astream(question, SESSION)]).startswith("answer")
    assert stored() == ["h:a", "a:answer 0", "h:b", "a:answer 1"]
    assert said(model.seen[1]) == ["h:a", "a:answer 0", "h:b"]
    assert {type(m) for m in all_of(held["s1"])} == {HumanMessage, AIMessage}


@pytest.mark.parametrize(
    "question", ["a", HumanMessage("a"), [HumanMessage("a")], [("human", "a")], [[HumanMessage("a")]], {"input": "a"}]
)
def test_forms_of_an_input(question: Any) -> None:
    """A string, a message, a list of messages or of what stands for them, a batch of one, a dict of one: all do."""
    model = echo()
    chain, stored, _ = memory(model)
    chain.invoke(question, SESSION)
    assert said(model.seen[0]) == ["h:a"]
    assert stored() == ["h:a", "a:answer 0"]


@pytest.mark.parametrize(
    ("output", "key"),
    [
        ("b", None), (AIMessage("b"), None), ([AIMessage("b")], None), ({"x": "b"}, None), ({"x": ["b"]}, None),
        ({"output": AIMessage("b"), "n": 1}, None), ({"answer": "b", "n": 1}, "answer"),
    ],
)  # fmt: skip
def test_forms_of_an_output(output: Any, key: str | None) -> None:
    """A string, a message, a list, and a dict with one of these are outputs; they come out as they are."""
    chain, stored, _ = memory(RunnableLambda(lambda _: output), output_messages_key=key)
    assert chain.invoke("a", SESSION) == output
    # In a list a string stands for what a person said, everywhere in LangChain.
    assert stored() == ["h:a", "h:b" if output == {"x": ["b"]} else "a:b"]


def test_unknown_output() -> None:
    """An output in which no message is found raises an error that names the way out."""
    chain, stored, _ = memory(RunnableLambda(lambda _: {"x": 1, "y": 2}))
    with pytest.raises(ValueError, match=r"only \['x', 'y'\].*output_messages_key"):
        chain.invoke("a", SESSION)
    assert stored() == []


def test_input_key_without_history_key() -> None:
    """With an input key alone, the history stands before the input under that key."""
    model = echo()
    chain, stored, _ = memory(itemgetter("ask") | model, input_messages_key="ask")
    chain.invoke({"ask": "a", "more": 1}, SESSION)
    chain.invoke({"ask": [HumanMessage("b")]}, SESSION)
    assert said(model.seen[1]) == ["h:a", "a:answer 0", "h:b"]
    assert stored() == ["h:a", "a:answer 0", "h:b", "a:answer 1"]


def test_history_key() -> None:
    """With a history key, the history goes there and the input stays as it is."""
    model = echo()
    chain, stored, _ = memory(PROMPT | model, input_messages_key="ask", history_messages_key="past")
    chain.invoke({"ask": "a"}, SESSION)
    chain.invoke({"ask": "b"}, SESSION)
    assert said(model.seen[1]) == ["s:sys", "h:a", "a:answer 0", "h:b"]
    assert stored() == ["h:a", "a:answer 0", "h:b", "a:answer 1"]


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
@pytest.mark.parametrize("config", [None, {}, {"configurable": {}}, {"configurable": {"user": "x"}}])
@pytest.mark.parametrize("way", ["invoke", "stream"])
def test_missing_key(config: Any, way: str) -> None:
    """A missing session key raises the same error as the host's own wrapper."""
    errors = []
    for kind in (TieredMemory, RunnableWithMessageHistory):
        chain = kind(echo(), lambda session_id: TieredChatMessageHistory(), input_messages_key="ask")
        with pytest.raises(ValueError, match="Missing keys") as caught:
            list(getattr(chain, way)({"ask": "a"}, config))
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


FIELDS = [
    ConfigurableFieldSpec(id=name, annotation=str, name=name, description="", default="", is_shared=True)
    for name in ("user_id", "chat_id")
]


def test_custom_fields() -> None:
    """Several fields name a session; they go to the factory by name."""
    held: dict[tuple[str, str], TieredChatMessageHistory] = {}

    def history_of(user_id: str, chat_id: str) -> TieredChatMessageHistory:
        return held.setdefault((user_id, chat_id), TieredChatMessageHistory())

    chain = TieredMemory(echo(), history_of, history_factory_config=FIELDS)
    chain.invoke("a", {"configurable": {"user_id": "u", "chat_id": "1"}})
    assert said(held["u", "1"].messages) == ["h:a", "a:answer 0"]
    with pytest.raises(ValueError, match=r"Missing keys \['chat_id'\]"):
        chain.invoke("a", {"configurable": {"user_id": "u"}})
    assert {spec.id for spec in chain.config_specs} == {"user_id", "chat_id"}


def test_fields_that_dont_match() -> None:
    """A factory whose parameters have other names raises the host's error."""
    chain = TieredMemory(echo(), lambda a, b: None, history_factory_config=FIELDS)
    with pytest.raises(ValueError, match="do not match parameter names"):
        chain.invoke("a", {"configurable": {"user_id": "u", "chat_id": "1"}})


def test_factory_without_parameters() -> None:
    """A factory without parameters needs no key in the config."""
    history = TieredChatMessageHistory()
    TieredMemory(echo(), lambda: history).invoke("a")
    assert said(history.messages) == ["h:a", "a:answer 0"]


def test_composition() -> None:
    """It composes with `|` and `with_config`; its child finds the history in the config, as with the host's wrapper."""
    seen = []

    def child(messages: list[BaseMessage], config: Any) -> AIMessage:
        seen.append(config)
        return AIMessage("b")

    chain, stored, held = memory(RunnableLambda(child))
    piped = RunnablePassthrough() | chain | StrOutputParser()
    bound = piped.with_config(configurable={"session_id": "s1"}, tags=["t"])
    assert bound.invoke("a") == "b"
    assert stored() == ["h:a", "a:b"]
    assert seen[0]["configurable"]["message_history"] is held["s1"]
    assert "t" in seen[0]["tags"]


def test_prompt_before_it() -> None:
    """What a prompt gives is an input."""
    chain, stored, _ = memory(echo())
    (ChatPromptTemplate.from_template("about {x}") | chain).invoke({"x": "a"}, SESSION)
    assert stored() == ["h:about a", "a:answer 0"]


def test_kwargs_reach_the_runnable() -> None:
    """Keyword arguments of a call reach the Runnable."""
    got = []
    chain, _, _ = memory(RunnableLambda(lambda _, **kwargs: got.append(kwargs) or "b"))
    chain.invoke("a", SESSION, stop=["x"])
    list(chain.stream("a", SESSION, stop=["y"]))
    assert got == [{"stop": ["x"]}, {"stop": ["y"]}]


def test_schemas_and_repr() -> None:
    """Schemas tell what goes in and out; the text forms say what it is made of."""
    chain, _, _ = memory(PROMPT | echo() | StrOutputParser(), input_messages_key="ask", history_messages_key="past")
    assert set(chain.get_input_jsonschema()["properties"]) == {"ask"}
    assert chain.get_output_schema().model_json_schema()["type"] == "string"
    assert chain.OutputType is str
    assert "input_messages_key='ask'" in repr(chain)
    assert "TieredMemory" in dumps(chain)
    assert chain.get_name() == "TieredMemory"
    assert [s.id for s in chain.config_specs] == ["session_id"]
    assert memory(echo())[0].get_input_jsonschema()["type"] == "array"


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_nothing_is_stored_when_the_model_raises(way: str) -> None:
    """An error of the model comes through, and nothing of the turn is stored, not even after half an answer."""
    error = ConnectionError("the line is dead")
    chain, stored, _ = memory(replies("half |BREAK" if "stream" in way else error))

    async def run() -> Any:
        if way == "ainvoke":
            return await chain.ainvoke("a", SESSION)
        if way == "astream":
            return [c async for c in chain.astream("a", SESSION)]
        return list(getattr(chain, way)("a", SESSION))

    with pytest.raises(ConnectionError, match="the line is dead"):
        await run()
    assert stored() == []


async def test_nothing_is_stored_when_a_call_is_cancelled() -> None:
    """A cancelled call that wasn't a stream stores nothing."""

    async def slow(_: Any) -> str:
        await asyncio.sleep(30)
        return "b"

    chain, stored, _ = memory(RunnableLambda(lambda _: "b", slow))
    task = asyncio.create_task(chain.ainvoke("a", SESSION))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stored() == []


class BrokenHistory(PlainHistory):
    """A history that can't store."""

    def add_messages(self, messages: Any) -> None:
        raise OSError("disk full")


def test_an_error_of_the_history_is_not_swallowed() -> None:
    """When the history can't store, the caller hears of it."""
    chain, _, _ = memory(echo(), BrokenHistory())
    with pytest.raises(OSError, match="disk full"):
        chain.invoke("a", SESSION)
    with pytest.raises(OSError, match="disk full"):
        list(chain.stream("a", SESSION))


def test_view_and_input_fit_the_budget_together() -> None:
    """What reaches the model is at most the budget, by a count of our own, with the input in it."""
    model = echo()
    history = TieredChatMessageHistory("s1", budget=400, token_counter=size)
    chain, stored, _ = memory(model, history)
    for n in range(40):
        chain.invoke(HumanMessage(f"question {n} " + "word " * (n % 7) * 10), SESSION)
        assert sum(map(size, model.seen[-1])) <= 400
        assert model.seen[-1][-1].text.startswith(f"question {n} ")
    assert len(stored()) == 80


def test_callers_objects_are_not_changed() -> None:
    """An agent gives ids to what it gets; the caller's messages and the stored ones don't get them."""

    def meddling(messages: list[BaseMessage]) -> str:
        for number, message in enumerate(messages):
            message.id = f"new {number}"
        return "b"

    for history in (TieredChatMessageHistory(), PlainHistory()):
        chain, _, held = memory(RunnableLambda(meddling), history)
        question = HumanMessage("a")
        chain.invoke(question, SESSION)
        chain.invoke("c", SESSION)
        assert question.id is None
        assert [m.id for m in all_of(held["s1"])] == [None] * 4


@pytest.mark.parametrize("question", ["q", HumanMessage("q"), {"question": "q"}, {"input": "q"}, [HumanMessage("q")]])
async def test_view_of(question: Any) -> None:
    """`view_of` gives the messages of the view for a question, without the question, sync and async."""
    history = TieredChatMessageHistory()
    history.add_messages([HumanMessage("a"), AIMessage("b")])
    view = TieredMemory.view_of(history)
    assert isinstance(view, Runnable)
    assert view.invoke(question) == await view.ainvoke(question) == history.messages
    assert TieredMemory.view_of(history.context).invoke(question) == history.messages
    plain = PlainHistory(messages=history.messages)
    assert TieredMemory.view_of(plain).invoke(question) == await TieredMemory.view_of(plain).ainvoke(question)


def test_view_in_a_chain() -> None:
    """The view stands before a prompt and a model, alone or beside the question."""
    history = TieredChatMessageHistory()
    history.add_messages([HumanMessage("a"), AIMessage("b")])
    model = echo()
    view = TieredMemory.view_of(history)
    prompt = ChatPromptTemplate.from_messages([("system", "sys"), MessagesPlaceholder("past")])
    (view | prompt | model).invoke("q")
    assert said(model.seen[0]) == ["s:sys", "h:a", "a:b"]
    ({"past": view, "ask": RunnablePassthrough()} | PROMPT | model).invoke("q")
    assert said(model.seen[1]) == ["s:sys", "h:a", "a:b", "h:q"]


class OwnHistory(PlainHistory):
    """A history of the caller's own that grades its view by the question."""

    def view(self, question: str | None = None) -> list[BaseMessage]:
        return [SystemMessage(f"asked: {question}")]

    async def aview(self, question: str | None = None) -> list[BaseMessage]:
        return self.view(question)


async def test_the_question_reaches_the_view() -> None:
    """A history with a view of its own is asked for it with the current question."""
    model = echo()
    chain, _, _ = memory(model, OwnHistory())
    chain.invoke([SystemMessage("x"), HumanMessage("what?")], SESSION)
    await chain.ainvoke("why?", SESSION)
    assert [seen[0].text for seen in model.seen] == ["asked: what?", "asked: why?"]
