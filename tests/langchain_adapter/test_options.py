"""Options that LangChain users bring along."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately

from langchain_tiered import TieredChatMessageHistory, fit_messages

TALK = [SystemMessage("s")] + [
    m for k in range(6) for m in (HumanMessage(f"q{k} " + "x " * 20), AIMessage(f"a{k} " + "y " * 20))
] + [HumanMessage("last")]  # fmt: skip


def test_the_hosts_own_counter() -> None:
    """`count_tokens_approximately`, as it is given to `trim_messages`, counts message by message."""
    whole = count_tokens_approximately(TALK)
    assert fit_messages(TALK, whole, token_counter=count_tokens_approximately) == TALK
    short = fit_messages(TALK, whole // 2, token_counter=count_tokens_approximately)
    assert 1 < len(short) < len(TALK)
    assert sum(count_tokens_approximately([m]) for m in short) <= whole // 2


def test_counters_of_lists_are_known_by_their_annotation() -> None:
    """A function of a list of messages is asked with lists; one of a message, or without annotation, as it is."""
    asked: list[object] = []

    def of_list(messages: list[BaseMessage]) -> int:
        asked.append(type(messages))
        return sum(len(str(m.content)) for m in messages)

    def of_sequence(messages: Sequence[BaseMessage]) -> int:
        return of_list(list(messages))

    for counter in (of_list, of_sequence):
        history = TieredChatMessageHistory(budget=300, token_counter=counter)
        history.add_messages(TALK)
        assert sum(len(str(m.content)) for m in history.messages) <= 300
    assert set(asked) == {list}
    single = TieredChatMessageHistory(budget=300, token_counter=lambda m: len(str(getattr(m, "content", m))))
    single.add_messages(TALK)
    assert sum(len(str(m.content)) for m in single.messages) <= 300


def test_unknown_options_are_named() -> None:
    """An option that isn't there is refused with those there are; the name that `trim_messages` uses gets a hint."""
    with pytest.raises(TypeError, match=r"unknown option max_tokens: .*the budget in tokens is `budget`"):
        fit_messages(TALK, max_tokens=100)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="unknown option budgett: there are budget"):
        TieredChatMessageHistory(budgett=3)  # type: ignore[call-arg]


def test_redact_reaches_content_calls_and_artifacts() -> None:
    """Words in content, arguments and plain artifacts are redacted; ids and signed thoughts stay."""
    signed = {"type": "thinking", "thinking": "secret", "signature": "c2ln"}
    call = {"name": "q", "args": {"name": "secret"}, "id": "secret", "type": "tool_call"}
    messages = [
        HumanMessage([{"type": "text", "text": "my secret"}], additional_kwargs={"note": "secret"}),
        AIMessage([signed, {"type": "text", "text": "secret"}], tool_calls=[call], id="secret-1"),
        ToolMessage("secret", tool_call_id="secret", artifact={"rows": ["secret"]}),
    ]
    history = TieredChatMessageHistory(budget=5_000, redact=lambda text: text.replace("secret", "***"))
    history.add_messages(messages)
    human, answer, result = history.all_messages
    assert human.content == [{"type": "text", "text": "my ***"}]
    assert human.additional_kwargs == {"note": "***"}
    assert answer.content == [signed, {"type": "text", "text": "***"}]
    assert isinstance(answer, AIMessage)
    assert answer.tool_calls == [{**call, "args": {"name": "***"}}]
    assert answer.id == "secret-1"
    assert isinstance(result, ToolMessage)
    assert (result.content, result.tool_call_id, result.artifact) == ("***", "secret", {"rows": ["***"]})
    assert messages[2].content == "secret"
