"""What is compared: ways to get from a conversation to what a model sees. Those on a host have modules of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

from tests.benchmarks.corpora import Conversation, Message
from tests.benchmarks.tokens import message_tokens
from tiered_core import TieredContext, fit, get_token_counter

FIT = "tiered `fit()`"
LAST_N = "last-N messages, exact count"
SESSION = "tiered `TieredContext`, message by message"


@dataclass(frozen=True, slots=True)
class Seen:
    """What a method gave: messages as OpenAI-style dicts, or what it raised."""

    messages: list[Message] | None
    error: str = ""


class Viewer(Protocol):
    """A way to make views."""

    name: str

    def views(self, talk: Conversation, budget: int, prefixes: Sequence[int]) -> Iterator[Seen]:
        """The view of each prefix, in ascending order of their lengths."""


class Method(Viewer, Protocol):
    """One that can also be asked something."""

    def asked(self, talk: Conversation, budget: int, questions: Sequence[str]) -> Iterator[Seen]:
        """For each question the view of the whole conversation with the question as the current user message."""


def user(text: str) -> Message:
    """A user message."""
    return {"role": "user", "content": text}


def attempt(make: Callable[[], Sequence[Any]], to_neutral: Callable[[Any], Message] | None = None) -> Seen:
    """What a call gives; an error is a result, too."""
    try:
        made = make()
    except Exception as error:  # noqa: BLE001 - what a method raises is one of the figures
        return Seen(None, f"{type(error).__name__}: {str(error).splitlines()[0][:120] if str(error) else ''}")
    return Seen([to_neutral(m) if to_neutral else m for m in made])


class Stateless:
    """A function from messages and budget to messages, called anew for every view."""

    def __init__(
        self,
        name: str,
        function: Callable[[list[Any], int], Sequence[Any]],
        host: str = "",
        convert: Callable[[Message], Any] | None = None,
        to_neutral: Callable[[Any], Message] | None = None,
    ) -> None:
        self.name = name
        self._function, self._host = function, host
        self._convert, self._to_neutral = convert, to_neutral

    def _messages(self, talk: Conversation) -> list[Any]:
        return talk.form(self._host, self._convert) if self._convert else talk.messages

    def views(self, talk: Conversation, budget: int, prefixes: Sequence[int]) -> Iterator[Seen]:
        messages = self._messages(talk)
        for length in prefixes:
            yield self._seen(messages[:length], budget)

    def asked(self, talk: Conversation, budget: int, questions: Sequence[str]) -> Iterator[Seen]:
        messages = self._messages(talk)
        for question in questions:
            last = self._convert(user(question)) if self._convert else user(question)
            yield self._seen([*messages, last], budget)

    def _seen(self, messages: list[Any], budget: int) -> Seen:
        return attempt(lambda: self._function(messages, budget), self._to_neutral)


class Session:
    """`TieredContext`: every message is added on its own, as a chat does it."""

    name = SESSION

    def views(self, talk: Conversation, budget: int, prefixes: Sequence[int]) -> Iterator[Seen]:
        context, done = self._open(budget), 0
        for length in prefixes:
            for message in talk.messages[done:length]:
                context.add([message])
            done = length
            yield attempt(context.view)

    def asked(self, talk: Conversation, budget: int, questions: Sequence[str]) -> Iterator[Seen]:
        """The conversation is kept once; each question is put to a context that is restored from it, byte for byte."""
        kept = self._open(budget)
        for message in talk.messages:
            kept.add([message])
        exported = kept.export()
        for question in questions:
            context = self._open(budget)
            context.restore(exported, talk.messages)
            context.add([user(question)])
            yield attempt(context.view)

    @staticmethod
    def _open(budget: int) -> TieredContext:
        return TieredContext(budget, token_counter=get_token_counter("cl100k_base"))


def last_n(messages: list[Message], budget: int) -> list[Message]:
    """The system message and as many of the newest messages as fit."""
    head = [m for m in messages[:1] if m["role"] == "system"]
    room, kept = budget - sum(map(message_tokens, head)), len(messages)
    while kept > len(head) and message_tokens(messages[kept - 1]) <= room:
        kept -= 1
        room -= message_tokens(messages[kept])
    return head + messages[kept:]


def ours() -> list[Method]:
    """The code under test: stateless, and as a session."""
    counter = get_token_counter("cl100k_base")
    return [Stateless(FIT, lambda messages, budget: fit(messages, budget, token_counter=counter).messages), Session()]


def adapters() -> list[Viewer]:
    """The code under test through the adapters of the hosts that are installed."""
    out: list[Viewer] = []
    if find_spec("langchain_core"):
        from tests.benchmarks.langchain_methods import adapter

        out.append(adapter())
    if find_spec("llama_index"):
        from tests.benchmarks.llama_methods import TieredBuffer

        out.append(TieredBuffer())
    return out


def baselines() -> list[Method]:
    """Last-N and what the two hosts bring, as far as they are installed."""
    methods: list[Method] = [Stateless(LAST_N, last_n)]
    if find_spec("langchain_core"):
        from tests.benchmarks.langchain_methods import trimmers

        methods += trimmers()
    if find_spec("llama_index"):
        from tests.benchmarks.llama_methods import memories

        methods += memories()
    return methods
