"""What one call of a chain said: the messages that came in, and the messages that came out, streamed or whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    BaseMessageChunk,
    HumanMessage,
    convert_to_messages,
    message_chunk_to_message,
)
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables.utils import AddableDict

from langchain_tiered.codec import LangChainCodec
from langchain_tiered.copying import copy_message
from tiered_core import TranscriptError

PARTIAL = "tiered_partial"
"""`additional_kwargs` key that marks the answer of a stream that nobody read to its end."""


def input_messages(value: Any, key: str | None) -> list[BaseMessage]:
    """The messages of an input: a string, a message, a list of messages, or a dict that holds one of these.

    Raises:
        ValueError: it is none of these.
        KeyError: the dict has no such key.
    """
    if isinstance(value, Mapping):
        value = value[_key(value, key, "input")]
    if isinstance(value, PromptValue):
        return value.to_messages()
    if isinstance(value, str):
        return [HumanMessage(content=value)]
    if isinstance(value, BaseMessage):
        return [value]
    if isinstance(value, list | tuple):
        if value and isinstance(value[0], list):  # a chat model's batch of one
            if len(value) != 1:
                raise ValueError(f"Expected a single list of messages. Got {value}.")
            value = value[0]
        return convert_to_messages(value)
    raise ValueError(f"Expected str, BaseMessage, list[BaseMessage], or tuple[BaseMessage]. Got {value}.")


def output_messages(value: Any, key: str | None) -> list[BaseMessage]:
    """The messages of an output, none of them a chunk: a string, a message, a list, or a dict that holds one of these.

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(value, Mapping):
        name = _key(value, key, "output")
        if name not in value:
            raise ValueError(
                f"The output has no key {name!r}, only {sorted(map(str, value))}: "
                "name the one that holds the answer with output_messages_key."
            )
        value = value[name]
    if isinstance(value, str):
        return [AIMessage(content=value)]
    if isinstance(value, BaseMessage):
        return [message_chunk_to_message(value)]
    if isinstance(value, list | tuple):
        return [message_chunk_to_message(m) for m in convert_to_messages(value)]
    raise ValueError(f"Expected str, BaseMessage, list[BaseMessage], or tuple[BaseMessage]. Got {value}.")


def _key(value: Mapping[str, Any], key: str | None, usual: str) -> str:
    if key:
        return key
    return next(iter(value)) if len(value) == 1 else usual


def question_of(messages: Sequence[BaseMessage]) -> str | None:
    """The text of the last thing the user said."""
    last = next((m for m in reversed(messages) if isinstance(m, HumanMessage)), None)
    return (str(last.text) or None) if last is not None else None


def said(
    shown: Sequence[BaseMessage], asked: Sequence[BaseMessage], output: Sequence[BaseMessage]
) -> list[BaseMessage]:
    """What has to be stored: the input, and what is new of the output, which may repeat what it was given.

    Args:
        shown: the view that the chain got before the input.
        asked: the input.
        output: what came out.
    """
    for lead in (len(shown), 0):
        given = [*shown[len(shown) - lead :], *asked]
        if given and len(output) >= len(given) and all(map(_equal, given, output)):
            return list(output[lead:])
    return [*asked, *output]


def _equal(one: BaseMessage, other: BaseMessage) -> bool:
    """Whether two messages say the same; ids, which agents give to what they get, don't count."""
    codec = LangChainCodec()
    try:
        return codec.read(one).digest() == codec.read(other).digest()
    except TranscriptError:
        return False


def partial(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Copies with the mark of a partial answer on the model's last message; an empty one if it has said nothing."""
    out = [copy_message(m) for m in messages]
    if not any(isinstance(m, AIMessage) for m in out):
        out.append(AIMessage(content=""))
    last = next(m for m in reversed(out) if isinstance(m, AIMessage))
    last.additional_kwargs[PARTIAL] = True
    return out


def joined(chunks: Sequence[Any]) -> Any:
    """One value from its chunks; the last one where they can't be added up."""
    if len(chunks) == 1:
        return chunks[0]
    if all(isinstance(c, str) for c in chunks):
        return "".join(chunks)
    if all(isinstance(c, AIMessageChunk) for c in chunks):
        return chunks[0] + list(chunks[1:])
    if any(all(isinstance(c, kind) for c in chunks) for kind in (BaseMessageChunk, AddableDict)):
        return reduce(add, chunks)
    if all(isinstance(c, BaseMessage) for c in chunks):
        return list(chunks)
    if all(isinstance(c, list) for c in chunks):
        return [m for c in chunks for m in c]
    return chunks[-1]


def streamed(chunks: Sequence[Any], key: str | None) -> Any:
    """The output of which these are the chunks. Of the states of a graph the last one holds all."""
    if all(_is_update(c, key) for c in chunks):
        return _from_updates(chunks, key)
    return joined(chunks)


def _is_update(chunk: Any, key: str | None) -> bool:
    """Whether it is what a LangGraph agent streams by default: by node, what the node has added to the state."""
    if type(chunk) is not dict or not chunk or key in chunk:
        return False
    return all(value is None or isinstance(value, Mapping | tuple) for value in chunk.values())


def _from_updates(chunks: Sequence[Mapping[str, Any]], key: str | None) -> dict[str, Any]:
    name = key or "messages"
    out: list[BaseMessage] = []
    for update in (u for chunk in chunks for u in chunk.values() if isinstance(u, Mapping)):
        value = update.get(name)
        out += output_messages(value, None) if value else []
    return {name: out}
