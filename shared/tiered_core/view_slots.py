"""Plan → slots: the order of a view, and the few messages of ours that keep it legal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tiered_core.planner import Plan
from tiered_core.turns import Layout
from tiered_core.types import Entry, Group, Role, Slot

NOTICE_FROM = 400
"""Tokens of room from which a view says how many messages are out of it."""


def slots_of(entries: Sequence[Entry], layout: Layout, made: Plan, room: int) -> tuple[Slot, ...]:
    """The slots of a view: system text, blocks of ours, kept turns oldest first, the current turn last.

    Args:
        entries: as given to `plan`.
        layout: of these entries.
        made: the plan.
        room: tokens of the hard limit, before any margin.
    """
    slots = [Slot(entries[i].id, made.rungs[i]) for i in layout.systems if not entries[i].blank]
    hidden = _out_of_view(entries, layout, made)
    if hidden and room >= NOTICE_FROM:
        slots.append(Slot(kind="notice", number=hidden))
    previous: int | None = None
    for number in range(made.first_turn, len(layout.turns)):
        turn = layout.turns[number]
        groups = turn.groups[made.cuts.get(number, 0) :]
        if turn.user is None and len(layout.turns) > 1:
            slots += [Slot(entries[g.head].id, made.rungs[g.head], "opening") for g in groups if _said(entries, g)]
            continue
        if turn.user is not None:
            slots += _gap(entries, previous, turn.user)
            slots.append(Slot(entries[turn.user].id, made.rungs[turn.user]))
            previous = turn.user
        for group in groups:
            if group.pending:
                continue
            slots += _gap(entries, previous, group.head)
            slots += _group(entries, made, group)
            previous = group.positions[-1] if not group.dead else None
    return tuple(slots)


def _said(entries: Sequence[Entry], group: Group) -> bool:
    """Whether a group before the first user message can be told in the system text: words, no calls."""
    return not entries[group.head].calls and not entries[group.head].blank


def _group(entries: Sequence[Entry], made: Plan, group: Group) -> Iterator[Slot]:
    for index in group.positions:
        yield Slot(entries[index].id, made.rungs[index])
    head = entries[group.head]
    taken: set[int] = set()
    for call in group.dead:
        number = next(k for k, c in reversed(list(enumerate(head.calls))) if c == call and k not in taken)
        taken.add(number)
        yield Slot(head.id, kind="dead", number=number)


def _gap(entries: Sequence[Entry], previous: int | None, following: int) -> Iterator[Slot]:
    """A note between two messages of one role that were not neighbours in the transcript."""
    if previous is None or entries[previous].role != entries[following].role:
        return
    if entries[following].position - entries[previous].position > 1:
        role: Role = "assistant" if entries[following].role == "user" else "user"
        yield Slot(entries[following].id, kind="gap", role=role)


def _out_of_view(entries: Sequence[Entry], layout: Layout, made: Plan) -> int:
    """How many messages have been dropped, system messages left out."""
    systems = set(layout.systems)
    talk = [e.position for i, e in enumerate(entries) if i not in systems]
    if not talk or made.first_turn >= len(layout.turns):
        return 0
    first = entries[layout.turns[made.first_turn].positions[0]].position if made.first_turn else talk[0]
    before = first - sum(1 for i in systems if entries[i].position < first)
    kept = range(made.first_turn, len(layout.turns))
    return before + sum(len(g.positions) for n in kept for g in layout.turns[n].groups[: made.cuts.get(n, 0)])
