"""What pictures, recordings and files cost. The bytes are never decoded and never counted as text.

Sources, read 2026-11-30: OpenAI tiles and patches https://platform.openai.com/docs/guides/images-vision#calculating-costs;
Claude https://docs.anthropic.com/en/docs/build-with-claude/vision#calculate-image-costs; Gemini
https://ai.google.dev/gemini-api/docs/tokens#multimodal-tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tiered_core.types import Media

UNKNOWN_TOKENS = 1_000
"""A picture whose size is not known (requirement B4)."""
MAX_SIDE = 1_000_000
"""Pixels; what claims more is taken as unknown."""


@dataclass(frozen=True, slots=True)
class PictureRule:
    """How a family of models prices pictures.

    Attributes:
        name: short name of the rule.
        low: tokens with detail "low"; None where the rule knows no detail levels.
        priced: tokens of a picture of width × height pixels, both at least 1.
        unknown: tokens when the size is not known.
    """

    name: str
    low: int | None
    priced: Callable[[int, int], int]
    unknown: int = UNKNOWN_TOKENS


def tiles(width: int, height: int, base: int = 85, per_tile: int = 170) -> int:
    """OpenAI's tile rule: scaled down into 2048 × 2048, then to a shortest side of 768, then 512 × 512 tiles."""
    scale = min(1.0, 2048 / max(width, height))
    scale *= min(1.0, 768 / (min(width, height) * scale))
    across, down = (max(1, math.ceil(round(side * scale) / 512)) for side in (width, height))
    return base + per_tile * across * down


def patches(width: int, height: int, factor: float = 1.0, cap: int = 1536) -> int:
    """OpenAI's patch rule: 32 × 32 patches, the picture scaled down until there are at most `cap`, times a factor."""
    across, down = math.ceil(width / 32), math.ceil(height / 32)
    if across * down > cap:
        scale = math.sqrt(32 * 32 * cap / (width * height))
        wide, high = width * scale / 32, height * scale / 32
        scale *= min(max(1, math.floor(wide)) / wide, max(1, math.floor(high)) / high)
        across, down = math.ceil(width * scale / 32), math.ceil(height * scale / 32)
    return math.ceil(min(cap, across * down) * factor)


def area(width: int, height: int, longest: int = 1568, cap: int = 1600) -> int:
    """Claude's rule: scaled down to a longest side of 1568 pixels, then width × height / 750, about 1,600 at most."""
    scale = min(1.0, longest / max(width, height))
    return max(1, min(cap, math.ceil(width * scale * height * scale / 750)))


def gemini(width: int, height: int) -> int:
    """Gemini's rule: 258 when both sides are at most 384 pixels, else 258 per tile.

    A tile's side is the shorter side divided by 1.5, at least 256 and at most 768 pixels.
    """
    if width <= 384 and height <= 384:
        return 258
    unit = min(768, max(256, math.floor(min(width, height) / 1.5)))
    return 258 * math.ceil(width / unit) * math.ceil(height / unit)


OPENAI_TILES = PictureRule("openai-tiles", 85, tiles)
CLAUDE_AREA = PictureRule("claude-area", None, area)
GEMINI_TILES = PictureRule("gemini-tiles", None, gemini)


def media_tokens(media: Media, rule: PictureRule = OPENAI_TILES) -> int:
    """Tokens of a picture, recording, video or file under a rule."""
    if media.kind != "image":
        return _bounded(media)
    if media.detail == "low" and rule.low is not None:
        return rule.low
    width, height = media.width or 0, media.height or 0
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        return rule.unknown
    return rule.priced(width, height)


# kind → (bytes of content per token, least, most)
_PER_TOKEN = {"audio": (125, 100, 30_000), "video": (800, 1_000, 100_000), "file": (25, 1_000, 50_000)}


def _bounded(media: Media) -> int:
    per_token, least, most = _PER_TOKEN[media.kind]
    if media.size is None:
        return least if media.kind == "audio" else UNKNOWN_TOKENS
    return max(least, min(most, math.ceil(media.size / per_token)))
