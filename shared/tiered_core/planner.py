"""The one planner: numbers and links in, a plan out. It never sees text, a clock, a host or the network.

A plan only lowers rungs and drops whole turns or, inside the current turn, whole groups; so a result without its
call can't be expressed, and roles alternate as they did in the transcript.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tiered_core.budget import TokenBudget
from tiered_core.eviction import take_victims
from tiered_core.state import ContextState
from tiered_core.strategies import CompactionStrategy
from tiered_core.turns import Layout
from tiered_core.types import FULL, Entry, Group, Rung, Step, small

ROWS_BY_LEVEL = (20, 20, 10, 5)
"""Rows of a table that enters at compression level 0 to 3 (requirement A15)."""
DEAD_ANSWER_TOKENS = 30
"""Estimate of the answer to a dead call; the engine measures it before it commits."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Tokens for the view, overhead already taken off.

    Attributes:
        hard: never more than this.
        high: above it a batch starts.
        low: to which a batch goes.
        available: of the effective window less reserve, for the pressure.
        overhead: tokens around the view.
    """

    hard: int
    high: int
    low: int
    available: int
    overhead: int

    @classmethod
    def of(cls, budget: TokenBudget, strategy: CompactionStrategy, overhead: int, margin: int = 0) -> Limits:
        """The limits of a budget; `margin` tokens are taken off for what the planner can't see."""
        hard = budget.available - overhead - margin
        return cls(hard, int(hard * strategy.trigger), int(hard * strategy.target), budget.available, overhead)


@dataclass(frozen=True, slots=True)
class Plan:
    """What shall be shown. Indexes are those of the entries that were given to `plan`.

    Attributes:
        rungs: of every kept entry.
        first_turn: index of the first kept turn.
        cuts: by index of a turn, the index of its first kept group.
        total: tokens, as far as the planner can see.
        batch: whether what had been sent is rewritten.
        level: compression level 0 to 3 at which the newest entries were born.
        reasons: why an entry was lowered, by index.
    """

    rungs: Mapping[int, Rung]
    first_turn: int
    cuts: Mapping[int, int]
    total: int
    batch: bool
    level: int
    reasons: Mapping[int, str]


class Draft:
    """A plan in the making, with running sums."""

    def __init__(self, entries: Sequence[Entry], layout: Layout, step: Callable[[int, Rung], Step]) -> None:
        self.entries = entries
        self.layout = layout
        self.step = step
        self.rungs: dict[int, Rung] = {}
        self.first_turn = 0
        self.cuts: dict[int, int] = {}
        self.reasons: dict[int, str] = {}
        self.total = 0

    def cost(self, index: int) -> int:
        """Tokens of an entry at the rung it has."""
        return self.step(index, self.rungs.get(index, FULL)).tokens

    def group_cost(self, group: Group) -> int:
        """Tokens of a group; 0 while it waits for results, since it is not shown then."""
        if group.pending:
            return 0
        return sum(map(self.cost, group.positions)) + DEAD_ANSWER_TOKENS * len(group.dead)

    def lower(self, index: int, rung: Rung, reason: str) -> None:
        """Lowers an entry, unless it stands there or lower already."""
        if not rung.lower_than(self.rungs.get(index, FULL)):
            return
        self.total -= self.cost(index)
        self.rungs[index] = rung
        self.reasons[index] = reason
        self.total += self.cost(index)

    def kept_groups(self, turn: int) -> tuple[Group, ...]:
        """The groups of a turn that are still shown."""
        return self.layout.turns[turn].groups[self.cuts.get(turn, 0) :]

    def drop_first_turn(self) -> None:
        """Takes the oldest kept turn out of the view."""
        turn = self.layout.turns[self.first_turn]
        self.total -= 0 if turn.user is None else self.cost(turn.user)
        self.total -= sum(map(self.group_cost, self.kept_groups(self.first_turn)))
        self.first_turn += 1

    def drop_first_group(self, turn: int) -> None:
        """Takes the oldest kept group of a turn out of the view."""
        self.total -= self.group_cost(self.kept_groups(turn)[0])
        self.cuts[turn] = self.cuts.get(turn, 0) + 1

    def kept(self) -> list[int]:
        """Indexes of all entries that are shown, results of a waiting group left out."""
        out = list(self.layout.systems)
        for number in range(self.first_turn, len(self.layout.turns)):
            user = self.layout.turns[number].user
            out += [] if user is None else [user]
            out += [i for g in self.kept_groups(number) if not g.pending for i in g.positions]
        return out


def plan(
    entries: Sequence[Entry], layout: Layout, state: ContextState, step: Callable[[int, Rung], Step],
    budget: TokenBudget, strategy: CompactionStrategy, limits: Limits, *, compact: bool | None = None,
) -> Plan:  # fmt: skip
    """Decides how every entry is shown.

    Args:
        entries: system messages and all entries from the first kept one on, in transcript order.
        layout: of these entries.
        state: what was decided before; entries at `state.born` and later are born now.
        step: tokens of an entry at a rung, measured or estimated.
        budget: caps and thresholds.
        strategy: watermarks and order of victims.
        limits: in tokens.
        compact: whether to take victims; None where usage is above the high watermark.
    """
    draft = _draft_of(entries, layout, state, step)
    level = budget.pressure.level((draft.total + limits.overhead) / max(1, limits.available))
    level = _give_birth(draft, state, budget, limits, level)
    batch = draft.total > limits.high if compact is None else compact
    if batch:
        take_victims(draft, strategy, limits)
    return Plan(
        {i: draft.rungs.get(i, FULL) for i in range(len(entries))},
        draft.first_turn, dict(draft.cuts), draft.total, batch, level, dict(draft.reasons),
    )  # fmt: skip


def cuts_of(entries: Sequence[Entry], layout: Layout, state: ContextState) -> dict[int, int]:
    """By index of a turn, the index of its first group that the state still shows; only turns that lost one."""
    cuts = {}
    for number, turn in enumerate(layout.turns):
        last = None if turn.user is None else state.cuts.get(entries[turn.user].id)
        if last is not None:
            cuts[number] = next((k + 1 for k, g in enumerate(turn.groups) if entries[g.head].id == last), 0)
    return cuts


def _draft_of(
    entries: Sequence[Entry], layout: Layout, state: ContextState, step: Callable[[int, Rung], Step]
) -> Draft:
    """The draft that shows what the state shows, with entries that are not yet born left out of the sum."""
    draft = Draft(entries, layout, step)
    for index, entry in enumerate(entries):
        mark = state.rungs.get(entry.id)
        if mark is not None:
            draft.rungs[index] = mark.rung
    draft.cuts.update(cuts_of(entries, layout, state))
    born = [i for i in draft.kept() if entries[i].position < state.born]
    dead = sum(len(g.dead) for n in range(len(layout.turns)) for g in draft.kept_groups(n))
    draft.total = sum(map(draft.cost, born)) + DEAD_ANSWER_TOKENS * dead
    return draft


def _give_birth(draft: Draft, state: ContextState, budget: TokenBudget, limits: Limits, level: int) -> int:
    """Gives each new entry its rung, from the pressure at that moment; returns the level at the end."""
    shown = set(draft.kept())
    for index, entry in enumerate(draft.entries):
        if entry.position < state.born:
            continue
        cap = budget.birth_cap(entry.tier)
        if entry.machine and entry.tokens > cap and index not in draft.rungs:
            draft.rungs[index] = small(cap, ROWS_BY_LEVEL[level])
            draft.reasons[index] = f"over the cap of {cap:,} tokens when it entered"
        if index in shown:
            draft.total += draft.cost(index)
        level = budget.pressure.level((draft.total + limits.overhead) / max(1, limits.available))
    return level
