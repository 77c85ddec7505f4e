"""Pictures, recordings and files: each provider's price, from the header bytes, the same in every carrier."""

from __future__ import annotations

import base64
import io
import struct
import urllib.parse
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_core.counting import SeedCounter, get_token_counter, media_from_bytes, media_from_data_url, read_image_size
from tiered_core.types import Media, Reading


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0;"


def bmp(width: int, height: int) -> bytes:
    return b"BM" + bytes(12) + struct.pack("<Iii", 40, width, -height) + bytes(28)


def old_bmp(width: int, height: int) -> bytes:
    return b"BM" + bytes(12) + struct.pack("<IHH", 12, width, height) + bytes(8)


def jpeg(width: int, height: int) -> bytes:
    exif = b"\xff\xe1" + struct.pack(">H", 2 + 64) + b"\xff\xc0" * 32  # looks like a frame inside of a segment
    frame = b"\xff\xff\xc2" + struct.pack(">HBHHB", 8, 8, height, width, 0)
    return b"\xff\xd8" + exif + b"\xff\xc4\x00\x02" + frame + b"\xff\xd9"


def webp_extended(width: int, height: int) -> bytes:
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + size + bytes(8)


def webp_lossless(width: int, height: int) -> bytes:
    bits = (width - 1) | (height - 1) << 14
    return b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + bits.to_bytes(4, "little") + bytes(8)


def webp_lossy(width: int, height: int) -> bytes:
    return b"RIFF\0\0\0\0WEBPVP8 " + bytes(7) + b"\x9d\x01\x2a" + struct.pack("<HH", width, height) + bytes(4)


FORMATS = [png, gif, bmp, old_bmp, jpeg, webp_extended, webp_lossless, webp_lossy]


@pytest.mark.parametrize("make", FORMATS)
@given(width=st.integers(1, 16_000), height=st.integers(1, 16_000))
def test_size_from_the_header(make: object, width: int, height: int) -> None:
    """B4: width and height are read from the first bytes of PNG, JPEG, GIF, WebP and BMP files."""
    assert callable(make)
    assert read_image_size(make(width, height)) == (width, height)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "BMP"])
def test_size_of_files_made_by_a_library(form: str) -> None:
    """B4: the same on files that Pillow writes."""
    image = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    image.new("RGB", (123, 45)).save(file, form)
    assert read_image_size(file.getvalue()) == (123, 45)


@given(st.sampled_from(FORMATS), st.integers(0, 80), st.binary(max_size=40))
def test_damaged_files(make: object, length: int, tail: bytes) -> None:
    """B4: cut and overwritten files, and bytes of any kind, give a size or None, never an exception."""
    assert callable(make)
    for data in (make(300, 200)[:length] + tail, tail):
        size = read_image_size(data)
        assert size is None or (size[0] > 0 and size[1] > 0)


def price(name: str | None, width: int | None, height: int | None, detail: str | None = None) -> int:
    return get_token_counter(name).count_image(Media("image", width, height, detail))


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [
        (512, 512, 255), (513, 512, 425), (1, 1, 255), (768, 768, 765), (1_024, 1_024, 765), (2_048, 4_096, 1_105),
        (4_096, 8_192, 1_105), (10_000, 10, 765), (100, 5_000, 765), (768, 2_048, 1_445),
    ],
)  # fmt: skip
def test_openai_tiles(width: int, height: int, tokens: int) -> None:
    """B4: 85 and 170 per 512 × 512 tile after scaling into 2,048 × 2,048 and to a shortest side of 768; 85 with low."""
    assert price("gpt-4o", width, height) == price(None, width, height, "high") == tokens
    assert price("gpt-4o", width, height, "low") == price(None, width, height, "low") == 85


@pytest.mark.parametrize(
    ("name", "width", "height", "detail", "tokens"),
    [
        ("gpt-4.1-mini", 1_024, 1_024, "high", 1_659), ("gpt-4.1-mini", 1_800, 2_400, None, 2_353),
        ("gpt-4.1-mini", 4_000, 1_474, "low", 2_489), ("gpt-4.1-nano", 128, 64, "low", 20),
        ("o4-mini", 32, 32, None, 2),
        ("gpt-5.5", 2_560, 1_440, "high", 2_931), ("gpt-5.5", 2_560, 1_440, "auto", 4_320),
        ("gpt-5.5", 4_032, 3_024, None, 11_868),
        ("gpt-6", 4_032, 3_024, "auto", 14_364), ("gpt-6", 4_032, 3_024, "high", 2_942),
        ("gpt-5.2", 1_024, 1_024, "auto", 1_229),
        ("gpt-5", 1_024, 1_024, "high", 630), ("gpt-5", 1_024, 1_024, "low", 70), ("o3", 1_024, 1_024, None, 675),
        ("gpt-4o-mini", 1_024, 1_024, "high", 25_501), ("computer-use-preview", 512, 512, "high", 194),
        ("claude-sonnet-4-5", 1_000, 1_000, None, 1_334), ("claude-sonnet-4-5", 200, 200, "low", 54),
        ("claude-sonnet-4-5", 1_092, 1_092, None, 1_590), ("claude-sonnet-4-5", 8_000, 8_000, None, 1_600),
        ("claude-opus-4-7", 1_920, 1_080, None, 2_765), ("claude-opus-4-7", 8_000, 8_000, None, 4_784),
        ("gemini-2.5-pro", 384, 384, None, 258), ("gemini-2.5-pro", 960, 540, None, 1_548),
        ("gemini-2.5-pro", 1_536, 1_536, None, 1_032), ("gemini-3-pro", 960, 540, None, 1_120),
        ("gemini-3-pro", 9, 9, "low", 280),
    ],
)  # fmt: skip
def test_rules_of_other_models(name: str, width: int, height: int, detail: str | None, tokens: int) -> None:
    """B4: patch models, other tile prices, Claude's area / 750 within its caps, Gemini's tiles and levels."""
    assert price(name, width, height, detail) == tokens


@pytest.mark.parametrize(
    "name", [None, "gpt-4o", "gpt-4.1-mini", "claude-sonnet-4-5", "gemini-2.5-pro", "approximate", "seed"]
)
def test_unknown_size(name: str | None) -> None:
    """B4: a picture of unknown or absurd size costs 1,000."""
    for width, height in ((None, None), (0, 10), (-5, 5), (10**9, 1)):
        assert price(name, width, height) == 1_000


def test_fixed_prices_of_the_source() -> None:
    """B4: the preset `seed` has the source's prices: low 85, 85 + 170 per tile, unknown 1,000."""
    seed = SeedCounter()
    figures = [seed.count_image(Media("image", w, w, d)) for w, d in ((512, "high"), (512, "low"), (None, None))]
    assert figures == [255, 85, 1_000]


@given(st.integers(1, 9_000), st.integers(1, 9_000), st.sampled_from([None, "low", "high", "auto"]))
def test_every_carrier_has_the_same_price(width: int, height: int, detail: str | None) -> None:
    """B4: bytes, data URLs in each spelling, and any provider's shape of the block cost the same."""
    data = png(width, height)
    plain = base64.b64encode(data).decode()
    lines = base64.encodebytes(data).decode()
    carriers = [
        media_from_bytes(data, "image/png", detail),
        media_from_bytes(data, detail=detail, provider="anthropic"),
        media_from_data_url("data:image/png;base64," + plain, detail),
        media_from_data_url("DATA:;base64," + lines, detail, provider="openai"),
        media_from_data_url("data:image/png;name=a;base64," + plain.rstrip("="), detail, kind="image"),
        media_from_data_url(
            "data:image/png;base64," + base64.urlsafe_b64encode(data).decode(), detail, provider="google"
        ),
        media_from_data_url("data:image/png," + urllib.parse.quote(data), detail),
    ]
    assert len({(m.kind, m.width, m.height, m.size, m.digest) for m in carriers}) == 1
    for name in (None, "gpt-4.1-mini", "claude-sonnet-4-5", "gemini-2.5-pro"):
        counter = get_token_counter(name)
        assert len({counter.count_message(Reading("user", media=(m,))) for m in carriers}) == 1


@given(st.text(st.characters(codec=None), max_size=60))
def test_any_address(text: str) -> None:
    """B4: any string as an address, with or without a data head, gives some media and a bounded price."""
    for url in (text, "data:" + text, "data:image/png;base64," + text, "data:application/pdf;base64," + text):
        media = media_from_data_url(url)
        assert 0 < get_token_counter().count_image(media) <= 100_000
    assert media_from_data_url("https://host/a.png").size is None


@pytest.mark.parametrize("mime", ["application/pdf", "audio/wav", "video/mp4", "text/plain", ""])
def test_recordings_and_files_are_bounded(mime: str) -> None:
    """A2: sound, video and documents have a bounded price that grows with their bytes; they are never read as text."""
    counter = get_token_counter()
    sizes = (0, 10_000, 1_000_000, 50_000_000)
    prices = [counter.count_image(media_from_bytes(b"x" * size, mime)) for size in sizes]
    assert prices == sorted(prices)
    assert 0 < prices[0] < prices[-1] <= 200_000
    text_price = counter.count_text(base64.b64encode(b"%PDF" * 75_000).decode())
    assert counter.count_image(media_from_bytes(b"%PDF" * 75_000, mime)) < text_price / 4
