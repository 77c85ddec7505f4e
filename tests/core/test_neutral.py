"""The codec for OpenAI-style dicts: what it reads, writes, and leaves alone."""

from __future__ import annotations

import base64
import copy
import json
import struct
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.histories import histories, line
from tiered_core import Change, NeutralCodec, TieredContext, TranscriptError
from tiered_core.testing.oracle import problems

CODEC = NeutralCodec()


def png(width: int, height: int) -> str:
    """A valid, empty picture as a data URL."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"\0" * (width + 1) * height)
    raw = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(raw).decode()


def picture(width: int = 1_024, height: int = 1_024) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": png(width, height), "detail": "high"}}


THOUGHT = {"type": "thinking", "thinking": "let me see " * 20, "signature": "c2lnbmVk"}


@given(histories(max_turns=2))
def test_round_trip(history: list[dict[str, Any]]) -> None:
    """Dump and load give equal messages; copy gives equal ones; reading alters nothing."""
    before = copy.deepcopy(history)
    for message in history:
        CODEC.read(message)
        assert CODEC.load(CODEC.dump(message)) == message == CODEC.copy(message)
    assert history == before


@given(st.lists(st.one_of(st.text(), st.none(), st.integers(), st.dictionaries(st.text(), st.text()))))
def test_odd_content_is_read(content: list[Any]) -> None:
    """Unknown blocks, None and numbers inside of a content list are read without an error."""
    reading = CODEC.read({"role": "user", "content": content})
    assert reading.texts == tuple(c for c in content if isinstance(c, str))


def test_texts_are_written_in_place() -> None:
    """New texts take the places of the old ones, "" removes a block, everything else stays where it was."""
    message = {"role": "user", "name": "eva", "content": [{"type": "text", "text": "a"}, picture(), "b"], "x": 1}
    written = CODEC.write(message, Change(texts=("A", ""), appended=("end",)))
    assert written == {
        "role": "user", "name": "eva", "x": 1,
        "content": [{"type": "text", "text": "A"}, picture(), {"type": "text", "text": "end"}],
    }  # fmt: skip
    assert message["content"][0] == {"type": "text", "text": "a"}  # type: ignore[index]


def test_blocks_follow_the_users_system_text() -> None:
    """What is appended to a system message stands behind the user's own words."""
    written = CODEC.write({"role": "system", "content": "Be brief."}, Change(appended=("[note]",)))
    assert written["content"] == "Be brief.\n\n[note]"


def test_pictures_are_priced_not_read_as_text() -> None:
    """A picture costs its tiles, whatever its bytes are; it is the same price in a tool result (A2, B4)."""
    context = TieredContext(50_000)
    message = {"role": "user", "content": [{"type": "text", "text": "look"}, picture()]}
    assert 765 <= context.count_message(message) <= 775
    nested = {"role": "tool", "tool_call_id": "c", "content": [picture()]}
    assert 765 <= context.count_message(nested) <= 775


def test_picture_gives_way_before_the_request() -> None:
    """A picture that doesn't fit is left out with a marker; the words of the request stay, and the original is kept."""
    context = TieredContext(300)
    message = {"role": "user", "content": [{"type": "text", "text": "What is on this chart?"}, picture()]}
    context.add([message])
    (shown,) = context.view()
    assert shown["content"][0] == {"type": "text", "text": "What is on this chart?"}
    assert [b["type"] for b in shown["content"]] == ["text", "text"]
    assert "r1" in shown["content"][1]["text"]
    assert json.loads(context.recall("r1", limit_tokens=None).text) == message


def test_signed_reasoning_stays_whole() -> None:
    """In an open loop with signed reasoning the thoughts and arguments stay byte-equal; only results shrink."""
    context = TieredContext(900)
    context.add([{"role": "user", "content": "Work it out."}])
    arguments = json.dumps({"sql": "SELECT " + ", ".join(f"c{k}" for k in range(20))})
    heads = []
    for k in range(4):
        call = {"id": f"c{k}", "type": "function", "function": {"name": "q", "arguments": arguments}}
        heads.append({"role": "assistant", "content": [THOUGHT], "tool_calls": [call]})
        context.add([heads[-1], {"role": "tool", "tool_call_id": f"c{k}", "content": "a,b\n" + "1,2\n" * 500}])
        view = context.view()
        assert [m for m in view if m["role"] == "assistant"] == heads
        assert problems([line({**m, "content": str(m["content"])}) for m in view],
                        [line({**m, "content": str(m["content"])}) for m in context.transcript()]) == []  # fmt: skip


def test_what_json_cannot_hold_is_refused() -> None:
    """A message with a part that JSON can't hold is refused, with the role and the reason."""
    with pytest.raises(TranscriptError, match="'user' message can't be stored as JSON"):
        TieredContext(100).add([{"role": "user", "content": "x", "extra": object()}])


def test_legacy_function_calls() -> None:
    """The old form of calls and results pairs by the function's name."""
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "function_call": {"name": "q", "arguments": "{}"}},
        {"role": "function", "name": "q", "content": "42"},
    ]
    context = TieredContext(1_000)
    context.add(messages)
    assert context.view() == messages


def test_developer_messages_are_system_text() -> None:
    """A developer message stands at the head and keeps its role."""
    messages = [{"role": "developer", "content": "Be exact."}, {"role": "user", "content": "hi"}]
    context = TieredContext(1_000)
    context.add(messages)
    assert context.view() == messages
