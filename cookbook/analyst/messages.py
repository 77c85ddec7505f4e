"""Messages and prompts without a framework, and how many tokens they are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from llama_index.core.utils import get_tokenizer

from tiered_core.testing.oracle import Line

Role = Literal["system", "user", "assistant", "tool"]

# OpenAI's framing: 3 tokens and the role per message, 3 for the opening of the reply.
_PER_MESSAGE = 4
REPLY = 3


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as a model writes it; the arguments are JSON text."""

    id: str
    name: str
    arguments: str

    def parsed(self) -> dict[str, Any]:
        """The arguments by name."""
        return json.loads(self.arguments)


@dataclass(frozen=True, slots=True)
class Message:
    """One message.

    Attributes:
        role: who speaks.
        text: what.
        calls: the tools that it calls.
        answers: the id of the call of which it is the result.
    """

    role: Role
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    answers: str | None = None

    @property
    def line(self) -> Line:
        """As the oracle of the engine's own tests wants it."""
        answers = (self.answers,) if self.role == "tool" else ()
        return Line(self.role, self.text, tuple(call.id for call in self.calls), answers)


@lru_cache(maxsize=1)
def _vocabulary() -> Any:
    # tiktoken's cl100k_base from the copy that LlamaIndex carries: no download, and none of the code under test.
    return get_tokenizer("gpt-3.5-turbo")


@lru_cache(maxsize=20_000)
def text_tokens(text: str) -> int:
    """Tokens of a text."""
    return len(_vocabulary()(text))


def message_tokens(message: Message) -> int:
    """Tokens of a message with its framing and its calls."""
    calls = (
        {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}} for c in message.calls
    )
    texts = (message.text, *map(compact, calls))
    return _PER_MESSAGE + sum(map(text_tokens, texts))


def tokens(messages: Iterable[Message]) -> int:
    """Tokens of messages."""
    return sum(map(message_tokens, messages))


def tool_tokens(tools: Sequence[Mapping[str, Any]]) -> int:
    """Tokens of tool definitions."""
    return sum(text_tokens(compact(tool)) for tool in tools)


def compact(value: Any) -> str:
    """JSON without white space."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
