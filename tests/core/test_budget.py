"""Budgets: figures of the requirements, scaling, and errors that name the field."""

from __future__ import annotations

import pytest

from tests.core.histories import figure, user
from tiered_core import (
    CompactionStrategy,
    ContextBudgetExceededError,
    PressureThresholds,
    Tier,
    TieredContext,
    TieredError,
    TierPolicy,
    TokenBudget,
)
from tiered_core.strategies import BUILT_IN


def test_analytics_preset() -> None:
    """The preset has the literal figures, together 6,100 tokens (A4 to A11)."""
    budget = TokenBudget.preset("analytics")
    targets = {t.value: p.target for t, p in budget.shares.items()}
    assert targets == {
        "system": 500, "conversation": 2_000, "schema": 300, "samples": 800, "results": 1_500, "buffer": 1_000,
    }  # fmt: skip
    assert sum(targets.values()) == budget.context_window == 6_100
    assert budget.response_reserve == 1_000


def test_agent_preset_leaves_most_to_results() -> None:
    """The agent preset gives results the largest share and fits its window."""
    budget = TokenBudget.preset("agent")
    shares = {t: p.target for t, p in budget.shares.items() if t is not Tier.BUFFER}
    assert max(shares, key=lambda t: shares[t]) is Tier.RESULTS
    assert budget.available - 10 < sum(shares.values()) <= budget.available


def test_effective_window_is_the_smaller_one() -> None:
    """The practical limit bounds the window; an int budget has no reserve (A1)."""
    assert TokenBudget(context_window=128_000, practical_limit=40_000).effective_window == 40_000
    assert TokenBudget(context_window=8_000, practical_limit=40_000).available == 7_000
    assert TokenBudget.of(700).available == 700


@pytest.mark.parametrize("window", [100, 6_100, 128_000])
def test_default_tiers_scale(window: int) -> None:
    """The weights are scaled to the window; the sum never exceeds it (A11)."""
    budget = TokenBudget.for_window(window)
    assert sum(p.target for p in budget.shares.values()) <= window
    assert budget.shares[Tier.CONVERSATION].target > budget.shares[Tier.SCHEMA].target


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"context_window": 0}, "context_window must be a whole number"),
        ({"context_window": True}, "context_window"),
        ({"context_window": 500, "response_reserve": 500}, "response_reserve=500 does not fit"),
        ({"practical_limit": -1}, "practical_limit"),
        ({"result_cap": 0}, "result_cap"),
        ({"context_window": 2_000, "tiers": {"results": TierPolicy(1_500)}}, "tiers: their targets add up to 1,500"),
        ({"tiers": {"nonsense": TierPolicy(1)}}, "tiers: 'nonsense'"),
    ],
)
def test_bad_budgets_name_the_field(arguments: dict[str, object], words: str) -> None:
    """A budget that can't be used is refused with the field and the numbers."""
    with pytest.raises(TieredError, match=words):
        TokenBudget(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("budget", [0, -5, 1.5, "many", True])
def test_bad_ints(budget: object) -> None:
    """Anything but a positive whole number or a budget is refused."""
    with pytest.raises(TieredError, match="at least 1"):
        TieredContext(budget)  # type: ignore[arg-type]


def test_levels() -> None:
    """Pressure below .5 is level 0, below .7 level 1, below .85 level 2, else 3 (A19 to A22)."""
    thresholds = PressureThresholds()
    assert [thresholds.level(p) for p in (0, 0.49, 0.5, 0.69, 0.7, 0.84, 0.85, 1.2)] == [0, 0, 1, 1, 2, 2, 3, 3]
    with pytest.raises(TieredError, match="must rise"):
        PressureThresholds(0.9, 0.5, 0.95)


def test_strategies_are_values() -> None:
    """The built-in figures are those of B14; an unknown name is answered with those there are."""
    assert (BUILT_IN["proactive"].trigger, BUILT_IN["proactive"].target) == (0.75, 0.65)
    assert (BUILT_IN["lazy"].trigger, BUILT_IN["lazy"].target) == (0.90, 0.85)
    with pytest.raises(TieredError, match="sticky"):
        TieredContext(100, strategy="none such")
    with pytest.raises(TieredError, match="target <= trigger"):
        CompactionStrategy("odd", trigger=0.5, target=0.6)


def test_error_shows_the_sum() -> None:
    """The overflow error has window, reserve, overhead, tiers, biggest consumers, and what to change (B18)."""
    budget = TokenBudget(context_window=150, response_reserve=50)
    context = TieredContext(budget, token_counter=figure)
    context.add([{"role": "system", "content": "rule " * 200}, user("hi")])
    with pytest.raises(ContextBudgetExceededError) as caught:
        context.view(overhead_tokens=10)
    error = caught.value
    assert (error.window, error.reserve, error.available, error.overhead) == (150, 50, 100, 10)
    assert error.per_tier["system"] == 254
    assert error.biggest[0] == ("message 0 (system)", 254)
    assert error.needed > 264
    for words in ("window 150", "response reserve 50", "system 254", "raise the budget by at least"):
        assert words in str(error)


def test_error_when_overhead_alone_is_too_large() -> None:
    """The way out names the tool definitions when they alone fill the window."""
    context = TieredContext(100, token_counter=figure)
    context.add([user("hi")])
    with pytest.raises(ContextBudgetExceededError, match="send fewer tool definitions, shorten the prompt"):
        context.view(overhead_tokens=100)
    assert context.view() == [user("hi")]


def test_add_never_raises_for_lack_of_budget() -> None:
    """A message that can never fit is stored all the same."""
    context = TieredContext(15, token_counter=figure)
    context.add([{"role": "system", "content": "rule " * 200}])
    assert len(context.transcript()) == 1
