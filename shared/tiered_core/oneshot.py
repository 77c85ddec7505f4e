"""`fit`: one call without a session, where a trimming function stood before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tiered_core.budget import TokenBudget
from tiered_core.events import ContextEvent
from tiered_core.report import ContextReport
from tiered_core.session import TieredContext


@dataclass(frozen=True, slots=True)
class FitResult:
    """A view that was made in one call.

    Attributes:
        messages: new objects, oldest first, at most the budget's tokens.
        events: every cut.
        report: usage by tier.
    """

    messages: list[Any]
    events: list[ContextEvent]
    report: ContextReport


def fit(
    messages: Sequence[Any], budget: int | TokenBudget, *, overhead_tokens: int = 0, question: str | None = None,
    strategy: Any = "fill", **options: Any,
) -> FitResult:  # fmt: skip
    """Fits a list of messages into a budget; nothing is kept between calls, and the given messages are not altered.

    Args:
        messages: of the host whose codec is given; OpenAI-style dicts by default.
        budget: tokens, or a `TokenBudget`.
        overhead_tokens: tokens that stand around the view (tool definitions, a prompt).
        question: what the user is about to ask, when it isn't the last message.
        strategy: "fill" uses the budget up; one with watermarks leaves room, which pays only when a prefix is kept.
        options: as for `TieredContext`, but for `session_id`, `store` and `hooks`.

    Raises:
        ContextBudgetExceededError: what can't be reduced is larger than the budget.
        TranscriptError: a message can't be read.
    """
    with TieredContext(budget, strategy=strategy, **options) as context:
        context.plan_for(overhead_tokens)
        context.replace(messages)
        view = context.view(question, overhead_tokens)
        return FitResult(view, context.events(), context.report())
