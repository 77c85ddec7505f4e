"""`fit`: entries and state in, slots, new state and events out.

The loop plans, asks for the tokens of what was chosen and not yet measured, and plans again until all is measured
and the sum fits. It is a generator that yields what it needs measured, so that sync and async callers share it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace

from tiered_core.budget import TokenBudget
from tiered_core.calibration import Calibration
from tiered_core.commit import Decision, events_of, state_of
from tiered_core.events import ContextEvent
from tiered_core.ledger import Ask, Ledger, Measured
from tiered_core.planner import Limits, Plan, plan
from tiered_core.state import ContextState
from tiered_core.strategies import CompactionStrategy
from tiered_core.turns import Layout, lay_out
from tiered_core.types import Entry, Slot
from tiered_core.view_slots import slots_of

_ROUNDS = 400
_STEPS = 64
"""The margin grows by at least this part of the limit, so that the search ends soon however a counter behaves."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What `fit` decided; it changes nothing until the caller stores it.

    Attributes:
        slots: the view, first message first, each with its measured tokens.
        handles: handle numbers by entry id.
        state: the new state.
        events: what was done, in order.
        archived: (handle number, entry id) of every original that is hidden from now on and was not before.
        compacted: whether victims were taken.
        counted: tokens of each slot by the counter; those in `slots` and `used` are corrected by the calibration.
        used: tokens of the view.
        limits: what there was room for.
    """

    slots: tuple[Slot, ...]
    handles: Mapping[str, int]
    state: ContextState
    events: tuple[ContextEvent, ...]
    archived: tuple[tuple[int, str], ...]
    compacted: bool
    counted: tuple[int, ...]
    used: int
    limits: Limits

    @property
    def fits(self) -> bool:
        """Whether the view is within the hard limit."""
        return self.used <= self.limits.hard


Fitting = Generator[Sequence[Ask], Measured, Fit]


def fit(
    entries: Sequence[Entry], state: ContextState, budget: TokenBudget, overhead: int,
    strategy: CompactionStrategy, known: Measured, *, compact: bool | None = None,
) -> Fitting:  # fmt: skip
    """Decides the view.

    Args:
        entries: system messages and all entries from position `state.first` on, in transcript order.
        state: what was decided before.
        budget: in tokens.
        overhead: tokens around the view by the counter, the request's own framing included.
        strategy: watermarks and order of victims.
        known: what is measured already.
        compact: whether to take victims; None where usage is above the high watermark.

    Yields:
        Slots that have to be measured; the caller sends back their tokens.
    """
    layout = lay_out(entries)
    calibration = Calibration.from_dict(state.calibration) if state.calibration else None
    ledger = Ledger(entries, state, known, calibration)
    if calibration is not None:
        overhead = calibration.apply("other", overhead) + calibration.overhead
    limits = Limits.of(budget, strategy, overhead)
    made, slots = yield from _search(entries, layout, state, budget, strategy, limits, ledger, compact)
    decision = Decision(entries, layout, state, budget, made, slots, ledger, limits)
    new_state, archived = state_of(decision)
    events = events_of(decision, new_state)
    new_state = replace(
        new_state,
        batches=state.batches + sum(e.kind == "batch" for e in events),
        repaired=_still_live(entries, new_state, [*new_state.repaired, *_repaired(events)]),
    )
    counted = tuple(ledger.counted_slot(s) for s in slots)
    used = sum(s.tokens for s in slots)
    return Fit(slots, ledger.handles, new_state, events, archived, made.batch, counted, used, limits)


def _search(
    entries: Sequence[Entry], layout: Layout, state: ContextState, budget: TokenBudget,
    strategy: CompactionStrategy, limits: Limits, ledger: Ledger, compact: bool | None,
) -> Generator[Sequence[Ask], Measured, tuple[Plan, tuple[Slot, ...]]]:  # fmt: skip
    """The loop: a plan whose slots are all measured, and that fits if any does.

    What the planner can't see (notes of ours, a counter that isn't additive, a rendering above its estimate) is
    taken off as a margin that grows by the excess until the measured sum fits or nothing is left to give.
    """
    margin, last = 0, None
    for _ in range(_ROUNDS):
        tight = Limits.of(budget, strategy, limits.overhead, margin)
        made = plan(entries, layout, state, ledger.step, budget, strategy, tight, compact=True if margin else compact)
        slots = slots_of(entries, layout, made, limits.hard)
        asks = [ledger.ask(s) for s in slots]
        missing = list(dict.fromkeys(a for a in asks if ledger.tokens(a) is None))
        if missing:
            ledger.learn((yield missing))
            continue
        slots = tuple(replace(s, tokens=ledger.tokens(a) or 0) for s, a in zip(slots, asks, strict=True))
        excess = sum(s.tokens for s in slots) - limits.hard
        exhausted = last is not None and (made.rungs, made.first_turn, made.cuts) == last and made.total > tight.hard
        last = (made.rungs, made.first_turn, made.cuts)
        if excess <= 0 or exhausted or compact is False:
            break
        margin += max(excess, limits.hard // _STEPS)
    return made, slots


def _repaired(events: Sequence[ContextEvent]) -> list[str]:
    return [i for e in events if e.kind == "repaired" for i in e.ids]


def _still_live(entries: Sequence[Entry], state: ContextState, ids: Sequence[str]) -> tuple[str, ...]:
    """Those of the ids that a later plan will meet again; the state does not grow with what has left the view."""
    if not ids:
        return ()
    live = {e.id for e in entries if e.position >= state.first or e.role == "system"}
    return tuple(i for i in dict.fromkeys(ids) if i in live)
