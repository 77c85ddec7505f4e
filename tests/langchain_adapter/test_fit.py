from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import Runnable

from langchain_tiered import ContextBudgetExceededError, fit_messages
from tests.langchain_adapter.models import said, size

CALL = AIMessage("", tool_calls=[{"name": "query", "args": {"sql": "SELECT 1"}, "id": "c1"}])
LOG: list[BaseMessage] = [
    SystemMessage("sys"), HumanMessage("first " * 40), CALL, ToolMessage("row\n" * 2_000, tool_call_id="c1"),
    AIMessage("done " * 40), HumanMessage("second"),
]  # fmt: skip


def test_fits() -> None:
    """The result is within the budget, has the system text first and the request last, and pairs calls with results."""
    for budget in (200, 400, 800):
        out = fit_messages(LOG, budget, token_counter=size)
        assert sum(map(size, out)) <= budget
        assert out[0].text.startswith("sys")
        assert out[-1] == LOG[-1]
        opened = [c["id"] for m in out if isinstance(m, AIMessage) for c in m.tool_calls]
        assert opened == [m.tool_call_id for m in out if isinstance(m, ToolMessage)]


def test_what_fits_stays() -> None:
    """Messages that fit come back equal, as copies."""
    messages = [HumanMessage("a", id="1"), AIMessage("b")]
    out = fit_messages(messages, 1_000)
    assert out == messages
    assert out[0] is not messages[0]


def test_as_a_runnable() -> None:
    """Without messages it is a Runnable, as `trim_messages` is."""
    fitting = fit_messages(budget=400, token_counter=size)
    assert isinstance(fitting, Runnable)
    assert fitting.invoke(LOG) == fit_messages(LOG, 400, token_counter=size)
    assert fitting.get_name() == "fit_messages"


def test_forms_of_messages() -> None:
    """Tuples, strings and dicts that stand for messages are taken."""
    messages = [("system", "s"), "a", {"role": "assistant", "content": "b"}]
    assert said(fit_messages(messages, 1_000)) == ["s:s", "h:a", "a:b"]


def test_too_small() -> None:
    """A budget that can't be kept raises; no empty list comes back."""
    with pytest.raises(ContextBudgetExceededError):
        fit_messages([SystemMessage("rule " * 100), HumanMessage("a")], 20)


@given(st.integers(60, 3_000))
def test_never_empty(budget: int) -> None:
    """Whatever the budget, the request is there."""
    out = fit_messages(LOG, budget, token_counter=size)
    assert sum(map(size, out)) <= budget
    assert out[-1].text == "second"
