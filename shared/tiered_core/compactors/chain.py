"""Asks one compactor after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tiered_core.compactors.json_tree import JsonCompactor
from tiered_core.compactors.log import LogCompactor
from tiered_core.compactors.protocol import Body, Compacted, Compactor, Room
from tiered_core.compactors.shorten import ShortenCompactor
from tiered_core.compactors.table import TableCompactor

DEFAULT_COMPACTORS: tuple[Compactor, ...] = (TableCompactor(), JsonCompactor(), LogCompactor(), ShortenCompactor())

_LAST_RESORT = ShortenCompactor()


def compact(
    body: Body,
    room: Room,
    compactors: Sequence[Compactor] = DEFAULT_COMPACTORS,
    on_failure: Callable[[Compactor, Exception], None] | None = None,
) -> Compacted:
    """The body made smaller by the first compactor, in ascending `order`, that has a usable answer.

    An answer is usable when it isn't blank, fits the room and is smaller than the body. Whoever has none is skipped,
    and so is whoever fails or answers with a text that is no str or numbers that are no ints; `ShortenCompactor` comes
    last whether it is among `compactors` or not, so the result always fits the room.

    Args:
        body: the text.
        room: what there is room for.
        compactors: whom to ask; equal orders are asked as they stand.
        on_failure: told of each compactor that raised or answered with something else than a sound `Compacted` or None.
    """
    for compactor in sorted(compactors, key=lambda c: c.order):
        try:
            answer = _usable(compactor, body, room)
        except Exception as failure:  # noqa: BLE001 - a rule from outside
            if on_failure is not None:
                on_failure(compactor, failure)
            continue
        if answer is not None:
            return answer
    return _LAST_RESORT.compact(body, room)


def _usable(compactor: Compactor, body: Body, room: Room) -> Compacted | None:
    answer: object = compactor.compact(body, room) if compactor.can_compact(body) else None
    if answer is None:
        return None
    if not isinstance(answer, Compacted):
        given = type(answer).__name__
        raise TypeError(f"compactor {compactor.name!r} answered with {given}, expected Compacted or None")
    _check(compactor, answer)
    if not answer.text.strip():
        return None
    tokens = room.count(answer.text)
    return answer if tokens <= room.max_tokens and tokens < body.tokens else None


def _check(compactor: Compactor, answer: Compacted) -> None:
    """A rule from outside may put anything into its answer.

    Raises:
        TypeError: when the text is no str, or a number no int.
    """
    given: tuple[tuple[str, object, type], ...] = (
        ("text", answer.text, str), ("shown", answer.shown, int), ("total", answer.total, int),
        ("columns_hidden", answer.columns_hidden, int),
    )  # fmt: skip
    for name, value, kind in given:
        if not isinstance(value, kind) or isinstance(value, bool):
            found = type(value).__name__
            raise TypeError(f"compactor {compactor.name!r} answered with {name} {found}, expected {kind.__name__}")
