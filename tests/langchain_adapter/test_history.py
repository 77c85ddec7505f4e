from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables.history import RunnableWithMessageHistory

from langchain_tiered import ContextBudgetExceededError, TieredChatMessageHistory
from tests.langchain_adapter.models import echo, said, size
from tiered_core import ContextBudgetExceededError as CoreError
from tiered_core import TieredContext

TABLE = "id,name,amount\n" + "\n".join(f"{n},name {n},{n * 3.5}" for n in range(500))
CALL = AIMessage("", tool_calls=[{"name": "query", "args": {"sql": "SELECT 1"}, "id": "c1"}])


def test_is_a_chat_history() -> None:
    """It is what LangChain takes for a chat history, with a context behind it."""
    history = TieredChatMessageHistory("s1", budget=1_000)
    assert isinstance(history, BaseChatMessageHistory)
    assert isinstance(history.context, TieredContext)
    assert (history.session_id, history.messages, history.all_messages) == ("s1", [], [])
    assert repr(history) == "TieredChatMessageHistory(session_id='s1', budget=1000)"


def test_below_the_budget_the_view_equals_the_transcript() -> None:
    """Messages come back equal, with ids, names and metadata."""
    history = TieredChatMessageHistory(budget=1_000)
    messages = [SystemMessage("sys", id="0"), HumanMessage("a", name="bob", id="1"), AIMessage("b", id="2")]
    history.add_messages(messages)
    assert history.messages == history.all_messages == messages
    assert str(history) == "System: sys\nHuman: a\nAI: b"


def test_convenience_methods() -> None:
    """The base class's shortcuts work."""
    history = TieredChatMessageHistory()
    history.add_user_message("a")
    history.add_ai_message("b")
    history.add_message(HumanMessage("c"))
    assert said(history.messages) == ["h:a", "a:b", "h:c"]
    history.clear()
    assert history.messages == history.all_messages == []


async def test_async_methods() -> None:
    """The async methods do what the sync ones do."""
    history = TieredChatMessageHistory(budget=1_000)
    await history.aadd_messages([HumanMessage("a"), AIMessage("b")])
    assert await history.aget_messages() == await history.aall_messages() == await history.aview() == history.view()
    await history.aclear()
    assert await history.aget_messages() == []


def test_a_view_shares_nothing_with_the_transcript() -> None:
    """What is done to messages that were handed out or in doesn't reach the transcript."""
    history = TieredChatMessageHistory()
    mine = HumanMessage([{"type": "text", "text": "a"}])
    history.add_messages([mine])
    for message in (mine, history.messages[0], history.all_messages[0]):
        message.id = "x"
        message.content[0]["text"] = "changed"
    assert said(history.messages) == ["h:a"]
    assert history.messages[0].id is None


def test_a_large_result_enters_small_and_is_kept_whole() -> None:
    """A table from a tool is small in the view, whole in the transcript; its links and its artifact stay."""
    history = TieredChatMessageHistory(budget=4_000)
    artifact = {"rows": 500}
    result = ToolMessage(TABLE, tool_call_id="c1", artifact=artifact, id="t")
    history.add_messages([HumanMessage("how much?"), CALL, result])
    shown = history.messages[-1]
    assert isinstance(shown, ToolMessage)
    assert len(shown.text) < len(TABLE) / 5
    assert (shown.tool_call_id, shown.id, shown.artifact) == ("c1", "t", artifact)
    assert history.all_messages[-1].content == TABLE
    handle = next(e.handle for e in history.events() if e.kind == "rendered")
    assert history.context.recall(handle or "", limit_tokens=None).text == TABLE
    assert "rendered 1" in str(history.report())


def test_the_budget_holds() -> None:
    """However much is added, the view stays within the budget, by a count of our own, the system text first."""
    history = TieredChatMessageHistory(budget=600, token_counter=size)
    history.add_messages([SystemMessage("You are an analyst.")])
    for n in range(40):
        history.add_messages([HumanMessage(f"question {n} " * 10), AIMessage(f"answer {n} " * 20)])
        view = history.messages
        assert sum(map(size, view)) <= 600
        assert view[0].text.startswith("You are an analyst.")
        assert view[-2].text.startswith(f"question {n}")
    assert len(history.all_messages) == 81


def test_overhead_comes_off_the_budget() -> None:
    """Tokens around the view leave less for it."""
    history = TieredChatMessageHistory(budget=600, token_counter=size)
    for n in range(10):
        history.add_messages([HumanMessage(f"question {n} " * 10), AIMessage(f"answer {n} " * 10)])
    assert sum(map(size, history.view(overhead_tokens=300))) <= 300


def test_too_small_a_budget_raises_the_hosts_error() -> None:
    """What can't be reduced raises an error that is ours and LangChain's, and tells the sum."""
    history = TieredChatMessageHistory(budget=50)
    history.add_messages([SystemMessage("rule " * 100), HumanMessage("a")])
    with pytest.raises(ContextBudgetExceededError, match="only 50 are available") as caught:
        history.messages  # noqa: B018
    assert isinstance(caught.value, ContextOverflowError)
    assert isinstance(caught.value, CoreError)
    assert caught.value.window == 50


def test_a_store_on_disk(tmp_path: Path) -> None:
    """A second history on the same store sees the first one's messages, whole and in view."""
    store = f"sqlite:///{tmp_path / 'chat.db'}"
    first = TieredChatMessageHistory("s1", store=store, budget=2_000)
    result = ToolMessage(TABLE, tool_call_id="c1", artifact=[1, {"x": None}])
    first.add_messages([HumanMessage("a", id="1"), CALL, result])
    second = TieredChatMessageHistory("s1", store=store, budget=2_000)
    assert second.all_messages == first.all_messages
    assert second.messages == first.messages
    assert TieredChatMessageHistory("s2", store=store).messages == []


def test_an_agents_transcript_is_recognised() -> None:
    """Adding the whole transcript again, with what is new at its end, stores what is new; equal answers stay two."""
    history = TieredChatMessageHistory()
    history.add_messages([HumanMessage("sure?"), AIMessage("yes"), HumanMessage("sure?")])
    history.add_messages([*history.messages, AIMessage("yes")])
    assert said(history.all_messages) == ["h:sure?", "a:yes", "h:sure?", "a:yes"]


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
class TestUnderRunnableWithMessageHistory:
    """The host's own wrapper, which reads the history twice and slices by its length."""

    def test_without_a_history_key(self) -> None:
        """Every question and answer is stored once, also after batches have shrunk the view."""
        history = TieredChatMessageHistory(budget=300, token_counter=size)
        chain = RunnableWithMessageHistory(echo(), lambda: history)
        for n in range(30):
            chain.invoke(HumanMessage(f"question {n} " + "word " * 20), {"configurable": {"session_id": "1"}})
        expected = [text for n in range(30) for text in (f"h:question {n} " + "word " * 20, f"a:answer {n}")]
        assert said(history.all_messages) == expected
        assert history.report().batches > 0

    def test_with_a_history_key(self) -> None:
        """The prompt gets the view, and each turn is stored once."""
        history = TieredChatMessageHistory(budget=300, token_counter=size)
        model = echo()
        prompt = ChatPromptTemplate.from_messages([("system", "sys"), MessagesPlaceholder("past"), ("human", "{ask}")])
        chain = RunnableWithMessageHistory(
            prompt | model, lambda: history, input_messages_key="ask", history_messages_key="past"
        )
        for n in range(30):
            chain.invoke({"ask": f"question {n} " + "word " * 20}, {"configurable": {"session_id": "1"}})
            assert sum(map(size, model.seen[-1][1:-1])) <= 300
        assert len(history.all_messages) == 60

    async def test_async_and_streamed(self) -> None:
        """Async calls and streams store each turn once."""
        history = TieredChatMessageHistory(budget=300, token_counter=size)
        chain = RunnableWithMessageHistory(echo(), lambda: history)
        config = {"configurable": {"session_id": "1"}}
        await chain.ainvoke("a", config)
        async for _ in chain.astream("b", config):
            pass
        list(chain.stream("c", config))
        expected = ["h:a", "a:answer 0", "h:b", "A:answer 1", "h:c", "A:answer 2"]
        assert said(await history.aall_messages()) == expected


def test_no_warning_of_ours() -> None:
    """Importing the package and building a history warns of nothing, although its base class is deprecated."""
    script = "import langchain_tiered as l; l.TieredChatMessageHistory('a', budget=100).add_user_message('b')"
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)


def test_without_the_hosts_base_class() -> None:
    """Where the host has no `BaseChatMessageHistory` any more, the same methods are there without it."""
    script = """
import sys, types
sys.modules["langchain_core.chat_history"] = types.ModuleType("langchain_core.chat_history")
from langchain_tiered.history import TieredChatMessageHistory
history = TieredChatMessageHistory("a", budget=100)
history.add_user_message("b"); history.add_ai_message("c")
assert [m.content for m in history.messages] == ["b", "c"], history
assert TieredChatMessageHistory.__mro__[1] is object
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def _messages(count: int) -> list[BaseMessage]:
    return [m for n in range(count) for m in (HumanMessage(f"q{n}"), AIMessage(f"a{n}"))]


def test_reading_changes_nothing() -> None:
    """Reading twice gives equal messages and no event."""
    history = TieredChatMessageHistory(budget=60, token_counter=size)
    history.add_messages(_messages(40))
    events = history.events()
    assert history.messages == history.messages
    assert history.events() == events
