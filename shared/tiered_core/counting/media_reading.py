"""From bytes or an address to `Media`: the same content gives the same numbers in every carrier."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Literal
from urllib.parse import unquote_to_bytes

from tiered_core.counting.picture_size import read_image_size
from tiered_core.types import Media

MediaKind = Literal["image", "audio", "video", "file"]
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]+")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")


def media_from_bytes(
    data: bytes, mime: str = "", detail: str | None = None, kind: MediaKind | None = None, provider: str | None = None
) -> Media:
    """The numbers of a file that is held as bytes.

    Args:
        data: the content.
        mime: its media type; without one a known picture format is recognised by its first bytes.
        detail: the provider's detail level.
        kind: what it is, when the carrier says so; else it is read off `mime` and the bytes.
        provider: whose shape the carrier has.
    """
    size = read_image_size(data)
    width, height = size or (None, None)
    kind = kind or ("image" if size else kind_of_mime(mime))
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    return Media(kind, width, height, detail, len(data), digest, provider)


def media_from_data_url(
    url: str, detail: str | None = None, kind: MediaKind | None = None, provider: str | None = None
) -> Media:
    """The numbers of what a `data:` URL holds; any other address is a file of unknown size.

    Args:
        url: a `data:` URL, in base64 or percent-encoded, or another address.
        detail: the provider's detail level.
        kind: what it is, when the carrier says so; else the media type of the URL tells, "image" for another address.
        provider: whose shape the carrier has.
    """
    head, comma, payload = url.partition(",")
    if not (comma and head[:5].lower() == "data:"):
        digest = hashlib.blake2b(url.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return Media(kind or "image", detail=detail, digest=digest, provider=provider)
    parameters = head[5:].split(";")
    if any(p.strip().lower() == "base64" for p in parameters[1:]):
        data = decode_base64(payload)
    else:
        data = unquote_to_bytes(payload.encode("utf-8", "surrogatepass"))
    return media_from_bytes(data, parameters[0], detail, kind, provider)


def decode_base64(text: str | bytes) -> bytes:
    """The bytes of base64 text; white space, the URL-safe alphabet and missing padding are tolerated."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
    try:
        return base64.b64decode(raw, validate=True)
    except (binascii.Error, ValueError):
        clean = _NOT_BASE64.sub(b"", raw.translate(_URL_SAFE).split(b"=", 1)[0])
        usable = len(clean) - (1 if len(clean) % 4 == 1 else 0)
        return base64.b64decode(clean[:usable] + b"=" * (-usable % 4))


def kind_of_mime(mime: str) -> MediaKind:
    """The kind of content that a media type stands for; "file" for documents and for none."""
    family = mime.strip().lower().partition("/")[0]
    kinds: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
    return kinds.get(family, "file")
