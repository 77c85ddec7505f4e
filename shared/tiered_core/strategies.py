"""When a batch starts, how far it goes, and in which order it takes victims: values for the one planner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tiered_core.errors import TieredError

Victims = Literal[
    "old_results", "old_turns", "open_results", "open_groups", "last_results", "last_words", "last_answer", "bare"
]
"""Kinds of victims, each taken oldest first:

old_results: bodies made by machines, in turns before the current one → stub.
old_turns: whole turns before the current one → out of view.
open_results: bodies made by machines in the current turn, but for its newest group → stub.
open_groups: whole groups of the current turn, but for the newest → out of view.
last_results: results of the newest group → smaller.
last_words: what the model wrote in the newest group, and the user's current message → shortened.
last_answer: the newest group, when the model's answer has closed the turn → out of view.
bare: whatever is left → only its handle.
"""

# What must be given up before the hard limit is broken; the earlier kinds are taken down to the low watermark,
# those from "last_results" on only as far as the high one, because each of them costs what the model is working on
# right now.
ORDER: tuple[Victims, ...] = (
    "old_results", "old_turns", "open_results", "open_groups", "last_results", "last_words", "last_answer", "bare",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CompactionStrategy:
    """A strategy as a value.

    Attributes:
        name: how to ask for it.
        trigger: high watermark, a share of the window less reserve and overhead; usage above it starts a batch.
        target: low watermark, the share to which a batch brings usage.
        order: kinds of victims in the order in which a batch takes them.
    """

    name: str
    trigger: float
    target: float
    order: tuple[Victims, ...] = ORDER

    def __post_init__(self) -> None:
        if not 0 < self.target <= self.trigger <= 1:
            raise TieredError(
                f"strategy {self.name!r} needs 0 < target <= trigger <= 1, got {self.target} and {self.trigger}"
            )


# .9/.6 keeps 87 % of the prefix, .9/.9 only 61 % (measured). The other figures are requirement B14's.
BUILT_IN = {
    s.name: s
    for s in (
        CompactionStrategy("sticky", trigger=0.9, target=0.6),
        CompactionStrategy("proactive", trigger=0.75, target=0.65),
        CompactionStrategy("aggressive", trigger=0.60, target=0.50),
        CompactionStrategy("lazy", trigger=0.90, target=0.85),
        # One call that keeps no state has no prefix to protect: it fills the budget.
        CompactionStrategy("fill", trigger=1.0, target=1.0),
    )
}


def get_strategy(strategy: str | CompactionStrategy) -> CompactionStrategy:
    """The strategy of that name, or the value itself.

    Raises:
        TieredError: there is no strategy of that name.
    """
    if isinstance(strategy, CompactionStrategy):
        return strategy
    try:
        return BUILT_IN[strategy]
    except (KeyError, TypeError):
        raise TieredError(f"no strategy {strategy!r}; the built-in ones are {', '.join(sorted(BUILT_IN))}") from None
