"""JSON read and written without changing a digit: numbers stay the text that they were."""

from __future__ import annotations

import json
from typing import Any, TypeGuard

_SCALARS = {True: "true", False: "false", None: "null"}


class Number(str):
    """A JSON number as it was written."""

    __slots__ = ()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object names a key twice")
    return found


class Repeating(dict[str, Any]):
    """An object that names a key twice; the last value of such a key is kept."""


def _marked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else Repeating(found)


def read_repeating(text: str) -> Any:
    """Any JSON value, with `Repeating` for objects that name a key twice; None for what is no JSON."""
    try:
        return json.loads(text.lstrip("\ufeff"), parse_int=Number, parse_float=Number, object_pairs_hook=_marked)
    except (ValueError, RecursionError):
        return None


def read_json(text: str) -> dict[str, Any] | list[Any] | None:
    """The object or array that the text holds, numbers as `Number`.

    None for anything else: no JSON, a bare scalar, an object that repeats a key, nesting too deep to read.
    """
    start = text[:64].lstrip("\ufeff \t\r\n")[:1]
    if start not in ("{", "["):
        return None
    try:
        value = json.loads(
            text.lstrip("\ufeff"), parse_int=Number, parse_float=Number, parse_constant=Number,
            object_pairs_hook=_unique,
        )  # fmt: skip
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None


def is_container(value: object) -> TypeGuard[dict[str, Any] | list[Any]]:
    """Whether the value is an object or an array."""
    return isinstance(value, (dict, list))


def dump_scalar(value: object) -> str:
    """A value that is no container, as JSON."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return _SCALARS[value]  # type: ignore[index]


def dump_json(value: object) -> str:
    """Compact JSON; what `read_json` read comes back digit for digit.

    Raises:
        RecursionError: when the nesting is deeper than the interpreter allows.
    """
    if isinstance(value, dict):
        return "{" + ",".join(f"{dump_scalar(k)}:{dump_json(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(dump_json, value)) + "]"
    return dump_scalar(value)


def as_cell(value: object) -> str | None:
    """A JSON value as the cell of a table: null as None, a text as it is, anything else as JSON."""
    if value is None:
        return None
    return str(value) if isinstance(value, str) else dump_json(value)
