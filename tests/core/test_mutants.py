"""Mutants of the planner and of what stands around it: each must be caught by the battery that the real one passes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.core.battery import all_failures
from tiered_core import commit, composer, engine, eviction, ledger, planner, turns, view_slots
from tiered_core.errors import TieredError
from tiered_core.planner import Draft, Limits
from tiered_core.programs import known
from tiered_core.types import FULL, STUB, Group

Patch = Callable[[pytest.MonkeyPatch], None]


def test_the_real_planner_passes() -> None:
    """The battery finds nothing wrong with the planner as it is."""
    assert list(all_failures()) == []


def _no_turns_dropped(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(eviction._TAKE, "old_turns", lambda draft, goal: None)


def _no_victims(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(planner, "take_victims", lambda draft, strategy, limits: None)


def _current_turn_dropped(patch: pytest.MonkeyPatch) -> None:
    def old_turns(draft: Draft, goal: int) -> None:
        while draft.total > goal and draft.first_turn < len(draft.layout.turns):
            draft.drop_first_turn()

    patch.setitem(eviction._TAKE, "old_turns", old_turns)


def _newest_group_dropped(patch: pytest.MonkeyPatch) -> None:
    def open_groups(draft: Draft, goal: int) -> None:
        number = len(draft.layout.turns) - 1
        while draft.total > goal and draft.kept_groups(number):
            draft.drop_first_group(number)

    patch.setitem(eviction._TAKE, "open_groups", open_groups)


def _results_without_their_call(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Group, "positions", property(lambda self: self.results or (self.head,)))


def _first_instead_of_nearest_call(patch: pytest.MonkeyPatch) -> None:
    real = turns._nearest
    patch.setattr(turns, "_nearest", lambda opened, answers: real(list(reversed(opened)), answers))


def _dead_calls_stay_open(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(turns, "_close", lambda g, newest: Group(g.head, tuple(g.results), (), pending=newest))


def _pending_calls_shown(patch: pytest.MonkeyPatch) -> None:
    def close(group: Any, newest: bool) -> Group:
        return Group(group.head, tuple(group.results), () if newest else tuple(group.waiting))

    patch.setattr(turns, "_close", close)


def _strays_shown(patch: pytest.MonkeyPatch) -> None:
    real = view_slots.slots_of

    def slots_of(entries: Any, layout: Any, made: Any, room: int) -> Any:
        extra = tuple(view_slots.Slot(entries[i].id, made.rungs[i]) for i in layout.strays)
        return real(entries, layout, made, room) + extra

    patch.setattr(engine, "slots_of", slots_of)


def _overhead_forgotten(patch: pytest.MonkeyPatch) -> None:
    real = Limits.of
    patch.setattr(Limits, "of", classmethod(lambda cls, b, s, overhead, margin=0: real(b, s, 0, margin)))


def _one_token_too_many(patch: pytest.MonkeyPatch) -> None:
    real = Limits.of

    def of(cls: type[Limits], b: Any, s: Any, overhead: int, margin: int = 0) -> Limits:
        limits = real(b, s, overhead, margin)
        return replace(limits, hard=limits.hard + 40, high=limits.hard + 40, low=limits.hard + 40)

    patch.setattr(Limits, "of", classmethod(of))


def _every_add_compacts(patch: pytest.MonkeyPatch) -> None:
    real = Limits.of
    patch.setattr(Limits, "of", classmethod(lambda cls, *a: replace(real(*a), high=int(real(*a).hard * 0.3))))


def _batches_unreported(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(commit, "_batch", lambda decision: iter(()))


def _evictions_unreported(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(commit, "_evicted", lambda decision: iter(()))


def _rungs_forgotten(patch: pytest.MonkeyPatch) -> None:
    real = engine.state_of

    def state_of(decision: Any) -> Any:
        state, archived = real(decision)
        return replace(state, rungs={}), archived

    patch.setattr(engine, "state_of", state_of)


def _first_forgotten(patch: pytest.MonkeyPatch) -> None:
    real = engine.state_of

    def state_of(decision: Any) -> Any:
        state, archived = real(decision)
        return replace(state, first=0), archived

    patch.setattr(engine, "state_of", state_of)


def _cuts_off_by_one(patch: pytest.MonkeyPatch) -> None:
    real = planner.cuts_of
    patch.setattr(planner, "cuts_of", lambda *a: {n: max(0, k - 1) for n, k in real(*a).items()})


def _handles_repeat(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ledger.Ledger, "handle", lambda self, entry: self._handles.setdefault(entry, 1))


def _no_originals_kept(patch: pytest.MonkeyPatch) -> None:
    real = engine.state_of
    patch.setattr(engine, "state_of", lambda decision: (real(decision)[0], ()))


def _reborn_each_time(patch: pytest.MonkeyPatch) -> None:
    real = known.on_branch
    patch.setattr(known, "on_branch", lambda s, c: (replace(real(s, c)[0], born=max(0, real(s, c)[0].born - 3)), ()))


def _old_results_before_reading(patch: pytest.MonkeyPatch) -> None:
    real = planner._give_birth

    def give_birth(draft: Draft, *args: Any) -> int:
        for index, entry in enumerate(draft.entries):
            if entry.machine and index < len(draft.entries) - 6 and draft.rungs.get(index, FULL) == FULL:
                draft.lower(index, STUB, "early")
        return real(draft, *args)

    patch.setattr(planner, "_give_birth", give_birth)


def _rendering_ignores_its_cap(patch: pytest.MonkeyPatch) -> None:
    real = composer.Composer.measure

    def measure(self: Any, asks: Any) -> Any:
        found = yield from real(self, asks)
        return {a: min(t, 5) for a, t in found.items()}

    patch.setattr(composer.Composer, "measure", measure)


MUTANTS: list[Patch] = [
    _no_turns_dropped, _no_victims, _current_turn_dropped, _newest_group_dropped, _results_without_their_call,
    _first_instead_of_nearest_call, _dead_calls_stay_open, _pending_calls_shown, _strays_shown, _overhead_forgotten,
    _one_token_too_many, _every_add_compacts, _batches_unreported, _evictions_unreported, _rungs_forgotten,
    _first_forgotten, _cuts_off_by_one, _handles_repeat, _no_originals_kept, _reborn_each_time,
    _old_results_before_reading, _rendering_ignores_its_cap,
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.__name__.strip("_"))
def test_mutant_is_caught(mutant: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    """The battery finds something wrong, or the engine refuses to go on."""
    mutant(monkeypatch)
    # A mutant may be so wrong that the engine breaks; that is caught as well.
    with contextlib.suppress(ArithmeticError, LookupError, TieredError, TypeError, ValueError):
        assert next(all_failures(), None) is not None
