"""Estimates without a vocabulary."""

from __future__ import annotations

import math
from typing import Literal

from tiered_core.counting.framing import FramedCounter
from tiered_core.counting.plain import compact_json, text_of
from tiered_core.counting.truncation import truncate_by_search
from tiered_core.types import Side

SEED_RATIOS = {"code": 3.0, "prose": 4.0, "mixed": 3.5}


class SeedCounter(FramedCounter):
    """The fixed ratios of requirement B3: `ceil(characters / ratio)`; far off on data and on scripts other than Latin.

    Args:
        content: the class of all texts; structured data always counts as "mixed".
    """

    def __init__(self, content: Literal["code", "prose", "mixed"] = "mixed") -> None:
        super().__init__(f"seed:{content}", False)
        self.content = content

    def count_text(self, text: str) -> int:
        """`ceil(characters / ratio)`; 0 for ""."""
        return math.ceil(len(text_of(text)) / SEED_RATIOS[self.content])

    def count_data(self, data: object) -> int:
        """The same of the data's compact JSON text, as "mixed"."""
        return math.ceil(len(compact_json(data)) / SEED_RATIOS["mixed"])

    def truncate(self, text: str, max_tokens: int, side: Side = "head") -> str:
        """The longest head (or tail) with at most `max_tokens` estimated tokens."""
        return truncate_by_search(text_of(text), max_tokens, side, self.count_text)
