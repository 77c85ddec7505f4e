"""Properties of every view, over random histories, budgets and orders of events."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.histories import Message, figure, histories, line, user
from tiered_core import ContextBudgetExceededError, TieredContext, TokenBudget
from tiered_core.testing.oracle import problems

budgets = st.one_of(st.integers(15, 200), st.integers(200, 5_000))


def seen(messages: list[Message]) -> list[Any]:
    return [line(m) for m in messages]


def looked_at(context: TieredContext, overhead: int = 0) -> list[Message] | None:
    """The view; None when the typed error says that what can't be reduced is too large."""
    try:
        return context.view(overhead_tokens=overhead)
    except ContextBudgetExceededError as error:
        if error.needed <= error.available:
            raise AssertionError(f"refused although it fits: {error}") from error
        return None


def chunks(messages: list[Message], sizes: list[int]) -> list[list[Message]]:
    out, start = [], 0
    for size in sizes:
        out.append(messages[start : start + size])
        start += size
    return [c for c in [*out, messages[start:]] if c]


@given(histories(), budgets, st.lists(st.integers(1, 5), max_size=8), st.integers(0, 300))
def test_legal_and_within_budget(history: list[Message], budget: int, sizes: list[int], overhead: int) -> None:
    """Every view is legal and within the budget by the counter's own figures, or the typed error says why not."""
    context = TieredContext(budget, token_counter=figure)
    before = copy.deepcopy(history)
    done: list[Message] = []
    for chunk in chunks(history, sizes):
        context.add(chunk)
        done += chunk
        for around in (0, overhead):
            view = looked_at(context, around)
            if view is not None:
                assert sum(map(figure, view)) + around <= budget
                assert problems(seen(view), seen(done)) == []
    assert history == before


@given(histories(), budgets)
def test_nothing_is_lost(history: list[Message], budget: int) -> None:
    """The transcript comes back exactly, and every handle in an event gives back the original it stands for."""
    context = TieredContext(budget, token_counter=figure)
    for message in history:
        context.add([message])
    assert context.transcript() == history
    for event in context.events():
        if event.handle:
            original = history[event.positions[0]]
            text = context.recall(event.handle, limit_tokens=None).text
            assert text == original["content"] or original["content"] in TieredContextLoad.content(text)


class TieredContextLoad:
    """Reads what recall gives for a message that is more than one text."""

    @staticmethod
    def content(text: str) -> str:
        import json

        return str(json.loads(text)["content"])


@given(histories(), budgets, st.integers(0, 200))
def test_idempotent(history: list[Message], budget: int, overhead: int) -> None:
    """Reading twice gives equal views and leaves the state as it was."""
    context = TieredContext(budget, token_counter=figure)
    context.add(history)
    state = context.state()
    first = looked_at(context, overhead)
    assert looked_at(context, overhead) == first
    assert context.state() == state


@given(histories(max_turns=8), st.integers(100, 3_000))
def test_prefix_is_stable(history: list[Message], budget: int) -> None:
    """From one add to the next the old view is a prefix of the new one, unless a batch is reported."""
    context = TieredContext(budget, token_counter=figure)
    last: list[Message] = []
    batches = 0
    for message in history:
        context.add([message])
        view = looked_at(context)
        reported = sum(e.kind == "batch" for e in context.events())
        if view is not None:
            if reported == batches:
                assert view[: len(last)] == last
            last = view
        else:
            last = []
        batches = reported


@given(histories(), st.integers(15, 5_000))
def test_identity_below_the_watermark(history: list[Message], spare: int) -> None:
    """A legal history that fits is shown as it is when no body is over its cap."""
    whole = sum(map(figure, history)) + spare
    budget = TokenBudget(context_window=20 * whole, response_reserve=0, result_cap=whole, text_cap=whole)
    context = TieredContext(budget, token_counter=figure)
    context.add(history)
    if problems(seen(history), seen(history)) == []:
        assert context.view() == history


@given(histories(), budgets)
def test_events_add_up(history: list[Message], budget: int) -> None:
    """Per message the events form a chain from its full size to what is shown of it now, and the sums agree."""
    context = TieredContext(budget, token_counter=figure)
    for message in history:
        context.add([message])
    at = {k: figure(m) if not line(m).blank else 4 + figure("[empty message]") for k, m in enumerate(history)}
    for event in context.events():
        if event.kind in ("batch", "warning", "critical", "failed"):
            continue
        (position,) = event.positions
        assert event.tokens_before == at[position], event
        at[position] = event.tokens_after
    waiting = _waiting(history)
    _, made, _ = context._run(context._programs.snapshot())
    if not made.fits:
        return  # a view is refused, and nothing was given up for it
    shown = sum(slot.tokens for slot in made.slots if slot.kind == "message")
    opening = sum(at[k] for k in _before_first_user(history))
    assert shown == sum(tokens for k, tokens in at.items() if k not in waiting) - opening


def _waiting(history: list[Message]) -> set[int]:
    """Positions of the newest calls and their results while one is missing: they are not shown before all are there."""
    open_calls: list[str | None] = []
    heads: list[int] = []
    for k, message in enumerate(history):
        if message["role"] in ("user", "assistant"):
            open_calls, heads = [c["id"] for c in message.get("tool_calls") or ()], [k]
        elif message["role"] == "tool" and message["tool_call_id"] in open_calls:
            open_calls.remove(message["tool_call_id"])
            heads.append(k)
    return set(heads) if open_calls else set()


def _before_first_user(history: list[Message]) -> list[int]:
    """Positions of what the assistant said before the first user message; it is told in the system text."""
    first = next((k for k, m in enumerate(history) if m["role"] == "user"), 0)
    return [k for k in range(first) if history[k]["role"] == "assistant"]


@given(histories(), st.integers(60, 2_000), st.data())
def test_edits(history: list[Message], budget: int, data: st.DataObject) -> None:
    """After edits, undo and regenerated turns the view is legal and fits, and the transcript is the new one."""
    context = TieredContext(budget, token_counter=figure)
    context.add(history)
    for _ in range(3):
        keep = data.draw(st.integers(0, len(context.transcript())))
        new = [*context.transcript()[:keep], *data.draw(histories(max_turns=2))]
        context.replace(new)
        assert context.transcript() == new
        view = looked_at(context)
        if view is not None:
            assert sum(map(figure, view)) <= budget
            assert problems(seen(view), seen(new)) == []


@settings(max_examples=12)
@given(st.integers(150, 2_000))
def test_request_survives_fifty_rounds(budget: int) -> None:
    """The current request is in the view after 50 tool rounds of the same turn."""
    from tests.core.histories import assistant, result

    context = TieredContext(budget, token_counter=figure)
    context.add([{"role": "system", "content": "Be brief."}, user("Which carrier is late most often?")])
    for k in range(50):
        context.add([assistant("", f"c{k}"), result(f"c{k}", "carrier,delay\n" + "AA,5\n" * 80)])
        view = context.view()
        assert user("Which carrier is late most often?") in view
        assert problems(seen(view), seen(context.transcript())) == []
