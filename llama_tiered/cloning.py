"""Copies that share nothing mutable, of values that may hold anything."""

from __future__ import annotations

import base64
import copy
from collections.abc import Mapping
from enum import Enum
from io import IOBase
from pathlib import PurePath
from typing import Any

from llama_index.core.base.llms.types import BaseContentBlock
from pydantic import AnyUrl, BaseModel

_FIXED = (str, int, float, complex, bytes, type(None), Enum, PurePath, AnyUrl, type)


def clone(value: Any) -> Any:
    """An equal value that shares nothing mutable with the given one.

    A stream inside a content block becomes the base64 bytes of its content, as LlamaIndex holds pictures given as
    bytes. An object that can't be copied (a client, a lock) is shared: nobody edits it through a message.
    """
    if isinstance(value, _FIXED):
        return value
    if type(value) is list:
        return [clone(item) for item in value]
    if type(value) is dict:
        return {clone(key): clone(item) for key, item in value.items()}
    if isinstance(value, BaseContentBlock):
        return clone_block(value)
    if isinstance(value, BaseModel):
        return _clone_model(value, {})
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001 - whatever an object raises that can't be copied
        return value


def clone_block(block: Any) -> Any:
    """A copy of a content block or message, of the same class and without validation."""
    streams = {name: encoded(value) for name, value in block.__dict__.items() if isinstance(value, IOBase)}
    return _clone_model(block, streams)


def _clone_model(model: BaseModel, fixed: Mapping[str, Any]) -> Any:
    """What pydantic's own `__copy__` does, with copies of the values; five times as fast as copying twice."""
    cls = type(model)
    out = cls.__new__(cls)
    held = {n: v if isinstance(v, _FIXED) else fixed[n] if n in fixed else clone(v) for n, v in model.__dict__.items()}
    object.__setattr__(out, "__dict__", held)
    object.__setattr__(out, "__pydantic_fields_set__", set(model.__pydantic_fields_set__))
    object.__setattr__(out, "__pydantic_extra__", clone(model.__pydantic_extra__))
    object.__setattr__(out, "__pydantic_private__", clone(model.__pydantic_private__))
    return out


def encoded(stream: IOBase) -> bytes | None:
    """The content of a stream as base64 bytes, its position left as it was; None when it can't be read."""
    try:
        position = stream.tell()
        stream.seek(0)
        content = stream.read()
        stream.seek(position)
    except (OSError, ValueError):
        return None
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else bytes(content)
    return base64.b64encode(raw)
