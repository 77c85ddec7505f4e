"""Where the tokens are: usage by tier, pressure, and what was cut, as values and as text."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tiered_core.budget import TokenBudget
from tiered_core.events import ContextEvent
from tiered_core.planner import Limits
from tiered_core.state import ContextState
from tiered_core.types import Entry, Slot, Tier


@dataclass(frozen=True, slots=True)
class ContextReport:
    """What a view holds and what became of the rest. All sizes are tokens.

    Attributes:
        session_id: whose.
        counter: name of the token counter.
        exact: whether its figures are those of a vocabulary.
        window: effective window.
        reserve: kept for the response.
        overhead: around the view, as planned for.
        used: of the view.
        available: left for more.
        pressure: (used + overhead) / (window - reserve).
        level: compression level 0 to 3.
        status: "ok", "warning" (level 2) or "critical" (level 3).
        tiers: of the view by tier; "evictable" is what is shown lower than full and goes first.
        messages: in the transcript.
        shown: messages in the view.
        batches: how often what had been sent was rewritten.
        cuts: number of events by kind.
        drift: how far the counter, corrected, was off from what the provider last reported, as a share of the report;
            positive when more was reported; None before the first report.
    """

    session_id: str
    counter: str
    exact: bool
    window: int
    reserve: int
    overhead: int
    used: int
    available: int
    pressure: float
    level: int
    status: str
    tiers: Mapping[str, int]
    messages: int
    shown: int
    batches: int
    cuts: Mapping[str, int]
    drift: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON value."""
        return asdict(self)

    def __str__(self) -> str:
        tiers = ", ".join(f"{name} {tokens:,}" for name, tokens in self.tiers.items() if tokens)
        cuts = ", ".join(f"{kind} {number}" for kind, number in self.cuts.items()) or "none"
        sign = "" if self.exact else "≤ "
        off = "" if self.drift is None else f"; the last request cost {self.drift:+.1%} against the estimate"
        return (
            f"session {self.session_id}: {sign}{self.used:,} tokens in view, {self.overhead:,} around it, of "
            f"{self.window - self.reserve:,} (pressure {self.pressure:.0%}, level {self.level}, {self.status})\n"
            f"by tier: {tiers or 'nothing'}\n"
            f"{self.shown:,} of {self.messages:,} messages shown; {self.batches} batches; cuts: {cuts}{off}"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td style='text-align:right'>{tokens:,}</td></tr>"
            for name, tokens in self.tiers.items()
        )
        return f"<pre>{html.escape(str(self))}</pre><table><tr><th>tier</th><th>tokens</th></tr>{rows}</table>"


def tokens_by_tier(slots: Sequence[Slot], entries: Mapping[str, Entry], reserve: int) -> dict[str, int]:
    """Tokens of a view by tier; what is shown lower than full counts as evictable, the buffer is the reserve."""
    out = {tier.value: 0 for tier in Tier}
    for slot in slots:
        entry = entries.get(slot.entry)
        if entry is None or slot.kind != "message":
            tier = Tier.SYSTEM if slot.kind in ("notice", "opening") else Tier.CONVERSATION
        else:
            tier = Tier.EVICTABLE if slot.rung.level >= 2 and entry.machine else entry.tier
        out[tier.value] += slot.tokens
    out[Tier.BUFFER.value] = reserve
    return out


def make_report(
    session_id: str, counter: tuple[str, bool], budget: TokenBudget, state: ContextState, limits: Limits,
    slots: Sequence[Slot], entries: Mapping[str, Entry], messages: int,
    events: Sequence[ContextEvent],
) -> ContextReport:  # fmt: skip
    """Puts a report together."""
    used = sum(s.tokens for s in slots)
    pressure = (used + limits.overhead) / max(1, budget.available)
    level = budget.pressure.level(pressure)
    return ContextReport(
        session_id, counter[0], counter[1], budget.effective_window, budget.response_reserve, limits.overhead, used,
        max(0, limits.hard - used), pressure, level, ("ok", "ok", "warning", "critical")[level],
        tokens_by_tier(slots, entries, budget.response_reserve), messages,
        sum(1 for s in slots if s.kind == "message"), state.batches,
        dict(Counter(e.kind for e in events)),
        state.calibration.get("drift"),
    )  # fmt: skip
