"""Pictures, recordings and files in content blocks, as numbers. Every carrier of one picture gives the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiered_core.counting.media_reading import (
    MediaKind,
    decode_base64,
    kind_of_mime,
    media_from_bytes,
    media_from_data_url,
)
from tiered_core.types import Media

_KINDS: Mapping[str, MediaKind] = {
    "image": "image", "image_url": "image", "input_image": "image",
    "audio": "audio", "input_audio": "audio", "audio_url": "audio",
    "video": "video", "video_url": "video", "input_video": "video",
    "file": "file", "input_file": "file", "document": "file", "text-plain": "file", "media": "file",
    "inline_data": "file", "file_data": "file",
}  # fmt: skip
_UNTYPED = ("image", "video", "audio", "document", "inline_data", "file_data")
"""Keys that name the kind where a block has no "type": Bedrock Converse and Google."""
_DATA = ("data", "base64", "bytes", "file_data")
_ADDRESSES = ("url", "image_url", "audio_url", "video_url", "file_url", "file_uri", "uri", "file_id", "id")
_MIMES = ("mime_type", "media_type", "mimeType")
_DESCRIPTIONS = ("extras", "cache_control", "metadata", "annotations", "citations")


def is_media(block: Mapping[Any, Any]) -> bool:
    """Whether a content block carries a picture, a recording or a file."""
    kind = block.get("type")
    if kind is None:
        return any(isinstance(block.get(key), Mapping) for key in _UNTYPED)
    return isinstance(kind, str) and kind in _KINDS


def media_of(block: Mapping[Any, Any]) -> Media:
    """The numbers of a block for which `is_media` holds."""
    fields = _fields(block, 3)
    mime = next((str(fields[key]) for key in _MIMES if fields.get(key)), "")
    kind, provider = _kind(block, mime), _provider(block)
    detail = fields["detail"] if isinstance(fields.get("detail"), str) else None
    data = next((fields[key] for key in _DATA if isinstance(fields.get(key), str | bytes) and fields[key]), None)
    if isinstance(data, str) and not data.startswith("data:"):
        data = decode_base64(data)
    if isinstance(data, bytes):
        return media_from_bytes(data, mime, detail, kind, provider)
    address = data or next((fields[key] for key in _ADDRESSES if isinstance(fields.get(key), str)), None)
    if address is None:
        address = repr(sorted(map(str, fields.items())))
    if kind is None and not address.startswith("data:"):
        kind = "file"
    return media_from_data_url(address, detail, kind, provider)


def _fields(block: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    """The plain values of a block and of the mappings inside it, outer ones first."""
    out = {str(k): v for k, v in block.items() if not isinstance(v, Mapping)}
    for key, value in block.items():
        if isinstance(value, Mapping) and depth and key not in _DESCRIPTIONS:
            for name, inner in _fields(value, depth - 1).items():
                out.setdefault(name, inner)
    return out


def _kind(block: Mapping[Any, Any], mime: str) -> MediaKind | None:
    """What it is as far as the block tells; None for a "file", which may hold anything."""
    name = block.get("type")
    if name is None:
        name = next(key for key in _UNTYPED if isinstance(block.get(key), Mapping))
    kind = _KINDS[name]
    return (kind_of_mime(mime) if mime else None) if kind == "file" else kind


def _provider(block: Mapping[Any, Any]) -> str | None:
    name = block.get("type")
    if isinstance(block.get("source"), Mapping):
        return "anthropic"
    if name in ("image_url", "input_image", "input_audio", "input_file"):
        return "openai"
    return "google" if name == "media" or "inline_data" in block else None
