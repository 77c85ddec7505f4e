"""The record of every cut: one event per message and cut, in the order in which they happened."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

EventKind = Literal[
    "rendered", "compressed", "shortened", "offloaded", "summarised", "evicted", "repaired", "restored", "failed",
    "warning", "critical", "batch",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class ContextEvent:
    """What was done to a message, or to the view as a whole.

    Attributes:
        kind: "rendered" (entered small), "compressed" (table or JSON made smaller in a batch), "shortened" (head
            and tail kept), "offloaded" (only a stub left), "evicted" (left the view), "repaired" (left out or moved
            in the view, to keep it legal), "restored", "summarised", "failed", and about the whole view: "warning"
            (pressure above the second threshold), "critical" (above the third), "batch" (a rewrite of what had been
            sent).
        ids: ids of the entries concerned.
        positions: their positions in the transcript, counted from 0.
        tier: the tier of the message, None for the whole view.
        tokens_before: of the message (of the view for "batch").
        tokens_after: of the message as it is now rendered, 0 when it left the view.
        reason: one plain sentence.
        handle: under which the original can be recalled, None where nothing is hidden.
        turn: number of the turn in which it happened, counted from 1.
    """

    kind: EventKind
    ids: tuple[str, ...] = ()
    positions: tuple[int, ...] = ()
    tier: str | None = None
    tokens_before: int = 0
    tokens_after: int = 0
    reason: str = ""
    handle: str | None = None
    turn: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON value."""
        return asdict(self)

    def to_json(self) -> str:
        """The event as JSON text."""
        return json.dumps(self.to_dict(), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> ContextEvent:
        """The event of which `to_json` gave the text."""
        return cls.from_dict(json.loads(text))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ContextEvent:
        """The event of which `to_dict` gave the value."""
        return cls(**{**data, "ids": tuple(data["ids"]), "positions": tuple(data["positions"])})
