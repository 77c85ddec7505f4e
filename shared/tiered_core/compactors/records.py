"""Tables that come as records: JSON arrays of objects, JSON lines, lists of Python tuples as SQL tools print them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from tiered_core.compactors.around import MOST_LINES, text_lines, unwrapped
from tiered_core.compactors.json_text import Repeating, as_cell, is_container, read_json, read_repeating
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
_LIST = re.compile(r"^[ \t]*+(\[\()", re.MULTILINE)
_LIST_WITHIN = 4_000
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


def from_wrapped(text: str) -> Table | None:
    """The table in a JSON text between other lines, which become its caption."""
    for before, inner, behind in unwrapped(text, ("[", "{"), ("]", "}")):
        table = from_json(inner)
        if table is not None:
            return replace(table, caption=(*text_lines(before), *table.caption, *text_lines(behind)))
    return None


def count_repeating(text: str) -> int | None:
    """How many records an array has of which some name a key twice; None for anything else."""
    if text[:64].lstrip("\ufeff \t\r\n")[:1] not in ("[", "{"):
        return None
    value = read_repeating(text)
    if isinstance(value, dict) and not isinstance(value, Repeating):
        inner = [v for v in value.values() if is_container(v)]
        value = inner[0] if len(inner) == 1 else None
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return None
    return len(value) if len(value) > 1 and any(isinstance(item, Repeating) for item in value) else None


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
    lines = [line for line in sample.split("\n") if line.strip()]
    first = next((i for i, line in enumerate(lines[: MOST_LINES + 1]) if _is_object(line)), None)
    if first is None:
        return False
    begun = lines[first : first + 5]
    marked = [i for i, line in enumerate(lines) if line.lstrip().startswith("{")]
    alike = len(marked) == marked[-1] - first + 1 and len(lines) - marked[-1] <= MOST_LINES + 1
    whole = [line for line in begun[: len(marked)] if complete or len(begun) == 5 or line is not begun[-1]]
    return len(marked) > 1 and bool(whole) and alike and all(map(_is_object, whole))


def _is_object(line: str) -> bool:
    return line.lstrip().startswith("{") and isinstance(read_json(line), dict)


def from_lines(text: str) -> Table | None:
    """The table of JSON lines; a few other lines before and behind them become its caption."""
    lines = [line for line in text.lstrip("\ufeff").split("\n") if line.strip()]
    objects = [i for i, line in enumerate(lines) if line.lstrip().startswith("{")]
    first, last = (objects[0], objects[-1] + 1) if objects else (0, 0)
    if first > MOST_LINES or len(lines) - last > MOST_LINES:
        return None
    around = text_lines(*lines[:first], *lines[last:])
    try:
        return from_records([read_json(line) for line in lines[first:last]], "jsonl", around)
    except RecursionError:
        return None


def looks_like_tuples(sample: str) -> bool:
    """Whether the beginning of a text is a Python list of at least two tuples of scalars."""
    return any(_begins_tuples(sample, at) for at in _tuple_starts(sample))


def _tuple_starts(text: str) -> list[int]:
    """Where one of the first lines begins with a list of tuples."""
    return [found.start(1) for found in islice(_LIST.finditer(text, 0, _LIST_WITHIN), 3)]


def _begins_tuples(text: str, at: int) -> bool:
    first = _TUPLE.match(text, at + 1)
    return first is not None and _BETWEEN.match(text, first.end()) is not None


def from_tuples(text: str) -> Table | None:
    """The table in a Python list of equally long tuples of scalars; its columns have no names.

    Other lines before and behind the list become the caption.
    """
    bare = text.strip()
    if bare.startswith("[(") and bare.endswith(")]"):
        return _tuples(bare, ())
    for before, inner, behind in unwrapped(text, ("[(",), (")]",)):
        table = _tuples(inner, text_lines(before, behind))
        if table is not None:
            return table
    return None


def _tuples(bare: str, caption: tuple[str, ...]) -> Table | None:
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
    return Table(name_columns(None, len(rows[0])), rows, "tuples", caption, headed=False)


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
