"""Nested JSON: the structure stays, long parts are cut where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tiered_core.compactors.cells import neutral, own_line, whole_prefix
from tiered_core.compactors.json_facts import Survey, phrases, survey
from tiered_core.compactors.json_text import Number, dump_json, dump_scalar, is_container, read_json
from tiered_core.compactors.lexical import best_matches, question_words, words
from tiered_core.compactors.protocol import Body, Compacted, Room

_LEAST_TOKENS = 40
_FACT_SHARE = 0.35
_MOST_FOUND = 8
_READ_ITEMS = 50_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of each part is kept: items of an array, keys of an object, characters of a text, levels of nesting."""

    items: int
    keys: int
    characters: int
    depth: int


_LADDER = tuple(
    Limits(items, keys, characters, depth)
    for items, keys, characters, depth in (
        (500, 500, 4_000, 40), (200, 300, 2_000, 30), (100, 200, 1_000, 20), (60, 150, 600, 16), (40, 100, 400, 12),
        (30, 80, 300, 10), (20, 60, 240, 9), (15, 50, 200, 8), (12, 40, 160, 8), (10, 30, 120, 7), (8, 30, 120, 6),
        (6, 25, 100, 6), (5, 20, 80, 6), (4, 20, 80, 5), (3, 20, 60, 5), (2, 16, 60, 5), (2, 12, 40, 4), (1, 12, 40, 4),
        (1, 10, 30, 3), (1, 8, 24, 2), (0, 6, 16, 2), (0, 4, 12, 1),
    )
)  # fmt: skip


class JsonCompactor:
    """Shows a JSON value with long arrays, objects and texts cut short, under exact facts about the whole.

    The first line is ours. What follows it is valid JSON. In an array `"[r12: 480 left out, 20 of 500 items shown]"`
    stands where items are missing, in an object the key `"[r12: 12 of 40 keys shown]"`, at the end of a text
    `…[r12: 900 characters left out]`, and `"[r12: object of 7 keys]"` for what lies deeper than is shown. `shown` and
    `total` count values that are neither objects nor arrays.
    """

    name = "json"
    order = 2

    def can_compact(self, body: Body) -> bool:
        """Whether the body is JSON, records included."""
        starts = body.text[:64].lstrip("\ufeff \t\r\n")[:1]
        return body.kind == "json" or (body.kind == "table" and starts in ("{", "["))

    def estimate_savings(self, body: Body, room: Room) -> int:
        """Tokens above the room; 0 for a room in which nothing can be rendered."""
        able = self.can_compact(body) and room.max_tokens >= _LEAST_TOKENS
        return max(0, body.tokens - room.max_tokens) if able else 0

    def compact(self, body: Body, room: Room) -> Compacted | None:
        """The largest rendering that fits; None when the text is no JSON or the room too small."""
        value = read_json(body.text) if room.max_tokens >= _LEAST_TOKENS else None
        return None if value is None else _fit(value, body, room)


def _fit(value: dict[str, Any] | list[Any], body: Body, room: Room) -> Compacted | None:
    """Tries a step of the ladder whose estimated size fits, then counts it whole and goes down while it doesn't."""
    found = survey(value)
    told = phrases(found, body.question)
    painter = _Painter(body.handle, question_words(body.question))
    most = min(room.max_tokens, body.tokens - 1)
    low, high = 0, len(_LADDER) - 1
    sample = painter.paint(value, _LADDER[-6])[0]
    characters = most * len(sample) / max(1, room.count(sample))
    while low < high:
        middle = (low + high) // 2
        if len(painter.paint(value, _LADDER[middle])[0]) <= characters * (1 - _FACT_SHARE / 2):
            high = middle
        else:
            low = middle + 1
    for step in range(low, len(_LADDER)):
        text, shown = painter.paint(value, _LADDER[step])
        for part in (1.0, 0.5, 0.0):
            head = _head(found, told, shown, body.handle, characters * _FACT_SHARE * part)
            if room.count(f"{head}\n{text}") <= most:
                return Compacted(f"{head}\n{text}", shown, found.leaves)
    return None


def _head(found: Survey, told: Sequence[str], shown: int, handle: str, characters: float) -> str:
    kept: list[str] = []
    for text in told:
        characters -= len(text) + 2
        if characters < 0:
            break
        kept.append(text)
    facts = "; ".join(kept)
    note = " (~ rounded)" if "~" in facts else ""
    about = f"; facts of the whole{note}: {facts}" if kept else ""
    return own_line(handle, f"JSON, shown {shown} of {found.leaves} values; whole: recall {handle}{about}")


class _Painter:
    """Writes a value within limits; what it chose of an array is remembered, so that all limits choose alike."""

    def __init__(self, handle: str, wanted: Sequence[str]) -> None:
        self.handle, self.wanted = handle, tuple(wanted)
        self.orders: dict[int, list[int]] = {}

    def paint(self, value: dict[str, Any] | list[Any], limits: Limits) -> tuple[str, int]:
        """(JSON, leaves that it shows)."""
        return self._node(value, limits, 0)

    def _node(self, value: Any, limits: Limits, depth: int) -> tuple[str, int]:
        if isinstance(value, dict):
            return self._object(value, limits, depth)
        if isinstance(value, list):
            return self._array(value, limits, depth)
        return self._leaf(value, limits), 1

    def _mark(self, text: str) -> str:
        return dump_scalar(f"[{self.handle}: {text}]")

    def _leaf(self, value: Any, limits: Limits) -> str:
        if isinstance(value, str) and len(value) > limits.characters:
            kept = neutral(whole_prefix(value, limits.characters), self.handle)
            return dump_scalar(f"{kept}…[{self.handle}: {len(value) - len(kept):,} characters left out]")
        if isinstance(value, str) and not isinstance(value, Number):
            return dump_scalar(neutral(value, self.handle))
        return dump_scalar(value)

    def _object(self, value: dict[str, Any], limits: Limits, depth: int) -> tuple[str, int]:
        if depth >= limits.depth and value:
            return self._mark(f"object of {len(value)} keys"), 0
        kept = self._keys(value, limits.keys)
        parts: list[str] = []
        leaves = 0
        for key in kept:
            text, n = self._node(value[key], limits, depth + 1)
            parts.append(f"{self._leaf(key, limits)}:{text}")
            leaves += n
        if len(kept) < len(value):
            parts.append(self._mark(f"{len(kept)} of {len(value)} keys shown") + ':"…"')
        return "{" + ",".join(parts) + "}", leaves

    def _keys(self, value: dict[str, Any], most: int) -> list[str]:
        if len(value) <= most:
            return list(value)
        wanted = set(self.wanted)
        named = [key for key in value if wanted and not wanted.isdisjoint(words(key[:400]))]
        chosen = set(list(dict.fromkeys([*named, *value]))[:most])
        return [key for key in value if key in chosen]

    def _array(self, value: list[Any], limits: Limits, depth: int) -> tuple[str, int]:
        if depth >= limits.depth and value:
            return self._mark(f"array of {len(value)} items"), 0
        chosen = range(len(value)) if len(value) <= limits.items else sorted(self._order(value)[: limits.items])
        parts: list[str] = []
        leaves, last = 0, -1
        for i in (*chosen, len(value)):
            if i - last > 1:
                total = f", {len(chosen)} of {len(value)} items shown" if len(parts) == last + 1 else ""
                parts.append(self._mark(f"{i - last - 1} left out{total}"))
            if i < len(value):
                text, n = self._node(value[i], limits, depth + 1)
                parts.append(text)
                leaves += n
            last = i
        return "[" + ",".join(parts) + "]", leaves

    def _order(self, value: list[Any]) -> list[int]:
        """Positions of the items worth showing first: what matches the question, the first, the last, the next ones."""
        known = self.orders.get(id(value))
        if known is None:
            most = _LADDER[0].items
            matches: list[int] = []
            if self.wanted and len(value) <= _READ_ITEMS:
                matches = [i for _, i in best_matches([_text(item) for item in value], self.wanted, _MOST_FOUND)]
            known = list(dict.fromkeys([*matches, 0, len(value) - 1, *range(1, len(value))]))[:most]
            self.orders[id(value)] = known
        return known


def _text(item: Any) -> str:
    try:
        return dump_json(item) if is_container(item) else str(item or "")
    except RecursionError:
        return ""
