"""Counts without a vocabulary: a figure that is right in the middle, and a padded bound for decisions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Literal

from tiered_core.counting.content_class import ContentClass, classify
from tiered_core.counting.framing import NEUTRAL, FramedCounter, Framing
from tiered_core.counting.pictures import OPENAI_TILES, PictureRule
from tiered_core.counting.pieces import CUTTERS, price_list
from tiered_core.counting.plain import text_of
from tiered_core.counting.truncation import truncate_by_search
from tiered_core.types import Side

# Per class: what the sum over the pieces is multiplied with in cl100k and o200k so that half of the texts lie below,
# and the share by which a bound is padded. Fitted to 21,000 texts of 20 to 12,600 characters, 2026-11-30.
_CLASSES: dict[ContentClass, tuple[float, float, float]] = {
    "prose": (0.978, 0.983, 0.17),
    "foreign": (1.074, 1.028, 0.25),
    "code": (0.989, 1.000, 0.16),
    "json": (0.994, 0.999, 0.13),
    "csv": (1.019, 1.020, 0.20),
    "table": (1.003, 1.007, 0.20),
    "log": (0.990, 0.992, 0.10),
    "cjk": (1.010, 1.000, 0.25),
    "script": (0.997, 0.995, 0.19),
    "base64": (1.025, 1.040, 0.06),
}
_ROOT_PADDING = 1.5
_LEAST_PADDING = 1.0

Vocabularies = Literal["cl100k_base", "o200k_base"]


class ApproximateCounter(FramedCounter):
    """Estimates what a vocabulary would count; needs only the standard library.

    `count_text` is a padded bound: a text's class share, plus 1.5 times the square root of its tokens, plus 1, and
    never more than its UTF-8 bytes, of which a token has at least one. `estimate_text` is the figure in the middle.

    Args:
        vocabulary: the vocabulary that is estimated.
        framing: what stands around the texts.
        pictures: what a picture costs.
        factor: tokens of the model per token of the vocabulary.
        name: identifies the counter; made from the vocabulary if "".
    """

    def __init__(
        self,
        vocabulary: Vocabularies = "cl100k_base",
        framing: Framing = NEUTRAL,
        pictures: PictureRule = OPENAI_TILES,
        factor: float = 1.0,
        name: str = "",
    ) -> None:
        super().__init__(name or f"approximate:{vocabulary}", False, framing, pictures)
        self.vocabulary = vocabulary
        self.factor = factor

    def estimate_text(self, text: str) -> int:
        """Tokens of a text, as likely too high as too low; 0 for ""."""
        middle, _, _ = self._measure(text_of(text))
        return round(middle)

    def count_text(self, text: str) -> int:
        """A bound that the tokens of a text exceed in less than one of 1,000 texts; 0 for ""."""
        text = text_of(text)
        if not text:
            return 0
        middle, share, size = self._measure(text)
        padded = middle * (1 + share) + _ROOT_PADDING * math.sqrt(middle) + _LEAST_PADDING
        return math.ceil(min(size, padded))

    def truncate(self, text: str, max_tokens: int, side: Side = "head") -> str:
        """A head (or tail) whose bound is at most `max_tokens` tokens."""
        return truncate_by_search(text_of(text), max_tokens, side, self.count_text)

    def _measure(self, text: str) -> tuple[float, float, float]:
        """Middle figure, share of padding, and the most that is possible."""
        if not text:
            return 0.0, 0.0, 0.0
        size = len(text.encode("utf-8", "surrogatepass"))
        cl100k, o200k, share = _CLASSES[classify(text)]
        known = cl100k if self.vocabulary == "cl100k_base" else o200k
        middle = min(_pieces_total(text, self.vocabulary) * known, size)
        return middle * self.factor, share, size * self.factor


def _pieces_total(text: str, vocabulary: str) -> float:
    price = _price_list(vocabulary)
    pieces = Counter(CUTTERS[vocabulary].pattern.findall(text))
    return sum(count * price(piece) for piece, count in pieces.items())


@cache
def _price_list(vocabulary: str) -> Callable[[str], float]:
    return price_list(CUTTERS[vocabulary])
