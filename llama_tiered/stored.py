"""Messages as JSON text and back. The form is ours, so it doesn't move with pydantic.

A text block is a string; every other value that JSON can't hold is an object with the key "$", which names its kind.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import json
import uuid
from collections.abc import Callable, Mapping
from enum import Enum
from io import IOBase
from pathlib import Path, PurePath
from typing import Any

from llama_index.core.base.llms.types import BaseContentBlock, ChatMessage, MessageRole, TextBlock
from pydantic import AnyUrl, BaseModel

from llama_tiered.calls import plain_call
from llama_tiered.cloning import encoded
from tiered_core.errors import TranscriptError

VERSION = 1
# What of `additional_kwargs` integrations send to a model (read in llama-index-llms-openai, -anthropic and
# -google-genai).
_SENT = ("tool_calls", "tool_call_id", "function_call", "thinking", "thought_signatures", "name")
_BY_TEXT: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]] = {
    "path": (PurePath, str, Path),
    "url": (AnyUrl, str, AnyUrl),
    "datetime": (datetime.datetime, datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    "date": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "decimal": (decimal.Decimal, str, decimal.Decimal),
    "uuid": (uuid.UUID, str, uuid.UUID),
}


class _UnholdableError(Exception):
    """JSON can't hold a value; the argument says which."""


def dump_message(message: ChatMessage) -> str:
    """The message as JSON text.

    Raises:
        TranscriptError: JSON can't hold a content block or a call.
    """
    kwargs = {**message.additional_kwargs}
    if isinstance(kwargs.get("tool_calls"), list | tuple):
        kwargs["tool_calls"] = [plain_call(call) for call in kwargs["tool_calls"]]
    value: dict[str, Any] = {"v": VERSION, "role": str(getattr(message.role, "value", message.role))}
    try:
        value["blocks"] = [b.text if type(b) is TextBlock else _encode(b) for b in message.blocks]
        value["kwargs"] = _kwargs(kwargs)
        return json.dumps(value, separators=(",", ":"))
    except (_UnholdableError, RecursionError, ValueError) as error:
        raise TranscriptError(
            f"a {value['role']} message can't be stored as JSON ({error}): put plain values into its blocks and calls"
        ) from error


def dump_block(block: Any) -> str:
    """A content block as JSON text, for counting and comparing; where JSON can't hold it, its `repr`."""
    try:
        return json.dumps(_encode(block), separators=(",", ":"))
    except (_UnholdableError, RecursionError, ValueError):
        return repr(block)


def load_message(text: str) -> ChatMessage:
    """The message that was dumped.

    Raises:
        TranscriptError: the text was written by a newer version, or holds a block of a class that isn't imported here.
    """
    value = json.loads(text)
    if value["v"] > VERSION:
        raise TranscriptError(
            f"a stored message has version {value['v']}, this tiered-context knows up to {VERSION}: upgrade it"
        )
    blocks = [TextBlock.model_construct(text=b) if isinstance(b, str) else _decode(b) for b in value["blocks"]]
    role = MessageRole(value["role"])
    return ChatMessage.model_construct(role=role, additional_kwargs=_decode(value["kwargs"]), blocks=blocks)


def _kwargs(kwargs: Mapping[Any, Any]) -> Any:
    """The entries that JSON can hold; one that can't be held is left out unless it is sent to a model."""
    kept = []
    for key, value in kwargs.items():
        if key == "images":
            continue  # the picture blocks made of it stand in the message; kept here they would be added a second time
        try:
            held = [_encode(key), _encode(value)]
            json.dumps(held)
        except (_UnholdableError, RecursionError, ValueError):
            if key in _SENT:
                raise
            continue
        kept.append(held)
    if all(type(key) is str and key != "$" for key, _ in kept):
        return dict(kept)
    return {"$": "pairs", "of": kept}


def _encode(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, list):
        return [_encode(item) for item in value]
    if isinstance(value, dict):
        return _encode_dict(value)
    if isinstance(value, bytes | bytearray):
        return _encode_bytes(bytes(value))
    if isinstance(value, tuple | set | frozenset):
        items = value if isinstance(value, tuple) else sorted(value, key=repr)
        return {"$": type(value).__name__, "of": [_encode(item) for item in items]}
    for kind, (cls, to_text, _) in _BY_TEXT.items():
        if isinstance(value, cls):
            return {"$": kind, "of": to_text(value)}
    return _encode_object(value)


def _encode_dict(value: dict[Any, Any]) -> Any:
    if "$" not in value and all(type(key) is str for key in value):
        return {key: _encode(item) for key, item in value.items()}
    return {"$": "pairs", "of": [[_encode(key), _encode(item)] for key, item in value.items()]}


def _encode_bytes(value: bytes) -> Any:
    """Base64 bytes, in which LlamaIndex holds media, are plain ASCII and stay as they are."""
    if value.isascii():
        return {"$": "ascii", "of": value.decode("ascii")}
    return {"$": "bytes", "of": base64.b64encode(value).decode("ascii")}


def _encode_object(value: Any) -> Any:
    if isinstance(value, BaseContentBlock):
        defaults = {name: field.default for name, field in type(value).model_fields.items()}
        fields = {n: _encode(v) for n, v in value.__dict__.items() if n not in defaults or not _same(v, defaults[n])}
        return {"$": "block", "class": type(value).__name__, "of": fields}
    if isinstance(value, IOBase):
        content = encoded(value)
        if content is None:
            raise _UnholdableError("a stream in it can't be read")
        return _encode_bytes(content)
    if isinstance(value, BaseModel):
        return _encode(value.model_dump())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _encode({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    if isinstance(value, Enum):
        return _encode(value.value)
    if isinstance(value, Mapping):
        return _encode(dict(value))
    if callable(getattr(value, "tolist", None)):
        return _encode(value.tolist())  # numbers and arrays of NumPy and pandas
    raise _UnholdableError(f"it holds a {type(value).__name__}")


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("$")
    if kind is None:
        return {key: _decode(item) for key, item in value.items()}
    held = value["of"]
    if kind == "block":
        return _block_class(value["class"]).model_construct(**{n: _decode(v) for n, v in held.items()})
    if kind == "pairs":
        return {_decode(key): _decode(item) for key, item in held}
    if kind == "ascii":
        return held.encode("ascii")
    if kind == "bytes":
        return base64.b64decode(held)
    if kind in ("tuple", "set", "frozenset"):
        return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](_decode(item) for item in held)
    return _BY_TEXT[kind][2](held)


def _block_class(name: str) -> type[BaseContentBlock]:
    """The class of that name among those that are imported; a stored text never makes anything be imported."""
    waiting: list[type[BaseContentBlock]] = [BaseContentBlock]
    while waiting:
        cls = waiting.pop(0)
        if cls.__name__ == name:
            return cls
        waiting.extend(cls.__subclasses__())
    raise TranscriptError(f"a stored message holds a {name}: import its module first, or upgrade llama-index-core")
