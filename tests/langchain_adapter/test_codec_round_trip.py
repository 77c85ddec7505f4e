from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_tiered import LangChainCodec
from tests.langchain_adapter.messages import messages
from tiered_core import TranscriptError

codec = LangChainCodec()


def mutable_parts(value: Any) -> set[int]:
    """The identities of all lists and dicts in a value."""
    if isinstance(value, BaseMessage):
        own = [v for k, v in value.__dict__.items() if k != "artifact"]
        return set().union(*map(mutable_parts, [*own, *(value.__pydantic_extra__ or {}).values()]))
    if isinstance(value, dict):
        return {id(value)}.union(*map(mutable_parts, value.values()))
    if isinstance(value, list):
        return {id(value)}.union(*map(mutable_parts, value))
    return set()


@given(messages)
def test_dump_and_load(message: BaseMessage) -> None:
    """A dumped message comes back equal, of the same class, with everything that it held."""
    text = codec.dump(message)
    back = codec.load(text)
    assert type(back) is type(message)
    assert back == message
    assert back.__dict__ == message.__dict__
    assert text.isascii()
    assert codec.read(back) == codec.read(message)


@given(messages)
def test_copy(message: BaseMessage) -> None:
    """A copy is equal and shares no list and no dict with the original."""
    copied = codec.copy(message)
    assert copied == message
    assert type(copied) is type(message)
    assert not mutable_parts(copied) & mutable_parts(message)


def test_artifact_is_the_same_object() -> None:
    """The artifact, which never reaches the model, is not copied."""
    artifact = object()
    message = ToolMessage("a", tool_call_id="1", artifact=artifact)
    assert codec.copy(message).artifact is artifact


def test_artifact_that_json_cant_hold() -> None:
    """An artifact that JSON can't hold is left out, and the message is stored all the same."""
    loop: list[Any] = []
    loop.append(loop)
    for artifact in (object(), {"frame": object()}, loop, {1, 2}):
        message = ToolMessage("a", tool_call_id="1", artifact=artifact, status="error", id="i")
        back = codec.load(codec.dump(message))
        assert back == ToolMessage("a", tool_call_id="1", status="error", id="i")


def test_artifact_of_python_values() -> None:
    """Tuples, bytes and keys that are no strings come back as they were."""
    artifact = {1: (1, "a", b"\xff"), "k": [None, (2,)], (1, 2): "t", "__tiered__": "mine"}
    assert codec.load(codec.dump(ToolMessage("a", tool_call_id="1", artifact=artifact))).artifact == artifact


def test_metadata_that_json_cant_hold() -> None:
    """An odd value in metadata is lost on its own."""
    message = AIMessage("a", response_metadata={"at": datetime(2026, 1, 1, tzinfo=UTC), "model": "m"})
    assert codec.load(codec.dump(message)).response_metadata == {"at": None, "model": "m"}
    parsed = AIMessage("a", additional_kwargs={"parsed": object(), "n": 1})
    assert codec.load(codec.dump(parsed)).additional_kwargs == {"parsed": None, "n": 1}


def test_content_that_json_cant_hold() -> None:
    """What reaches the model is never lost in silence."""
    with pytest.raises(TranscriptError, match=r"content of HumanMessage .* JSON: it holds a builtins\.object"):
        codec.dump(HumanMessage([{"type": "text", "text": "a", "x": object()}]))
    with pytest.raises(TranscriptError, match="tool_calls of AIMessage"):
        codec.dump(AIMessage("", tool_calls=[{"name": "f", "args": {"at": object()}, "id": "1"}]))


class MyMessage(HumanMessage):
    """A class of the caller's own."""

    mood: str = "good"


def test_own_class() -> None:
    """A class of the caller's own comes back where it is loaded, and as its base of the host where it isn't."""
    message = MyMessage("a", mood="bad", colour="red")
    back = codec.load(codec.dump(message))
    assert back == message
    assert back.__pydantic_extra__ == {"colour": "red"}
    text = codec.dump(message).replace("MyMessage", "Unknown")
    assert type(codec.load(text)) is HumanMessage


def test_other_process() -> None:
    """A message is read by another process; the text names no module to import."""
    text = codec.dump(AIMessage("a", id="1", usage_metadata={"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}))
    script = (
        "import sys; from langchain_tiered import LangChainCodec\n"
        "print(LangChainCodec().load(sys.argv[1]).model_dump_json())"
    )
    done = subprocess.run([sys.executable, "-c", script, text], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["usage_metadata"]["total_tokens"] == 2


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"v":1}', '{"v":1,"class":"x:Y","base":"Nope","fields":{}}'])
def test_what_is_no_message(text: str) -> None:
    """A text that is no message raises an error of ours."""
    with pytest.raises(TranscriptError, match="can't be read"):
        codec.load(text)


def test_newer_version() -> None:
    """A message of a newer version is refused by name."""
    with pytest.raises(TranscriptError, match="version 9"):
        codec.load('{"v":9}')
