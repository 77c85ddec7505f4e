from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_tiered import LangChainCodec
from tests.langchain_adapter.messages import messages, picture_blocks
from tiered_core import Call, Change

codec = LangChainCodec()


def test_system_text_stays_first() -> None:
    """Text appended to a system message stands behind a blank line; the user's text is the beginning."""
    out = codec.write(SystemMessage("You help. "), Change(appended=("Block",)))
    assert out.content == "You help. \n\nBlock"
    blocks = [{"type": "text", "text": "You help.", "cache_control": {"type": "ephemeral"}}]
    assert codec.write(SystemMessage(blocks), Change(appended=("Block",))).content == [
        *blocks, {"type": "text", "text": "Block"}
    ]  # fmt: skip


def test_prepended_text() -> None:
    """Prepended text stands before the first block, but behind reasoning."""
    assert codec.write(HumanMessage("a"), Change(prepended=("p",))).content == "p\n\na"
    thought = {"type": "thinking", "thinking": "t", "signature": "s"}
    out = codec.write(AIMessage([thought, {"type": "text", "text": "a"}]), Change(prepended=("p",)))
    assert out.content == [thought, {"type": "text", "text": "p"}, {"type": "text", "text": "a"}]


def test_texts_are_exchanged() -> None:
    """Each text block gets its new text; an empty one is taken out; all other blocks stay."""
    image = picture_blocks()["openai"]
    message = HumanMessage(["a", image, {"type": "text", "text": "b"}], id="1")
    assert codec.write(message, Change(texts=("x", "y"))).content == ["x", image, {"type": "text", "text": "y"}]
    assert codec.write(message, Change(texts=("", "y"))).content == [image, {"type": "text", "text": "y"}]


def test_text_for_a_message_without() -> None:
    """A message without text gets one: as its content, or as a block behind the reasoning."""
    assert codec.write(AIMessage(""), Change(texts=("x",))).content == "x"
    thought = {"type": "thinking", "thinking": "t", "signature": "s"}
    use = {"type": "tool_use", "id": "1", "name": "f", "input": {}}
    out = codec.write(AIMessage([thought, use]), Change(texts=("x",)))
    assert out.content == [thought, {"type": "text", "text": "x"}, use]


def test_nested_text() -> None:
    """Text inside of a tool result block is exchanged where it stands."""
    block = {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "long"}]}
    out = codec.write(ToolMessage([block], tool_call_id="1"), Change(texts=("short",)))
    assert out.content == [{**block, "content": [{"type": "text", "text": "short"}]}]
    assert codec.write(HumanMessage([{**block, "content": "long"}]), Change(texts=("",))).content[0]["content"] == ""


def test_without_media() -> None:
    """Pictures and files are taken out, nested ones too, and nothing else."""
    image = picture_blocks()["anthropic"]
    inner = {"type": "tool_result", "tool_use_id": "1", "content": [image, {"type": "text", "text": "a"}]}
    out = codec.write(ToolMessage(["t", image, inner], tool_call_id="1"), Change(without_media=True))
    assert out.content == ["t", {**inner, "content": [{"type": "text", "text": "a"}]}]


def test_arguments_change_everywhere() -> None:
    """New arguments stand in `tool_calls`, in the content block and in the provider's raw calls alike."""
    raw = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    message = AIMessage(
        [{"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}],
        tool_calls=[{"name": "f", "args": {"a": 1}, "id": "c1"}],
        invalid_tool_calls=[{"name": "g", "args": "{bad", "id": "c2", "error": None}],
        additional_kwargs={"tool_calls": [raw]},
    )
    out = codec.write(message, Change(arguments=('{"b":2}', "{}")))
    assert out.tool_calls[0]["args"] == out.content[0]["input"] == {"b": 2}
    assert json.loads(out.additional_kwargs["tool_calls"][0]["function"]["arguments"]) == {"b": 2}
    assert out.invalid_tool_calls[0]["args"] == "{}"
    assert message.tool_calls[0]["args"] == {"a": 1}


def test_arguments_of_chunks() -> None:
    """The pieces from which a chunk makes its calls change as well."""
    chunk = AIMessageChunk("", tool_call_chunks=[{"name": "f", "args": '{"a": 1}', "id": "c1", "index": 0}])
    out = codec.write(chunk, Change(arguments=('{"b":2}',)))
    assert (out.tool_calls[0]["args"], out.tool_call_chunks[0]["args"]) == ({"b": 2}, '{"b":2}')


def test_arguments_that_are_no_object() -> None:
    """Arguments that are no JSON object are wrapped into one where the host wants a mapping."""
    out = codec.write(AIMessage("", tool_calls=[{"name": "f", "args": {"a": 1}, "id": "1"}]), Change(arguments=("[1",)))
    assert out.tool_calls[0]["args"] == {"arguments": "[1"}


@given(messages)
def test_an_empty_change_is_a_copy(message: BaseMessage) -> None:
    """Writing nothing gives an equal message."""
    assert codec.write(message, Change()) == message


@given(messages)
def test_own_texts_and_arguments_change_nothing(message: BaseMessage) -> None:
    """Writing what was read gives an equal message, but that empty text blocks stay."""
    reading = codec.read(message)
    arguments = tuple(c.arguments for c in reading.calls)
    assert codec.write(message, Change(texts=reading.texts, arguments=arguments)) == message


@given(messages, st.data())
def test_what_is_written_is_read(message: BaseMessage, data: st.DataObject) -> None:
    """New texts and arguments are read back; all else is as it was, and so is the original."""
    before, reading = repr(message), codec.read(message)
    new = tuple(data.draw(st.text("xyz", min_size=1, max_size=5)) for _ in reading.texts)
    arguments = tuple(json.dumps({"n": k}) for k in range(len(reading.calls)))
    after = codec.read(codec.write(message, Change(texts=new or None, arguments=arguments)))
    assert after.texts == new
    assert [json.loads(c.arguments) for c in after.calls] == [{"n": k} for k in range(len(arguments))]
    assert (after.reasoning, after.media, after.extra) == (reading.reasoning, reading.media, reading.extra)
    assert (after.id, after.name, after.answers, after.signed) == (
        reading.id, reading.name, reading.answers, reading.signed
    )  # fmt: skip
    assert repr(message) == before


@given(messages)
def test_media_go(message: BaseMessage) -> None:
    """Without media there is none; texts stay."""
    reading = codec.read(message)
    after = codec.read(codec.write(message, Change(without_media=True)))
    assert (after.media, [t for t in after.texts if t]) == ((), [t for t in reading.texts if t])


@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_messages_of_ours(role: Any) -> None:
    """A message of ours has its role and text, and the host's mark for what no person typed."""
    message = codec.compose(role, "text")
    assert (codec.read(message).role, message.content) == (role, "text")
    assert message.additional_kwargs["lc_source"] == "tiered_context"


def test_answer_of_ours() -> None:
    """An answer of ours answers its call."""
    assert codec.read(codec.answer(Call("c1", "f", "{}"), "none")).answers == ("c1",)
    assert codec.answer(Call(None, "", ""), "none").tool_call_id == ""
