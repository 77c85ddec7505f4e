"""Reported input tokens, read from every shape in which hosts and providers report them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tiered_core.usage import reported_input_tokens

LANGCHAIN = {"input_tokens": 350, "output_tokens": 9, "total_tokens": 359, "input_token_details": {"cache_read": 300}}
OPENAI = {"prompt_tokens": 50, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 32}}
RESPONSES = {"input_tokens": 60, "input_tokens_details": {"cached_tokens": 40}, "output_tokens": 1, "total_tokens": 61}
ANTHROPIC = {
    "input_tokens": 10,
    "output_tokens": 5,
    "cache_creation_input_tokens": 200,
    "cache_read_input_tokens": 3_000,
}
GEMINI = {"prompt_token_count": 77, "cached_content_token_count": 50, "candidates_token_count": 3}


def _object(fields: dict[str, Any]) -> Any:
    return SimpleNamespace(**fields)


@pytest.mark.parametrize("form", [dict, _object])
@pytest.mark.parametrize(
    ("fields", "tokens"),
    [
        (LANGCHAIN, 350), (OPENAI, 50), (RESPONSES, 60), (ANTHROPIC, 3_210), (GEMINI, 77), ({"promptTokenCount": 7}, 7),
        ({**ANTHROPIC, "cache_creation_input_tokens": None, "cache_read_input_tokens": None}, 10),
        ({"input_tokens": 0, "cache_read_input_tokens": 90}, 90),
        ({**OPENAI, "cache_read_input_tokens": 32}, 50),
    ],
)  # fmt: skip
def test_usage_itself(form: Any, fields: dict[str, Any], tokens: int) -> None:
    """Cached tokens count once: inside the figure, or beside it with Anthropic (P13)."""
    assert reported_input_tokens(form(fields)) == tokens


@pytest.mark.parametrize("form", [dict, _object])
@pytest.mark.parametrize("outer", ["usage", "usage_metadata", "token_usage"])
def test_response_that_carries_it(form: Any, outer: str) -> None:
    """A response is read by its usage, whether usage and response are objects or dicts (P13)."""
    assert reported_input_tokens(form({outer: form(ANTHROPIC), "id": "x"})) == 3_210


def test_langchain_message() -> None:
    """An AIMessage is read by `usage_metadata`, else by its provider's figures (P13)."""
    messages = pytest.importorskip("langchain_core.messages")
    provider = {"token_usage": OPENAI, "model_name": "m"}
    assert reported_input_tokens(messages.AIMessage("x", usage_metadata=LANGCHAIN, response_metadata=provider)) == 350
    assert reported_input_tokens(messages.AIMessage("x", response_metadata=provider)) == 50
    assert reported_input_tokens(messages.AIMessage("x", response_metadata={"usage": ANTHROPIC})) == 3_210
    assert reported_input_tokens(messages.AIMessageChunk("x", usage_metadata=LANGCHAIN)) == 350
    assert reported_input_tokens(messages.AIMessage("x")) is None


@pytest.mark.parametrize(
    ("raw", "tokens"),
    [
        ({"usage": OPENAI}, 50), (SimpleNamespace(usage=_object(OPENAI)), 50), ({"usage": _object(ANTHROPIC)}, 3_210),
        ({"usage_metadata": GEMINI}, 77), ({"usage": None}, None), (None, None), ("text", None),
    ],
)  # fmt: skip
def test_llama_index_response(raw: Any, tokens: int | None) -> None:
    """A ChatResponse is read by its raw answer (P13)."""
    llms = pytest.importorskip("llama_index.core.llms")
    message = llms.ChatMessage(role="assistant", content="x")
    assert reported_input_tokens(llms.ChatResponse(message=message, raw=raw)) == tokens


def test_llama_index_response_without_raw() -> None:
    """What LlamaIndex's integrations copy into `additional_kwargs` is read when there is nothing else (P13)."""
    llms = pytest.importorskip("llama_index.core.llms")
    message = llms.ChatMessage(role="assistant", content="x")
    response = llms.ChatResponse(message=message, raw={"usage": None}, additional_kwargs={"prompt_tokens": 9})
    assert reported_input_tokens(response) == 9


class _Hostile:
    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name) if name.startswith("__") else RuntimeError(name)


class _Endless:
    @property
    def usage(self) -> Any:
        return self

    @property
    def raw(self) -> Any:
        return self


@pytest.mark.parametrize(
    "usage",
    [
        None, "", "350", b"350", 0, -3, True, 3.0, float("nan"), [], [350], {}, object(), _Hostile(), _Endless(),
        {"prompt_tokens": None}, {"prompt_tokens": "50"}, {"prompt_tokens": True}, {"prompt_tokens": -1},
        {"prompt_tokens": 0}, {"input_tokens": -5, "cache_read_input_tokens": 50}, {"input_tokens": 0},
        {"input_tokens": None, "cache_read_input_tokens": 5},
        {"usage": "none"}, {"usage": {"total_tokens": 5}}, {1: 2},
    ],
)  # fmt: skip
def test_what_cannot_be_read(usage: Any) -> None:
    """Anything else gives None and never raises (P13)."""
    assert reported_input_tokens(usage) is None


def test_a_number_is_the_figure() -> None:
    """A whole number is taken as it is, so callers may pass either (P13)."""
    assert reported_input_tokens(1_234) == 1_234
