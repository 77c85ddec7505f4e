"""Content blocks seen as text: what can be edited in them, and blocks rebuilt with other text.

Editable are text blocks, the texts inside citable blocks, and documents that are plain text (a table in a CSV document
shall enter as small as one in a text block). Everything else keeps its place and content.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from typing import Any

from llama_index.core.base.llms.types import (
    AudioBlock,
    BaseContentBlock,
    CitableBlock,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    VideoBlock,
)

MEDIA = (ImageBlock, AudioBlock, VideoBlock, DocumentBlock)
_TEXTUAL = ("json", "xml", "csv", "yaml", "javascript", "markdown", "sql")


def texts_of(block: Any) -> tuple[str, ...]:
    """The editable texts of a block in order."""
    if isinstance(block, TextBlock):
        return (block.text,)
    if isinstance(block, CitableBlock):
        return tuple(text for nested in block.content for text in texts_of(nested))
    if isinstance(block, DocumentBlock):
        text = _document_text(block)
        return () if text is None else (text,)
    return ()


def is_media(block: Any) -> bool:
    """Whether a block is a picture, recording or file that isn't plain text."""
    return isinstance(block, MEDIA) and not texts_of(block)


def with_texts(block: Any, next_text: Callable[[], str]) -> Any | None:
    """The block (which belongs to the caller) with other texts, taken one by one; None when nothing is left of it."""
    if isinstance(block, TextBlock):
        block.text = next_text()
        return block if block.text else None
    if isinstance(block, CitableBlock):
        nested = [with_texts(b, next_text) for b in block.content]
        block.content = [b for b in nested if b is not None]
        return block if block.content else None
    if texts_of(block):
        text = next_text()
        block.data = base64.b64encode(text.encode("utf-8", "surrogatepass"))
        return block if text else None
    return block


def without_media(block: Any) -> Any | None:
    """The block (which belongs to the caller) without pictures and files; None when nothing is left of it."""
    if is_media(block):
        return None
    if isinstance(block, CitableBlock):
        block.content = [b for b in block.content if not is_media(b)]
        return block if block.content else None
    return None if is_media(getattr(block, "cited_content", None)) else block


def held_bytes(data: Any) -> bytes | None:
    """The content of bytes: LlamaIndex holds it in base64; what is no base64 is the content. None for anything else."""
    if not isinstance(data, bytes):
        return None
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        return data


def nested_media(block: Any) -> Iterator[BaseContentBlock]:
    """The block itself if it is a picture or file, else those inside it."""
    if is_media(block):
        yield block
    for name in ("content", "cited_content"):
        inner = getattr(block, name, None)
        for nested in inner if isinstance(inner, list) else [inner]:
            if isinstance(nested, BaseContentBlock) and is_media(nested):
                yield nested


def _document_text(block: DocumentBlock) -> str | None:
    mimetype = (block.document_mimetype or "text/plain").lower()
    if not (mimetype.startswith("text/") or any(kind in mimetype for kind in _TEXTUAL)):
        return None
    content = held_bytes(block.data)
    if not content or b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None
