"""Tables: the rows that matter, exact facts about all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tiered_core.compactors.cells import cell, label, neutral, own_line, quoted, whole_prefix
from tiered_core.compactors.cube import answers
from tiered_core.compactors.fact_text import phrase
from tiered_core.compactors.facts import profile
from tiered_core.compactors.protocol import Body, Compacted, Room
from tiered_core.compactors.selection import Interest, match_rows, rank_columns, rank_facts, rank_rows
from tiered_core.compactors.shapes import Table
from tiered_core.compactors.shorten import ShortenCompactor
from tiered_core.compactors.table_plan import NAMED_HIDDEN, WIDTHS, Candidates, Costs, Outline, best_outline
from tiered_core.compactors.tables import count_rows, parse

_LEAST_TOKENS = 40
_SHORTEN = ShortenCompactor()
_ATTEMPTS = 5
_CAPTION = 160
_LEAST_MATCHES = 64
_MARGIN = 0.97
_ENOUGH = 0.9
_GROUP_SHARE = 0.5
_APPETITE = {"totals": 1.0, "question": 0.25, "none": 0.7}


class TableCompactor:
    """Shows chosen rows as tab-separated text under exact facts about the whole.

    The first lines are ours and begin with `[` and the handle; then follows one line of column names and one line per
    row, each with its number in the whole (from 1). Null is written as nothing, an empty text as `""`, see `cell`.
    The same body and room give the same text, byte for byte.
    """

    name = "table"
    order = 1

    def can_compact(self, body: Body) -> bool:
        """Whether the body was found to be a table."""
        return body.kind == "table"

    def estimate_savings(self, body: Body, room: Room) -> int:
        """Tokens above the room; 0 for a room in which no table can be rendered."""
        able = self.can_compact(body) and room.max_tokens >= _LEAST_TOKENS
        return max(0, body.tokens - room.max_tokens) if able else 0

    def compact(self, body: Body, room: Room) -> Compacted | None:
        """The rows, facts and names that fit; None when the text is no table or the room too small.

        A table that can't be read with certainty keeps its head and tail, under the number of its rows.
        """
        if room.max_tokens < _LEAST_TOKENS:
            return None
        table = parse(body.text)
        return _counted(body, room) if table is None else _Rendering(table, body, room).fit()


def _counted(body: Body, room: Room) -> Compacted | None:
    """Head and tail under the number of rows, None where not even that is certain."""
    told = count_rows(body.text)
    if told is None:
        return None
    head = own_line(body.handle, f"{told}; no facts about columns; whole: recall {body.handle}")
    limit = min(room.max_tokens, body.tokens - 1)
    most = limit - room.count(head)
    for _ in range(_ATTEMPTS):
        if most < _LEAST_TOKENS // 2:
            return None
        rest = _SHORTEN.compact(body, replace(room, max_tokens=most))
        text = f"{head}\n{rest.text}"
        over = room.count(text) - limit
        if over <= 0:
            return Compacted(text, rest.shown, rest.total)
        most -= over
    return None


class _Rendering:
    """One table on its way into one room."""

    def __init__(self, table: Table, body: Body, room: Room) -> None:
        self.table, self.body, self.room = table, body, room
        self.facts = profile(
            table.columns, table.rows, grouped=table.source_format != "semicolon",
            decimals=table.source_format in ("semicolon", "tsv"),
        )  # fmt: skip
        interest = Interest.of(body.question)
        limit = max(0, min(room.rows, len(table.rows)))
        found = match_rows(table, interest, max(_LEAST_MATCHES, limit))
        self.matched = [row for _, row in found]
        self.candidates = self._candidates(interest, found, limit)
        self.costs = Costs(table, self.facts, self.candidates)
        self.groups: tuple[str, ...] = ()

    def _candidates(self, interest: Interest, found: Sequence[tuple[float, int]], limit: int) -> Candidates:
        columns = rank_columns(self.table, self.facts, interest, self.matched)
        rows = rank_rows(self.table, self.facts, [i for _, i in columns], interest, found, limit)
        wish = "none" if not interest.words else "totals" if interest.totals else "question"
        return Candidates(rows, columns, rank_facts(self.facts, interest), _APPETITE[wish])

    def fit(self) -> Compacted | None:
        """The best rendering within the room: planned on estimated costs, counted whole, planned again if need be."""
        most = min(self.room.max_tokens, self.body.tokens - 1)
        complete = self._complete(most)
        if complete is not None:
            return complete
        characters = most * self._characters_per_token()
        self.groups = self._groups_within(characters * _GROUP_SHARE)
        best: Compacted | None = None
        used = 0
        for _ in range(_ATTEMPTS):
            outline = best_outline(self.candidates, self.costs, characters - sum(len(line) + 1 for line in self.groups))
            if outline is None:
                break
            result = self.render(outline)
            tokens = self.room.count(result.text)
            if used < tokens <= most:
                best, used = result, tokens
            if _ENOUGH * most <= tokens <= most or (tokens <= most and self._is_all(outline)):
                break
            characters *= most / max(1, tokens) * _MARGIN
        return best

    def _complete(self, most: int) -> Compacted | None:
        """All rows and columns without facts, which hide nothing; None when they don't fit."""
        rows, columns = self.table.rows, self.table.columns
        if len(rows) > self.room.rows:
            return None
        widest = max(len(value or "") for row in rows for value in row)
        result = self.render(Outline(tuple(range(len(rows))), tuple(range(len(columns))), (), widest))
        return result if self.room.count(result.text) <= most else None

    def _groups_within(self, characters: float) -> tuple[str, ...]:
        """Lines of group sums that fit into so many characters."""
        kept: list[str] = []
        for told in answers(self.table, self.facts, self.body.question or "", self.matched):
            line = own_line(self.body.handle, f"{told}{' (~ rounded)' if '~' in told else ''}")
            if len(line) <= characters:
                characters -= len(line)
                kept.append(line)
        return tuple(kept)

    def _characters_per_token(self) -> float:
        sample = self.render(Outline(
            tuple(self.candidates.rows[:6]), tuple(range(len(self.table.columns))[:40]),
            tuple((i, "full") for _, i in self.candidates.facts[:6]), WIDTHS[1],
        )).text  # fmt: skip
        return len(sample) / max(1, self.room.count(sample))

    def _is_all(self, outline: Outline) -> bool:
        return len(outline.rows) == len(self.candidates.rows) and len(outline.facts) == len(self.facts)

    def render(self, outline: Outline) -> Compacted:
        """The text of an outline."""
        table, total = self.table, len(self.table.rows)
        shown = set(outline.columns) if outline.rows else set()
        hidden = [name for i, name in enumerate(table.columns) if i not in shown]
        lines = [own_line(self.body.handle, self._summary(outline, hidden))]
        if outline.facts:
            lines.append(own_line(self.body.handle, self._facts(outline)))
        lines.extend(self.groups)
        if outline.rows:
            rows = ["\t".join(["row", *(cell(table.columns[i], WIDTHS[1]) for i in outline.columns)])]
            for row in outline.rows:
                cells = (cell(table.rows[row][i], outline.width) for i in outline.columns)
                rows.append("\t".join([str(row + 1), *cells]))
            lines.append(neutral("\n".join(rows), self.body.handle))
        return Compacted("\n".join(lines), len(outline.rows), total, len(hidden))

    def _summary(self, outline: Outline, hidden: Sequence[str]) -> str:
        total = len(self.table.rows)
        text = f"shown {len(outline.rows)} of {total} rows"
        if not outline.rows:
            text += f" and 0 of {len(hidden)} columns"
        elif hidden:
            names = ", ".join(label(name, 24) for name in hidden[:NAMED_HIDDEN])
            more = f" and {len(hidden) - NAMED_HIDDEN} more" if len(hidden) > NAMED_HIDDEN else ""
            text += f", hidden {len(hidden)} of {len(self.table.columns)} columns: {names}{more}"
        if self.table.short:
            text += f"; {self.table.short} rows have fewer cells, null at their end"
        if self.table.caption:
            whole = " / ".join(self.table.caption)
            text += "; around it: " + quoted(whole if len(whole) <= _CAPTION else whole_prefix(whole, _CAPTION) + "…")
        return f"{text}; whole: recall {self.body.handle}"

    def _facts(self, outline: Outline) -> str:
        phrases = "; ".join(phrase(self.facts[i], detail) for i, detail in outline.facts)
        note = " (~ rounded)" if "~" in phrases else ""
        return f"facts of all {len(self.table.rows)} rows{note}: {phrases}"
