"""Picture, audio, video and document blocks as numbers. Nothing is read from disk or from the network."""

from __future__ import annotations

import base64
from io import IOBase
from typing import Any, Literal

from llama_index.core.base.llms.types import AudioBlock, DocumentBlock, ImageBlock, VideoBlock

from llama_tiered.cloning import encoded
from llama_tiered.message_text import held_bytes
from tiered_core.counting.pictures import media_from_bytes, media_from_data_url
from tiered_core.types import Media

_KINDS: dict[type, tuple[Literal["image", "audio", "video", "file"], str, str]] = {
    ImageBlock: ("image", "image", "image_mimetype"),
    AudioBlock: ("audio", "audio", "format"),
    VideoBlock: ("video", "video", "video_mimetype"),
    DocumentBlock: ("file", "data", "document_mimetype"),
}


def media_of(block: Any) -> Media:
    """The numbers of a media block; of one that is only referred to, size and dimensions are unknown."""
    kind, field, mime_field = next(found for cls, found in _KINDS.items() if isinstance(block, cls))
    detail = getattr(block, "detail", None)
    data = getattr(block, field)
    if isinstance(data, IOBase):
        text = encoded(data)
        data = None if text is None else base64.b64decode(text)
    else:
        data = held_bytes(data)
    if data:
        return media_from_bytes(data, getattr(block, mime_field) or "", detail, kind)
    return media_from_data_url(str(block.url or block.path or ""), detail, kind)
