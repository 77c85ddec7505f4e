"""What a compactor is: a rule that makes one body of text smaller and says what it hid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from tiered_core.types import Kind, Side


@dataclass(frozen=True, slots=True)
class Body:
    """A text to be made smaller.

    Attributes:
        text: the whole.
        kind: what `classify` found it to be.
        tokens: of the whole text.
        handle: under which the whole can be recalled (`r12`).
        question: what the user is about to ask, None where nothing is asked.
        machine: whether a tool made it; False for what people and the model wrote.
    """

    text: str
    kind: Kind
    tokens: int
    handle: str
    question: str | None = None
    machine: bool = True


@dataclass(frozen=True, slots=True)
class Room:
    """What there is room for.

    Attributes:
        max_tokens: of the text that comes back, marker and facts included.
        rows: of a table, at the most.
        count: tokens of a text.
        truncate: longest head or tail of a text within a number of tokens.
    """

    max_tokens: int
    rows: int
    count: Callable[[str], int]
    truncate: Callable[[str, int, Side], str]


@dataclass(frozen=True, slots=True)
class Compacted:
    """A smaller text.

    Attributes:
        text: at most `Room.max_tokens` tokens.
        shown: units (rows, items, characters) that are shown.
        total: units of the whole.
        columns_hidden: columns of a table that are not shown.
    """

    text: str
    shown: int
    total: int
    columns_hidden: int = 0


@runtime_checkable
class Compactor(Protocol):
    """One way to make a body smaller. Compactors are asked in ascending `order`; the first usable answer wins."""

    name: str
    order: int

    def can_compact(self, body: Body) -> bool:
        """Whether the rule applies to this body; cheap, no rendering."""

    def estimate_savings(self, body: Body, room: Room) -> int:
        """Tokens that would be saved, 0 when none; cheap, no rendering."""

    def compact(self, body: Body, room: Room) -> Compacted | None:
        """The smaller text, within the room and smaller than the body; None when the rule can't do it."""
