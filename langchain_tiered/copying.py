"""Copies of messages that share no mutable content with the original."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from langchain_core.messages import BaseMessage

Message = TypeVar("Message", bound=BaseMessage)
_SHARED = "artifact"
"""A tool's artifact never reaches the model and may be a data frame or a connection: it is kept by reference."""


def copy_message(message: Message) -> Message:
    """An equal message of the same class; only the artifact is the same object."""
    out = message.model_copy()
    for values in (out.__dict__, out.__pydantic_extra__):
        for name, value in (values or {}).items():
            if name != _SHARED:
                values[name] = copy_value(value)  # type: ignore[index]
    return out


def copy_value(value: Any) -> Any:
    """A copy of a plain value; what isn't plain is copied by `copy.deepcopy`, or kept where that fails."""
    kind = type(value)
    if kind is str or value is None or kind in (int, float, bool, bytes):
        return value
    if kind is dict:
        return {k: copy_value(v) for k, v in value.items()}
    if kind is list:
        return [copy_value(v) for v in value]
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001 - a foreign object may refuse to be copied in any way it likes
        return value
