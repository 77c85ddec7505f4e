"""Tables that come as records: JSON arrays of objects, JSON lines, lists of Python tuples as SQL tools print them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, islice
from typing import Any

from tiered_core.compactors.json_text import as_cell, is_container, read_json
from tiered_core.compactors.shapes import Table, name_columns

_MAX_COLUMNS = 1_000
_SAMPLE = 50

_SCALAR = (
    r"(?:None|True|False|nan|-?inf|-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|b?'(?:[^'\\\n]|\\.)*+'|b?\"(?:[^\"\\\n]|\\.)*+\""
    r"|Decimal\('[^'\\\n]*+'\)|datetime\.\w++\([^()]*+\))"
)
_TUPLE = re.compile(rf"\(\s*+{_SCALAR}(?:\s*+,\s*+{_SCALAR})*+\s*+,?\s*+\)")
_PART = re.compile(_SCALAR)
_BETWEEN = re.compile(r"\s*+,\s*+")
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U(0010[0-9a-f]{4}|000[0-9a-f]{5})|(.))")
_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}
_STAMP = re.compile(r"datetime\.(?:date|datetime)\(([\d, ]+)\)")


def from_json(text: str) -> Table | None:
    """The table in a JSON text, None where it holds none.

    A table is an array of at least two objects that share keys, alone or as the only container of an object (whose
    other values become the caption), or an object with `columns` and `data`. Objects inside a record are flattened one
    level (`price.eur`); anything deeper stays JSON in its cell.
    """
    value = read_json(text)
    return None if value is None else table_of(value)


def table_of(value: dict[str, Any] | list[Any]) -> Table | None:
    """The table in a JSON value, see `from_json`."""
    try:
        return _table_of(value)
    except RecursionError:
        return None


def _table_of(value: dict[str, Any] | list[Any]) -> Table | None:
    caption: tuple[str, ...] = ()
    if isinstance(value, dict):
        split = _split_form(value)
        if split is not None:
            return split
        inner = [v for v in value.values() if is_container(v)]
        if len(inner) != 1 or not isinstance(inner[0], list):
            return None
        caption = tuple(f"{k}: {as_cell(v) or 'null'}" for k, v in value.items() if v is not inner[0])
        value = inner[0]
    return from_records(value, "json", caption)


def _split_form(value: dict[str, Any]) -> Table | None:
    names, rows = value.get("columns"), value.get("data", value.get("rows"))
    if not (isinstance(names, list) and isinstance(rows, list) and len(names) > 1 and len(rows) > 1):
        return None
    if not all(isinstance(name, str) for name in names):
        return None
    if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        return None
    return Table(name_columns(names, len(names)), [[as_cell(v) for v in row] for row in rows], "json")


def from_records(items: Sequence[Any], source_format: str, caption: tuple[str, ...] = ()) -> Table | None:
    """The table of objects that share keys: at least half of all cells are there, and at most half are containers."""
    if len(items) < 2 or not all(isinstance(item, dict) for item in items):
        return None
    top = dict.fromkeys(chain.from_iterable(items))
    if not top or 2 * sum(map(len, items)) < len(top) * len(items) or len(top) > _MAX_COLUMNS:
        return None
    nested = {key for key in top if any(isinstance(item.get(key), dict) for item in items)}
    flat = [_flatten(item, nested) for item in items] if nested else items
    paths = list(dict.fromkeys(chain.from_iterable(flat))) if nested else list(top)
    sample = [value for item in islice(flat, _SAMPLE) for value in item.values()]
    if len(paths) > _MAX_COLUMNS or 2 * sum(map(is_container, sample)) > len(sample):
        return None
    names = [path if isinstance(path, str) else ".".join(path) for path in paths]
    rows = [[as_cell(item.get(path)) for path in paths] for item in flat]
    return Table(name_columns(names, len(names)), rows, source_format, caption)


def _flatten(item: dict[str, Any], nested: set[str]) -> dict[Any, Any]:
    flat: dict[Any, Any] = {}
    for key, value in item.items():
        if key in nested and isinstance(value, dict) and value:
            flat.update(((key, inner), v) for inner, v in value.items())
        elif value is not None or key not in nested:
            flat[key] = value
    return flat


def looks_like_lines(sample: str, complete: bool) -> bool:
    """Whether the beginning of a text is JSON lines: an object on each of at least two lines."""
    lines = [line for line in sample.splitlines() if line.strip()][:5]
    if len(lines) < 2 or not all(line.lstrip().startswith("{") for line in lines):
        return False
    whole = lines if complete or len(lines) == 5 else lines[:-1]
    return bool(whole) and all(isinstance(read_json(line), dict) for line in whole)


def from_lines(text: str) -> Table | None:
    """The table of JSON lines."""
    items = [read_json(line) for line in text.lstrip("\ufeff").split("\n") if line.strip()]
    try:
        return from_records(items, "jsonl")
    except RecursionError:
        return None


def looks_like_tuples(sample: str) -> bool:
    """Whether the beginning of a text is a Python list of at least two tuples of scalars."""
    start = sample.lstrip()
    first = _TUPLE.match(start, 1) if start.startswith("[(") else None
    return first is not None and _BETWEEN.match(start, first.end()) is not None


def from_tuples(text: str) -> Table | None:
    """The table in a Python list of equally long tuples of scalars; its columns have no names."""
    bare = text.strip()
    if not (bare.startswith("[(") and bare.endswith(")]")):
        return None
    rows: list[list[str | None]] = []
    at, end = 1, len(bare) - 1
    while at < end:
        found = _TUPLE.match(bare, at)
        if found is None:
            return None
        rows.append([_scalar(part) for part in _PART.findall(bare, found.start() + 1, found.end() - 1)])
        at = found.end()
        gap = _BETWEEN.match(bare, at)
        if gap is None:
            break
        at = gap.end()
    if bare[at:end].strip() or len(rows) < 2 or len({len(row) for row in rows}) != 1:
        return None
    return Table(name_columns(None, len(rows[0])), rows, "tuples", headed=False)


def _scalar(token: str) -> str | None:
    if token == "None":
        return None
    if token.startswith("Decimal("):
        return token[9:-2]
    stamp = _STAMP.fullmatch(token)
    if stamp:
        return _stamp_text([int(part) for part in stamp[1].split(",") if part.strip()])
    token = token[1:] if token[0] == "b" and "\\" not in token else token
    if token[0] in "'\"":
        return _ESCAPE.sub(_unescape, token[1:-1])
    return {"True": "true", "False": "false"}.get(token, token)


def _unescape(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    return chr(int(code, 16)) if code else _LETTERS.get(found[4], found[4])


def _stamp_text(parts: list[int]) -> str:
    day = "-".join(f"{n:02d}" for n in parts[:3])
    if len(parts) <= 3:
        return day
    clock = ":".join(f"{n:02d}" for n in [*parts[3:6], *[0] * (6 - len(parts[:6]))])
    return f"{day} {clock}" + (f".{parts[6]:06d}" if len(parts) > 6 else "")
