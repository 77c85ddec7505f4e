"""The errors that this package raises on purpose. Each text gives the offending value, the numbers and the way out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any


class TieredError(Exception):
    """Base of all errors of this package."""


class TranscriptError(TieredError):
    """A message or list of messages can't be read, stored or rendered."""


class StoreError(TieredError):
    """A store can't be opened, is of a newer version, or failed."""


class DataSourceError(TieredError):
    """A data source can't be read."""


class QueryRejectedError(TieredError):
    """A query was refused before it ran."""


class ContextBudgetExceededError(TieredError):
    """What can't be reduced is larger than the budget.

    Attributes:
        needed: tokens of what can't be reduced, overhead included.
        available: tokens of the effective window without the response reserve.
        window: tokens of the effective window.
        reserve: tokens kept for the response.
        overhead: tokens around the view (tool definitions, prompt).
        per_tier: tokens by tier name.
        biggest: (what, tokens) of the largest consumers, largest first, at most five.
    """

    def __init__(
        self, *, needed: int, window: int, reserve: int = 0, overhead: int = 0,
        per_tier: Mapping[str, int] | None = None, biggest: Sequence[tuple[str, int]] = (),
    ) -> None:  # fmt: skip
        self.needed = needed
        self.window = window
        self.reserve = reserve
        self.overhead = overhead
        self.available = max(0, window - reserve)
        self.per_tier = dict(per_tier or {})
        self.biggest = tuple(biggest)[:5]
        super().__init__(self._text())

    def __reduce__(self) -> tuple[Any, ...]:
        figures = ("needed", "window", "reserve", "overhead", "per_tier", "biggest")
        return partial(type(self), **{name: getattr(self, name) for name in figures}), ()

    def _text(self) -> str:
        tiers = ", ".join(f"{name} {tokens:,}" for name, tokens in self.per_tier.items() if tokens)
        most = ", ".join(f"{what} {tokens:,}" for what, tokens in self.biggest)
        missing = self.needed - self.available
        if self.overhead >= self.available:
            way = (
                "what stands around the view fills the window: send fewer tool definitions, shorten the prompt or the "
                f"question beside it, or raise the budget by {missing:,} tokens"
            )
        else:
            way = f"raise the budget by at least {missing:,} tokens, or shorten the system text or the tool definitions"
        return (
            f"the view needs at least {self.needed:,} tokens, but only {self.available:,} are available "
            f"(window {self.window:,} - response reserve {self.reserve:,}), of which overhead takes {self.overhead:,}. "
            f"By tier: {tiers or 'nothing'}. Biggest: {most or 'none'}. What to change: {way}."
        )
