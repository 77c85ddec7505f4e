"""The fixed ratios of the source API (requirement B3)."""

from __future__ import annotations

import math
from typing import Any, Literal

from tiered_core.counting.framing import FramedCounter
from tiered_core.counting.plain import compact_json, text_of
from tiered_core.types import Side

SEED_RATIOS = {"code": 3.0, "prose": 4.0, "mixed": 3.5}
"""Characters per token by content type."""
Content = Literal["code", "prose", "mixed"]


class SeedCounter(FramedCounter):
    """`ceil(characters / ratio)`; far below the truth on data and on scripts other than Latin, so no bound.

    Args:
        content: the content type of texts whose type isn't given.
    """

    def __init__(self, content: Content = "prose") -> None:
        super().__init__(f"seed:{content}", False)
        self.content: Content = content

    def count_text(self, text: str, content: Content | None = None) -> int:
        """`ceil(characters / ratio)` of a content type; 0 for ""."""
        return math.ceil(len(text_of(text)) / SEED_RATIOS[content or self.content])

    def count_data(self, data: Any) -> int:
        """The same of the data's compact JSON text, as "mixed"."""
        return self.count_text(compact_json(data), "mixed")

    def truncate(self, text: str, max_tokens: int, side: Side = "head") -> str:
        """The longest head (or tail) with at most `max_tokens` tokens."""
        text = text_of(text)
        length = max(0, math.floor(max_tokens * SEED_RATIOS[self.content]))
        return text[:length] if side == "head" else text[max(0, len(text) - length) :]
