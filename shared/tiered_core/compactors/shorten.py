"""Head and tail of any text: the rule that never fails."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tiered_core.compactors.cells import unlike
from tiered_core.compactors.lexical import best_matches, question_words
from tiered_core.compactors.protocol import Body, Compacted, Room

_HEAD_SHARE = {True: 0.7, False: 0.6}
_PASSAGES_FROM = 200
_PASSAGE_SHARE = 0.4
_LEAST_PASSAGE, _PASSAGE_CHARACTERS = 60, 320
_MOST_PASSAGES = 4
_SNAP = 24
_MARKER_ROOM = 16
_MARKER_SHARE = 0.5
_ATTEMPTS = 8
_MOST_SCANNED = 4_000_000
_SENTENCE = re.compile(r"[.!?]\s|[。！？]")
_SPACE = re.compile(r"\s")
_JOINERS = "\u200d\ufe0e\ufe0f"


class ShortenCompactor:
    """Keeps the head, the tail and, given a question, the passages that share words with it.

    Each gap is marked with the characters that were left out and the handle. The result never exceeds the room, its
    markers included; where no marker fits any more it is the head alone, and "" for a room of nothing.
    """

    name = "shorten"
    order = 10

    def can_compact(self, body: Body) -> bool:
        """Always: any text can be shortened."""
        return True

    def estimate_savings(self, body: Body, room: Room) -> int:
        """Tokens above the room."""
        return max(0, body.tokens - max(0, room.max_tokens))

    def compact(self, body: Body, room: Room) -> Compacted:
        """The shortened text, the text itself when it fits; `shown` and `total` count characters."""
        total = len(body.text)
        if room.max_tokens <= 0 or not total:
            return Compacted("", 0, total)
        text = unlike(body.text, body.handle) if body.machine else body.text
        if body.tokens <= room.max_tokens and room.count(text) <= room.max_tokens:
            return Compacted(text, total, total)
        cut = _Cut(text, body, room)
        return cut.with_passages() or cut.head_and_tail(()) or cut.smallest()


@dataclass(frozen=True, slots=True)
class _Cut:
    text: str
    body: Body
    room: Room

    def with_passages(self) -> Compacted | None:
        """Head, passages and tail; None where nothing in the text answers to the question or the room is small."""
        wanted = question_words(self.body.question)
        if not wanted or self.room.max_tokens < _PASSAGES_FROM or len(self.text) > _MOST_SCANNED:
            return None
        share = _HEAD_SHARE[self.body.machine]
        most = self.room.max_tokens
        head = self._head(int(most * (1 - _PASSAGE_SHARE) * share))
        tail = self._tail(head, int(most * (1 - _PASSAGE_SHARE) * (1 - share)))
        size = int(_PASSAGE_SHARE / 3 * head / ((1 - _PASSAGE_SHARE) * share))  # a third of what passages may take
        pieces = _pieces(self.text, head, tail, max(_LEAST_PASSAGE, min(size, _PASSAGE_CHARACTERS)))
        return self.head_and_tail(_passages(self.text, pieces, wanted))

    def head_and_tail(self, passages: Sequence[tuple[int, int]]) -> Compacted | None:
        """The longest head and tail that fit around the passages; None when not even their markers do."""
        most = self.room.max_tokens
        share = _HEAD_SHARE[self.body.machine]
        kept = self._within(passages, int(most * _PASSAGE_SHARE))
        price = self._price(kept)
        if not kept and price > most * _MARKER_SHARE:
            return None
        goal = most - price
        for _ in range(_ATTEMPTS):
            head_tokens = int(goal * share)
            if goal < 2 or head_tokens < 1:
                return None
            head = self._head(head_tokens)
            tail = self._tail(head, goal - head_tokens)
            result = self._join([(0, head), *kept, (tail, len(self.text))])
            tokens = self.room.count(result.text)
            if tokens <= most:
                return result
            goal -= max(1, tokens - most)
        return None

    def _within(self, passages: Sequence[tuple[int, int]], tokens: int) -> list[tuple[int, int]]:
        kept: list[tuple[int, int]] = []
        for start, end in passages:
            tokens -= self.room.count(self.text[start:end]) + _MARKER_ROOM
            if tokens >= 0:
                kept.append((start, end))
        return sorted(kept)

    def _price(self, kept: Sequence[tuple[int, int]]) -> int:
        """Tokens of the passages and of all markers at their longest."""
        markers = [self._marker(len(self.text), last=i == len(kept)) for i in range(len(kept) + 1)]
        return sum(self.room.count(self.text[a:b]) for a, b in kept) + sum(map(self.room.count, markers))

    def _head(self, tokens: int) -> int:
        """Where a head of so many tokens ends."""
        end = _whole(self.text, len(self.room.truncate(self.text, tokens, "head")))
        return _snapped(self.text, end, -1)

    def _tail(self, head: int, tokens: int) -> int:
        """Where a tail of so many tokens begins."""
        kept = self.room.truncate(self.text[head:], tokens, "tail") if tokens > 0 else ""
        start = len(self.text) - len(kept)
        while start < len(self.text) and _whole(self.text, start) != start:
            start += 1
        return max(head, _snapped(self.text, start, 1))

    def _join(self, spans: Sequence[tuple[int, int]]) -> Compacted:
        """The spans with a marker in each gap; spans that touch or overlap are one."""
        merged: list[tuple[int, int]] = []
        for start, end in sorted(spans):
            if merged and start <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(end, merged[-1][1])
            else:
                merged.append((start, end))
        parts = [self.text[slice(*merged[0])]]
        for i, (before, after) in enumerate(pairwise(merged), 2):
            parts += [self._marker(after[0] - before[1], last=i == len(merged)), self.text[slice(*after)]]
        return Compacted("".join(parts), sum(end - start for start, end in merged), len(self.text))

    def _marker(self, left_out: int, last: bool) -> str:
        handle = self.body.handle
        whole = f" of {len(self.text):,} characters left out, whole text: recall {handle}" if last else " left out"
        return f" [{handle}: …{left_out:,}{whole}…] "

    def smallest(self) -> Compacted:
        """The head under the shortest marker that leaves room for a head, at last the head alone."""
        most = self.room.max_tokens
        for marker in (f" […{self.body.handle}]", "…", ""):
            own = self.room.count(marker) if marker else 0
            for tokens in range(most - own, max(0, most - own - _ATTEMPTS), -1):
                head = _whole(self.text, len(self.room.truncate(self.text, tokens, "head")))
                told = self.text[:head] + (marker if head < len(self.text) else "")
                if told.strip() and self.room.count(told) <= most:
                    return Compacted(told, head, len(self.text))
        told = self.room.truncate(self.text.strip(), most, "head") or "…"
        if not told.strip() or self.room.count(told) > most:
            told = ""
        return Compacted(told, len(told) if told != "…" else 0, len(self.text))


def _passages(text: str, pieces: Sequence[tuple[int, int]], wanted: Sequence[str]) -> list[tuple[int, int]]:
    """(start, end) of the pieces that share most words with the question, best first."""
    found = best_matches([text[start:end] for start, end in pieces], wanted, _MOST_PASSAGES)
    return [pieces[i] for score, i in found if score * 2 >= found[0][0]]


def _pieces(text: str, start: int, stop: int, size: int) -> list[tuple[int, int]]:
    """The part of a text in pieces of at most `size` characters, cut after lines, else sentences, else words."""
    pieces: list[tuple[int, int]] = []
    while start < stop:
        limit = min(stop, start + size)
        end = limit if limit == stop else _break(text, start + size // 4, limit)
        end = end if end > start else limit
        pieces.append((start, end))
        start = end
    return pieces


def _break(text: str, low: int, high: int) -> int:
    """The best place to cut between two positions."""
    line = text.rfind("\n", low, high)
    if line >= 0:
        return line + 1
    ends = [found.end() for found in _SENTENCE.finditer(text, low, high)]
    return ends[-1] if ends else _snapped(text, _whole(text, high), -1)


def _snapped(text: str, at: int, step: int) -> int:
    """The cut moved by at most 24 characters so that it doesn't split a word or a number."""
    if not 0 < at < len(text) or _SPACE.match(text[at - 1]) or _SPACE.match(text[at]):
        return at
    for moved in range(at, max(0, min(len(text), at + step * _SNAP)), step):
        if _SPACE.match(text[moved - 1] if step < 0 else text[moved]):
            return moved
    return at


def _whole(text: str, end: int) -> int:
    """The cut moved back so that it splits no surrogate pair, no CR LF and no letter from its accents or joiners."""
    for _ in range(_ATTEMPTS):
        if not 0 < end < len(text) or not _sticks(text[end - 1], text[end]):
            break
        end -= 1
    return end


def _sticks(before: str, after: str) -> bool:
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return True
    if before == "\r" and after == "\n":
        return True
    return before == "\u200d" or after in _JOINERS or unicodedata.combining(after) > 0
