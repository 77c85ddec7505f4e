"""Plan → new state and events: what is written down when a decision is stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from tiered_core.budget import TokenBudget
from tiered_core.events import ContextEvent, EventKind
from tiered_core.ledger import Ledger
from tiered_core.planner import Limits, Plan, cuts_of
from tiered_core.state import ContextState, Mark
from tiered_core.turns import Layout, lay_out
from tiered_core.types import FULL, Entry, Rung, Slot
from tiered_core.view_slots import slots_of


@dataclass(frozen=True, slots=True)
class Decision:
    """A finished plan with all that led to it."""

    entries: Sequence[Entry]
    layout: Layout
    state: ContextState
    budget: TokenBudget
    made: Plan
    slots: tuple[Slot, ...]
    ledger: Ledger
    limits: Limits

    def dropped(self) -> list[int]:
        """Indexes of entries that this plan takes out of the view and that the state still showed."""
        cuts = cuts_of(self.entries, self.layout, self.state)
        out: list[int] = []
        for number, turn in enumerate(self.layout.turns):
            gone = number < self.made.first_turn
            out += [turn.user] if gone and turn.user is not None else []
            groups = turn.groups[cuts.get(number, 0) : None if gone else self.made.cuts.get(number, 0)]
            out += [i for g in groups for i in g.positions]
            # A late result of a group that had left the view before follows it.
            before = turn.groups[: cuts.get(number, 0)]
            out += [i for g in before for i in g.positions if self.entries[i].position >= self.state.born]
        return out

    def left_out(self) -> set[int]:
        """Indexes of calls and results before the first user message: they can't be told in the system text."""
        turns = self.layout.turns
        if len(turns) < 2 or turns[0].user is not None:
            return set()
        return {i for g in turns[0].groups if self.entries[g.head].calls for i in g.positions}

    def old_rung(self, index: int) -> Rung:
        """The rung that the entry had before, FULL for one that is new."""
        mark = self.state.rungs.get(self.entries[index].id)
        return FULL if mark is None else mark.rung


def state_of(decision: Decision) -> tuple[ContextState, tuple[tuple[int, str], ...]]:
    """The new state, and (handle number, entry id) of every original that is hidden from now on."""
    entries, made, state, ledger = decision.entries, decision.made, decision.state, decision.ledger
    gone = decision.dropped()
    rungs: dict[str, Mark] = {}
    archived: list[tuple[int, str]] = []
    gone_ids = {entries[i].id for i in gone}
    for index, rung in made.rungs.items():
        entry = entries[index]
        if rung == FULL or entry.id in gone_ids:
            continue
        handle = ledger.handle(entry.id)
        rungs[entry.id] = Mark(rung, ledger.counted(index, rung).tokens, handle)
        if entry.id not in state.rungs:
            archived.append((handle, entry.id))
    new_gone = (entries[i].id for i in gone if entries[i].id not in state.rungs)
    archived.extend((ledger.handle(id), id) for id in new_gone)
    turns = decision.layout.turns
    kept = turns[made.first_turn :]
    first = entries[kept[0].positions[0]].position if kept and made.first_turn else state.first
    cuts = {}
    for number, cut in made.cuts.items():
        user = turns[number].user
        if number >= made.first_turn and user is not None and cut:
            cuts[entries[user].id] = entries[turns[number].groups[cut - 1].head].id
    late = [entries[i].id for i in gone if entries[i].position > first]
    used = sum(s.tokens for s in decision.slots)
    new = replace(
        state,
        born=max((e.position + 1 for e in entries), default=state.born),
        rungs=MappingProxyType(rungs),
        first=first,
        cuts=MappingProxyType(cuts),
        next_handle=ledger.next_handle,
        level=_level(decision, used),
        repaired=tuple(dict.fromkeys([*state.repaired, *late])),
        turn=max((e.turn for e in entries), default=state.turn),
    )
    return new, tuple(archived)


def _level(decision: Decision, used: int) -> int:
    limits = decision.limits
    return decision.budget.pressure.level((used + limits.overhead) / max(1, limits.available))


def events_of(decision: Decision, new: ContextState) -> tuple[ContextEvent, ...]:
    """What was done, in order: the batch first, then each message's cut, then what the view as a whole has come to."""
    cuts = [*_lowered(decision), *_evicted(decision), *_repaired(decision)]
    return tuple(replace(e, turn=new.turn) for e in [*_batch(decision), *cuts, *_pressure(decision, new)])


def _batch(decision: Decision) -> Iterator[ContextEvent]:
    entries, state, made = decision.entries, decision.state, decision.made
    before = [e for e in entries if e.position < state.born]
    used = sum(s.tokens for s in decision.slots)
    if not before:
        return
    if made.batch and _rewrites(decision):
        reason = f"usage crossed the high watermark of {decision.limits.high:,} tokens"
    elif _prefix_moved(decision, before):
        reason = "a message that came late belongs into what had been sent"
    else:
        return
    shown = sum(decision.ledger.counted(i, _before(decision, i)).tokens for i in _shown_before(decision))
    yield ContextEvent("batch", tokens_before=shown, tokens_after=used, reason=reason)


def _rewrites(decision: Decision) -> bool:
    """Whether anything that had been there before is shown otherwise, or no longer."""
    entries, born = decision.entries, decision.state.born
    lowered = any(r != decision.old_rung(i) for i, r in decision.made.rungs.items() if entries[i].position < born)
    return lowered or any(entries[i].position < born for i in decision.dropped())


def _before(decision: Decision, index: int) -> Rung:
    """The rung that an entry had; of a newcomer the one that it enters with."""
    new = decision.entries[index].position >= decision.state.born
    return decision.made.rungs[index] if new else decision.old_rung(index)


def _shown_before(decision: Decision) -> list[int]:
    gone = set(decision.dropped())
    shown = {s.entry for s in decision.slots if s.kind in ("message", "opening")}
    return [i for i, e in enumerate(decision.entries) if e.id in shown or i in gone]


def _prefix_moved(decision: Decision, before: Sequence[Entry]) -> bool:
    """Whether the view without this plan's newcomers is no longer a prefix of the view with them."""
    layout = decision.layout
    odd = layout.strays or layout.moved or any(g.dead for t in layout.turns for g in t.groups)
    late_system = any(decision.entries[i].position >= decision.state.born for i in layout.systems)
    leading = bool(layout.turns) and layout.turns[0].user is None
    if not (odd or late_system or leading):
        return False
    old_layout = lay_out(before)
    cuts = cuts_of(before, old_layout, decision.state)
    rungs = {i: decision.old_rung(i) for i in range(len(before))}
    old = slots_of(
        before, old_layout, replace(decision.made, rungs=rungs, first_turn=0, cuts=cuts), decision.limits.hard
    )
    return old != decision.slots[: len(old)]


def _lowered(decision: Decision) -> Iterator[ContextEvent]:
    gone = set(decision.dropped())
    for index, rung in decision.made.rungs.items():
        entry, old = decision.entries[index], decision.old_rung(index)
        if index in gone or rung == old:
            continue
        new = entry.position >= decision.state.born
        yield ContextEvent(
            _kind(entry, rung, new), (entry.id,), (entry.position,), entry.tier.value,
            decision.ledger.counted(index, old).tokens, decision.ledger.counted(index, rung).tokens,
            decision.made.reasons.get(index, ""), f"r{decision.ledger.handle(entry.id)}",
        )  # fmt: skip


def _kind(entry: Entry, rung: Rung, new: bool) -> EventKind:
    if rung.level >= 2 and entry.machine:
        return "offloaded"
    if not entry.machine:
        return "shortened"
    if new:
        return "rendered"
    return "compressed" if entry.kind in ("table", "json") else "shortened"


def _evicted(decision: Decision) -> Iterator[ContextEvent]:
    hidden = decision.left_out()
    for index in decision.dropped():
        entry = decision.entries[index]
        gone = index in hidden and entry.id in decision.state.repaired
        tokens = 0 if gone else decision.ledger.counted(index, decision.old_rung(index)).tokens
        yield ContextEvent(
            "evicted", (entry.id,), (entry.position,), entry.tier.value, tokens, 0,
            "the oldest messages left the view to make room", f"r{decision.ledger.handle(entry.id)}",
        )  # fmt: skip


def _repaired(decision: Decision) -> Iterator[ContextEvent]:
    seen = set(decision.state.repaired)
    for index, reason, after in _repairs(decision):
        entry = decision.entries[index]
        if entry.id not in seen:
            tokens = decision.ledger.counted(index, decision.made.rungs[index]).tokens
            yield ContextEvent(
                "repaired", (entry.id,), (entry.position,), entry.tier.value, tokens, tokens if after else 0, reason
            )


def _repairs(decision: Decision) -> Iterator[tuple[int, str, bool]]:
    layout = decision.layout
    gone = set(decision.dropped())
    for index in layout.strays:
        yield index, "a result without a call is left out of the view", False
    for index in layout.moved:
        if index not in gone:
            yield index, "a result is shown directly behind its call", True
    hidden = decision.left_out() - gone
    yield from ((i, "a tool call before the first user message is left out", False) for i in sorted(hidden))
    for turn in layout.turns[decision.made.first_turn :]:
        for group in turn.groups:
            if group.dead and group.head not in gone and group.head not in hidden:
                yield group.head, "a call without a result is answered by a note", True
    for rank, index in enumerate(layout.systems):
        if decision.entries[index].blank:
            yield index, "empty system text is left out of the view", False
        elif decision.entries[index].position > rank:
            yield index, "system text is shown at the head", True


def _pressure(decision: Decision, new: ContextState) -> Iterator[ContextEvent]:
    used = sum(s.tokens for s in decision.slots)
    for level, kind in ((2, "warning"), (3, "critical")):
        if decision.state.level < level <= new.level:
            yield ContextEvent(
                "warning" if kind == "warning" else "critical", tokens_before=used, tokens_after=used,
                reason=f"{used + decision.limits.overhead:,} of {decision.limits.available:,} tokens are used",
            )  # fmt: skip
