"""Text that stands around a table: told from rows, cut off, kept as the table's caption."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from tiered_core.compactors.columns import is_null
from tiered_core.compactors.shapes import is_value

MOST_LINES = 12
_MOST_BEHIND = 40
_BESIDE = 5
_SAMPLE_ROWS = 200
_STARTS, _ENDS = 2, 2
_SENTENCE_ENDS = (".", "!", "?", ":", "…")

Record = Sequence[str]


def ends_like_text(line: str) -> bool:
    """Whether a line of several words ends as sentences do."""
    bare = line.strip()
    return bare.endswith(_SENTENCE_ENDS) and " " in bare and not is_value(bare.rpartition(" ")[2])


def runs(blank: Sequence[bool]) -> list[tuple[int, int]]:
    """(from, to) of the stretches between blank lines."""
    found: list[tuple[int, int]] = []
    start: int | None = None
    for i, empty in enumerate((*blank, True)):
        if empty and start is not None:
            found.append((start, i))
            start = None
        elif not empty and start is None:
            start = i
    return found


def main_run(blank: Sequence[bool]) -> tuple[int, int]:
    """The longest stretch between blank lines; all of it where every other line is blank."""
    found = runs(blank)
    single = sum(end - start == 1 for start, end in found)
    if len(found) > _BESIDE and single * 10 >= 9 * len(found):
        return found[0][0], found[-1][1]
    return max(found, key=lambda run: (run[1] - run[0], -run[0]), default=(0, 0))


class Beside:
    """Tells the rows of a delimited table from text directly before and behind them."""

    def __init__(self, rows: Sequence[Record], width: int, delimiter: str) -> None:
        self.width, self.delimiter = width, delimiter
        sample = [row for row in islice(rows, _SAMPLE_ROWS) if len(row) == width]
        self.valued = [i for i, cells in enumerate(zip(*sample, strict=True)) if _mostly_values(cells)]
        self.spacing = sum(map(self._spaced, sample)) * 10 < len(sample)
        self.ending = sum(map(self._ended, sample)) * 10 < len(sample)

    def _spaced(self, row: Record) -> bool:
        return self.delimiter in ",;" and len(row) > 1 and all(cell.startswith(" ") for cell in row[1:])

    def _ended(self, row: Record) -> bool:
        return ends_like_text(self.delimiter.join(row))

    def breaks(self, row: Record) -> bool:
        """Whether a cell is no value where the other rows have values."""
        return any(i < len(row) and not is_null(row[i]) and not is_value(row[i]) for i in self.valued)

    def is_text(self, row: Record) -> bool:
        """Whether a record reads as a sentence and not as a row."""
        spaced, ended = self.spacing and self._spaced(row), self.ending and self._ended(row)
        if len(row) == 1:
            return True
        if self.valued and len(row) == self.width and not self.breaks(row):
            return False
        return (spaced or ended) if self.valued or len(row) != self.width else (spaced and ended)

    def split(self, rows: Sequence[Record]) -> tuple[int, int]:
        """(from, to) of the rows between text before and behind."""
        start = next((i for i, row in enumerate(rows) if len(row) == self.width), 0)
        for i in range(min(_BESIDE, len(rows) - 3), start, -1):
            if len(rows[i]) == self.width and self._heads(rows[i]) and all(map(self._may_precede, rows[start:i])):
                start = i
                break
        end = len(rows)
        while end > start and len(rows) - end < _BESIDE and self.is_text(rows[end - 1]):
            end -= 1
        return start, end

    def _heads(self, row: Record) -> bool:
        """Whether a row may be the header: no values where the others have them."""
        return all(cell.strip() for cell in row) and not any(is_value(row[i]) for i in self.valued)

    def _may_precede(self, row: Record) -> bool:
        return len(row) != self.width or self.is_text(row)


def _mostly_values(column: Sequence[str]) -> bool:
    filled = [cell for cell in column if not is_null(cell)]
    return len(filled) > 1 and sum(map(is_value, filled)) * 10 >= 7 * len(filled)


def is_short(before: Sequence[Record], after: Sequence[Record], width: int, delimiter: str) -> bool:
    """Whether what stands before and behind blank lines is text, and little of it: no second table.

    A few lines before a table of another width are its preamble: `Author,Ann`.
    """
    if len(before) > MOST_LINES or len(after) > _MOST_BEHIND:
        return False
    for rows in (before, after):
        for start, end in runs([not row for row in rows]):
            widths = {len(row) for row in rows[start:end]}
            text = all(ends_like_text(delimiter.join(row)) for row in rows[start:end])
            most = _BESIDE if rows is before and width not in widths else 2
            if end - start > most and len(widths) == 1 and widths != {1} and not text:
                return False
    return True


def unwrapped(text: str, opening: tuple[str, ...], closing: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """(before, inner, behind) for the ways in which lines around something in brackets can be cut off; at most four.

    The inner text begins with `opening` at the start of one of the first lines, and ends with `closing` at the end of
    one of the last lines. Nothing for a text without lines around it.
    """
    for start in islice(_starts(text, opening), _STARTS):
        for end in islice(_ends(text, closing), _ENDS):
            if start < end and (text[:start].strip() or text[end:].strip()):
                yield text[:start], text[start:end], text[end:]


def _starts(text: str, opening: tuple[str, ...]) -> Iterator[int]:
    at = 0
    for _ in range(2 * MOST_LINES):
        while at < len(text) and text[at] in " \t\ufeff":
            at += 1
        if text.startswith(opening, at):
            yield at
        at = text.find("\n", at) + 1
        if at == 0:
            return


def _ends(text: str, closing: tuple[str, ...]) -> Iterator[int]:
    end = len(text)
    for _ in range(2 * MOST_LINES):
        start = text.rfind("\n", 0, end)
        last = end
        while last > start + 1 and text[last - 1] in " \t\r":
            last -= 1
        if text.endswith(closing, start + 1, last):
            yield last
        if start < 0:
            return
        end = start


def text_lines(*parts: str) -> tuple[str, ...]:
    """The lines that aren't blank."""
    return tuple(line.strip() for part in parts for line in part.splitlines() if line.strip())
