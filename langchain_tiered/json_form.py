"""Messages as JSON text and back, exactly: class, content, ids, metadata.

Fields are written as they stand and read back without validation, since validators of the host drop and rewrite parts.
A class is looked up among those that are loaded; no stored text makes anything be imported.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import langchain_core.messages as host
from langchain_core.messages import BaseMessage

from tiered_core.errors import TranscriptError

VERSION = 1
_TAG = "__tiered__"
_LOST = "lost"
_HALVES = re.compile("(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")
_REACH_THE_MODEL = ("content", "tool_calls", "invalid_tool_calls", "tool_call_chunks")


class _NotPlainError(TypeError):
    """JSON can't hold a value."""


def dump_message(message: BaseMessage) -> str:
    """The message as JSON text.

    What JSON can't hold is left out where it doesn't reach the model (an artifact, metadata) and is None after loading.

    Raises:
        TranscriptError: JSON can't hold a part that reaches the model.
    """
    fields: dict[str, Any] = {}
    for name, value in _own_fields(message):
        try:
            fields[name] = _encoded(value, strict=name in _REACH_THE_MODEL or name == "artifact")
        except (_NotPlainError, RecursionError) as error:
            if name in _REACH_THE_MODEL:
                raise TranscriptError(
                    f"the {name} of {type(message).__name__} can't be stored as JSON: {error}; use plain JSON values"
                ) from error
            fields[name] = {_TAG: _LOST}
    kind = type(message)
    head = {"v": VERSION, "class": _class_name(kind), "base": _base_name(kind), "fields": fields}
    return json.dumps(head, separators=(",", ":"))


def load_message(text: str) -> BaseMessage:
    """The message of which `dump_message` gave the text.

    Raises:
        TranscriptError: it is no such text, or one of a newer version.
    """
    try:
        head = json.loads(text)
        if head["v"] > VERSION:
            raise TranscriptError(
                f"a stored message has version {head['v']}, this tiered-context knows up to {VERSION}: upgrade it"
            )
        kind = _class_of(head["class"]) or getattr(host, head["base"])
        fields = {name: _decoded(value) for name, value in head["fields"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise TranscriptError(f"a stored message can't be read: {error!r}") from error
    message: BaseMessage = kind.model_construct(set(fields), **fields)
    return message


def _own_fields(message: BaseMessage) -> Iterator[tuple[str, Any]]:
    """Fields that differ from their default, and fields of the caller's own."""
    described = type(message).model_fields
    for name, value in message.__dict__.items():
        default = described[name].get_default(call_default_factory=True) if name in described else None
        if name == "content" or type(value) is not type(default) or value != default:
            yield name, value
    yield from (message.__pydantic_extra__ or {}).items()


def _encoded(value: Any, strict: bool) -> Any:
    """A JSON value that `_decoded` turns back; when not strict, an odd value inside is lost on its own."""
    if isinstance(value, str):
        pieces = _pieces(value)
        return value if len(pieces) == 1 else {_TAG: "text", "pieces": pieces}
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list):
        return [_encoded(v, strict) for v in value]
    if isinstance(value, dict):
        if all(type(k) is str and len(_pieces(k)) == 1 for k in value) and _TAG not in value:
            return {k: _encoded(v, strict) for k, v in value.items()}
        return {_TAG: "dict", "items": [[_encoded(k, True), _encoded(v, strict)] for k, v in value.items()]}
    if type(value) is tuple:
        return {_TAG: "tuple", "items": [_encoded(v, strict) for v in value]}
    if isinstance(value, bytes):
        return {_TAG: "bytes", "base64": base64.b64encode(value).decode("ascii")}
    if strict:
        raise _NotPlainError(f"it holds a {type(value).__module__}.{type(value).__qualname__}")
    return {_TAG: _LOST}


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(v) for v in value]
    if not isinstance(value, dict):
        return value
    tag = value.get(_TAG)
    if tag is None:
        return {k: _decoded(v) for k, v in value.items()}
    if tag == "dict":
        return {_key(_decoded(k)): _decoded(v) for k, v in value["items"]}
    if tag == "text":
        return "".join(value["pieces"])
    if tag == "tuple":
        return tuple(_decoded(v) for v in value["items"])
    return base64.b64decode(value["base64"]) if tag == "bytes" else None


def _pieces(text: str) -> list[str]:
    """The text, cut where JSON would make one character of two halves that a Python string holds apart."""
    return [text] if text.isascii() else _HALVES.split(text)


def _key(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _class_name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _base_name(kind: type[BaseMessage]) -> str:
    """The nearest class of the host, taken when the message's own class isn't loaded."""
    return next(str(c.__name__) for c in kind.__mro__ if getattr(host, c.__name__, None) is c)


_classes: dict[str, type[BaseMessage]] = {}


def _class_of(name: str) -> type[BaseMessage] | None:
    if name not in _classes:
        _classes.update((_class_name(kind), kind) for kind in _subclasses(BaseMessage))
    return _classes.get(name)


def _subclasses(kind: type[BaseMessage]) -> Iterator[type[BaseMessage]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _subclasses(child)
