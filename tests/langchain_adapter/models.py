"""Chat models with scripted replies that remember what reached them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from pydantic import PrivateAttr


class ScriptedModel(GenericFakeChatModel):
    """Gives its replies one after the other; an exception among them is raised. Streams word by word."""

    _seen: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _tools: list[Any] = PrivateAttr(default_factory=list)

    @property
    def seen(self) -> list[list[BaseMessage]]:
        """The requests, oldest first."""
        return self._seen

    @property
    def tools(self) -> list[Any]:
        """The tools that were bound last."""
        return self._tools

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        self._tools = list(tools)
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self._seen.append(list(messages))
        return super()._generate(messages, *args, **kwargs)

    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        self._seen.append(list(messages))
        reply = next(self.messages)
        if isinstance(reply, Exception):
            raise reply
        for part in str(reply if isinstance(reply, str) else reply.content).split("|"):
            if part == "BREAK":
                raise ConnectionError("the line is dead")
            yield ChatGenerationChunk(message=AIMessageChunk(content=part))

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages, *args, **kwargs):
            yield chunk


def replies(*said: Any) -> ScriptedModel:
    """A model with these replies."""

    def script() -> Iterator[Any]:
        for reply in said:
            if isinstance(reply, Exception):
                raise reply
            yield AIMessage(reply) if isinstance(reply, str) else reply

    return ScriptedModel(messages=script())


def echo(count: int = 1_000) -> ScriptedModel:
    """A model that answers "answer 0", "answer 1", and so on."""
    return replies(*(f"answer {n}" for n in range(count)))


def size(thing: Any) -> int:
    """An oracle: one token per four characters of all that a model would get of a message or a text, at least one."""
    if isinstance(thing, str):
        return -(-len(thing) // 4)
    text = thing.content if isinstance(thing.content, str) else json.dumps(thing.content)
    return 1 + -(-len(text + json.dumps(getattr(thing, "tool_calls", []))) // 4)


def said(messages: list[BaseMessage]) -> list[str]:
    """The texts, each with the first letter of its role."""
    return [f"{m.type[0]}:{m.text}" for m in messages]


class PlainHistory(InMemoryChatMessageHistory):
    """The host's own history in memory; a subclass, because the class itself warns when it is built."""
