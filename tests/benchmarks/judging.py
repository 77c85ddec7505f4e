"""Whether a view is what a provider accepts: within the budget, and legal by an oracle that never calls the engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.benchmarks.corpora import Message
from tests.benchmarks.methods import Seen
from tests.benchmarks.tokens import PER_MESSAGE, message_tokens, text_of, view_tokens
from tiered_core.testing.oracle import Line, problems


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one view.

    Attributes:
        tokens: of the view, 0 without one.
        faults: what is wrong with it; empty when a model could be called with it.
    """

    tokens: int
    faults: tuple[str, ...]


def line_of(message: Message) -> Line:
    """A message as the oracle sees it."""
    calls = tuple(call.get("id") for call in message.get("tool_calls") or ())
    answers = (message.get("tool_call_id"),) if message["role"] == "tool" else ()
    return Line(message["role"], text_of(message), calls, answers)


def judge(seen: Seen, transcript: list[Line], budget: int, strict: bool) -> Verdict:
    """Counts and checks one view.

    Args:
        seen: the view.
        transcript: of which it is one.
        budget: in tokens.
        strict: whether an empty tool result that stood in the transcript is held against a view that passes it on.
    """
    if seen.messages is None:
        return Verdict(0, (f"raised {seen.error}",))
    tokens = view_tokens(seen.messages)
    over = [f"{tokens} tokens at a budget of {budget}"] if tokens > budget else []
    found = problems([line_of(m) for m in seen.messages], transcript)
    if not strict and any(line.role == "tool" and line.blank for line in transcript):
        found = [fault for fault in found if not fault.endswith("(tool) is empty")]
    return Verdict(tokens, (*over, *found))


def least_tokens(messages: Iterable[Message]) -> int:
    """Tokens below which no legal view exists: the system text whole, and one token of the user's request."""
    system = sum(message_tokens(m) for m in messages if m["role"] == "system")
    return system + PER_MESSAGE + 1


_SIGNS = {
    "tokens at a budget": "over budget",
    "without its call": "broken pair",
    " and gets ": "broken pair",
    "the first message after": "no user message first",
    "system text": "no system text",
    "request": "current request missing",
    "no user message": "current request missing",
    "raised ": "raised",
}


def kinds(faults: Iterable[str]) -> Iterator[str]:
    """The kinds of faults, each once."""
    yield from dict.fromkeys(map(_kind, faults))


def _kind(fault: str) -> str:
    return next((kind for sign, kind in _SIGNS.items() if sign in fault), "other")
