"""Measures what a model really received, call by call, beside what it would have received without us."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from typing import Any

from analyst.messages import REPLY, Message, tokens, tool_tokens
from tiered_core.testing.oracle import problems

# A provider's prefix cache: a token that it knows costs a tenth, a new one a quarter more than without a cache.
CACHED, NEW = 0.1, 1.25


@dataclass(frozen=True, slots=True)
class Size:
    """A prompt in tokens.

    Attributes:
        total: all of it: tool definitions, system text, messages, framing.
        kept: how much of it stands unchanged at the head of the previous prompt.
    """

    total: int
    kept: int

    @property
    def price(self) -> float:
        """In tokens at full price."""
        return CACHED * self.kept + NEW * (self.total - self.kept)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the model.

    Attributes:
        turn: of the session, from 1.
        sent: what the model received.
        whole: what it would have received if the whole conversation were sent.
        overhead: what of it isn't the conversation: tool definitions and the opening of the reply.
        problems: why a provider would refuse it; empty if it is legal.
    """

    turn: int
    sent: Size
    whole: Size
    overhead: int
    problems: tuple[str, ...]


@dataclass
class Meter:
    """Sits beside the model.

    Attributes:
        limit: tokens that a prompt may have, overhead included.
        transcript: everything that was said, in full, kept by the meter itself.
        calls: of the model, oldest first.
        turn: the one that is on, from 1.
    """

    limit: int
    transcript: list[Message] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    turn: int = 0
    _before: tuple[str, Sequence[Message]] = ("", ())

    def note(self, message: Message) -> None:
        """Takes down what was said."""
        self.turn += message.role == "user"
        self.transcript.append(message)

    def sees(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> None:
        """Takes down what the model was sent, before it replies."""
        overhead = tool_tokens(tools) + REPLY
        shown, known = str(tools), self._before
        same = takewhile(lambda pair: pair[0] == pair[1], zip(messages, known[1], strict=False))
        kept = overhead - REPLY + tokens(one for one, _ in same) if shown == known[0] else 0
        self._before = (shown, tuple(messages))
        whole = overhead + tokens(self.transcript)
        last = self.calls[-1].whole.total - REPLY if self.calls else 0
        wrong = problems([m.line for m in messages], [m.line for m in self.transcript])
        sent = Size(overhead + tokens(messages), kept)
        self.calls.append(Call(self.turn, sent, Size(whole, last), overhead, tuple(wrong)))

    @property
    def illegal(self) -> list[Call]:
        """Calls that a provider would refuse."""
        return [call for call in self.calls if call.problems]

    @property
    def over(self) -> list[Call]:
        """Calls over the limit."""
        return [call for call in self.calls if call.sent.total > self.limit]

    def rewrites(self, since: int = 0) -> list[tuple[Call, Call]]:
        """Calls from an index on whose prompt doesn't begin with the whole prompt before it, each behind that one."""
        pairs = pairwise(self.calls[max(0, since - 1) :])
        return [(last, call) for last, call in pairs if call.sent.kept < last.sent.total - REPLY]

    @property
    def prefix_share(self) -> float:
        """How much of all that was sent stood unchanged at the head of the previous prompt."""
        return sum(c.sent.kept for c in self.calls) / max(1, sum(c.sent.total for c in self.calls))

    def first_turn_over(self, window: int) -> int | None:
        """The first turn in which the whole conversation would have been larger than a window."""
        return next((call.turn for call in self.calls if call.whole.total > window), None)
