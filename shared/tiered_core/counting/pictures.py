"""What pictures, recordings and files cost. The bytes are never decoded and never counted as text.

Sources, read 2026-11-30. OpenAI: https://platform.openai.com/docs/guides/images-vision#calculating-costs, multipliers
of newer models as measured in https://community.openai.com/t/1377015. Claude:
https://platform.claude.com/docs/en/build-with-claude/vision.
Gemini: https://ai.google.dev/gemini-api/docs/tokens and …/media-resolution. Requirement B4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tiered_core.counting.media_reading import media_from_bytes, media_from_data_url
from tiered_core.counting.picture_size import read_image_size
from tiered_core.types import Media

__all__ = [
    "CLAUDE_AREA",
    "CLAUDE_LARGE",
    "GEMINI_FLAT",
    "GEMINI_TILES",
    "OPENAI_TILES",
    "PictureRule",
    "media_from_bytes",
    "media_from_data_url",
    "media_tokens",
    "openai_patches",
    "openai_tiles",
    "read_image_size",
]

UNKNOWN_TOKENS = 1_000
"""A picture or file whose size is not known (requirement B4)."""
LARGEST_SIDE = 1_000_000
"""Pixels; what claims more is taken as unknown."""


@dataclass(frozen=True, slots=True)
class PictureRule:
    """How a family of models prices pictures.

    Attributes:
        name: identifies the rule.
        priced: tokens of a picture of width × height pixels, both at least 1, at a detail level.
        low: tokens with detail "low", whatever the size; None where the models know no such level.
        unknown: tokens when the size is not known.
    """

    name: str
    priced: Callable[[int, int, str | None], int]
    low: int | None = None
    unknown: int = UNKNOWN_TOKENS


def openai_tiles(base: int = 85, per_tile: int = 170) -> PictureRule:
    """OpenAI's tile rule: `base` with detail "low", else also `per_tile` for each 512 × 512 tile after scaling down."""
    return PictureRule(f"tiles-{base}-{per_tile}", partial(_tiles, base, per_tile), base)


def openai_patches(factor: float, cap: int = 1_536, side: int = 2_048, original: int | None = None) -> PictureRule:
    """OpenAI's patch rule: 32 × 32 patches times a factor of the model; detail "low" changes nothing.

    Args:
        factor: tokens per patch.
        cap: patches at most; a larger picture is scaled down.
        side: pixels of the longest side, to which a picture is scaled down before.
        original: the cap of a picture without a detail level, or with "auto" or "original"; as `cap` if None.
    """
    return PictureRule(
        f"patches-{factor}-{cap}-{original or cap}", partial(_patches, factor, cap, side, original or cap)
    )


def _tiles(base: int, per_tile: int, width: int, height: int, detail: str | None) -> int:
    # Into 2048 × 2048 first, then to a shortest side of 768; rounded against floating-point noise at tile borders.
    scale = min(1.0, 2048 / max(width, height))
    scale *= min(1.0, 768 / (min(width, height) * scale))
    across, down = (max(1, math.ceil(round(side * scale, 6) / 512)) for side in (width, height))
    return base + per_tile * across * down


def _patches(factor: float, high: int, side: int, original: int, width: int, height: int, detail: str | None) -> int:
    # As documented, except that the longest side comes first: https://community.openai.com/t/1281361 and the
    # measured figures of https://huggingface.co/datasets/JOHNISKING/image-token-cost fit only so (read 2026-11-30).
    cap = high if detail in ("high", "low") else original
    scale = min(1.0, side / max(width, height))
    wide, tall = width * scale / 32, height * scale / 32
    if _whole(wide) * _whole(tall) > cap:
        scale = math.sqrt(cap / (wide * tall))
        wide, tall = wide * scale, tall * scale
        scale = min(max(1, math.floor(wide)) / wide, max(1, math.floor(tall)) / tall)
        wide, tall = wide * scale, tall * scale
    return math.ceil(round(min(cap, _whole(wide) * _whole(tall)) * factor, 6))


def _whole(patches: float) -> int:
    return max(1, math.ceil(round(patches, 6)))


def _area(longest: int, cap: int, width: int, height: int, detail: str | None) -> int:
    scale = min(1.0, longest / max(width, height))
    return max(1, min(cap, math.ceil(round(width * scale * height * scale / 750, 6))))


def _gemini_tiles(width: int, height: int, detail: str | None) -> int:
    # 258 for a small picture; else tiles whose side is the shorter side / 1.5, between 256 and 768 pixels.
    if width <= 384 and height <= 384:
        return 258
    side = min(768, max(256, math.floor(min(width, height) / 1.5)))
    return 258 * math.ceil(width / side) * math.ceil(height / side)


def _gemini_levels(width: int, height: int, detail: str | None) -> int:
    return {"low": 280, "medium": 560, "ultra_high": 2_240}.get((detail or "").lower(), 1_120)


OPENAI_TILES = openai_tiles()
CLAUDE_AREA = PictureRule("claude-1568", partial(_area, 1_568, 1_600))
"""Claude up to 4.6: scaled down to a longest side of 1,568 pixels, then width × height / 750, 1,600 at most."""
CLAUDE_LARGE = PictureRule("claude-2576", partial(_area, 2_576, 4_784))
"""Newer Claude models: a longest side of 2,576 pixels, 4,784 tokens at most."""
GEMINI_TILES = PictureRule("gemini-tiles", _gemini_tiles)
GEMINI_FLAT = PictureRule("gemini-levels", _gemini_levels, unknown=1_120)
"""Gemini 3 and newer: a fixed price per level of `media_resolution`, 1,120 by default."""


def media_tokens(media: Media, rule: PictureRule = OPENAI_TILES) -> int:
    """Tokens of a picture, recording, video or file under a rule.

    The rule is that of the model which is asked, so a picture costs the same in whatever shape of block it is carried.
    """
    if media.kind != "image":
        return _bounded(media)
    if media.detail == "low" and rule.low is not None:
        return rule.low
    width, height = media.width or 0, media.height or 0
    if not (0 < width <= LARGEST_SIDE and 0 < height <= LARGEST_SIDE):
        return rule.unknown
    return rule.priced(width, height, media.detail)


@dataclass(frozen=True, slots=True)
class _Bound:
    bytes_per_token: float
    least: int
    most: int


# No length in seconds or pages is known, so these are bounds from the bytes: speech at 32 tokens/s and 16 kbit/s;
# video at 263 tokens/s and 500 kbit/s; documents at 3,000 tokens per page (Claude's upper figure) and 60 KB per page.
_BOUNDS = {
    "audio": _Bound(62, 100, 60_000),
    "video": _Bound(240, 1_000, 200_000),
    "file": _Bound(20, 1_000, 60_000),
}


def _bounded(media: Media) -> int:
    bound = _BOUNDS[media.kind]
    if media.size is None:
        return UNKNOWN_TOKENS
    return max(bound.least, min(bound.most, math.ceil(media.size / bound.bytes_per_token)))
