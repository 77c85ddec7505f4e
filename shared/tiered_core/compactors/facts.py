"""Exact facts about the columns of a table, taken over all its rows."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from decimal import Inexact as _Inexact
from fractions import Fraction
from itertools import islice
from typing import Literal

from tiered_core.compactors.columns import (
    EXACT,
    Commas,
    groups_thousands,
    is_code,
    is_null,
    points_doubtful,
    read_dates,
    read_numbers,
    writes_decimal_commas,
)

ColumnKind = Literal["number", "code", "date", "text", "empty"]

_CHUNK = 4_096
_TOP = 8


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """Facts about one column.

    Attributes:
        name: of the column.
        kind: "number", "code" (identifiers, codes, years: never summed), "date", "text", "empty".
        count: cells that hold a value.
        nulls: cells that don't; in numbers and dates words such as "NaN" and "NULL" are nulls too.
        distinct: different values; numbers are compared as numbers.
        minimum: the cell with the least number or the earliest date, stripped, None where there is none.
        maximum: the cell with the greatest number or the latest date.
        total: the exact sum of a number column, None for all others.
        top: the most frequent values with their counts, at most 8, most frequent first; for numbers
            only where they have at most 8 different values, () for dates.
        unit: what all numbers carry, "$" or "%", else "".
        commas: how commas in its numbers were read.
    """

    name: str
    kind: ColumnKind
    count: int
    nulls: int
    distinct: int
    minimum: str | None = None
    maximum: str | None = None
    total: Decimal | None = None
    top: tuple[tuple[str, int], ...] = ()
    unit: str = ""
    commas: Commas = "groups"

    @property
    def mean(self) -> Fraction | None:
        """The exact mean of a number column."""
        return Fraction(self.total) / self.count if self.total is not None and self.count else None


def profile(
    columns: Sequence[str], rows: Iterable[Sequence[str | None]], grouped: bool = True, decimals: bool = False
) -> tuple[ColumnFacts, ...]:
    """Facts about each column, in one pass over the rows; memory grows with the number of different values.

    Args:
        columns: the names.
        rows: each as long as `columns`.
        grouped: whether `1,234` may stand for 1234. It doesn't where another column writes decimal commas.
        decimals: whether `12,5` may stand for 12.5; `1,234` is then a number only where something else in the table
            says which one.

    Raises:
        ValueError: when the rows differ in length.
    """
    counters: list[Counter[str | None]] = [Counter() for _ in columns]
    source = iter(rows)
    while chunk := list(islice(source, _CHUNK)):
        for counter, cells in zip(counters, zip(*chunk, strict=True), strict=True):
            counter.update(cells)
    commas, pointed = _commas(counters, grouped, decimals)
    told = zip(columns, counters, commas, strict=True)
    return tuple(column_facts(name, counter, comma, pointed) for name, counter, comma in told)


def _commas(counters: Sequence[Counter[str | None]], grouped: bool, decimals: bool) -> tuple[list[Commas], bool]:
    """How commas are read in each column, and whether a point before three digits is surely a decimal one."""
    texts = [[cell for cell in counter if cell] for counter in counters]
    decimal = [writes_decimal_commas(cells) for cells in texts]
    groups = grouped and not any(decimal) and (not decimals or any(map(groups_thousands, texts)))
    other: Commas = "groups" if groups else "unread"
    found: list[Commas] = ["decimals" if decimals and own else other for own in decimal]
    return found, grouped and not any(decimal)


def column_facts(name: str, cells: Counter[str | None], commas: Commas = "groups", pointed: bool = True) -> ColumnFacts:
    """Facts about one column, given how often each cell text occurs.

    Without `pointed`, a column whose points all stand before three digits (`1.234`) is text: they may be thousands.
    """
    present = {cell: n for cell, n in cells.items() if cell is not None}
    total = sum(cells.values())
    filled = {cell: n for cell, n in present.items() if not is_null(cell)} if _may_hold_values(present) else {}
    if filled:
        numbers = (
            read_numbers(filled, commas) if pointed or commas == "decimals" or not points_doubtful(filled) else None
        )
        if numbers is not None:
            return replace(_number_facts(name, filled, total, *numbers), commas=commas)
        dates = read_dates(filled)
        if dates is not None:
            count = sum(filled.values())
            first, last = (pick(dates, key=lambda cell: (dates[cell], cell)).strip() for pick in (min, max))
            return ColumnFacts(name, "date", count, total - count, len(filled), first, last)
    count = sum(present.values())
    kind: ColumnKind = "text" if present else "empty"
    return ColumnFacts(name, kind, count, total - count, len(present), top=tuple(_commonest(present)))


def _may_hold_values(cells: Iterable[str]) -> bool:
    """Whether the first few cells leave it open that all are numbers or dates."""
    probe = [cell for cell in islice(cells, 40) if not is_null(cell)]
    return all(any(c.isdigit() for c in cell[:60]) for cell in probe)


def _number_facts(name: str, filled: dict[str, int], rows: int, values: dict[str, Decimal], unit: str) -> ColumnFacts:
    count = sum(filled.values())
    least, most = (pick((value, cell.strip()) for cell, value in values.items())[1] for pick in (min, max))
    distinct = len(set(values.values()))
    code = is_code(name, values)
    common: tuple[tuple[str, int], ...] = ()
    if code or len(values) <= _TOP:
        common = tuple((cell.strip(), n) for cell, n in _commonest(filled))
    if code:
        return ColumnFacts(name, "code", count, rows - count, distinct, least, most, top=common)
    total = None if unit == "%" else _sum(values, filled)
    return ColumnFacts(name, "number", count, rows - count, distinct, least, most, total, common, unit)


def _commonest(counts: dict[str, int]) -> list[tuple[str, int]]:
    return [(cell, -n) for n, cell in heapq.nsmallest(_TOP, ((-n, cell) for cell, n in counts.items()))]


def _sum(values: dict[str, Decimal], counts: dict[str, int]) -> Decimal | None:
    """The exact sum; None for numbers so far apart that it would have thousands of digits."""
    total = Decimal(0)
    try:
        for cell, value in values.items():
            n = counts[cell]
            total = EXACT.add(total, value if n == 1 else EXACT.multiply(value, n))
    except _Inexact:
        return None
    return total
