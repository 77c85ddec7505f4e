"""What the cells of a column are: numbers to be summed, codes and years, dates, or text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow
from typing import Literal

EXACT = Context(prec=2_400, Emax=9_999, Emin=-9_999, traps=[Inexact, InvalidOperation, Overflow, DivisionByZero])

_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<money>[$€£¥]?)"
    r"(?P<digits>(?:\d{1,60}|\d{1,3}(?:,\d{3}){1,12})(?:\.\d{0,60})?|\.\d{1,60})(?:[eE][+-]?\d{1,3})?(?P<percent>%?)",
    re.ASCII,
)
_PLAIN = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,60})?", re.ASCII)
_PADDED = re.compile(r"-?0\d", re.ASCII)
_NULL_WORDS = frozenset({"", "nan", "null", "none", "na", "n/a", "<na>", "nat", "-", "--", "\\n"})
_CODE_NAMES = frozenset(
    "id ids uuid guid code codes key pk fk zip zipcode postcode postal phone telephone mobile fax fips ssn isbn ean "
    "sku iban index idx rowid barcode gtin plz tin vat".split()
)
_YEAR_NAMES = frozenset("year years yr fy vintage jahr".split())
_NAME_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ID_DIGITS = 15
_YEARS = (Decimal(1500), Decimal(2200))
_LIKELY_YEARS = (Decimal(1900), Decimal(2100))
_ISO = re.compile(
    r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?)?"
    r"(\s?(?:Z|UTC|[+-]\d{2}:?\d{2}))?",
    re.ASCII,
)
_SLASHED = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?: (\d{1,2}):(\d{2})(?::(\d{2}))?)?", re.ASCII)
_NAMED = re.compile(r"(\d{1,2})[- ]([A-Za-z]{3,9})[- ,]{1,2}(\d{4})|([A-Za-z]{3,9})\.? (\d{1,2}),? (\d{4})", re.ASCII)
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
           "december")  # fmt: skip

_DECIMAL = re.compile(r"[+-]?(?:\d{1,60}|\d{1,3}(?:\.\d{3}){1,12}),\d{1,60}", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,60}", re.ASCII)
_MAYBE_GROUP = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
_GROUPS = re.compile(
    r"[+-]?(?:[$£]\d{1,3}(?:,\d{3})+|\d{1,3}(?:,\d{3}){2,}|\d{1,3}(?:,\d{3})+\.\d+)(?:\.\d*)?", re.ASCII
)
_MAYBE_POINT = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}", re.ASCII)

Moment = tuple[int, int, int, int, int, int, Decimal]
Commas = Literal["groups", "decimals", "unread"]
"""What commas in numbers stand for: thousands, the decimal point, or nothing that is sure."""


def is_null(text: str | None) -> bool:
    """Whether a cell of a column of numbers or dates says that there is no value."""
    return text is None or text.strip().lower() in _NULL_WORDS


def writes_decimal_commas(cells: Iterable[str]) -> bool:
    """Whether all cells are numbers with at most one comma, and one of them can't be a comma between thousands."""
    sure = False
    for cell in cells:
        bare = cell.strip()
        if "," not in bare and (_WHOLE.fullmatch(bare) or is_null(cell)):
            continue
        if not _DECIMAL.fullmatch(bare):
            return False
        sure = sure or not _MAYBE_GROUP.fullmatch(bare)
    return sure


def groups_thousands(cells: Iterable[str]) -> bool:
    """Whether a cell has commas that can't be decimal ones: `1,234,567`, `1,234.50`, `$1,234`."""
    return any("," in cell and _GROUPS.fullmatch(cell.strip()) for cell in cells)


def points_doubtful(cells: Iterable[str]) -> bool:
    """Whether all points may stand between thousands: `1.234`, where decimals may be written with a comma."""
    pointed = [cell.strip() for cell in cells if "." in cell]
    return bool(pointed) and all(map(_MAYBE_POINT.fullmatch, pointed))


def with_point(cell: str) -> str:
    """A number with a decimal comma, written with a decimal point."""
    return cell.strip().replace(".", "").replace(",", ".")


def read_numbers(cells: Iterable[str], commas: Commas) -> tuple[dict[str, Decimal], str] | None:
    """The exact value of each cell and the unit that all share ("", "$", "%", …); None when one is no number.

    `commas` says how `1,234` may be read: as 1234 (only where no cell contradicts it), as 1.234, or not at all.
    """
    if commas == "decimals":
        known = list(cells)
        return ({cell: Decimal(with_point(cell)) for cell in known}, "") if writes_decimal_commas(known) else None
    values: dict[str, Decimal] = {}
    units: set[str] = set()
    separated = long_plain = False
    for cell in cells:
        bare = cell.strip()
        if _PLAIN.fullmatch(bare):
            values[cell] = Decimal(bare)
            units.add("")
            long_plain = long_plain or len(bare.partition(".")[0]) > 4
            continue
        found = _NUMBER.fullmatch(bare)
        if found is None or (found["money"] and found["percent"]):
            return None
        units.add(found["money"] or found["percent"])
        if "," in bare:
            if commas != "groups" or bare.lstrip("+-$€£¥").startswith("0"):
                return None
            separated = True
        values[cell] = Decimal(bare.replace(",", "").replace(found["money"] or "%", "").replace("%", ""))
    if len(units) != 1 or (separated and long_plain):
        return None
    return values, units.pop()


def is_code(name: str, values: dict[str, Decimal]) -> bool:
    """Whether numbers are identifiers, codes or years, which nobody sums."""
    whole = True
    for cell, value in values.items():
        bare = cell.strip()
        if bare[0] == "+" or _PADDED.match(bare):
            return True
        digits = bare.lstrip("-").isdigit()
        if digits and len(bare.lstrip("-")) > _ID_DIGITS:
            return True
        whole = whole and (digits or value == value.to_integral_value())
    parts = [part.lower() for part in _NAME_PARTS.findall(name)]
    if not whole:
        return False
    low, high = min(values.values()), max(values.values())
    if _within(low, high, _YEARS) and not _YEAR_NAMES.isdisjoint(parts):
        return True
    if len(values) > 2 and _within(low, high, _LIKELY_YEARS) and all(len(cell.strip()) == 4 for cell in values):
        return True
    return bool(parts) and (parts[-1] in _CODE_NAMES or parts[0] in ("zip", "postal", "phone", "fips", "isbn"))


def _within(low: Decimal, high: Decimal, bounds: tuple[Decimal, Decimal]) -> bool:
    return bounds[0] <= low and high <= bounds[1]


def read_dates(cells: Collection[str]) -> dict[str, Moment] | None:
    """The moment of each cell; None when one is no date, or when day and month can't be told apart."""
    for read in (_iso_dates, _slashed_dates, _named_dates):
        found = read(cells)
        if found is not None:
            return found
    return None


def _moment(year: int, month: int, day: int, clock: tuple[str | None, ...] = ()) -> Moment | None:
    hour, minute, second = (int(part or 0) for part in (*clock[:3], *("0",) * (3 - len(clock[:3]))))
    fraction = Decimal(clock[3]) if len(clock) > 3 and clock[3] else Decimal(0)
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 25 and minute < 60 and second < 61):
        return None
    return year, month, day, hour, minute, second, fraction


def _iso_dates(cells: Collection[str]) -> dict[str, Moment] | None:
    moments: dict[str, Moment] = {}
    zones: set[str] = set()
    for cell in cells:
        found = _ISO.fullmatch(cell.strip())
        if found is None:
            return None
        moment = _moment(int(found[1]), int(found[3]), int(found[4]), found.group(5, 6, 7, 8))
        if moment is None:
            return None
        zones.add((found[9] or "").strip())
        moments[cell] = moment
    return moments if len(zones) == 1 else None


def _slashed_dates(cells: Collection[str]) -> dict[str, Moment] | None:
    found = {cell: _SLASHED.fullmatch(cell.strip()) for cell in cells}
    parts: dict[str, re.Match[str]] = {cell: match for cell, match in found.items() if match is not None}
    if len(parts) != len(found):
        return None
    day_first = any(int(match[1]) > 12 for match in parts.values())
    month_first = any(int(match[3]) > 12 for match in parts.values())
    if day_first == month_first:
        return None
    day, month = (1, 3) if day_first else (3, 1)
    moments = {c: _moment(int(m[4]), int(m[month]), int(m[day]), m.group(5, 6, 7)) for c, m in parts.items()}
    return _complete(moments)


def _named_dates(cells: Collection[str]) -> dict[str, Moment] | None:
    moments: dict[str, Moment | None] = {}
    for cell in cells:
        found = _NAMED.fullmatch(cell.strip())
        month = _month((found[2] or found[4]).lower()) if found else 0
        if found is None or not month:
            return None
        moments[cell] = _moment(int(found[3] or found[6]), month, int(found[1] or found[5]))
    return _complete(moments)


def _month(name: str) -> int:
    return next((i for i, month in enumerate(_MONTHS, 1) if month == name or month[:3] == name), 0)


def _complete(moments: dict[str, Moment | None]) -> dict[str, Moment] | None:
    known = {cell: moment for cell, moment in moments.items() if moment is not None}
    return known if len(known) == len(moments) else None
