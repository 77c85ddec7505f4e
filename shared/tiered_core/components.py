"""What `prepare` takes and gives: components, their budget, and what was done to them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tiered_core.counting import TokenCounter
from tiered_core.errors import TieredError
from tiered_core.events import ContextEvent
from tiered_core.strategies import CompactionStrategy
from tiered_core.types import Media

Status = Literal["ok", "warning", "critical"]
Eviction = Literal["auto", "off"]


@dataclass(frozen=True, slots=True)
class Component:
    """One named part of a context (requirement B6).

    Attributes:
        name: unique in its context.
        content: a text, a picture or file as `Media`, or data; data stands for its compact JSON text.
        priority: importance; a higher one is made smaller later.
        compactable: whether it may be made smaller at all.
        metadata: of the caller; passed on, never read.

    Raises:
        TieredError: the name is blank, or the priority is not a number.
    """

    name: str
    content: Any
    priority: float = 0
    compactable: bool = True
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise TieredError(f"a component needs a name with at least one visible character, got {self.name!r}")
        if isinstance(self.priority, bool) or not isinstance(self.priority, int | float) or math.isnan(self.priority):
            raise TieredError(f"the priority of component {self.name!r} must be a number, got {self.priority!r}")

    def count(self, counter: TokenCounter) -> int:
        """Tokens of the content as it is sent; no framing."""
        if isinstance(self.content, Media):
            return counter.count_image(self.content)
        return counter.count_text(self.content) if isinstance(self.content, str) else counter.count_data(self.content)


@dataclass(frozen=True, slots=True)
class ContextConfig:
    """How `prepare` works (requirements B9 and B10). Shares are of the window less the response reserve.

    Attributes:
        context_window: tokens that the model accepts, response included.
        compaction_threshold: share of use from which the status is "warning". It is the trigger of the strategy
            "proactive", whose target moves with it; the other strategies have triggers of their own.
        hard_limit: share of use from which the status is "critical", and above which a context is never returned.
        response_reserve: share of the whole window that is kept for the answer.
        counter: as for `get_token_counter`: a name, a model, a function or a `TokenCounter`.
        eviction: "auto" lets a component be replaced by a line that names it when smaller isn't small enough; "off"
            doesn't.
        strategy: name of a built-in strategy, or a `CompactionStrategy`.
        strategy_options: any of "trigger" and "target" (shares of use), and "shares": to which share of its own size a
            component is brought in the first, second, … round.

    Raises:
        TieredError: a figure is out of range; the field is named.
    """

    context_window: int = 128_000
    compaction_threshold: float = 0.75
    hard_limit: float = 0.9
    response_reserve: float = 0.15
    counter: Any = "approximate"
    eviction: Eviction = "auto"
    strategy: str | CompactionStrategy = "proactive"
    strategy_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        window = self.context_window
        if isinstance(window, bool) or not isinstance(window, int) or window < 1:
            raise TieredError(f"context_window must be a whole number of tokens, at least 1, got {window!r}")
        if not 0 < self.compaction_threshold <= self.hard_limit <= 1:
            raise TieredError(
                "shares must be 0 < compaction_threshold <= hard_limit <= 1, got "
                f"{self.compaction_threshold!r} and {self.hard_limit!r}"
            )
        if not 0 <= self.response_reserve < 1:
            raise TieredError(
                f"response_reserve must be a share of the window, 0 <= share < 1, got {self.response_reserve!r}"
            )
        if self.eviction not in ("auto", "off"):
            raise TieredError(f"eviction must be 'auto' or 'off', got {self.eviction!r}")

    @property
    def reserved(self) -> int:
        """Tokens kept for the answer."""
        return int(_exact(self.context_window * self.response_reserve))

    @property
    def capacity(self) -> int:
        """Tokens for all components: the window less the reserve. All shares are of this."""
        return self.context_window - self.reserved

    @property
    def hard(self) -> int:
        """Tokens that a prepared context has at most."""
        return int(_exact(self.capacity * self.hard_limit))


DEFAULT_CONTEXT_CONFIG = ContextConfig()


@dataclass(frozen=True, slots=True)
class ComponentBudget:
    """Where the tokens of a context are (requirement B7).

    Attributes:
        total: tokens of the window.
        reserved: of these, kept for the answer.
        used: tokens of all components.
        available: what is left: total - reserved - used.
        utilisation: used / (total - reserved).
        status: "warning" from the compaction threshold on, "critical" from the hard limit on, of that same ratio.
        breakdown: tokens by component, in the order of the components; they add up to `used`.
    """

    total: int
    reserved: int
    used: int
    available: int
    utilisation: float
    status: Status
    breakdown: Mapping[str, int]

    @classmethod
    def of(cls, breakdown: Mapping[str, int], config: ContextConfig) -> ComponentBudget:
        """The budget of components with these tokens."""
        used = sum(breakdown.values())
        ratio = used / config.capacity
        status: Status = "warning" if ratio >= config.compaction_threshold else "ok"
        status = "critical" if ratio >= config.hard_limit else status
        free = config.capacity - used
        return cls(config.context_window, config.reserved, used, free, ratio, status, dict(breakdown))


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """What compaction did (requirement B15).

    Attributes:
        components: in the caller's order; those that were not made smaller are the caller's own objects.
        log: what was done, one event per component that was made smaller; ids and positions are those of components.
        tokens_freed: tokens before less tokens after, both counted on what is sent.
    """

    components: tuple[Component, ...]
    log: tuple[ContextEvent, ...]
    tokens_freed: int


@dataclass(frozen=True, slots=True)
class PreparedContext:
    """A context that fits (requirement B8).

    Attributes:
        budget: of the components as they are now.
        compaction: what was done to them; without cuts where nothing was.
    """

    budget: ComponentBudget
    compaction: CompactionResult

    @property
    def components(self) -> tuple[Component, ...]:
        """The components to send, in the caller's order."""
        return self.compaction.components

    @property
    def log(self) -> tuple[ContextEvent, ...]:
        """Everything worth telling, in order."""
        return self.compaction.log

    @property
    def compacted(self) -> bool:
        """Whether tokens were freed."""
        return self.compaction.tokens_freed > 0


def checked(components: Iterable[Any]) -> tuple[Component, ...]:
    """The components as a tuple.

    Raises:
        TieredError: one is no `Component`, or a name occurs twice.
    """
    kept = tuple(components)
    strange = next((c for c in kept if not isinstance(c, Component)), None)
    if strange is not None:
        given = type(strange).__name__
        raise TieredError(f"expected Component(name, content, …), got {given}: {strange!r:.80}")
    twice = [repr(name) for name, n in Counter(c.name for c in kept).items() if n > 1]
    if twice:
        raise TieredError(f"component names must be unique, these occur more than once: {', '.join(twice)}")
    return kept


def _exact(share: float) -> float:
    """A product of a share without the noise of binary fractions (0.15 x 700 is 105, not 104.99…)."""
    return round(share, 6)
