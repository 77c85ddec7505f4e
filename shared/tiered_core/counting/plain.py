"""Turns any value into the text that would be sent. Never raises, whatever a user, a tool or a library put in."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Mapping, Set
from typing import Any


def text_of(value: object) -> str:
    """A string as it is, "" for None, bytes decoded, anything else as compact JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "replace")
    return compact_json(value)


def compact_json(data: object) -> str:
    """Compact JSON text of any value; what JSON can't hold is written as the nearest plain value, or its `repr`."""
    try:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError, RecursionError):
        return _repr(data)


def _plain(value: Any) -> object:
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        return sorted(value, key=repr)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    for method in ("model_dump", "tolist", "isoformat"):
        if callable(getattr(value, method, None)):
            return getattr(value, method)()
    return _repr(value)


def _repr(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - a broken __repr__ must not break counting
        return f"<{type(value).__name__}>"
