"""Random histories: everything that hosts and models really produce, and what they should not."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tiered_core.testing.oracle import Line

Message = dict[str, Any]

WORDS = (
    "revenue by region please show the delays of flights from each airport and explain why they differ so much".split()
)
ODD = ["", "   ", "\x00", "\ud800x", "𝔘𝔫𝔦 日本語", "<|endoftext|>", "r1", "a\tb\nc", "[r1: ...]", "0", "{}", "[]"]
CALL_IDS = ["c1", "c2", "c3", None]


def _csv(rows: int) -> str:
    return "\n".join(["id,carrier,delay", *(f"{k},{'AA' if k % 3 else 'UA'},{k * 7 % 50}" for k in range(rows))])


def _json(rows: int) -> str:
    return json.dumps([{"id": k, "name": f"item {k}", "value": k * 1.5} for k in range(rows)])


def _log(rows: int) -> str:
    return "\n".join(f"2026-11-30 10:00:{k % 60:02d} INFO worker {k % 4} finished in {k} ms" for k in range(rows))


texts = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join),
    st.integers(20, 400).map(lambda n: " ".join(WORDS[k % len(WORDS)] for k in range(n))),
    st.sampled_from(ODD),
    st.text(max_size=30),
)
bodies = st.one_of(
    texts,
    st.integers(1, 300).map(_csv),
    st.integers(1, 120).map(_json),
    st.integers(1, 150).map(_log),
)


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str, *calls: str | None, arguments: str = '{"sql": "SELECT 1"}') -> Message:
    message: Message = {"role": "assistant", "content": text}
    if calls:
        function = {"name": "run_query", "arguments": arguments}
        message["tool_calls"] = [{"id": c, "type": "function", "function": function} for c in calls]
    return message


def result(call: str | None, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call, "content": text}


@st.composite
def _round(draw: st.DrawFn) -> list[Message]:
    """An assistant message with calls and results in some order: whole, reversed, missing, doubled, stray."""
    calls = draw(st.lists(st.sampled_from(CALL_IDS), min_size=1, max_size=3))
    arguments = draw(st.sampled_from(['{"sql": "SELECT 1"}', "{}", "not json", json.dumps({"text": "x y z " * 60})]))
    answered = draw(st.sampled_from(["all", "all", "all", "reversed", "some", "none", "doubled"]))
    answers = list(calls)
    if answered == "reversed":
        answers.reverse()
    elif answered == "some":
        answers = answers[1:]
    elif answered == "none":
        answers = []
    elif answered == "doubled":
        answers += answers[:1]
    return [assistant(draw(texts), *calls, arguments=arguments), *(result(a, draw(bodies)) for a in answers)]


@st.composite
def _turn(draw: st.DrawFn) -> list[Message]:
    out = [user(draw(texts))]
    for _ in range(draw(st.integers(0, 4))):
        out += draw(_round())
    if draw(st.booleans()):
        out.append(assistant(draw(texts)))
    return out


@st.composite
def histories(draw: st.DrawFn, max_turns: int = 6) -> list[Message]:
    """A whole transcript, now and then with messages swapped, strays put in, or a greeting at the start."""
    out: list[Message] = []
    if draw(st.booleans()):
        out.append({"role": "system", "content": draw(st.sampled_from(["You are an analyst.", "Be brief. " * 5, ""]))})
    if draw(st.integers(0, 5)) == 0:
        out.append(assistant("Hello! What shall we look at?"))
    for _ in range(draw(st.integers(1, max_turns))):
        out += draw(_turn())
    if draw(st.integers(0, 3)) == 0 and len(out) > 2:
        k = draw(st.integers(0, len(out) - 2))
        out[k], out[k + 1] = out[k + 1], out[k]
    if draw(st.integers(0, 4)) == 0:
        k = draw(st.integers(0, len(out)))
        odd = draw(st.sampled_from([result("c9", "stray"), result("c1", "late"), assistant(""), user("")]))
        out.insert(k, odd)
    if draw(st.integers(0, 6)) == 0:
        out.insert(draw(st.integers(0, len(out))), {"role": "system", "content": "A late rule."})
    return out


def line(message: Message) -> Line:
    """A message as the oracle sees it."""
    calls = tuple(c["id"] for c in message.get("tool_calls") or ())
    answers = (message.get("tool_call_id"),) if message["role"] == "tool" else ()
    return Line(message["role"], message.get("content") or "", calls, answers)


def figure(message: Message | str) -> int:
    """A counter that needs no vocabulary: a quarter of the characters, and four per message."""
    if isinstance(message, str):
        return -(-len(message) // 4)
    calls = message.get("tool_calls")
    return 4 + figure(message.get("content") or "") + (figure(json.dumps(calls)) if calls else 0)
