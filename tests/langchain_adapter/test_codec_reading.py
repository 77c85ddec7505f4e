from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_tiered import LangChainCodec
from tests.langchain_adapter.messages import messages, picture_blocks
from tiered_core import Call, TranscriptError, get_token_counter

codec = LangChainCodec()


@pytest.mark.parametrize(
    ("message", "role"),
    [
        (HumanMessage("a"), "user"), (AIMessage("a"), "assistant"), (AIMessageChunk("a"), "assistant"),
        (SystemMessage("a"), "system"), (ToolMessage("a", tool_call_id="1"), "tool"),
        (FunctionMessage("a", name="f"), "tool"), (ChatMessage("a", role="developer"), "system"),
        (ChatMessage("a", role="assistant"), "assistant"), (ChatMessage("a", role="critic"), "user"),
    ],
)  # fmt: skip
def test_role(message: BaseMessage, role: str) -> None:
    """Every class of message has its role."""
    assert codec.read(message).role == role


@pytest.mark.parametrize("odd", [RemoveMessage(id="1"), {"role": "user", "content": "a"}, "a", None, 3])
def test_what_is_no_message_is_refused(odd: Any) -> None:
    """What is no message of a conversation raises an error that says what was expected."""
    with pytest.raises(TranscriptError, match="expected a LangChain message"):
        codec.read(odd)


def test_text_blocks() -> None:
    """String content is one text, list content has a text per text block, and a message without text has none."""
    assert codec.read(HumanMessage("a\nb")).texts == ("a\nb",)
    blocks = ["a", {"type": "text", "text": "b"}, {"type": "input_text", "text": "c"}, {"text": "d"}]
    assert codec.read(HumanMessage(blocks)).texts == ("a", "b", "c", "d")
    assert codec.read(AIMessage("")).texts == ()


CALL = {"name": "f", "args": {"a": 1}, "id": "c1"}
RAW = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
USE = {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("", tool_calls=[CALL]),
        AIMessage([USE]),
        AIMessage([USE], tool_calls=[CALL]),
        AIMessage([{"type": "function_call", "call_id": "c1", "id": "fc_9", "name": "f", "arguments": '{"a": 1}'}]),
        AIMessage([{"type": "tool_call", **CALL}], tool_calls=[CALL]),
        AIMessage("", additional_kwargs={"tool_calls": [RAW]}),
        AIMessage.model_construct(content="", additional_kwargs={"tool_calls": [RAW]}),
        AIMessage([USE], tool_calls=[CALL], additional_kwargs={"tool_calls": [RAW]}),
        AIMessageChunk("", tool_call_chunks=[{"name": "f", "args": '{"a": 1}', "id": "c1", "index": 0}]),
    ],
)
def test_a_call_counts_once(message: AIMessage) -> None:
    """A call is one call, in whatever places of a message it stands."""
    assert codec.read(message).calls == (Call("c1", "f", '{"a": 1}'),)


def test_calls_in_order() -> None:
    """Valid calls come first, then invalid ones, then those that only the content or the kwargs hold."""
    invalid = {"name": "g", "args": '{"a', "id": "c2", "error": None}
    message = AIMessage([{**USE, "id": "c3"}], tool_calls=[CALL], invalid_tool_calls=[invalid])
    message.additional_kwargs["tool_calls"] = [{**RAW, "id": "c4"}]
    assert [c.id for c in codec.read(message).calls] == ["c1", "c2", "c3", "c4"]


def test_equal_calls_stay_two() -> None:
    """Two calls with one id are two, also when the content mirrors them."""
    assert len(codec.read(AIMessage([USE, USE], tool_calls=[CALL, CALL])).calls) == 2


def test_old_function_call() -> None:
    """OpenAI's `function_call` is a call whose id is its name, as a `FunctionMessage` answers it."""
    message = AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}})
    assert codec.read(message).calls == (Call("f", "f", "{}"),)
    assert codec.read(FunctionMessage("1", name="f")).answers == ("f",)


def test_answers() -> None:
    """A tool message answers its call; a human message made of tool results is a tool message of Anthropic's form."""
    assert codec.read(ToolMessage("1", tool_call_id="c1")).answers == ("c1",)
    result = HumanMessage([{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "1"}]}])
    reading = codec.read(result)
    assert (reading.role, reading.answers, reading.texts) == ("tool", ("c1",), ("1",))


@pytest.mark.parametrize(
    ("block", "signed"),
    [
        ({"type": "thinking", "thinking": "t", "signature": "s"}, True),
        ({"type": "thinking", "thinking": "t"}, False),
        ({"type": "redacted_thinking", "data": "x"}, True),
        ({"type": "reasoning", "reasoning": "t"}, False),
        ({"type": "reasoning", "reasoning": "t", "extras": {"signature": "s"}}, True),
        ({"type": "reasoning", "id": "rs_1", "summary": []}, True),
        ({"type": "reasoning", "summary": [], "encrypted_content": "x"}, True),
        ({"type": "reasoning_content", "reasoning_content": {"text": "t", "signature": "s"}}, True),
    ],
)
def test_reasoning(block: dict[str, Any], signed: bool) -> None:
    """Reasoning is no text; it is signed when it carries a signature or encrypted content."""
    reading = codec.read(AIMessage([block, {"type": "text", "text": "a"}]))
    assert (len(reading.reasoning), reading.signed, reading.texts) == (1, signed, ("a",))


def test_reasoning_beside_the_content() -> None:
    """Reasoning in `additional_kwargs` counts, but not twice."""
    kwargs = {"reasoning_content": 'I "think"'}
    assert codec.read(AIMessage("a", additional_kwargs=kwargs)).reasoning == ('I "think"',)
    both = AIMessage([{"type": "thinking", "thinking": 'I "think"'}], additional_kwargs=kwargs)
    assert len(codec.read(both).reasoning) == 1


def test_signature_of_a_call() -> None:
    """Google signs calls instead of reasoning."""
    kwargs = {"__gemini_function_call_thought_signatures__": {"c1": "s"}}
    assert codec.read(AIMessage("", tool_calls=[CALL], additional_kwargs=kwargs)).signed


@pytest.mark.parametrize("shape", picture_blocks())
def test_one_picture_in_every_shape(shape: str) -> None:
    """A picture gives the same numbers, and so the same price, in every shape, in a result as in a question."""
    counter = get_token_counter("approximate")
    seen = []
    for carrier in (HumanMessage, lambda c: ToolMessage(c, tool_call_id="1")):
        media = codec.read(carrier([picture_blocks()[shape]])).media
        assert [(m.kind, m.width, m.height, m.size) for m in media] == [("image", 1, 1, 70)]
        seen.append(counter.count_image(media[0]))
    assert set(seen) == {255}


def test_picture_inside_of_a_result_block() -> None:
    """A picture nested in a tool result block is found."""
    inner = [{"type": "text", "text": "a"}, picture_blocks()["anthropic"]]
    reading = codec.read(ToolMessage([{"type": "tool_result", "tool_use_id": "1", "content": inner}], tool_call_id="1"))
    assert (reading.texts, len(reading.media)) == (("a",), 1)


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ({"type": "audio", "base64": "AAAA", "mime_type": "audio/wav"}, "audio"),
        ({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}, "audio"),
        ({"type": "video", "url": "https://example.com/a.mp4"}, "video"),
        ({"type": "file", "file_id": "f1"}, "file"),
        ({"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA"}}, "file"),
        ({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}}, "file"),
        ({"type": "media", "mime_type": "video/mp4", "data": b"123"}, "video"),
        ({"image": {"format": "png", "source": {"bytes": b"123"}}}, "image"),
        ({"type": "image", "file_id": "f1"}, "image"),
    ],
)
def test_other_media(block: dict[str, Any], kind: str) -> None:
    """Recordings, videos and files are found in all their shapes, never counted as text."""
    reading = codec.read(HumanMessage([block]))
    assert ([m.kind for m in reading.media], reading.texts, reading.extra) == ([kind], (), ())


def test_document_text_is_text() -> None:
    """A document that holds text is text."""
    source = {"type": "text", "media_type": "text/plain", "data": "a"}
    blocks = [{"type": "document", "source": source}, {"type": "text-plain", "mime_type": "text/plain", "text": "b"}]
    assert codec.read(HumanMessage(blocks)).texts == ("a", "b")


@pytest.mark.parametrize("content", [None, [1, None, [2], {"x": {"y": [None]}}], {"a": 1}, [{"type": 3}], [{1: 2}]])
def test_odd_content(content: Any) -> None:
    """Content that no validator would let pass is read as unknown, not refused."""
    reading = codec.read(AIMessage.model_construct(content=content, additional_kwargs={}))
    assert reading.texts == ()
    assert bool(reading.extra) == (content is not None)


@given(messages)
def test_reading_changes_nothing(message: BaseMessage) -> None:
    """Reading gives the same each time and leaves the message as it was."""
    before = repr(message)
    first = codec.read(message)
    assert codec.read(message) == first
    assert repr(message) == before
    assert len(first.digest()) == len(codec.read(codec.copy(message)).digest())
