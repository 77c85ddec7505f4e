"""Tables drawn with characters: Markdown, the grids of psql and MySQL, fixed-width columns of pandas and of shells."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tiered_core.compactors.around import Beside, ends_like_text, main_run, runs
from tiered_core.compactors.shapes import Table, is_value, level, name_columns

_RULE = re.compile(r"\s*[|+]?\s*:?-+:?\s*(?:[|+]\s*:?-+:?\s*)*[|+]?\s*")
_PIPE = re.compile(r"(?<!\\)\|")
_COUNT = re.compile(r"\(?\[?(?:Showing )?[\d,]+ rows?(?: x [\d,]+ columns?| in set.*| affected)?\]?\)?\s*")
_CAPTION_LINES = 12
_BESIDE = 5
_DATE = re.compile(r" *(?:\d{4}-\d\d-\d\d(?!\S)|NaT(?!\S)|$)")
_INK = re.compile(r"[^ ]")
_ABSENT = frozenset({"", "NaN", "NaT", "None", "<NA>", "<none>"})


def _rule_at(lines: Sequence[str]) -> int | None:
    """Index of the line that parts the header from the rows."""
    for i in range(1, min(len(lines), _CAPTION_LINES)):
        line = lines[i]
        if ("|" in line or "+" in line) and "|" in lines[i - 1] and "-" in line and _RULE.fullmatch(line):
            return i
    return None


def looks_ruled(lines: Sequence[str]) -> bool:
    """Whether the lines begin a Markdown table or a grid."""
    at = _rule_at(lines)
    return at is not None and len(_split(lines[at - 1])) == len(re.split(r"[|+]", lines[at].strip().strip("|+")))


def _split(line: str, framed: bool | None = None) -> list[str]:
    """The cells of a line; `framed` says whether it begins and ends with a pipe (None: as it looks)."""
    bare = line.strip()
    if bare.startswith("|") if framed is None else framed:
        bare = bare.removeprefix("|")
        bare = bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare
    cells = _PIPE.split(bare) if "\\" in bare else bare.split("|")
    return [cell.strip().replace("\\|", "|") for cell in cells]


def read_ruled(lines: Sequence[str]) -> Table | None:
    """The one table in the lines, None where there are more, or more than 12 lines of other text."""
    at = _rule_at(lines)
    if at is None or not looks_ruled(lines):
        return None
    framed = lines[at - 1].lstrip().startswith("|")
    grid = "+" in lines[at]
    header = _split(lines[at - 1])
    texts = _ruled_rows(lines[at + 1 :], framed, len(header))
    end = at + 1 + len(texts)
    around = [line for line in (*lines[: at - 1], *lines[end:]) if line.strip() and not _RULE.fullmatch(line)]
    short = sum(len(row) < len(header) for row in texts)
    odd = short * 10 > len(texts) or any(len(row) > len(header) for row in texts)
    if len(texts) < 2 or len(around) > _CAPTION_LINES or odd or _is_ruled_again(lines[: at - 1], lines[end:]):
        return None
    nulls = ("", "NULL") if grid else ("",)
    rows = level([[cell if cell not in nulls else None for cell in row] for row in texts], len(header))
    name = "grid" if grid else "markdown"
    caption = tuple(line.strip() for line in around)
    return Table(name_columns(header, len(header)), rows, name, caption, short=short)


def _ruled_rows(lines: Sequence[str], framed: bool, width: int) -> list[list[str]]:
    """The cells of the rows below the rule, up to the first line that is none."""
    rows: list[list[str]] = []
    for line in lines:
        if "|" not in line or _RULE.fullmatch(line) or (framed and not line.lstrip().startswith("|")):
            break
        rows.append(_split(line, framed))
    beside = Beside(rows, width, "|")
    while not framed and rows and (len(rows[-1]) != width or beside.is_text(rows[-1])):
        rows.pop()
    return rows


def _is_ruled_again(before: Sequence[str], behind: Sequence[str]) -> bool:
    """Whether what stands around a table may be more rows, or another table."""
    piped = [line for line in (*before, *behind) if "|" in line and not _RULE.fullmatch(line)]
    return len(piped) > 2 or any(line.lstrip().startswith("|") or line.count("|") > 2 for line in piped)


def looks_fixed(lines: Sequence[str]) -> bool:
    """Whether the lines begin a table of fixed-width columns under a header."""
    return _fixed_body(lines) is not None


def _fixed_body(lines: Sequence[str]) -> tuple[list[str], list[str], list[tuple[int, int]]] | None:
    """(lines around, rows, where the columns stand) of fixed-width lines; a blank line ends the table."""
    told = [line for line in lines if not _COUNT.fullmatch(line)]
    start, end = main_run([not line.strip() for line in told])
    rows = [line for line in told[start:end] if line.strip()]
    if _is_more(told[:start]) or _is_more(told[end:]) or any(line.endswith("\\") for line in rows[:2]):
        return None
    spans = _spans(rows)
    first, last = 0, len(rows)
    if spans is None:
        first, last = _between(rows)
        spans = _spans(rows[first:last]) if last - first < len(rows) else None
    if spans is None:
        return None
    other = [line for line in (*told[:start], *rows[:first], *rows[last:], *told[end:]) if line.strip()]
    return other, rows[first:last], spans


def _between(rows: Sequence[str]) -> tuple[int, int]:
    """(from, to) of the rows between lines that end like text."""
    first = next((i for i, line in enumerate(rows[:_BESIDE]) if not ends_like_text(line)), 0)
    last = len(rows)
    while len(rows) - last < _BESIDE and last > first and ends_like_text(rows[last - 1]):
        last -= 1
    return first, last


def _is_more(lines: Sequence[str]) -> bool:
    """Whether lines beyond a blank one are no text of a few lines, but maybe more of the table."""
    count = 0
    for start, end in runs([not line.strip() for line in lines]):
        count += end - start
        if end - start > 2 and 2 * sum(map(ends_like_text, lines[start:end])) < end - start:
            return True
    return count > _CAPTION_LINES


def _spans(rows: Sequence[str]) -> list[tuple[int, int]] | None:
    """Where the columns stand (from, to), None where the rows, none of them blank, have none that can be told apart."""
    if len(rows) < 4 or any("\t" in line for line in rows):
        return None
    width = max(map(len, rows))
    if width > 4_000:
        return None
    ink = 0
    for row in rows:
        ink |= int(_INK.sub("1", row.ljust(width)).replace(" ", "0"), 2)
    drawn = format(ink, f"0{width}b")
    spans = [found.span() for found in re.finditer(r"1+(?:01+)*", drawn)]
    spans = [part for span in spans for part in _single_gaps(rows, drawn, span)]
    heads = [rows[0][a:b].strip() for a, b in spans]
    if len(spans) < 2 or not all(heads[1:]) or any("  " in h or h == "..." or is_value(h) for h in heads):
        return None
    return spans if _is_aligned(rows, spans) else None


def _single_gaps(rows: Sequence[str], drawn: str, span: tuple[int, int]) -> list[tuple[int, int]]:
    """The span, cut at those single blank positions that part two columns.

    pandas puts one space only before dates and before a header that fills its column. A space inside names or values
    isn't taken for a gap: the part before must end there in every row, and hold numbers or dates, or dates must follow.
    """
    start, end = span
    found: list[tuple[int, int]] = []
    for at in (i for i in range(start + 1, end - 1) if drawn[i] == "0"):
        if _is_gap(rows, start, at):
            found.append((start, at))
            start = at + 1
    return [*found, (start, end)]


def _is_gap(rows: Sequence[str], start: int, at: int) -> bool:
    index = start == 0 and not rows[0][:at].strip()
    if not index and not rows[0][at - 1 : at].strip():
        return False
    if not all(row[at - 1 : at].strip() or not row[start:at].strip() for row in rows):
        return False
    if not index and all(row[start:at].strip() in _ABSENT or is_value(row[start:at]) for row in rows[1:]):
        return True
    return all(_DATE.match(row, at + 1) for row in rows[1:]) and any(row[at:].strip() for row in rows[1:])


def _is_aligned(rows: Sequence[str], spans: Sequence[tuple[int, int]]) -> bool:
    """Whether the cells of each column stand to the left or to the right, header included."""
    for start, end in spans:
        cells = [cell for cell in (row[start:end].ljust(end - start) for row in rows) if cell.strip()]
        left = sum(cell[0] != " " for cell in cells)
        right = sum(cell[-1] != " " for cell in cells)
        if max(left, right) * 10 < 9 * len(cells):
            return False
    return True


def read_fixed(lines: Sequence[str]) -> Table | None:
    """The table in fixed-width lines; None where the display itself left rows or columns out, or wrapped."""
    counts = tuple(line.strip() for line in lines if _COUNT.fullmatch(line))
    body = _fixed_body(lines)
    if body is None:
        return None
    other, rows, spans = body
    cut = [[row[a:b].strip() for a, b in spans] for row in rows]
    if len(cut) > 4 and not any(cut[-1][1:]) and all(any(row[1:]) for row in cut[2:-1]):
        other, cut = [*other, cut[-1][0]], cut[:-1]
    header, data = cut[0], cut[1:]
    if data and not header[0] and data[0][0] and not any(data[0][1:]):
        header, data = [data[0][0], *header[1:]], data[1:]
    if len(data) < 2 or any(set(row) <= {"...", "..", ""} for row in data):
        return None
    return _framed(header, data, (*(line.strip() for line in other), *counts))


def _framed(header: list[str], data: list[list[str]], counts: tuple[str, ...]) -> Table | None:
    """The table without pandas' running index; None for an index whose repeated labels are left blank."""
    if not header[0]:
        if not all(row[0] for row in data):
            return None
        if all(row[0] == str(i) for i, row in enumerate(data)):
            header, data = header[1:], [row[1:] for row in data]
    if not header:
        return None
    rows = [[None if cell in _ABSENT else cell for cell in row] for row in data]
    return Table(name_columns(header, len(header)), rows, "fixed", counts)
