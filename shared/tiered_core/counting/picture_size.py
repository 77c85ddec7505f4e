"""Width and height of a picture from the first bytes of its file. Nothing is decoded, a damaged file gives None."""

from __future__ import annotations

import struct
from collections.abc import Callable

_STARTS_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xDA)})


def read_image_size(data: bytes) -> tuple[int, int] | None:
    """(width, height) in pixels of a PNG, JPEG, GIF, WebP or BMP file; None for anything else."""
    for signature, read in _READERS:
        if data.startswith(signature):
            try:
                width, height = read(data)
            except (struct.error, ValueError, IndexError):
                return None
            return (width, height) if width > 0 and height > 0 else None
    return None


def _png(data: bytes) -> tuple[int, int]:
    if data[12:16] != b"IHDR":
        raise ValueError("no header chunk")
    return _pair(">II", data, 16)


def _gif(data: bytes) -> tuple[int, int]:
    return _pair("<HH", data, 6)


def _bmp(data: bytes) -> tuple[int, int]:
    (header_size,) = struct.unpack_from("<I", data, 14)
    if header_size == 12:
        return _pair("<HH", data, 18)
    width, height = _pair("<ii", data, 18)
    return width, abs(height)  # a negative height stands for rows from the top


def _webp(data: bytes) -> tuple[int, int]:
    form = data[12:16]
    if data[8:12] != b"WEBP" or len(data) < 30:
        raise ValueError("not a WebP file")
    if form == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if form == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if form == b"VP8 ":
        width, height = _pair("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    raise ValueError("unknown WebP form")


def _jpeg(data: bytes) -> tuple[int, int]:
    position = 2
    while True:
        if data[position] != 0xFF:
            raise ValueError("no marker")
        marker = data[position + 1]
        if marker == 0xFF:  # a fill byte
            position += 1
        elif marker in _WITHOUT_LENGTH:
            position += 2
        elif marker in _STARTS_OF_FRAME:
            height, width = _pair(">HH", data, position + 5)
            return width, height
        else:
            (length,) = struct.unpack_from(">H", data, position + 2)
            position += 2 + max(2, length)


def _pair(form: str, data: bytes, offset: int) -> tuple[int, int]:
    first, second = struct.unpack_from(form, data, offset)
    return int(first), int(second)


_READERS: tuple[tuple[bytes, Callable[[bytes], tuple[int, int]]], ...] = (
    (b"\x89PNG\r\n\x1a\n", _png),
    (b"\xff\xd8\xff", _jpeg),
    (b"GIF87a", _gif),
    (b"GIF89a", _gif),
    (b"RIFF", _webp),
    (b"BM", _bmp),
)
