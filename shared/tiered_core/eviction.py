"""Which victims a batch takes, kind by kind, oldest first: it lowers rungs and drops turns or groups of a draft."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from tiered_core.strategies import CompactionStrategy, Victims
from tiered_core.types import BARE, FULL, STUB, Group, Rung, small

if TYPE_CHECKING:
    from tiered_core.planner import Draft, Limits

_GENTLE = ("old_results", "old_turns", "open_results", "open_groups")


def take_victims(draft: Draft, strategy: CompactionStrategy, limits: Limits) -> None:
    """Takes victims in the strategy's order until the draft is at the low watermark.

    The kinds that cost what the model is working on are taken only down to the high watermark, and bare handles
    only where the hard limit asks for them.
    """
    for kind in strategy.order:
        goal = limits.low if kind in _GENTLE else limits.high
        if kind in ("last_answer", "bare"):
            goal = limits.hard
        if draft.total > goal:
            _TAKE[kind](draft, goal)


def _old_results(draft: Draft, goal: int) -> None:
    for number in range(draft.first_turn, len(draft.layout.turns) - 1):
        _stub(draft, (i for g in draft.kept_groups(number) for i in g.results), goal, "an older result")


def _old_turns(draft: Draft, goal: int) -> None:
    while draft.total > goal and draft.first_turn < len(draft.layout.turns) - 1:
        draft.drop_first_turn()


def _open_results(draft: Draft, goal: int) -> None:
    _stub(draft, (i for g in _older_groups(draft) for i in g.results), goal, "an older result of the current turn")


def _open_groups(draft: Draft, goal: int) -> None:
    number = len(draft.layout.turns) - 1
    if number < 0 or _in_signed_loop(draft):
        return
    while draft.total > goal and len(draft.kept_groups(number)) > 1:
        draft.drop_first_group(number)


def _last_results(draft: Draft, goal: int) -> None:
    group = _newest_group(draft)
    if group is not None:
        _shrink(draft, group.results, goal, "the newest results have to share the room")


def _last_words(draft: Draft, goal: int) -> None:
    turn = draft.layout.current
    if turn is None:
        return
    group = _newest_group(draft)
    words = [] if group is None else [group.head]
    words += [] if turn.user is None else [turn.user]
    words += [g.head for g in _older_groups(draft)]
    _shrink(draft, words, goal, "the current turn alone is larger than the window")


def _last_answer(draft: Draft, goal: int) -> None:
    turn, group = draft.layout.current, _newest_group(draft)
    if turn is None or turn.user is None or group is None or draft.entries[group.head].calls:
        return
    if draft.total > goal:
        draft.drop_first_group(len(draft.layout.turns) - 1)


def _bare(draft: Draft, goal: int) -> None:
    """Only handles of everything else, then less and less of the current request, then less than a handle."""
    kept = draft.kept()
    others = [i for role in ("tool", "assistant") for i in kept if draft.entries[i].role == role]
    requests = [i for i in kept if draft.entries[i].role == "user"]
    for least in (BARE.cap, 1):
        for index in others:
            if draft.total > goal:
                _lower(draft, index, Rung(BARE.level, least))
        for index in requests:
            if draft.total > goal:
                said = draft.cost(index) - draft.entries[index].fixed
                left = max(least, min(said, STUB.cap) - (draft.total - goal))
                _lower(draft, index, Rung(BARE.level, left))


def _lower(draft: Draft, index: int, rung: Rung) -> None:
    """Lowers an entry if that frees anything."""
    if draft.step(index, rung).tokens < draft.cost(index):
        draft.lower(index, rung, "nothing larger fits the window")


_TAKE: dict[Victims, Callable[[Draft, int], None]] = {
    "old_results": _old_results,
    "old_turns": _old_turns,
    "open_results": _open_results,
    "open_groups": _open_groups,
    "last_results": _last_results,
    "last_words": _last_words,
    "last_answer": _last_answer,
    "bare": _bare,
}


def _older_groups(draft: Draft) -> tuple[Group, ...]:
    """The kept groups of the current turn but for its newest one that is shown."""
    if not draft.layout.turns:
        return ()
    shown = tuple(g for g in draft.kept_groups(len(draft.layout.turns) - 1) if not g.pending)
    return shown[:-1]


def _newest_group(draft: Draft) -> Group | None:
    if not draft.layout.turns:
        return None
    shown = [g for g in draft.kept_groups(len(draft.layout.turns) - 1) if not g.pending]
    return shown[-1] if shown else None


def _in_signed_loop(draft: Draft) -> bool:
    """Whether the current turn is still open and carries signed reasoning: then its groups must stay whole."""
    groups = draft.kept_groups(len(draft.layout.turns) - 1)
    still_open = bool(groups) and bool(draft.entries[groups[-1].head].calls)
    return still_open and any(draft.entries[g.head].signed for g in groups)


def _stub(draft: Draft, indexes: Iterable[int], goal: int, why: str) -> None:
    for index in indexes:
        if draft.total <= goal:
            return
        if draft.step(index, STUB).tokens < draft.cost(index):
            draft.lower(index, STUB, f"{why} made room")


def _shrink(draft: Draft, indexes: Iterable[int], goal: int, why: str) -> None:
    """Lowers the largest of some entries to one common cap, so that together they free what is missing.

    Water filling: what is smaller than the cap keeps its size. Caps are taken from a coarse grid, so that a little more
    room asked for gives the same rendering.
    """
    by_size = sorted(((draft.cost(i), i) for i in indexes), reverse=True)
    room = sum(cost for cost, _ in by_size) - (draft.total - goal)
    share, left = 0, len(by_size)
    for cost, _ in reversed(by_size):
        share = room // left if left else 0
        if cost > share:
            break
        room, left = room - cost, left - 1
    for cost, index in by_size:
        if cost > share:
            rung = coarse_cap(draft, index, share)
            draft.lower(index, rung, why)


def coarse_cap(draft: Draft, index: int, share: int) -> Rung:
    """The rung "at most about `share` tokens": small where that leaves room to say something, else a stub."""
    entry = draft.entries[index]
    floor = draft.step(index, STUB).tokens
    rows = draft.rungs.get(index, FULL).rows
    return small(max(on_grid(share), entry.fixed + 1), rows) if share > floor else STUB


def on_grid(tokens: int) -> int:
    """The largest number of the form 2**k * {16, 20, 24, 28} / 16 that is at most `tokens`; small ones as they are."""
    if tokens < 32:
        return max(tokens, 0)
    unit = 1 << (tokens.bit_length() - 3)
    return tokens // unit * unit
