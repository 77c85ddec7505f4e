"""Calibration inside a session: learned from reports, applied from the next add on, part of the state."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.histories import Message, assistant, figure, result, user
from tiered_core import ContextBudgetExceededError, TieredContext

TRUTH = {"text": 1.3, "table": 1.6}
TABLE = "id,carrier,delay\n" + "\n".join(f"{k},AA,{k * 7 % 50}" for k in range(60))


def cost(messages: list[Message]) -> int:
    """What the provider counts: more than the session's counter, most of all on tables, and 200 for itself."""
    return 200 + round(sum(figure(m) * TRUTH["table" if m["role"] == "tool" else "text"] for m in messages))


def run(context: TieredContext, turns: int, report: bool) -> list[int]:
    costs = []
    for k in range(turns):
        context.add(
            [user(f"question {k} " + "word " * (k % 7 * 10)), assistant("", "c"), result("c", TABLE[: 90 * (k % 9)])]
        )
        costs.append(cost(context.view()))
        if report:
            context.calibrate(costs[-1])
        context.add([assistant("because of the weather " * (k % 5 + 1))])
    return costs


def test_learned_figures_keep_the_budget() -> None:
    """A counter that is too low breaks the budget; with reports the same conversation keeps it after a few calls."""
    blind = run(TieredContext(4_000, token_counter=figure), 60, report=False)
    taught = run(TieredContext(4_000, token_counter=figure), 60, report=True)
    assert max(blind) > 4_000
    assert max(taught[10:]) <= 4_040  # 1 %
    assert max(taught[10:]) > 3_200


def test_it_takes_effect_at_the_next_add_and_is_stored(tmp_path: Path) -> None:
    """A report changes no view before the next add; another instance reads what was learned from the store."""
    address = f"sqlite:///{tmp_path / 'chat.db'}"
    with TieredContext(4_000, token_counter=figure, store=address) as context:
        run(context, 5, report=True)
        before, state = context.view(), context.state()
        context.calibrate(cost(before) * 2)
        assert context.view() == before
        assert context.state() == state
        context.add([user("next")])
        learned = context.state().calibration
        assert learned != state.calibration
    with TieredContext(4_000, token_counter=figure, store=address) as again:
        assert again.state().calibration == learned


def test_what_cannot_be_read_is_passed_over() -> None:
    """Usage of no known shape, and a report before any view, change nothing."""
    context = TieredContext(4_000, token_counter=figure)
    for report in (None, {}, "many", {"prompt_tokens": "x"}, -3, object(), 500):
        context.calibrate(report)
    context.add([user("hi")])
    assert dict(context.state().calibration) == {}


def test_exact_figures_are_never_made_smaller() -> None:
    """A provider that reports less than an exact counter does not let more in."""
    context = TieredContext(300)
    context.add([user("word " * 100)])
    for _ in range(10):
        context.view()
        context.calibrate(40)
    context.add([user("word " * 180)])
    assert sum(map(context.count_message, context.view())) + 3 <= 300


def test_hidden_overhead_counts() -> None:
    """What a provider adds to each request comes off the budget, and the error names it as overhead."""
    context = TieredContext(2_000, token_counter=figure)
    for k in range(30):
        context.add([user(f"{k}"), assistant("ok " * (k % 9 * 20))])
        context.calibrate(sum(map(figure, context.view())) + 900)
    context.add([user("next")])
    report = context.report()
    assert report.overhead > 700
    assert report.drift is not None
    assert abs(report.drift) < 0.2
    assert "against the estimate" in str(report)
    with pytest.raises(ContextBudgetExceededError) as caught:
        context.view(overhead_tokens=1_990)
    assert caught.value.overhead > 1_990
