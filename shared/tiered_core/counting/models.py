"""What is known about model families: vocabulary, framing and picture prices by name.

OpenAI's vocabularies: tiktoken 0.14.0, `tiktoken/model.py`. Picture prices: see `pictures`. Claude and Gemini have no
local vocabulary; their factors on o200k_base were measured against reported usage (Claude up to 4.6 1.2, newer 1.5,
Gemini 1.1; 2026-11-30). Other families get 1.3, a cautious guess until the session has calibrated itself. Claude adds
a system prompt of 346 tokens once tools are given (https://docs.anthropic.com/en/docs/tool-use-pricing-and-tokens,
read 2026-11-30).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tiered_core.counting.framing import NEUTRAL, OPENAI, Framing
from tiered_core.counting.pictures import (
    CLAUDE_AREA,
    CLAUDE_LARGE,
    GEMINI_FLAT,
    GEMINI_TILES,
    OPENAI_TILES,
    PictureRule,
    openai_patches,
    openai_tiles,
)


@dataclass(frozen=True, slots=True)
class Family:
    """Models that count alike.

    Attributes:
        vocabulary: the vocabulary that they use, or that is nearest.
        factor: tokens per token of that vocabulary; 1.0 where it is their own.
        framing: what stands around the texts.
        pictures: what a picture costs.
    """

    vocabulary: str
    factor: float = 1.0
    framing: Framing = OPENAI
    pictures: PictureRule = OPENAI_TILES


CLAUDE = Framing(with_tools=346)
NEWER_CLAUDE = Framing(with_tools=450)
OTHER = Family("o200k_base", 1.3, NEUTRAL)


def _o200k(pictures: PictureRule = OPENAI_TILES) -> Family:
    return Family("o200k_base", pictures=pictures)


# The first pattern that is found behind the start or a separator decides.
_FAMILIES: tuple[tuple[str, Family], ...] = (
    (r"gpt-oss", Family("o200k_harmony")),
    (r"gpt-4o-mini", _o200k(openai_tiles(2_833, 5_667))),
    (r"gpt-(?:4\.1|5(?:\.\d)?)-nano", _o200k(openai_patches(2.46))),
    (r"gpt-(?:4\.1|5(?:\.\d)?)-mini", _o200k(openai_patches(1.62))),
    (r"(?:chat)?gpt-4(?:o|\.1|\.5)", _o200k()),
    (r"gpt-5\.[23]", _o200k(openai_patches(1.2))),
    (r"gpt-5\.[4-9]", _o200k(openai_patches(1.2, 2_500, side=6_000, original=10_000))),
    (r"gpt-[6-9]", _o200k(openai_patches(1.2, 2_500, side=6_000, original=35_000))),
    (r"gpt-5", _o200k(openai_tiles(70, 140))),
    (r"(?:o4-mini|codex-mini)", _o200k(openai_patches(1.72))),
    (r"o[134](?![a-z0-9])", _o200k(openai_tiles(75, 150))),
    (r"computer-use", _o200k(openai_tiles(65, 129))),
    (r"(?:gpt-4|gpt-3\.?5|text-embedding-(?:3|ada)|(?:davinci|babbage)-002)", Family("cl100k_base")),
    (
        r"claude-(?:(?:opus|sonnet|haiku)-(?:4[-.][7-9](?!\d)|[5-9](?!\d))|fable|mythos)",
        Family("o200k_base", 1.5, NEWER_CLAUDE, CLAUDE_LARGE),
    ),
    (r"claude", Family("o200k_base", 1.2, CLAUDE, CLAUDE_AREA)),
    (r"gemini-[3-9]", Family("o200k_base", 1.1, NEUTRAL, GEMINI_FLAT)),
    (r"gemini", Family("o200k_base", 1.1, NEUTRAL, GEMINI_TILES)),
    (
        r"(?:llama|(?:code|mini|magi|dev)stral|mi[sx]tral|pixtral|qwen|qwq|deepseek|command|phi|gemma|nova|grok|glm|kimi|minimax"
        r"|granite|falcon|smollm|olmo|jamba|titan|nemotron|yi-)",
        OTHER,
    ),
)
_PATTERNS = tuple((re.compile(r"(?:^|[/:._ -])" + pattern), family) for pattern, family in _FAMILIES)
KNOWN_FAMILIES = "gpt-*, o1/o3/o4, gpt-oss, claude-*, gemini-*, llama, mistral, qwen, deepseek, …"


def family_of(model: str) -> Family | None:
    """The family of a model by its name, with or without provider prefix; None for an unknown name."""
    name = model.strip().lower()
    return next((family for pattern, family in _PATTERNS if pattern.search(name)), None)
