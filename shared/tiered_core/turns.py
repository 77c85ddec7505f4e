"""Transcript → groups → turns.

A group is an assistant message with all results of its calls, or any single message; a turn is a user message with the
groups up to the next user message. Call ids repeat and may be missing, so a result belongs to the nearest preceding
call of its id that has no result yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tiered_core.types import Entry, Group, Turn


@dataclass(frozen=True, slots=True)
class Layout:
    """A transcript in its turns. All numbers index the entries that were given.

    Attributes:
        systems: system messages, wherever they stand.
        turns: oldest first; only the first may lack a user message.
        strays: results without a call.
        moved: results that don't stand directly behind their call in the transcript.
    """

    systems: tuple[int, ...]
    turns: tuple[Turn, ...]
    strays: tuple[int, ...]
    moved: tuple[int, ...]

    @property
    def current(self) -> Turn | None:
        """The newest turn."""
        return self.turns[-1] if self.turns else None


@dataclass(slots=True)
class _OpenGroup:
    head: int
    waiting: list[str | None]
    results: list[int] = field(default_factory=list)

    def accept(self, answers: tuple[str | None, ...]) -> None:
        for answer in answers:
            fallback = None if None in self.waiting else self.waiting[0]
            self.waiting.remove(answer if answer in self.waiting else fallback)


def lay_out(entries: Sequence[Entry]) -> Layout:
    """Orders entries into groups and turns; each entry is a system, a stray, or in exactly one group or turn."""
    systems: list[int] = []
    strays: list[int] = []
    moved: list[int] = []
    turns: list[tuple[int | None, list[_OpenGroup]]] = []
    opened: list[_OpenGroup] = []  # groups that still wait for results, oldest first
    last_shown: _OpenGroup | None = None  # the group that the previous entry belongs to
    for index, entry in enumerate(entries):
        if entry.role == "system":
            systems.append(index)
            continue
        if entry.role == "tool":
            group = _nearest(opened, entry.answers)
            if group is None:
                strays.append(index)
                continue
            if group is not last_shown:
                moved.append(index)
            group.accept(entry.answers or (None,))
            group.results.append(index)
            if not group.waiting:
                opened.remove(group)
            continue
        if entry.role == "user":
            turns.append((index, []))
            last_shown = None
            continue
        last_shown = _OpenGroup(index, list(entry.calls))
        if last_shown.waiting:
            opened.append(last_shown)
        if not turns:
            turns.append((None, []))
        turns[-1][1].append(last_shown)
    newest = last_shown if last_shown is not None and last_shown.waiting else None
    built = tuple(Turn(user, tuple(_close(g, g is newest) for g in groups)) for user, groups in turns)
    return Layout(tuple(systems), built, tuple(strays), tuple(moved))


def _nearest(opened: Sequence[_OpenGroup], answers: tuple[str | None, ...]) -> _OpenGroup | None:
    """The newest group that waits for one of these answers; an answer without an id fits any that waits."""
    for group in reversed(opened):
        fits = [a for a in answers or (None,) if a is None or a in group.waiting or None in group.waiting]
        if fits and len(answers) <= len(group.waiting):
            return group
    return None


def _close(group: _OpenGroup, newest: bool) -> Group:
    dead = () if newest else tuple(group.waiting)
    return Group(group.head, tuple(group.results), dead, pending=newest)
