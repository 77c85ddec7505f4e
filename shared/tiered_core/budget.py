"""How many tokens there are, and how they are shared out.

Only the total is hard. A tier's share caps what enters it and orders the victims of a batch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from tiered_core.errors import TieredError
from tiered_core.models import limits_of
from tiered_core.types import Tier


@dataclass(frozen=True, slots=True)
class TierPolicy:
    """The share of one tier.

    Attributes:
        target: tokens that the tier should hold.
        minimum: tokens that a batch leaves it, where possible.
        maximum: tokens that it may borrow up to, None for no bound but the total.
        weight: share of the window when `TokenBudget.for_window` scales; None takes `target`.
    """

    target: int
    minimum: int = 0
    maximum: int | None = None
    weight: float | None = None

    def __post_init__(self) -> None:
        if self.target < 0 or self.minimum < 0:
            raise TieredError(f"a tier can't have negative tokens: target={self.target}, minimum={self.minimum}")
        if self.minimum > self.target or (self.maximum is not None and self.maximum < self.target):
            raise TieredError(
                f"a tier needs minimum <= target <= maximum, got {self.minimum} / {self.target} / {self.maximum}"
            )

    @property
    def share(self) -> float:
        """The weight, or the target where no weight is given."""
        return float(self.target if self.weight is None else self.weight)


@dataclass(frozen=True, slots=True)
class PressureThresholds:
    """Where pressure (used / (effective window - reserve)) passes into level 1, 2 and 3 (requirements A19 to A22)."""

    level1: float = 0.5
    level2: float = 0.7
    level3: float = 0.85

    def __post_init__(self) -> None:
        if not 0 < self.level1 <= self.level2 <= self.level3 <= 1:
            raise TieredError(
                f"pressure thresholds must rise within (0, 1], got {self.level1}, {self.level2}, {self.level3}"
            )

    def level(self, pressure: float) -> int:
        """The compression level, 0 to 3, at a pressure."""
        return sum(pressure >= bound for bound in (self.level1, self.level2, self.level3))


def _policies(**targets: int) -> Mapping[Tier, TierPolicy]:
    return MappingProxyType({Tier(name): TierPolicy(target) for name, target in targets.items()})


# Requirements A4 to A9: the literal figures, together 6,100.
ANALYTICS = _policies(system=500, conversation=2_000, schema=300, samples=800, results=1_500, buffer=1_000)
# An agent talks little and calls much: most of the window is results, and the schemas stand in tool definitions.
AGENT = _policies(system=1_000, conversation=3_000, schema=200, samples=500, results=4_300, buffer=1_000)


def _scaled(weights: Mapping[Tier, TierPolicy], view_tokens: int, reserve: int) -> Mapping[Tier, TierPolicy]:
    """The weights scaled so that all tiers but the buffer share `view_tokens`; the buffer is the reserve."""
    total = sum(p.share for t, p in weights.items() if t is not Tier.BUFFER) or 1.0
    out: dict[Tier, TierPolicy] = {
        t: TierPolicy(math.floor(view_tokens * p.share / total), weight=p.share)
        for t, p in weights.items()
        if t is not Tier.BUFFER
    }
    out[Tier.BUFFER] = TierPolicy(reserve)
    return MappingProxyType(out)


@dataclass(frozen=True)
class TokenBudget:
    """How many tokens a view may take. All figures are tokens.

    Attributes:
        context_window: what the model accepts, prompt and response together.
        practical_limit: above which answers get slow or poor; None for none. The effective window is the smaller one.
        response_reserve: taken off the window first, for the model's answer.
        tiers: shares; None scales the `analytics` weights to the window.
        pressure: thresholds of the compression levels.
        result_cap: above which a table or JSON made by a tool enters small.
        text_cap: above which other text made by a tool enters small.
        latency_threshold: above which the model's answers get slow; for reports, it bounds nothing. None for none.

    Raises:
        TieredError: a figure is not positive, or reserve or explicit tiers don't fit the window; the field is named.
    """

    context_window: int = 50_000
    practical_limit: int | None = None
    response_reserve: int = 1_000
    tiers: Mapping[Tier, TierPolicy] | None = None
    pressure: PressureThresholds = field(default_factory=PressureThresholds)
    result_cap: int = 500
    text_cap: int = 2_000
    latency_threshold: int | None = None

    def __post_init__(self) -> None:
        for name in ("context_window", "practical_limit", "result_cap", "text_cap", "latency_threshold"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise TieredError(f"{name} must be a whole number of tokens, at least 1, got {value!r}")
        if isinstance(self.response_reserve, bool) or not isinstance(self.response_reserve, int):
            raise TieredError(f"response_reserve must be a whole number of tokens, got {self.response_reserve!r}")
        if not 0 <= self.response_reserve < self.effective_window:
            raise TieredError(
                f"response_reserve={self.response_reserve:,} does not fit the effective window of "
                f"{self.effective_window:,} tokens: set a smaller response_reserve or a larger context_window"
            )
        if self.tiers is not None:
            object.__setattr__(self, "tiers", self._checked(self.tiers))

    def _checked(self, tiers: Mapping[Any, TierPolicy]) -> Mapping[Tier, TierPolicy]:
        try:
            named = {Tier(name): policy for name, policy in tiers.items()}
        except ValueError as error:
            raise TieredError(f"tiers: {error}; the tiers are {', '.join(Tier)}") from None
        wanted = sum(p.target for t, p in named.items() if t not in (Tier.BUFFER, Tier.EVICTABLE))
        if wanted > self.available:
            raise TieredError(
                f"tiers: their targets add up to {wanted:,} tokens, but the window leaves {self.available:,} "
                f"({self.effective_window:,} - response_reserve {self.response_reserve:,})"
            )
        return MappingProxyType(named)

    @property
    def effective_window(self) -> int:
        """The smaller one of context window and practical limit."""
        return min(self.context_window, self.practical_limit or self.context_window)

    @property
    def available(self) -> int:
        """Tokens for the view and what stands around it: effective window less response reserve."""
        return self.effective_window - self.response_reserve

    @property
    def shares(self) -> Mapping[Tier, TierPolicy]:
        """The tiers as given, or the default weights scaled to the window."""
        return self.tiers if self.tiers is not None else _scaled(ANALYTICS, self.available, self.response_reserve)

    def birth_cap(self, tier: Tier) -> int:
        """Above how many tokens a body made by a machine enters small: the cap, or the tier's share if that is less."""
        share = self.shares.get(tier)
        cap = self.result_cap if tier is Tier.RESULTS else self.text_cap
        return max(1, cap if share is None or share.target == 0 else min(cap, share.target))

    @classmethod
    def of(cls, budget: int | TokenBudget | None) -> TokenBudget:
        """The budget itself; for an int, the budget whose view has at most that many tokens; for None, the default.

        Raises:
            TieredError: the argument is none of these.
        """
        if budget is None:
            return cls()
        if isinstance(budget, TokenBudget):
            return budget
        if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
            raise TieredError(f"budget must be a whole number of tokens, at least 1, or a TokenBudget, got {budget!r}")
        return cls(context_window=budget, response_reserve=0)

    @classmethod
    def preset(cls, name: str) -> TokenBudget:
        """A named budget: "analytics" (6,100 tokens, A4 to A11) or "agent" (50,000 tokens, mostly results).

        Raises:
            TieredError: there is no preset of that name.
        """
        if name == "analytics":
            return cls(context_window=6_100, response_reserve=1_000, tiers=ANALYTICS)
        if name == "agent":
            reserve = 4_000
            return cls(context_window=50_000, response_reserve=reserve, tiers=_scaled(AGENT, 50_000 - reserve, reserve))
        raise TieredError(f"no preset {name!r}; the presets are 'analytics' and 'agent'")

    @classmethod
    def for_window(cls, context_window: int, practical_limit: int | None = None) -> TokenBudget:
        """The analytics weights scaled to a window; the reserve is its share of it, at most 4,000 tokens."""
        effective = min(context_window, practical_limit or context_window)
        reserve = max(0, min(effective * 1_000 // 6_100, 4_000))
        return cls(context_window=context_window, practical_limit=practical_limit, response_reserve=reserve)

    @classmethod
    def for_model(
        cls, name_or_model: Any, *, context_window: int | None = None, practical_limit: int | None = None,
        response_reserve: int | None = None,
    ) -> TokenBudget:  # fmt: skip
        """The budget for a model (A1); its window is looked up as `models.limits_of` says.

        Args:
            name_or_model: a model's name, or a chat model of either host.
            context_window: tokens; wins over what is looked up, and silences the warning.
            practical_limit: tokens; wins over requirement A1's figure for the model's family.
            response_reserve: tokens; None takes what `for_window` reserves. Raise it for a model that you ask for
                longer answers.

        Raises:
            TieredError: a figure is not positive, or the reserve doesn't fit the window.
        """
        limits = limits_of(name_or_model, context_window)
        practical = limits.practical_limit if practical_limit is None else practical_limit
        plain = cls(limits.context_window, practical, response_reserve=0, latency_threshold=limits.latency_threshold)
        if response_reserve is None:
            response_reserve = cls.for_window(plain.context_window, practical).response_reserve
        return replace(plain, response_reserve=response_reserve)
