"""Texts whose cells are separated by one character: CSV, TSV, semicolons, pipes."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from tiered_core.compactors.around import Beside, is_short, main_run, text_lines
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
        fit: how well: minus the first lines that don't fit, whether all rows are of this width, whether all commas in
            cells are decimal ones.
    """

    delimiter: str
    quotes: bool
    width: int
    fit: tuple[int, bool, bool]


def records(text: str, delimiter: str, quotes: bool) -> Iterator[list[str]]:
    """The records of a text; a blank line is an empty one.

    Raises:
        csv.Error: at the first record that breaks the rules of quoting.
    """
    lines = io.StringIO(text, newline="")
    if quotes:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
    else:
        reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE, strict=True)
    return (row if len(row) != 1 or row[0].strip() else [] for row in reader)


def sniff(sample: str) -> Dialect | None:
    """How the beginning of a text separates its cells, None where that isn't a table.

    The separator that fits the first lines, the header among them, wins, then one that gives all rows the same number
    of cells, then one between whose cells all commas are decimal ones, then tabs, then the one with most cells.
    """
    found = [d for d in (_try(sample, delimiter) for delimiter in _FORMATS if delimiter in sample) if d is not None]
    return max(found, key=lambda d: (*d.fit, d.delimiter == "\t", d.width, d.delimiter != ","), default=None)


def _try(sample: str, delimiter: str) -> Dialect | None:
    for quotes in (True, False):
        rows, broken = _beginning(sample, delimiter, quotes)
        if broken and quotes and len(rows) < _AROUND:
            continue
        start, end = main_run([not row for row in rows])
        run = [row for row in rows[start:end] if row]
        counts = Counter(map(len, run))
        width = max(counts.items(), key=lambda pair: (pair[1], pair[0]), default=(0, 0))[0]
        skip = next((i for i, row in enumerate(run) if len(row) == width), 0)
        if width < 2 or skip > _AROUND:
            continue
        first, last = Beside(run, width, delimiter).split(run)
        body = run[first:last]
        kept = [row for row in body if len(row) == width]
        if len(body) >= 3 and _is_regular(body, width, delimiter) and _is_tabular(kept, delimiter):
            odd = first + sum(not 1 < len(row) <= width for row in body[:_AROUND])
            fit = (-odd, len(kept) == len(body), delimiter != "," and _decimal_commas(kept))
            return Dialect(delimiter, quotes, width, fit)
    return None


def _is_regular(body: Sequence[Sequence[str]], width: int, delimiter: str) -> bool:
    """Whether most rows have one width; a table may have more short rows than long ones, if it has values."""
    same = sum(len(row) == width for row in body)
    if same * 10 >= 9 * (len(body) - 1):
        return True
    short = sum(1 < len(row) < width for row in body)
    told = Beside(body, width, delimiter)
    return len(body[0]) == width and same + short == len(body) and same * 3 >= 2 * len(body) and bool(told.valued)


def _decimal_commas(rows: Sequence[Sequence[str]]) -> bool:
    """Whether there are commas in cells below the first row, all of them in numbers."""
    cells = [cell for row in rows[1:] for cell in row if "," in cell]
    return bool(cells) and all(is_value(cell.replace(".", "")) for cell in cells)


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
    """The table in a text; None where rows have more cells than the others, too many have fewer, or quoting breaks.

    Cells are as written, spaces included; an empty cell is a null. A blank line ends the table.
    """
    parts = _parts(text, dialect)
    if parts is None:
        return None
    caption, rows = parts
    if len(rows) < 3 or any(len(row) > dialect.width for row in rows) or not _may_fill(rows, dialect):
        return None
    if _is_title(rows[0], rows[1]):
        caption, rows = ("".join(rows[0]), *caption), rows[1:]
    return _finish(rows, dialect, caption)


def count_rows(text: str, dialect: Dialect) -> str | None:
    """What is certain about a table that can't be read: `300 rows, 1 of them with more than 3 cells`."""
    parts = _parts(text, dialect)
    if parts is None or len(parts[1]) < 3:
        return None
    rows = parts[1][1:] if is_header(parts[1][0], parts[1][1 : _AROUND + 1]) else parts[1]
    long, short = (sum(map(odd, rows)) for odd in (lambda r: len(r) > dialect.width, lambda r: len(r) < dialect.width))
    told = [
        f"{n} of them with {than} than {dialect.width} cells" for n, than in ((long, "more"), (short, "fewer")) if n
    ]
    return ", ".join([f"{len(rows)} rows", *told])


def _parts(text: str, dialect: Dialect) -> tuple[tuple[str, ...], list[list[str]]] | None:
    """(lines around the table, its rows), None where quoting breaks or there is more than one table."""
    rows = _all_records(text.removeprefix("\ufeff"), dialect)
    if rows is None:
        return None
    start, end = main_run([not row for row in rows])
    before, run, after = rows[:start], [row for row in rows[start:end] if row], rows[end:]
    if not is_short(before, after, dialect.width, dialect.delimiter):
        return None
    first, last = Beside(run, dialect.width, dialect.delimiter).split(run)
    around = (*before, *run[:first], *run[last:], *after)
    caption = tuple(dialect.delimiter.join(row).strip() for row in around if row)
    return caption, [_without_blank_rest(row, dialect.width) for row in run[first:last]]


def _all_records(text: str, dialect: Dialect) -> list[list[str]] | None:
    """All records; what follows the last blank line is kept line by line where quoting breaks in it."""
    try:
        return list(records(text, dialect.delimiter, dialect.quotes))
    except csv.Error:
        cut = max(text.rfind(gap) for gap in ("\n\n", "\n\r\n"))
    if cut < 0:
        return None
    try:
        return [
            *records(text[:cut], dialect.delimiter, dialect.quotes),
            [],
            *([line] for line in text_lines(text[cut:])),
        ]
    except csv.Error:
        return None


def _without_blank_rest(row: list[str], width: int) -> list[str]:
    return row[:width] if len(row) > width and not any(cell.strip() for cell in row[width:]) else row


def _may_fill(rows: Sequence[Sequence[str]], dialect: Dialect) -> bool:
    """Whether short rows may be filled up with nulls: they are few, or at most a third and their cells aren't moved."""
    short = [row for row in rows if len(row) < dialect.width]
    if len(short) * 10 <= len(rows):
        return True
    told = Beside(rows, dialect.width, dialect.delimiter)
    return len(short) * 3 <= len(rows) and bool(told.valued) and not any(map(told.breaks, short))


def _is_title(first: Sequence[str], second: Sequence[str]) -> bool:
    return len(first) > 2 and sum(bool(c.strip()) for c in first) == 1 and sum(bool(c.strip()) for c in second) > 2


def _finish(rows: list[list[str]], dialect: Dialect, caption: tuple[str, ...]) -> Table | None:
    width = dialect.width
    headed = is_header(rows[0], rows[1 : _AROUND + 1])
    header, data = (rows[0], rows[1:]) if headed else (None, rows)
    short = sum(len(row) < width for row in data)
    cells = level([[cell or None for cell in row] for row in data], width)
    if width > 2 and not (header and header[-1:] != [""] and len(header) == width):
        width, cells = _without_blank_end(header, cells, width)
    return Table(name_columns(header, width), cells, _FORMATS[dialect.delimiter], caption, headed, short)


def _without_blank_end(
    header: Sequence[str] | None, cells: Sequence[Sequence[str | None]], width: int
) -> tuple[int, Sequence[Sequence[str | None]]]:
    """The table without a last column that has neither a name nor a value: each line ended with a separator."""
    named = header is not None and len(header) == width and bool(header[-1].strip())
    if named or any(row[-1] is not None for row in cells):
        return width, cells
    return width - 1, [row[:-1] for row in cells]
