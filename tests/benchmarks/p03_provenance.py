"""P3: can the model still see where the arguments of its next call come from (tau-bench)?"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.benchmarks.corpora import Conversation, Message, sample, tau_bench
from tests.benchmarks.figures import Table, mean_of
from tests.benchmarks.methods import FIT, LAST_N, Method, Seen, Stateless, baselines, last_n, ours
from tests.benchmarks.options import Options
from tests.benchmarks.pool import spread
from tests.benchmarks.tokens import message_tokens, text_of, view_tokens

TITLE = "P3 argument provenance"
BUDGETS = (1_000, 2_000, 4_000)
_QUICK = 10
_CLEARED = {"content": "[cleared]"}
_ID = re.compile(r"(?<!\w)(?=\w*\d)(?=\w*[A-Za-z])\w{5,}(?!\w)")


@dataclass(frozen=True, slots=True)
class Traced:
    """One call at one budget.

    Attributes:
        method: whose view.
        conversation: its name.
        budget: in tokens.
        values: argument values that stood earlier.
        shown: all that the view says.
        over: whether the view exceeds the budget.
    """

    method: str
    conversation: str
    budget: int
    values: tuple[str, ...]
    shown: str
    over: bool

    @property
    def whole(self) -> bool:
        """Whether every value is there."""
        return all(stands_in(value, self.shown) for value in self.values)


def cleared(messages: list[Message], budget: int) -> list[Message]:
    """All tool results but the last three give way to a placeholder; the budget is not looked at."""
    del budget
    results = [k for k, message in enumerate(messages) if message["role"] == "tool"]
    old = set(results[:-3])
    return [{**message, **_CLEARED} if k in old else message for k, message in enumerate(messages)]


def indexed(messages: list[Message], budget: int) -> list[Message]:
    """A list of what looks like an id, newest first, in at most half of the budget, then the newest messages."""
    found = dict.fromkeys(id for message in reversed(messages) for id in reversed(_ID.findall(said(message))))
    ids = list(found)
    index = {"role": "system", "content": " ".join(ids)}
    while ids and message_tokens(index) > budget // 2:
        ids = ids[: len(ids) * 9 // 10]
        index = {"role": "system", "content": " ".join(ids)}
    return last_n([index, *messages], budget)


def methods() -> list[Method]:
    """Ours, the baselines, and two that only this question knows."""
    extra = [
        Stateless("tool results cleared but the last 3 (not bounded)", cleared),
        Stateless("index of ids + last-N", indexed),
    ]
    return [*ours(), *baselines(), *extra]


def run(options: Options) -> Iterator[Table]:
    """The table."""
    episodes = sample(tau_bench(options.folder), _QUICK if options.quick else 100, "P3")
    talks = [_without_system(talk) for talk in episodes]
    traced = [t for part in spread(measure, [(talk,) for talk in talks], options.workers) for t in part]
    counts = [sum(t.budget == b and t.method == FIT for t in traced) for b in BUDGETS]
    title = f"P3 tau-bench: % of calls with every value that stood earlier still in view; {len(talks)} episodes"
    sizes = [f"{b // 1000}k ({n} calls)" for b, n in zip(BUDGETS, counts, strict=True)]
    table = Table(title, ["method", *sizes, "views over budget"])
    for method in methods():
        mine = [t for t in traced if t.method == method.name]
        table.rows.append([method.name, *_cells(mine), _cell(mine, lambda t: t.over)])
    for name in (FIT, LAST_N):
        swapped = _swapped([t for t in traced if t.method == name])
        table.rows.append([f"*chance: another episode's view, {name}*", *_cells(swapped), ""])
    table.notes.append("Only calls whose history exceeds the budget; the system text (1,252 tokens) stands outside it.")
    yield table


def _without_system(talk: Conversation) -> Conversation:
    return Conversation(talk.corpus, talk.name, [m for m in talk.messages if m["role"] != "system"])


def _cells(traced: Sequence[Traced]) -> list[str]:
    return [_cell([t for t in traced if t.budget == budget], lambda t: t.whole) for budget in BUDGETS]


def _cell(traced: Sequence[Traced], figure: Callable[[Traced], bool]) -> str:
    groups: dict[str, list[float]] = defaultdict(list)
    for t in traced:
        groups[t.conversation].append(float(figure(t)))
    mean = mean_of(groups)
    return mean.percent() if mean else "–"


def _swapped(traced: Sequence[Traced]) -> list[Traced]:
    """The same calls, each with the view of a call from another episode."""
    chance, out = random.Random("P3 chance"), []
    for t in traced:
        others = [o for o in traced if o.budget == t.budget and _task(o) != _task(t)]
        if others:
            out.append(replace(t, shown=chance.choice(others).shown))
    return out


def _task(traced: Traced) -> str:
    return traced.conversation.split(",")[0]


def measure(talk: Conversation) -> list[Traced]:
    """All methods at all budgets on one episode."""
    sums, calls = talk.sums, dict(_calls(talk.messages))
    out = []
    for method in methods():
        for budget in BUDGETS:
            places = [place for place in calls if sums[place] > budget]
            for place, seen in zip(places, method.views(talk, budget, places), strict=True):
                over = view_tokens(seen.messages or ()) > budget
                out.append(Traced(method.name, talk.name, budget, calls[place], _shown(seen), over))
    return out


def _calls(messages: Sequence[Message]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(messages before it, argument values that stood in them) of every call that has such values."""
    for place, message in enumerate(messages):
        before = "\n".join(map(said, messages[:place]))
        arguments = [json.loads(call["function"]["arguments"]) for call in message.get("tool_calls") or ()]
        values = tuple(v for v in dict.fromkeys(_leaves(arguments)) if stands_in(v, before))
        if values:
            yield place, values


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _leaves(part)
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
        yield str(value)


def stands_in(value: str, text: str) -> bool:
    """Whether the value stands in a text, not as a part of a longer word or number."""
    start = text.find(value)
    while start >= 0:
        before, behind = text[start - 1 : start] if start else "", text[start + len(value) : start + len(value) + 1]
        if not (_joined(before, value[0]) or _joined(value[-1], behind)):
            return True
        start = text.find(value, start + 1)
    return False


def _joined(one: str, two: str) -> bool:
    return one.isalnum() and two.isalnum()


def said(message: Message) -> str:
    """All that a message says: its text, and the arguments of its calls."""
    return "\n".join([text_of(message), *(call["function"]["arguments"] for call in message.get("tool_calls") or ())])


def _shown(seen: Seen) -> str:
    return "\n".join(map(said, seen.messages or ()))
