"""How much of a table to show: a choice over estimated costs, before anything is rendered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, product

from tiered_core.compactors.cells import cell
from tiered_core.compactors.fact_text import Detail, phrase
from tiered_core.compactors.facts import ColumnFacts
from tiered_core.compactors.shapes import Table

WIDTHS = (200, 80, 32)
NAMED_HIDDEN = 8
_DETAILS: tuple[Detail, ...] = ("full", "brief")
_DETAIL_WORTH = {"full": 1.0, "brief": 0.6}
_NARROWING = 0.1
_SUMMARY, _HIDDEN, _FACTS_HEAD, _NAME = 60, 24, 30, 26
_TRIED = (12, 10, 8, 6, 5, 4, 3, 2, 1)


@dataclass(frozen=True, slots=True)
class Outline:
    """What a rendering of a table shows.

    Attributes:
        rows: positions of the rows, in table order.
        columns: positions of the columns, in table order.
        facts: (position of a column, level of detail), in table order.
        width: characters at which a cell is cut.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    facts: tuple[tuple[int, Detail], ...]
    width: int


@dataclass(frozen=True, slots=True)
class Candidates:
    """What may be shown, each list the most telling first.

    Attributes:
        rows: positions of rows.
        columns: (weight, position) of all columns.
        facts: (weight, position) of all columns, by what facts about them tell.
        appetite: what facts about all columns are worth, all candidate rows being worth 1.
    """

    rows: Sequence[int]
    columns: Sequence[tuple[float, int]]
    facts: Sequence[tuple[float, int]]
    appetite: float


class Costs:
    """Characters that the parts of a rendering take, summed up in the order of the candidates."""

    def __init__(self, table: Table, facts: Sequence[ColumnFacts], candidates: Candidates) -> None:
        order = [i for _, i in candidates.columns]
        self.names = _sums(len(table.columns[i]) + 1 for i in order)
        self.hidden = [min(len(table.columns[i]), _NAME) + 2 for i in order]
        self.rows = {
            width: [_sums(len(cell(table.rows[row][i], width)) + 1 for i in order) for row in candidates.rows]
            for width in WIDTHS
        }
        self.phrases = {
            detail: _sums(len(phrase(facts[i], detail)) + 2 for _, i in candidates.facts) for detail in _DETAILS
        }

    def around(self, shown: int) -> int:
        """Characters of the summary when only the first columns are shown."""
        hidden = self.hidden[shown:]
        return _SUMMARY + (_HIDDEN + sum(hidden[:NAMED_HIDDEN]) if hidden else 0)


def _sums(lengths: Iterator[int]) -> list[int]:
    """The sums of the first 0, 1, 2, … lengths."""
    return list(accumulate(lengths, initial=0))


def best_outline(candidates: Candidates, costs: Costs, characters: float) -> Outline | None:
    """The outline worth most within so many characters; None when not even a fact about one column fits."""
    columns, facts = [i for _, i in candidates.columns], [i for _, i in candidates.facts]
    best: tuple[float, int, int, int, Detail, int] | None = None
    for known, detail, shown in product(_steps(len(facts)), _DETAILS, _steps(len(columns))):
        left = characters - costs.around(shown) - _FACTS_HEAD - costs.phrases[detail][known]
        if left < 0:
            continue
        for width in WIDTHS:
            rows = _rows_within(candidates.rows, costs.rows[width], shown, left - costs.names[shown] - 4)
            worth = _worth(candidates, rows, shown, width) + _fact_worth(candidates, known, detail)
            if best is None or worth > best[0]:
                best = worth, rows, shown, known, detail, width
    if best is None:
        return None
    _, rows, shown, known, detail, width = best
    told = tuple(sorted((i, detail) for i in facts[:known]))
    return Outline(tuple(sorted(candidates.rows[:rows])), tuple(sorted(columns[:shown])), told, width)


def _steps(n: int) -> list[int]:
    """Numbers of columns to try, all of them first, always one at least."""
    return sorted({max(1, n * part // _TRIED[0]) for part in _TRIED} | {1, min(2, n), min(3, n)}, reverse=True)


def _rows_within(rows: Sequence[int], sums: Sequence[Sequence[int]], shown: int, characters: float) -> int:
    """How many of the first rows fit."""
    for n, (row, lengths) in enumerate(zip(rows, sums, strict=True)):
        characters -= lengths[shown] + len(str(row + 1))
        if characters < 0:
            return n
    return len(rows)


def _worth(candidates: Candidates, rows: int, shown: int, width: int) -> float:
    """The first rows are worth most; columns count by weight; narrow cells cost a little."""
    gain = [1 / (1 + rank) for rank in range(len(candidates.rows))]
    seen = sum(gain[:rows]) / sum(gain) if gain else 0.0
    part = sum(weight for weight, _ in candidates.columns[:shown]) / sum(weight for weight, _ in candidates.columns)
    return seen * part * (1 - _NARROWING * WIDTHS.index(width))


def _fact_worth(candidates: Candidates, known: int, detail: Detail) -> float:
    part = sum(weight for weight, _ in candidates.facts[:known]) / sum(weight for weight, _ in candidates.facts)
    return candidates.appetite * part * _DETAIL_WORTH[detail]
