"""Messages, calls and tool definitions: what stands around the texts is counted too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.counting_oracle import odd_texts, oracle
from tiered_core.counting import TokenCounter, get_token_counter
from tiered_core.types import Call, Media, Reading

NAMES = [None, "gpt-4o", "gpt-oss-20b", "claude-sonnet-4-6", "gemini-2.5-pro", "approximate", "seed"]
TEXTS = st.sampled_from(list(odd_texts(60, seed=6)))
CALLS = st.builds(
    Call, st.none() | st.just("call_1"), st.just("look_up"), st.sampled_from(['{"q": 1}', "", "not json"])
)
READINGS = st.builds(
    Reading,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    st.lists(TEXTS, max_size=3).map(tuple),
    name=st.none() | st.just("anna"),
    calls=st.lists(CALLS, max_size=2).map(tuple),
    reasoning=st.lists(TEXTS, max_size=1).map(tuple),
    media=st.lists(st.just(Media("image", 512, 512)), max_size=1).map(tuple),
    extra=st.lists(TEXTS, max_size=1).map(tuple),
)


def true_count(text: str) -> int:
    return len(oracle("cl100k_base").encode_ordinary(text))


def test_openai_framing() -> None:
    """B2: 3 per message, 1 for the role, the name and 1 more, 3 for the reply (OpenAI's published rule)."""
    counter = get_token_counter("gpt-4")
    greeting = Reading("user", ("Hello there",))
    assert counter.count_message(greeting) == 3 + 1 + true_count("Hello there")
    named = replace(greeting, name="anna")
    assert counter.count_message(named) == counter.count_message(greeting) + true_count("anna") + 1
    assert (
        counter.count_messages([greeting, named]) == counter.count_message(greeting) + counter.count_message(named) + 3
    )
    assert counter.count_messages([]) == 0


def test_published_example() -> None:
    """B2: the six messages of OpenAI's cookbook cost 129 tokens with gpt-4."""
    system = "You are a helpful, pattern-following assistant that translates corporate jargon into plain English."
    turns = [
        ("example_user", "New synergies will help drive top-line growth."),
        ("example_assistant", "Things working well together will increase revenue."),
        (
            "example_user",
            "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
        ),
        ("example_assistant", "Let's talk later when we're less busy about how to do better."),
    ]
    last = "This late pivot means we don't have time to boil the ocean for the client deliverable."
    request = [
        Reading("system", (system,)),
        *(Reading("system", (text,), name=name) for name, text in turns),
        Reading("user", (last,)),
    ]
    assert get_token_counter("gpt-4").count_messages(request) == 129


@given(READINGS, st.sampled_from(NAMES))
def test_every_part_costs_what_it_costs(reading: Reading, name: str | None) -> None:
    """B2: a message costs its framing and the sum of its parts; a request the sum of its messages and the reply."""
    counter = get_token_counter(name)
    empty = counter.count_message(Reading(reading.role))
    assert empty == 4
    parts = [
        *(Reading(reading.role, texts=(text,)) for text in reading.texts),
        *(Reading(reading.role, reasoning=(text,)) for text in reading.reasoning),
        *(Reading(reading.role, extra=(text,)) for text in reading.extra),
        *(Reading(reading.role, calls=(call,)) for call in reading.calls),
        *(Reading(reading.role, media=(media,)) for media in reading.media),
        Reading(reading.role, name=reading.name),
    ]
    assert counter.count_message(reading) == empty + sum(counter.count_message(part) - empty for part in parts)
    assert counter.count_messages([reading] * 3) == 3 * counter.count_message(reading) + 3
    assert all(counter.count_message(part) >= empty for part in parts)


@pytest.mark.parametrize("name", NAMES)
def test_calls_and_reasoning_are_never_free(name: str | None) -> None:
    """A1: a call costs at least its name, its arguments and its id; reasoning at least its text."""
    counter = get_token_counter(name)
    arguments = '{"city": "Zürich", "when": "2024-05-01", "note": "say \\"hi\\""}'
    call = Call("call_abcdef123456", "get_weather_forecast", arguments)
    cost = counter.count_message(Reading("assistant", calls=(call,))) - 4
    if counter.exact:
        assert cost >= sum(map(counter.count_text, (call.name, arguments, call.id or "")))
    for change in ({"name": "a" * 60}, {"arguments": arguments * 3}, {"id": "call_" + "0123456789" * 5}):
        bigger = replace(call, **change)  # type: ignore[arg-type]
        assert counter.count_message(Reading("assistant", calls=(bigger,))) - 4 > cost
    thinking = Reading("assistant", ("ok",), reasoning=("step by step " * 30,))
    assert counter.count_message(thinking) > counter.count_message(replace(thinking, reasoning=())) + 60


TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_current_weather",
        "description": "Get the current weather in a given location",
        "parameters": {
            "type": "object",
            "properties": {
                "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            },
            "required": ["location"],
        },
    },
}


def test_openai_sees_tools_as_typescript() -> None:
    """A1: OpenAI's models get tool definitions as a TypeScript name space, which is what they cost."""
    shown = (
        "namespace functions {\n\n"
        "// Get the current weather in a given location\n"
        "type get_current_weather = (_: {\n"
        "// The city and state, e.g. San Francisco, CA\n"
        "location: string,\n"
        'unit?: "celsius" | "fahrenheit",\n'
        "}) => any;\n\n"
        "} // namespace functions"
    )
    counter = get_token_counter("gpt-4")
    assert true_count(shown) <= counter.count_tools([TOOL]) <= true_count(shown) + 15


@pytest.mark.parametrize("name", NAMES)
def test_tools_cost_something_with_every_counter(name: str | None) -> None:
    """A1: tool definitions are never free; others than OpenAI see JSON, Claude also a prompt about tools."""
    counter = get_token_counter(name)
    assert counter.count_tools([]) == 0
    one, two = counter.count_tools([TOOL]), counter.count_tools([TOOL, TOOL])
    assert 30 < one < two
    if name is None:
        assert one == counter.count_data(TOOL)
    if name and name.startswith("claude"):
        assert one >= 346 + counter.count_data(TOOL)


ODD_TOOLS: list[Any] = [
    {}, {"function": None}, {"name": "flat", "parameters": {"properties": {"a": {}}}},
    {"function": {"name": "x"}}, "text", None,
    {"function": {"name": "f", "parameters": {"properties": {"a": True, "b": {"type": ["string",
    "null"], "default": 1}}}}},
    {"function": {"name": "f", "parameters": {"properties": {"o": {"type": "object",
    "properties": {"p": {"type": "integer"}}}}}}},
    {"function": {"name": "f", "parameters": {"properties": {"l": {"type": "array",
    "items": {"anyOf": [{"enum": [1]}, {}]}}}}}},
    {"function": {"name": "f", "parameters": {"properties": {"l": {"type": "object"}}, "required": None}}},
]  # fmt: skip


@pytest.mark.parametrize("tool", ODD_TOOLS)
def test_odd_tool_definitions(tool: Any) -> None:
    """B2: nested, unusual and broken definitions are counted without an exception."""
    for name in NAMES:
        counter: TokenCounter = get_token_counter(name)
        assert counter.count_tools([tool]) >= 0
        assert counter.count_tools([TOOL, tool]) >= counter.count_tools([TOOL])
