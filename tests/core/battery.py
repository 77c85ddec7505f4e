"""A fixed set of conversations with every check that a view must pass; mutants are run against it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from tests.core.histories import Message, assistant, figure, line, result, user
from tiered_core import ContextBudgetExceededError, TieredContext
from tiered_core.testing.oracle import problems


def conversation(seed: int, turns: int = 14) -> list[Message]:
    """A talk over data, with parallel, reversed and dead calls, large results, long words, and late results."""
    random_ = random.Random(seed)
    out: list[Message] = [{"role": "system", "content": "You are an analyst. Be exact."}]
    for turn in range(turns):
        out.append(user(f"question {turn}: " + "please explain " * random_.randrange(1, 30)))
        for _ in range(random_.randrange(0, 4)):
            calls = [random_.choice(["c1", "c2", "c3"]) for _ in range(random_.randrange(1, 4))]
            arguments = json.dumps({"sql": "SELECT x " * random_.randrange(1, 60)})
            out.append(assistant("", *calls, arguments=arguments))
            answers = list(calls)
            if random_.random() < 0.3:
                answers.reverse()
            if random_.random() < 0.15:
                answers.pop()
            table = "id,carrier,delay\n" + "\n".join(f"{k},{'AA' if k % 3 else 'UA'},{k * 7}" for k in range(200))
            out += [result(answer, table[: random_.choice([30, 400, 4_000])]) for answer in answers]
        if random_.random() < 0.9:
            out.append(assistant(f"answer {turn}: " + "because of weather " * random_.randrange(1, 20)))
        if random_.random() < 0.1:
            out.append(result("c9", "stray"))
    return out


def failures(seed: int, budget: int, overhead: int = 0) -> Iterator[str]:
    """Everything that is wrong with the views of one conversation at one budget."""
    history = conversation(seed)
    context = TieredContext(budget, token_counter=figure)
    context.plan_for(overhead)
    last: list[Message] = []
    batches = 0
    for count, message in enumerate(history, 1):
        context.add([message])
        reported = sum(e.kind == "batch" for e in context.events())
        try:
            view = context.view(overhead_tokens=overhead)
        except ContextBudgetExceededError:
            yield f"{count}: nothing fits {budget}"
            continue
        used = sum(map(figure, view)) + overhead
        if used > budget:
            yield f"{count}: {used} of {budget} tokens"
        yield from (f"{count}: {p}" for p in problems([line(m) for m in view], [line(m) for m in history[:count]]))
        if reported == batches and view[: len(last)] != last:
            yield f"{count}: the prefix moved without a batch"
        if reported > batches + 1:
            yield f"{count}: more than one batch for one message"
        if reported > batches and used > 0.97 * budget and budget > 500:
            yield f"{count}: a batch left the view at {used} of {budget}"
        if _complete(history[:count]) and view[-1]["role"] != "tool":
            yield f"{count}: the model does not see the results that it has just asked for"
        last, batches = view, reported
    yield from _losses(context, history)
    if not batches and sum(map(figure, history)) > 3 * budget:
        yield "no batch was ever made"
    if batches > len(history) // 2:
        yield f"{batches} batches for {len(history)} messages"


def _complete(history: list[Message]) -> bool:
    """Whether the last messages are the newest calls with all their results."""
    answers = []
    while history and history[-1]["role"] == "tool":
        answers.append(history[-1]["tool_call_id"])
        history = history[:-1]
    return bool(answers) and sorted(c["id"] for c in history[-1].get("tool_calls") or ()) == sorted(answers)


def _losses(context: TieredContext, history: list[Message]) -> Iterator[str]:
    if context.transcript() != history:
        yield "the transcript was altered"
    at = {k: figure(m) for k, m in enumerate(history)}
    handles: dict[str, int] = {}
    for event in context.events():
        if event.kind in ("batch", "warning", "critical"):
            continue
        (position,) = event.positions
        if event.tokens_before != at[position]:
            yield f"the events of message {position} are no chain: {event}"
        at[position] = event.tokens_after
        if event.handle:
            if handles.setdefault(event.handle, position) != position:
                yield f"handle {event.handle} stands for two messages"
            text = context.recall(event.handle, limit_tokens=None).text
            if history[position]["content"] not in (text, text and _content(text)):
                yield f"handle {event.handle} gives another original"
    _, made, _ = context._run(context._programs.snapshot())
    shown = {s.entry: s.tokens for s in made.slots if s.kind == "message"}
    for position, tokens in at.items():
        entry = context._programs.conversation.entry(position)
        waits = position >= len(history) - 4 and entry.id not in shown
        if shown.get(entry.id, 0) != tokens and not waits:
            yield f"message {position} shows {shown.get(entry.id, 0)} tokens, its events say {tokens}"


def _content(text: str) -> object:
    try:
        return json.loads(text).get("content")
    except (ValueError, AttributeError):
        return None


def all_failures() -> Iterator[str]:
    """Everything that is wrong, over some seeds and budgets; empty for a planner that is right."""
    for seed in range(4):
        for budget, overhead in ((250, 0), (900, 100), (3_000, 400)):
            yield from (f"seed {seed}, budget {budget}: {f}" for f in failures(seed, budget, overhead))
