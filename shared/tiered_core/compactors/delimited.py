"""Texts whose cells are separated by one character: CSV, TSV, semicolons, pipes."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from tiered_core.compactors.shapes import Table, is_header, is_value, level, name_columns

_FORMATS = {"\t": "tsv", ",": "csv", ";": "semicolon", "|": "pipe"}
_SAMPLE_ROWS = 200
_AROUND = 5
_LONG_CELL = 60
_CODE = re.compile(r"[(){}=]")
_MILLISECONDS = re.compile(r"\d{3}\s")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a text separates its cells.

    Attributes:
        delimiter: the character between cells.
        quotes: whether quotation marks enclose cells.
        width: cells of most rows.
        skip: records before the table: a title, a sentence.
    """

    delimiter: str
    quotes: bool
    width: int
    skip: int


def records(text: str, delimiter: str, quotes: bool) -> Iterator[list[str]]:
    """The records of a text, blank ones left out.

    Raises:
        csv.Error: at the first record that breaks the rules of quoting.
    """
    lines = io.StringIO(text, newline="")
    if quotes:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
    else:
        reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE, strict=True)
    return (row for row in reader if row)


def sniff(sample: str) -> Dialect | None:
    """How the beginning of a text separates its cells, None where that isn't a table."""
    found = [d for d in (_try(sample, delimiter) for delimiter in _FORMATS if delimiter in sample) if d is not None]
    return max(found, key=lambda d: d.delimiter == "\t" or d.width, default=None)


def _try(sample: str, delimiter: str) -> Dialect | None:
    for quotes in (True, False):
        rows, broken = _beginning(sample, delimiter, quotes)
        if broken and quotes and len(rows) < _AROUND:
            continue
        counts = Counter(map(len, rows))
        width, hits = max(counts.items(), key=lambda pair: (pair[1], pair[0]), default=(0, 0))
        skip = next((i for i, row in enumerate(rows) if len(row) == width), 0)
        body = rows[skip:]
        if width < 2 or skip > _AROUND or len(body) < 3 or hits * 10 < 9 * (len(body) - 1):
            continue
        kept = [row for row in body if len(row) == width]
        if _is_tabular(kept, delimiter):
            return Dialect(delimiter, quotes, width, skip)
    return None


def _beginning(sample: str, delimiter: str, quotes: bool) -> tuple[list[list[str]], bool]:
    rows: list[list[str]] = []
    try:
        rows.extend(islice(records(sample, delimiter, quotes), _SAMPLE_ROWS))
    except csv.Error:
        return rows, True
    return rows, False


def _is_tabular(rows: Sequence[Sequence[str]], delimiter: str) -> bool:
    """Whether rows of one width are a table and not prose, code or a log that happens to have as many separators."""
    data = rows[1:]
    columns = list(zip(*data, strict=True))
    if not any(cell.strip() for cell in columns[-1]) and not rows[0][-1].strip() and len(columns) == 2:
        return False
    if delimiter == "\t":
        return any(cell.strip() for cell in columns[0])
    valued = sum(_mostly_values(column) for column in columns)
    first, second = columns[0], columns[1]
    if delimiter == "," and sum(bool(_MILLISECONDS.match(cell)) for cell in second) * 2 > len(second):
        return False
    inner = [cell for row in rows for cell in row[1:] if cell.strip()]
    spaced = sum(cell.startswith(" ") for cell in inner)
    if delimiter != "|" and spaced * 2 > len(inner) and not valued:
        return False
    if not valued and sum(bool(_CODE.search(cell)) for cell in first) * 3 > len(first):
        return False
    lengths = sorted(len(cell) for row in rows for cell in row)
    return lengths[len(lengths) // 2] <= _LONG_CELL


def _mostly_values(column: Sequence[str]) -> bool:
    filled = [cell for cell in column if cell.strip()]
    return bool(filled) and sum(map(is_value, filled)) * 5 >= 4 * len(filled)


def read_delimited(text: str, dialect: Dialect) -> Table | None:
    """The table in a text, None where more than a tenth of the rows differ in width or quoting breaks.

    Cells are as written, spaces included; an empty cell is a null.
    """
    try:
        rows = list(records(text.removeprefix("\ufeff"), dialect.delimiter, dialect.quotes))
    except csv.Error:
        return None
    before, rows, after = _around(rows, dialect)
    if len(rows) < 3:
        return None
    odd = sum(len(row) != dialect.width for row in rows)
    width = max(map(len, rows))
    if odd * 10 > len(rows) or width > 2 * dialect.width + 8:
        return None
    caption = tuple(dialect.delimiter.join(row) for row in (*before, *after))
    if _is_title(rows[0], rows[1]):
        caption, rows = ("".join(rows[0]), *caption), rows[1:]
    return _finish(rows, width, dialect, caption)


def _around(rows: list[list[str]], dialect: Dialect) -> tuple[list[list[str]], list[list[str]], list[list[str]]]:
    """Lines before, rows, lines after: what stands around the table has one cell or is skipped by the dialect."""
    end = len(rows)
    while end > dialect.skip and len(rows) - end < _AROUND and len(rows[end - 1]) == 1:
        end -= 1
    return rows[: dialect.skip], rows[dialect.skip : end], rows[end:]


def _is_title(first: Sequence[str], second: Sequence[str]) -> bool:
    return len(first) > 2 and sum(bool(c.strip()) for c in first) == 1 and sum(bool(c.strip()) for c in second) > 2


def _finish(rows: list[list[str]], width: int, dialect: Dialect, caption: tuple[str, ...]) -> Table | None:
    headed = is_header(rows[0], rows[1 : _AROUND + 1])
    header, data = (rows[0], rows[1:]) if headed else (None, rows)
    cells = level([[cell or None for cell in row] for row in data], width)
    if width > 2 and not (header and header[-1:] != [""] and len(header) == width):
        width, cells = _without_blank_end(header, cells, width)
    return Table(name_columns(header, width), cells, _FORMATS[dialect.delimiter], caption, headed)


def _without_blank_end(
    header: Sequence[str] | None, cells: Sequence[Sequence[str | None]], width: int
) -> tuple[int, Sequence[Sequence[str | None]]]:
    """The table without a last column that has neither a name nor a value: each line ended with a separator."""
    named = header is not None and len(header) == width and bool(header[-1].strip())
    if named or any(row[-1] is not None for row in cells):
        return width, cells
    return width - 1, [row[:-1] for row in cells]
