"""Plays the session on one way in, turn by turn, and sums it up."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from analyst.desk import Desk, Way
from analyst.messages import message_tokens
from analyst.meter import Call, Meter
from tiered_core import ContextReport


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn.

    Attributes:
        number: from 1.
        question: of the user.
        answer: of the model.
        rows: of all results that entered.
        last: the turn's last call of the model.
        report: of the memory, after the turn.
        batch: the call that began differently from the one before it, behind that one; None without a batch.
    """

    number: int
    question: str
    answer: str
    rows: int
    last: Call
    report: ContextReport
    batch: tuple[Call, Call] | None


@dataclass(frozen=True, slots=True)
class Recalled:
    """The first large result of the session, brought back by its handle.

    Attributes:
        handle: of the result.
        rows: of the result.
        tokens: of the original.
        size: of the original, in bytes.
        identical: whether what came back is the original, byte for byte.
    """

    handle: str
    rows: int
    tokens: int
    size: int
    identical: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """A whole session on one way in.

    Attributes:
        way: that was taken.
        meter: with all calls of the model.
        report: of the memory, at the end.
        cuts: events by kind.
        recalled: None when no result was large.
        seconds: that it took.
    """

    way: Way
    meter: Meter
    report: ContextReport
    cuts: Counter[str]
    recalled: Recalled | None
    seconds: float

    @property
    def failures(self) -> list[str]:
        """What must not happen, in words."""
        out = [f"turn {c.turn}: not legal: {c.problems[0]}" for c in self.meter.illegal]
        out += [f"turn {c.turn}: {c.sent.total:,} of {self.meter.limit:,} tokens" for c in self.meter.over]
        if self.recalled is not None and not self.recalled.identical:
            out.append("the first result that was recalled differs from the original")
        return [f"{self.way.title}, {failure}" for failure in out]


def play(way: Way, desk: Desk) -> Iterator[Turn]:
    """Asks one question after the other."""
    meter = desk.meter
    for number, step in enumerate(desk.steps, 1):
        calls, said = len(meter.calls), len(meter.transcript)
        answer = way.ask(step.question)
        report = way.context.report()
        rows = sum(_rows(m.text) for m in meter.transcript[said:] if m.role == "tool")
        batch = next(iter(meter.rewrites(since=calls)), None)
        yield Turn(number, step.question, answer, rows, meter.calls[-1], report, batch)


def _rows(csv: str) -> int:
    return max(0, csv.count("\n") - 1)


def sum_up(way: Way, desk: Desk, started: float) -> Outcome:
    """The figures of a session that has been played.

    Args:
        way: on which it was played.
        desk: at which.
        started: `time.monotonic()` at its beginning.
    """
    seconds = time.monotonic() - started
    cuts = Counter(event.kind for event in way.context.events())
    return Outcome(way, desk.meter, way.context.report(), cuts, recall_first(way, desk), seconds)


def recall_first(way: Way, desk: Desk) -> Recalled | None:
    """Brings back the first result that was too large to enter whole, and compares it with what the tool gave."""
    entered_small = [event for event in way.context.events() if event.kind == "rendered" and event.tier == "results"]
    if not entered_small:
        return None
    first = min(entered_small, key=lambda event: event.positions)
    message = way.context.transcript()[first.positions[0]]
    call = way.context.codec.read(message).answers[0]
    original = next(m for m in desk.meter.transcript if m.role == "tool" and m.answers == call)
    found, wanted = way.context.recall(first.handle or "", limit_tokens=None).text.encode(), original.text.encode()
    return Recalled(first.handle or "", _rows(original.text), message_tokens(original), len(wanted), found == wanted)
