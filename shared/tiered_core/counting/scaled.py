"""Models without a local vocabulary: another vocabulary's figure times a measured factor."""

from __future__ import annotations

import math

from tiered_core.counting.framing import FramedCounter, Framing
from tiered_core.counting.pictures import PictureRule
from tiered_core.counting.plain import text_of
from tiered_core.counting.truncation import truncate_by_search
from tiered_core.types import Side


class ScaledCounter(FramedCounter):
    """An estimate: `ceil(factor × tokens)` of a base counter. Framing and pictures are the model's own, unscaled.

    Args:
        base: counts the texts.
        factor: tokens of the model per token of the base.
        framing: what stands around the texts.
        pictures: what a picture costs.
        name: identifies the counter.
    """

    def __init__(self, base: FramedCounter, factor: float, framing: Framing, pictures: PictureRule, name: str) -> None:
        super().__init__(name, False, framing, pictures)
        self.base = base
        self.factor = factor

    def count_text(self, text: str) -> int:
        """The scaled figure, rounded up; 0 for ""."""
        return math.ceil(round(self.base.count_text(text) * self.factor, 6))

    def truncate(self, text: str, max_tokens: int, side: Side = "head") -> str:
        """The longest head (or tail) with at most `max_tokens` scaled tokens."""
        text = text_of(text)
        cut = self.base.truncate(text, math.floor(max_tokens / self.factor), side)
        if self.count_text(cut) <= max_tokens:
            return cut
        return truncate_by_search(cut, max_tokens, side, self.count_text)
