"""The table that all readers produce, and what they share: headers, widths, captions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Row = Sequence[str | None]

_NUMBER = re.compile(
    r"[+-]?(?:\d{1,3}(?:,\d{3})++(?:\.\d+)?|\d{1,3}(?:\.\d{3})++,\d+|\d+(?:[.,]\d*)?|\.\d+)(?:[eE][+-]?\d+)?%?"
)
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]\d{1,2}:\d{2}\S*)?")
_CALENDAR_YEARS = range(1500, 2201)


@dataclass(frozen=True, slots=True)
class Table:
    """A text read as a table.

    Attributes:
        columns: different, non-blank names in order.
        rows: all rows in order, each as long as `columns`; None is a null or an absent cell, "" an empty text.
        source_format: "csv", "tsv", "semicolon", "pipe", "markdown", "grid", "fixed", "json", "jsonl" or "tuples".
        caption: lines around the table, in order.
        headed: whether the names stood in the text; False when they are `c1`, `c2`, … by position.
        short: rows that had fewer cells, filled up with nulls at their end.
    """

    columns: tuple[str, ...]
    rows: Sequence[Row]
    source_format: str
    caption: tuple[str, ...] = ()
    headed: bool = True
    short: int = 0


def is_value(text: str | None) -> bool:
    """Whether the text looks like a number or a date: data rather than a name."""
    bare = (text or "").strip()
    return bool(_NUMBER.fullmatch(bare) or _DATE.fullmatch(bare))


def is_header(first: Row, following: Sequence[Row]) -> bool:
    """Whether a first row names columns, judged against some rows that follow."""
    cells = [(i, cell.strip()) for i, cell in enumerate(first) if cell and cell.strip()]
    values = [i for i, cell in cells if is_value(cell)]
    if not cells or len(values) == len(cells):
        return bool(cells) and _counts_up([cell for _, cell in cells])
    alike = [i for i in values if sum(is_value(row[i]) for row in following if i < len(row)) * 2 > len(following)]
    if not alike:
        return True
    return _counts_up([cell for i, cell in cells if i in set(alike)])


def _counts_up(cells: Sequence[str]) -> bool:
    """Whether the cells are years that go up or down: the header of a wide table by year."""
    numbers = [int(cell) for cell in cells if cell.isascii() and cell.isdigit() and len(cell) == 4]
    if len(numbers) != len(cells) or len(numbers) < 2 or not all(n in _CALENDAR_YEARS for n in numbers):
        return False
    steps = {later > earlier for earlier, later in pairwise(numbers)}
    return len(steps) == 1


def name_columns(header: Row | None, width: int) -> tuple[str, ...]:
    """Different, non-blank names: a blank one becomes `c<position>`, a repeated one gets a number."""
    taken: set[str] = set()
    names: list[str] = []
    for position in range(width):
        given = header[position] if header is not None and position < len(header) else None
        base = " ".join((given or "").split()) or f"c{position + 1}"
        name, turn = base, 2
        while name in taken:
            name, turn = f"{base}_{turn}", turn + 1
        taken.add(name)
        names.append(name)
    return tuple(names)


def level(rows: Sequence[Row], width: int) -> Sequence[Row]:
    """The rows, all of one width: short ones are filled up with nulls."""
    if all(len(row) == width for row in rows):
        return rows
    return [row if len(row) == width else [*row, *[None] * (width - len(row))] for row in rows]
