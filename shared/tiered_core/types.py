"""The values that travel through the engine.

All of them are frozen. Texts live in `Reading` only; the planner works on `Entry`, which holds numbers and links.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

Role = Literal["system", "user", "assistant", "tool"]
Kind = Literal["text", "table", "json", "log"]
Side = Literal["head", "tail"]
SlotKind = Literal["message", "dead", "gap", "opening", "notice"]


class Tier(StrEnum):
    """The seven tiers of a context window, in the order in which they stand in the requirements (A4 to A10)."""

    SYSTEM = "system"
    CONVERSATION = "conversation"
    SCHEMA = "schema"
    SAMPLES = "samples"
    RESULTS = "results"
    BUFFER = "buffer"
    EVICTABLE = "evictable"


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of an assistant message.

    Attributes:
        id: the host's call id; may be None, may repeat in a conversation.
        name: the tool's name.
        arguments: the arguments as JSON text, as the host would send them.
    """

    id: str | None
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Media:
    """A picture, a recording or a file inside a message, described by numbers.

    Attributes:
        kind: what it is.
        width: pixels, None where unknown.
        height: pixels, None where unknown.
        detail: the provider's detail level ("low", "high", "auto", …), None where the host gives none.
        size: bytes of the decoded content, None where it is only referred to by an address.
        digest: hex digest that identifies the content (of its bytes or of its address).
        provider: "openai", "anthropic", "google" where the shape of the block tells, else None.
    """

    kind: Literal["image", "audio", "video", "file"]
    width: int | None = None
    height: int | None = None
    detail: str | None = None
    size: int | None = None
    digest: str = ""
    provider: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a codec read from one host message.

    Attributes:
        role: who speaks; a host's "developer" is "system", "function" is "tool".
        texts: the editable text blocks in order; () for a message without text. Never reasoning.
        id: the host's message id, None where it has none.
        name: the speaker's or tool's name, None where it has none.
        calls: tool calls in order (valid and invalid ones).
        answers: the call ids that this message answers, in order; None stands for an answer without an id.
        reasoning: texts of reasoning blocks: counted, never altered.
        signed: whether a provider signed or encrypted the reasoning.
        media: pictures and files in order.
        extra: any other content that reaches the model (unknown blocks), as JSON text: counted, never altered.
    """

    role: Role
    texts: tuple[str, ...] = ()
    id: str | None = None
    name: str | None = None
    calls: tuple[Call, ...] = ()
    answers: tuple[str | None, ...] = ()
    reasoning: tuple[str, ...] = ()
    signed: bool = False
    media: tuple[Media, ...] = ()
    extra: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All text blocks, joined by a newline; exactly the body when there is one block."""
        return "\n".join(self.texts)

    @property
    def blank(self) -> bool:
        """Whether a model would find nothing in it: no call, no media, no reasoning, only white space."""
        return not (self.calls or self.media or self.reasoning or self.extra or any(t.strip() for t in self.texts))

    def digest(self) -> str:
        """Hex digest of the content, message id left out; equal content gives equal digests in every process."""
        parts = [
            self.role, list(self.texts), self.name, [[c.id, c.name, c.arguments] for c in self.calls],
            list(self.answers), list(self.reasoning), [[m.kind, m.digest] for m in self.media], list(self.extra),
        ]  # fmt: skip
        raw = json.dumps(parts, ensure_ascii=True, separators=(",", ":"))
        return hashlib.blake2b(raw.encode(), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class Change:
    """How a codec shall alter a copy of a message.

    Attributes:
        texts: the new text blocks, as many as `Reading.texts` had; "" removes a block. None keeps all.
            A message without any text block gets the first one of `texts` as new text.
        arguments: the new arguments of each call as JSON text, in the order of `Reading.calls`. None keeps all.
        without_media: whether pictures and files are taken out.
        appended: text blocks to put behind the last one (a string body gets them after a blank line).
        prepended: text blocks to put before the first one (a string body gets them before a blank line).
    """

    texts: tuple[str, ...] | None = None
    arguments: tuple[str, ...] | None = None
    without_media: bool = False
    appended: tuple[str, ...] = ()
    prepended: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Rung:
    """How an entry is rendered. Rungs only go down: full → small → stub → bare.

    The cap of `small` is in tokens of the whole message, that of `stub` and `bare` in tokens of its text; at one
    level the smaller cap is the lower rung. `rows` limits the rows of a table.
    """

    level: int = 0
    cap: int = 0
    rows: int = 20

    @property
    def name(self) -> str:
        """One of "full", "small", "stub" and "bare"."""
        return ("full", "small", "stub", "bare")[self.level]

    def lower_than(self, other: Rung) -> bool:
        """Whether this rung shows less than the other."""
        return (self.level, -self.cap) > (other.level, -other.cap)

    def to_json(self) -> list[int]:
        """Plain JSON value."""
        return [self.level, self.cap, self.rows]


FULL = Rung(0)
STUB = Rung(2, 40)
BARE = Rung(3, 12)


def small(cap: int, rows: int = 20) -> Rung:
    """The rung "at most `cap` tokens, at most `rows` rows of a table"."""
    return Rung(1, cap, rows)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an entry's ladder: tokens of the message at a rung, measured or estimated."""

    rung: Rung
    tokens: int
    measured: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """One message as the planner sees it: numbers and links.

    Attributes:
        id: the host's message id, or one of ours.
        role: who speaks.
        kind: what the body is.
        tokens: tokens of the whole message at full size.
        fixed: the part of `tokens` that can't be taken out (framing, signed reasoning, unknown blocks).
        calls: ids of the calls it opens, in order.
        answers: ids of the calls it answers.
        signed: whether it carries signed reasoning.
        blank: whether a model would find nothing in it.
        digest: of the content, see `Reading.digest`.
        position: in the transcript, counted from 0.
        turn: number of user messages up to and including this one; 0 before the first.
    """

    id: str
    role: Role
    kind: Kind
    tokens: int
    fixed: int = 0
    calls: tuple[str | None, ...] = ()
    answers: tuple[str | None, ...] = ()
    signed: bool = False
    blank: bool = False
    digest: str = ""
    position: int = 0
    turn: int = 0

    @property
    def machine(self) -> bool:
        """Whether a machine made the body (a tool result); such bodies may enter small."""
        return self.role == "tool"

    @property
    def tier(self) -> Tier:
        """The tier in which it is born."""
        if self.role == "system":
            return Tier.SYSTEM
        if self.role == "tool" and self.kind in ("table", "json"):
            return Tier.RESULTS
        return Tier.CONVERSATION

    def estimate(self, rung: Rung) -> Step:
        """The step at a rung that nobody has measured yet."""
        if rung == FULL:
            return Step(rung, self.tokens, True)
        cap = rung.cap if rung.level == 1 else self.fixed + rung.cap
        return Step(rung, min(self.tokens, cap), False)


@dataclass(frozen=True, slots=True)
class Group:
    """An assistant message with calls plus all its results, or a single message. Positions index the entries.

    Attributes:
        head: position of the message that opens it.
        results: positions of the results, in transcript order.
        dead: ids of calls that never got a result although the conversation went on.
        pending: whether it is the newest group and still waits for results.
    """

    head: int
    results: tuple[int, ...] = ()
    dead: tuple[str | None, ...] = ()
    pending: bool = False

    @property
    def positions(self) -> tuple[int, ...]:
        """All its positions, in the order in which they are shown."""
        return (self.head, *self.results)


@dataclass(frozen=True, slots=True)
class Turn:
    """A user message (None before the first one) and the groups up to the next user message."""

    user: int | None
    groups: tuple[Group, ...] = ()

    @property
    def positions(self) -> tuple[int, ...]:
        """All its positions, in the order in which they are shown."""
        own = () if self.user is None else (self.user,)
        return own + tuple(p for g in self.groups for p in g.positions)


@dataclass(frozen=True, slots=True)
class Slot:
    """One message of a view.

    Attributes:
        entry: id of the entry that is shown; for a message of ours the id of the entry that it belongs to.
        rung: how the entry is rendered.
        kind: "message", or something of ours: "dead" (the answer to a dead call), "gap" (a note that keeps two
            messages of one role apart that were not neighbours in the transcript), "opening" (what the assistant
            said before the first user message, as a block of the system message), "notice" (how many messages are
            out of view, as a block of the system message).
        role: the role of a "gap".
        number: index of the dead call in the entry's calls; messages out of view for a "notice".
        tokens: tokens of the message, or that the block adds.
    """

    entry: str = ""
    rung: Rung = FULL
    kind: SlotKind = "message"
    role: Role | None = None
    number: int = 0
    tokens: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Recalled:
    """A piece of an original, as stored.

    Attributes:
        text: the piece, characters `offset` to `offset + len(text)` of the original.
        next_offset: where the next piece starts, None at the end.
        total: characters of the whole original.
        handle: of the original.
    """

    text: str
    next_offset: int | None
    total: int
    handle: str = ""
