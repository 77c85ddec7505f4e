"""In plain words, what became of one message."""

from __future__ import annotations

from collections.abc import Sequence

from tiered_core.events import ContextEvent
from tiered_core.types import Entry, Slot


def explain_message(entry: Entry, slot: Slot | None, events: Sequence[ContextEvent]) -> str:
    """One line on the message, one on how it is shown now, one per cut in the order in which they happened."""
    what = f"{entry.kind} " if entry.machine else ""
    lines = [f"message {entry.position}: {what}{entry.role} message, {entry.tokens:,} tokens, tier {entry.tier.value}"]
    if slot is None:
        lines.append("now: not in the view; the original is kept")
    elif slot.rung.level == 0:
        lines.append("now: shown in full")
    else:
        lines.append(f"now: shown as {slot.rung.name} with {slot.tokens:,} tokens; the original is kept")
    for event in events:
        if entry.id in event.ids:
            handle = f", recall with {event.handle}" if event.handle else ""
            lines.append(
                f"turn {event.turn}: {event.kind}, {event.tokens_before:,} → {event.tokens_after:,} tokens, "
                f"because {event.reason or 'of the pressure'}{handle}"
            )
    return "\n".join(lines)
