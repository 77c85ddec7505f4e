"""`LlamaIndexCodec`: what it reads, how it alters copies, and that dump and load are exact."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.base.llms.types import (
    AudioBlock,
    BaseContentBlock,
    CacheControl,
    CachePoint,
    ChatMessage,
    CitableBlock,
    CitationBlock,
    DocumentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    VideoBlock,
)
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.schema import ImageDocument
from pydantic import BaseModel

from llama_tiered import LlamaIndexCodec
from tests.llama_adapter.scripted import assistant, call, result, user
from tiered_core import Call, Change, TranscriptError

CODEC = LlamaIndexCodec()
PNG = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
    + (640).to_bytes(4, "big")
    + (480).to_bytes(4, "big")
    + b"\x08\x06\0\0\0"
    + bytes(40)
)


class OddBlock(BaseContentBlock):
    """A kind of block this package doesn't know."""

    block_type: str = "odd"
    payload: dict[str, Any]


class Function(BaseModel):
    """As in OpenAI's client."""

    name: str
    arguments: str


class OpenAICall(BaseModel):
    """As in OpenAI's client."""

    id: str
    type: str = "function"
    function: Function


@dataclass
class GeminiCall:
    """As in Google's client: no pydantic."""

    name: str
    args: dict[str, Any]


class Opaque:
    """Something JSON can't hold."""

    def __init__(self) -> None:
        self.self = self


def everything() -> ChatMessage:
    """A message with a block of each kind."""
    message = ChatMessage(
        role="user",
        blocks=[
            ThinkingBlock(content="hm", num_tokens=3, additional_information={"signature": "c2ln", "n": [1]}),
            TextBlock(text="look {a} \ud800 ü"),
            ImageBlock(image=PNG, detail="low"),
            ImageBlock(url="https://example.org/a.png"),
            AudioBlock(audio=b"RIFF0000WAVE", format="wav"),
            VideoBlock(url="https://example.org/a.mp4", fps=2),
            DocumentBlock(data=b"%PDF-1.7 \xff", title="report", document_mimetype="application/pdf"),
            DocumentBlock(data=b"a,b\n1,2", title="table", document_mimetype="text/csv"),
            CitableBlock(title="t", source="s", content=[TextBlock(text="cited"), ImageBlock(image=PNG)]),
            CitationBlock(cited_content="q", source="s", title="t", additional_location_info={"page": 1}),
            CachePoint(cache_control=CacheControl(type="ephemeral")),
            ToolCallBlock(tool_call_id="c1", tool_name="f", tool_kwargs={"n": 1, "deep": {"x": [1.5, None, True]}}),
            ToolCallBlock(tool_call_id=None, tool_name="g", tool_kwargs='{"raw": "text"}'),
        ],
        additional_kwargs={"usage": {"total": 3}, "seen": (1, 2), "raw": b"\xff\0", "$": "dollar", "nan_free": 1.5},
    )
    message.blocks.append(OddBlock(payload={"k": ["v"]}))  # type: ignore[arg-type]
    return message


def test_reads_every_block() -> None:
    """Texts, calls, reasoning, media and unknown blocks are read; text documents and citable texts are texts."""
    reading = CODEC.read(everything())
    assert reading.role == "user"
    assert reading.id is None
    assert reading.texts == ("look {a} \ud800 ü", "a,b\n1,2", "cited")
    assert reading.calls == (
        Call("c1", "f", '{"n": 1, "deep": {"x": [1.5, null, true]}}'),
        Call(None, "g", '{"raw": "text"}'),
    )
    assert reading.reasoning == ("hm",)
    assert reading.signed
    assert [m.kind for m in reading.media] == ["image", "image", "audio", "video", "file", "image"]
    assert (reading.media[0].width, reading.media[0].height, reading.media[0].detail) == (640, 480, "low")
    assert (reading.media[1].width, reading.media[1].size) == (None, None)
    assert reading.media[0].digest == reading.media[5].digest
    assert reading.extra[0] == '["t", "s"]'
    assert "q" in reading.extra[1]
    assert "OddBlock" in reading.extra[2]


@pytest.mark.parametrize("role", list(MessageRole))
def test_roles(role: MessageRole) -> None:
    """Every role of LlamaIndex has its place."""
    expected = {"developer": "system", "function": "tool", "chatbot": "assistant", "model": "assistant"}
    reading = CODEC.read(ChatMessage(role=role, content="x"))
    assert reading.role == expected.get(role.value, role.value)
    assert reading.answers == ((None,) if reading.role == "tool" else ())


def test_not_a_message() -> None:
    """Anything but a ChatMessage is refused by the name of its type; so is a role nobody knows."""
    with pytest.raises(TranscriptError, match="ChatMessage, got dict"):
        CODEC.read({"role": "user"})
    odd = user("x")
    odd.role = "wizard"  # type: ignore[assignment]
    with pytest.raises(TranscriptError, match="unknown role 'wizard'"):
        CODEC.read(odd)


def test_no_content() -> None:
    """`content` may be None; such a message is blank, one with calls isn't."""
    assert CODEC.read(ChatMessage(role="assistant")).blank
    assert CODEC.read(ChatMessage(role="assistant")).texts == ()
    assert not CODEC.read(call("c1")).blank
    assert CODEC.read(ChatMessage(blocks=[CachePoint(cache_control=CacheControl(type="ephemeral"))])).blank


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (
            {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
            Call("1", "f", '{"a": 1}'),
        ),
        (OpenAICall(id="1", function=Function(name="f", arguments='{"a": 1}')), Call("1", "f", '{"a": 1}')),
        ({"id": "1", "name": "f", "input": {"a": 1}}, Call("1", "f", '{"a": 1}')),
        ({"name": "f", "args": {"a": 1}, "thought_signature": "x"}, Call(None, "f", '{"a": 1}')),
        (GeminiCall("f", {"a": 1}), Call(None, "f", '{"a": 1}')),
        (ToolSelection(tool_id="1", tool_name="f", tool_kwargs={"a": 1}), Call("1", "f", '{"a": 1}')),
        ({}, Call(None, "", "{}")),
    ],
)
def test_calls_of_older_integrations(item: Any, expected: Call) -> None:
    """Calls in `additional_kwargs["tool_calls"]` are read in every provider's shape, altered in place, and stored."""
    message = ChatMessage(role="assistant", additional_kwargs={"tool_calls": [item]})
    assert CODEC.read(message).calls == (expected,)
    assert CODEC.read(CODEC.load(CODEC.dump(message))).calls == (expected,)
    altered = CODEC.write(message, Change(arguments=('{"b":2}',)))
    if item:
        assert json.loads(CODEC.read(altered).calls[0].arguments) == {"b": 2}
    assert CODEC.read(message).calls == (expected,)


def test_legacy_function_call() -> None:
    """`additional_kwargs["function_call"]` is a call."""
    held = {"name": "f", "arguments": "{}"}
    message = ChatMessage(role="assistant", additional_kwargs={"function_call": held})
    assert CODEC.read(message).calls == (Call(None, "f", "{}"),)
    altered = CODEC.write(message, Change(arguments=('{"b":2}',)))
    assert altered.additional_kwargs["function_call"]["arguments"] == '{"b":2}'


@pytest.mark.parametrize("id", ["c1", None])
def test_mirrored_calls_count_once(id: str | None) -> None:
    """A call in a block and in `additional_kwargs` is one call, altered in both; an entry beside is none, and goes."""
    plain = {"id": id, "function": {"name": "f", "arguments": '{"a":1}'}}
    other = {"id": "c2", "function": {"name": "g", "arguments": "{}"}}
    message = ChatMessage(
        role="assistant", blocks=[ToolCallBlock(tool_call_id=id, tool_name="f", tool_kwargs={"a": 1})],
        additional_kwargs={"tool_calls": [plain, other]},
    )  # fmt: skip
    assert [c.name for c in CODEC.read(message).calls] == ["f"]
    altered = CODEC.write(message, Change(arguments=('{"b":2}',)))
    assert altered.blocks[0].tool_kwargs == {"b": 2}
    assert [c["function"]["arguments"] for c in altered.additional_kwargs["tool_calls"]] == ['{"b":2}']
    assert message.additional_kwargs["tool_calls"] == [plain, other]


def test_two_equal_calls_without_ids_are_two() -> None:
    """The same call twice, with blocks and mirrors and no ids, is two calls."""
    blocks = [ToolCallBlock(tool_name="f", tool_kwargs={}) for _ in range(2)]
    mirrors = [{"name": "f", "args": {}} for _ in range(2)]
    message = ChatMessage(role="assistant", blocks=blocks, additional_kwargs={"tool_calls": mirrors})
    assert len(CODEC.read(message).calls) == 2


def test_arguments_keep_their_kind() -> None:
    """Arguments held as a dict stay one, those held as text stay text; what is no JSON object is wrapped."""
    message = ChatMessage(
        role="assistant",
        blocks=[
            ToolCallBlock(tool_name="f", tool_kwargs={"a": 1}),
            ToolCallBlock(tool_name="g", tool_kwargs='{"a":1}'),
        ],
    )
    altered = CODEC.write(message, Change(arguments=("broken {", "broken {")))
    assert [b.tool_kwargs for b in altered.blocks] == [{"arguments": "broken {"}, "broken {"]


def test_answers() -> None:
    """A tool message answers the id in its `additional_kwargs`; an assistant message with one answers nothing."""
    assert CODEC.read(result("c7")).answers == ("c7",)
    assert CODEC.read(ChatMessage(role="tool", content="x", additional_kwargs={"tool_call_id": ""})).answers == (None,)
    direct = ChatMessage(role="assistant", content="x", additional_kwargs={"tool_call_id": "c7"})
    assert CODEC.read(direct).answers == ()


@pytest.mark.parametrize(
    ("information", "kwargs", "signed"),
    [
        ({}, {}, False),
        ({"id": "rs_1", "signature": ""}, {}, False),
        ({"signature": "x"}, {}, True),
        ({"thought_signature": b"\x01"}, {}, True),
        ({"encrypted_content": "x"}, {}, True),
        ({"data": "x", "type": "redacted_thinking"}, {}, True),
        ({}, {"thinking": {"thinking": "t", "signature": "x"}}, True),
        ({}, {"thought_signatures": [None, b"x"]}, True),
        ({}, {"thought_signatures": [None]}, False),
    ],
)
def test_signed_reasoning(information: dict[str, Any], kwargs: dict[str, Any], signed: bool) -> None:
    """Reasoning is signed where a provider's seal stands beside it, in a block or in `additional_kwargs`."""
    block = ThinkingBlock(content="t", additional_information=information)
    reading = CODEC.read(ChatMessage(role="assistant", blocks=[block], additional_kwargs=kwargs))
    assert reading.signed is signed
    assert "t" in reading.reasoning
    assert reading.texts == ()


def test_hidden_reasoning_is_counted() -> None:
    """Reasoning that a provider hides costs what it is encrypted to; an empty block is nothing."""
    hidden = ThinkingBlock(additional_information={"encrypted_content": "gAAA"})
    assert CODEC.read(ChatMessage(role="assistant", blocks=[hidden])).reasoning == ("gAAA",)
    assert CODEC.read(ChatMessage(role="assistant", blocks=[ThinkingBlock()])).blank


def test_write_texts() -> None:
    """Text blocks are replaced in order wherever they stand, "" removes one, all else stays as it was."""
    message = everything()
    altered = CODEC.write(message, Change(texts=("A", "B", "C")))
    assert CODEC.read(altered).texts == ("A", "B", "C")
    document = next(b for b in altered.blocks if isinstance(b, DocumentBlock) and b.title == "table")
    assert base64.b64decode(document.data) == b"B"  # type: ignore[arg-type]
    assert [type(b) for b in altered.blocks] == [type(b) for b in message.blocks]
    removed = CODEC.write(message, Change(texts=("", "", "")))
    assert CODEC.read(removed).texts == ()
    assert len(removed.blocks) == len(message.blocks) - 2
    assert removed.additional_kwargs == message.additional_kwargs
    assert message == everything()


def test_write_into_a_message_without_text() -> None:
    """A message without a text block gets the first new text, behind the reasoning that leads and before the calls."""
    message = ChatMessage(role="assistant", blocks=[ThinkingBlock(content="t"), *call("c").blocks])
    altered = CODEC.write(message, Change(texts=("new",), appended=("after",), prepended=("before",)))
    assert [b.block_type for b in altered.blocks] == ["thinking", "text", "text", "text", "tool_call"]
    assert altered.content == "before\nnew\nafter"
    assert CODEC.write(ChatMessage(role="user"), Change(appended=("x",))).content == "x"


def test_write_around_the_text() -> None:
    """Appended blocks stand behind the last text, prepended ones before the first; the text's own block stays."""
    altered = CODEC.write(user("mine"), Change(appended=("a", "b"), prepended=("p",)))
    assert [b.text for b in altered.blocks] == ["p", "mine", "a", "b"]
    point = CachePoint(cache_control=CacheControl(type="ephemeral"))
    cached = ChatMessage(role="system", blocks=[TextBlock(text="mine"), point])
    assert CODEC.write(cached, Change(appended=("a",))).blocks == [*cached.blocks, TextBlock(text="a")]


def test_write_without_media() -> None:
    """All pictures and files are taken out, those inside citable blocks as well; text documents stay."""
    altered = CODEC.write(everything(), Change(without_media=True))
    assert CODEC.read(altered).media == ()
    assert CODEC.read(altered).texts == CODEC.read(everything()).texts
    cited = ChatMessage(
        blocks=[
            CitableBlock(title="t", source="s", content=[ImageBlock(image=PNG)]),
            CitationBlock(cited_content=ImageBlock(image=PNG), source="s", title="t", additional_location_info={}),
        ]
    )
    assert len(CODEC.read(cited).media) == 2
    assert CODEC.write(cited, Change(without_media=True)).blocks == []


def test_gemini_signatures_follow_their_blocks() -> None:
    """Gemini's integration pairs signatures with blocks by index, so they move with the blocks."""
    message = ChatMessage(
        role="model", blocks=[TextBlock(text="a"), TextBlock(text="b"), *call("c").blocks],
        additional_kwargs={"thought_signatures": [b"1", None, b"3"]},
    )  # fmt: skip
    removed = CODEC.write(message, Change(texts=("", "b")))
    assert removed.additional_kwargs["thought_signatures"] == [None, b"3"]
    added = CODEC.write(message, Change(prepended=("p",)))
    assert added.additional_kwargs["thought_signatures"] == [None, b"1", None, b"3"]
    assert CODEC.write(message, Change(texts=("x", "y"))).additional_kwargs == message.additional_kwargs


def test_messages_of_ours() -> None:
    """`compose` and `answer` make messages as LlamaIndex makes them; an answer always has the key of its call."""
    assert CODEC.compose("system", "s") == ChatMessage(role="system", content="s")
    assert CODEC.compose("assistant", "a") == assistant("a")
    assert CODEC.answer(Call("c1", "f", "{}"), "none") == result("c1", "none")
    assert CODEC.answer(Call(None, "f", "{}"), "none").additional_kwargs == {"tool_call_id": ""}


def test_copy_is_equal_and_apart() -> None:
    """A copy is equal; editing anything in it leaves the message alone. What can't be copied is shared."""
    message = everything()
    message.additional_kwargs["lock"] = (lock := Opaque())
    copied = CODEC.copy(message)
    assert copied.blocks == message.blocks
    assert type(copied.additional_kwargs.pop("lock")) is Opaque
    assert message.additional_kwargs.pop("lock") is lock
    assert copied == message
    for block in copied.blocks:
        for name, value in block.__dict__.items():
            if isinstance(value, list):
                value.clear()
            elif isinstance(value, dict):
                value["changed"] = True
            else:
                setattr(block, name, "changed")
    copied.additional_kwargs["usage"]["total"] = 4
    copied.blocks.pop()
    assert message == everything()


def test_dump_and_load_are_exact() -> None:
    """A message with every kind of block, bytes, tuples and a lone surrogate comes back equal and reads the same."""
    message = everything()
    text = CODEC.dump(message)
    assert text.isascii()
    loaded = CODEC.load(text)
    assert loaded == message
    assert [type(b) for b in loaded.blocks] == [type(b) for b in message.blocks]
    assert CODEC.read(loaded) == CODEC.read(message)
    assert CODEC.dump(loaded) == text


def test_raw_bytes_that_look_like_base64() -> None:
    """Bytes are kept as they are held, whatever they look like; loading validates nothing."""
    block = ImageBlock.model_construct(image=b"raw \xff bytes")
    for held in (block, ImageBlock(image=b"abcd"), ImageBlock(image=b"abcde")):
        message = ChatMessage.model_construct(role=MessageRole.USER, blocks=[held])
        assert CODEC.load(CODEC.dump(message)) == message


def test_streams_become_bytes() -> None:
    """A picture given as an open stream is copied and stored with its content; the stream's position stays."""
    stream = BytesIO(PNG)
    stream.seek(5)
    message = ChatMessage(blocks=[ImageBlock(image=stream)])
    assert CODEC.read(message).media == CODEC.read(ChatMessage(blocks=[ImageBlock(image=PNG)])).media
    for copied in (CODEC.copy(message), CODEC.load(CODEC.dump(message))):
        assert copied.blocks[0].resolve_image().read() == PNG
    assert stream.tell() == 5
    stream.close()
    assert CODEC.read(message).media[0].size is None
    with pytest.raises(TranscriptError, match="stream"):
        CODEC.dump(message)


def test_pictures_given_the_old_way() -> None:
    """`additional_kwargs["images"]` became blocks when the message was made; they don't come twice after loading."""
    message = ChatMessage(
        content="x", additional_kwargs={"images": [ImageDocument(image=base64.b64encode(PNG).decode())]}
    )
    loaded = CODEC.load(CODEC.dump(message))
    assert loaded.blocks == message.blocks
    assert len(ChatMessage(**dict(loaded)).blocks) == 2


def test_what_json_cannot_hold() -> None:
    """An object in `additional_kwargs` that no model sees is left out; one in a block or a call is refused."""
    message = user("x")
    message.additional_kwargs = {"client": Opaque(), "kept": {"a": 1}, ("odd", 1): 2, "n": np.int64(3)}
    assert CODEC.load(CODEC.dump(message)).additional_kwargs == {"kept": {"a": 1}, ("odd", 1): 2, "n": 3}
    block = ChatMessage(blocks=[ToolCallBlock(tool_name="f", tool_kwargs={"a": Opaque()})])
    for refused in (block, ChatMessage(role="assistant", additional_kwargs={"tool_calls": [{"id": Opaque()}]})):
        with pytest.raises(TranscriptError, match="Opaque"):
            CODEC.dump(refused)
    circle: dict[str, Any] = {}
    circle["again"] = circle
    assert CODEC.load(CODEC.dump(ChatMessage(content="x", additional_kwargs={"c": circle}))) == user("x")


def test_newer_and_unknown_texts() -> None:
    """A stored message of a newer version, or with a class that isn't imported, is refused by name."""
    with pytest.raises(TranscriptError, match="version 2"):
        CODEC.load('{"v":2}')
    with pytest.raises(TranscriptError, match="NoSuchBlock"):
        CODEC.load('{"v":1,"role":"user","blocks":[{"$":"block","class":"NoSuchBlock","of":{}}],"kwargs":{}}')


def test_same_text_in_every_process() -> None:
    """Another process, with another hash seed, writes the same text and the same digest."""
    code = (
        "from llama_tiered import LlamaIndexCodec as C; from llama_index.core.base.llms.types import *;"
        "m = ChatMessage(content='x', additional_kwargs={'b': {'z', 'y', 'x'}, 'a': 1});"
        "print(C().dump(m)); print(C().read(m).digest())"
    )
    python, seeds = sys.executable, ("1", "2")
    path = os.pathsep.join(sys.path)
    outs = [
        subprocess.run(
            [python, "-c", code], env={"PYTHONHASHSEED": s, "PYTHONPATH": path}, capture_output=True, check=True
        )
        for s in seeds
    ]
    assert outs[0].stdout == outs[1].stdout != b""


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3) | st.tuples(inner, inner),
    max_leaves=8,
)
_BLOCK = st.one_of(
    st.builds(TextBlock, text=st.text()),
    st.builds(ThinkingBlock, content=st.none() | st.text(), additional_information=st.dictionaries(st.text(), _JSON)),
    st.builds(
        ToolCallBlock, tool_call_id=st.none() | st.text(), tool_name=st.text(),
        tool_kwargs=st.text() | st.dictionaries(st.text(), _JSON, max_size=3),
    ),
    st.builds(ImageBlock, image=st.binary(min_size=1), detail=st.none() | st.text()),
    st.builds(DocumentBlock, data=st.binary(min_size=1), title=st.text(min_size=1)),
)  # fmt: skip
_MESSAGE = st.builds(
    ChatMessage, role=st.sampled_from(list(MessageRole)), blocks=st.lists(_BLOCK, max_size=4),
    additional_kwargs=st.dictionaries(st.text().filter(lambda k: k not in ("images", "tool_calls")), _JSON, max_size=3),
)  # fmt: skip


@given(_MESSAGE)
def test_any_message_comes_back(message: ChatMessage) -> None:
    """Whatever its blocks and kwargs hold, a message comes back equal and reads the same; so does its copy."""
    for other in (CODEC.load(CODEC.dump(message)), CODEC.copy(message), CODEC.write(message, Change())):
        assert other == message
        assert CODEC.read(other).digest() == CODEC.read(message).digest()


@given(_MESSAGE, st.data())
def test_write_does_what_it_is_told(message: ChatMessage, data: st.DataObject) -> None:
    """After a write the copy reads as asked: these texts, these arguments, no media; the message is as it was."""
    before, reading = CODEC.dump(message), CODEC.read(message)
    new = tuple(data.draw(st.text(min_size=1).filter(lambda t: "\0" not in t)) for _ in reading.texts)
    arguments = tuple(json.dumps({"n": k}) for k in range(len(reading.calls)))
    altered = CODEC.read(CODEC.write(message, Change(texts=new, arguments=arguments, without_media=True)))
    assert altered.texts == new
    assert [json.loads(c.arguments) for c in altered.calls] == [json.loads(a) for a in arguments]
    assert altered.media == ()
    assert (altered.reasoning, altered.role, altered.answers) == (reading.reasoning, reading.role, reading.answers)
    assert CODEC.dump(message) == before
