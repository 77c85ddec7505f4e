"""Fits named components into a window, the least important one first.

`prepare` decides, `compactors.compact` does: the steps are a generator that yields what has to be made smaller and is
sent the result, so the synchronous and the asynchronous form differ by `await` alone.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tiered_core.compactors import DEFAULT_COMPACTORS, Body, Compacted, Compactor, Room, classify, compact, stub
from tiered_core.components import (
    DEFAULT_CONTEXT_CONFIG,
    CompactionResult,
    Component,
    ComponentBudget,
    ContextConfig,
    PreparedContext,
    checked,
)
from tiered_core.counting import TokenCounter, get_token_counter
from tiered_core.counting.plain import text_of
from tiered_core.errors import ContextBudgetExceededError, TieredError
from tiered_core.events import ContextEvent
from tiered_core.strategies import CompactionStrategy, get_strategy
from tiered_core.types import Kind, Media

SHARES: Mapping[str, tuple[float, ...]] = {"proactive": (0.5, 0.35, 0.2), "aggressive": (0.3,), "lazy": (0.7,)}
"""To which share of its own size a component is brought in each round (B14); other strategies do as "proactive"."""
_DEEPER = (0.5, 0.35, 0.2, 0.1)
_ROWS = (20, 10, 5)
_LEAST = 8
_STUB = 40
_HANDLE_CHARACTERS = 24

Ask = Callable[[], Compacted]
Steps = Generator[Ask, Compacted, PreparedContext]


def prepare(
    components: Iterable[Component], config: ContextConfig = DEFAULT_CONTEXT_CONFIG,
    strategy: str | CompactionStrategy | None = None, compactors: Sequence[Compactor] | None = None,
) -> PreparedContext:  # fmt: skip
    """Makes components smaller where they don't fit.

    Nothing is done until use is above the strategy's trigger. Then compactable components are made smaller, the lowest
    priority first and of equal ones the largest first, until use is at the strategy's target or each had its rounds.
    Only what the hard limit still demands is taken after that: deeper cuts, at last a line that names the component.

    Args:
        components: with unique names; neither they nor their list are altered.
        config: window, limits and counter.
        strategy: wins over that of the configuration.
        compactors: asked together with the built-in ones, lowest `order` first.

    Raises:
        ContextBudgetExceededError: the components can't be brought under the hard limit; the text shows the sum.
        TieredError: an argument can't be used; the text says which and why.
    """
    steps = _steps(components, config, strategy, compactors)
    try:
        ask = next(steps)
        while True:
            ask = steps.send(_answer(ask))
    except StopIteration as end:
        prepared: PreparedContext = end.value
        return prepared


async def aprepare(
    components: Iterable[Component], config: ContextConfig = DEFAULT_CONTEXT_CONFIG,
    strategy: str | CompactionStrategy | None = None, compactors: Sequence[Compactor] | None = None,
) -> PreparedContext:  # fmt: skip
    """See `prepare`; compactors run in a worker thread, one at a time."""
    steps = _steps(components, config, strategy, compactors)
    try:
        ask = next(steps)
        while True:
            ask = steps.send(await _aanswer(ask))
    except StopIteration as end:
        prepared: PreparedContext = end.value
        return prepared


def _answer(ask: Ask) -> Compacted:
    return ask()


async def _aanswer(ask: Ask) -> Compacted:
    return await asyncio.to_thread(ask)


def _steps(
    components: Iterable[Component], config: ContextConfig, strategy: str | CompactionStrategy | None,
    compactors: Sequence[Compactor] | None,
) -> Steps:  # fmt: skip
    chosen, shares = _watermarks(config, strategy)
    draft = _Draft(checked(tuple(components)), get_token_counter(config.counter), _ordered(compactors))
    before = ComponentBudget.of(draft.breakdown(), config)
    if draft.used > min(chosen.trigger * config.capacity, config.hard):
        yield from draft.shrink(shares, min(int(chosen.target * config.capacity), config.hard))
        yield from draft.shrink(_DEEPER, config.hard)
        if config.eviction == "auto":
            draft.name_only(config.hard)
    if draft.used > config.hard:
        raise _too_large(draft, config)
    after = ComponentBudget.of(draft.breakdown(), config)
    log = (*_pressure(before, config), *draft.log(), *_batch(before, after, chosen))
    return PreparedContext(after, CompactionResult(tuple(draft.now), log, before.used - after.used))


def _watermarks(
    config: ContextConfig, strategy: str | CompactionStrategy | None
) -> tuple[CompactionStrategy, tuple[float, ...]]:
    """The strategy with its trigger and target, and the shares of its rounds."""
    chosen = get_strategy(config.strategy if strategy is None else strategy)
    options = dict(config.strategy_options)
    shares = tuple(options.pop("shares", SHARES.get(chosen.name, SHARES["proactive"])))
    unknown = sorted(set(options) - {"trigger", "target"})
    if unknown:
        raise TieredError(f"unknown strategy_options {unknown}; known are 'trigger', 'target' and 'shares'")
    if not all(isinstance(s, int | float) and 0 < s <= 1 for s in (*shares, *options.values())):
        raise TieredError(f"strategy_options must be shares, 0 < share <= 1, got {dict(config.strategy_options)!r}")
    if chosen.name == "proactive":
        trigger = config.compaction_threshold
        options = {
            "trigger": trigger,
            "target": min(chosen.target, trigger * chosen.target / chosen.trigger),
            **options,
        }
    return replace(chosen, **options), shares


def _ordered(compactors: Sequence[Compactor] | None) -> tuple[Compactor, ...]:
    return tuple(sorted((*(compactors or ()), *DEFAULT_COMPACTORS), key=lambda c: c.order))


class _Draft:
    """The components on their way, with what each costs now. Cuts are always made from the caller's content."""

    def __init__(self, components: Sequence[Component], counter: TokenCounter, compactors: Sequence[Compactor]) -> None:
        self.given = components
        self.now = list(components)
        self.before = [c.count(counter) for c in components]
        self.tokens = list(self.before)
        self.notes: dict[int, tuple[Kind | None, str]] = {}
        self.failures: dict[tuple[int, str], ContextEvent] = {}
        self._counter = counter
        self._compactors = compactors
        self._texts: dict[int, tuple[str, Kind]] = {}

    @property
    def used(self) -> int:
        """Tokens of all components."""
        return sum(self.tokens)

    def breakdown(self) -> dict[str, int]:
        """Tokens by component."""
        return {c.name: n for c, n in zip(self.given, self.tokens, strict=True)}

    def _levels(self) -> list[list[int]]:
        """Positions of compactable components, one list per priority, the lowest priority first."""
        able = [i for i, c in enumerate(self.given) if c.compactable]
        ranks = sorted({self.given[i].priority for i in able})
        return [[i for i in able if self.given[i].priority == rank] for rank in ranks]

    def shrink(self, shares: Sequence[float], goal: int) -> Generator[Ask, Compacted, None]:
        """Brings components to shares of their own size, never further than the goal needs."""
        for level in self._levels():
            for number, share in enumerate(shares):
                for i in sorted(level, key=lambda i: -self.tokens[i]):
                    if self.used <= goal:
                        return
                    size = max(_LEAST, int(self.before[i] * share), self.tokens[i] - (self.used - goal))
                    if size < self.tokens[i] and not isinstance(self.given[i].content, Media):
                        rows = _ROWS[min(number, len(_ROWS) - 1)]
                        body = self._body(i)
                        failed = partial(self._failed, i)
                        answer = yield partial(compact, body, self._room(size, rows), self._compactors, failed)
                        self._take(i, answer.text, body.kind, _shown(answer, body.kind))

    def name_only(self, goal: int) -> None:
        """Replaces components by a line that names them until the goal is reached."""
        for i in (i for level in self._levels() for i in sorted(level, key=lambda i: -self.tokens[i])):
            if self.used <= goal:
                return
            content = self.given[i].content
            if isinstance(content, Media):
                size = f" {content.width} x {content.height}" if content.width and content.height else ""
                line = f"[{self._handle(i)}: {content.kind}{size}, left out]"
            else:
                line = stub(self._body(i), self._room(_STUB, 0))
            self._take(i, line, None, "only its name is left")

    def _take(self, i: int, text: str, kind: Kind | None, note: str) -> None:
        tokens = self._counter.count_text(text)
        if text.strip() and tokens < self.tokens[i]:
            self.now[i], self.tokens[i], self.notes[i] = replace(self.given[i], content=text), tokens, (kind, note)

    def _body(self, i: int) -> Body:
        if i not in self._texts:
            text = text_of(self.given[i].content)
            self._texts[i] = text, classify(text)
        text, kind = self._texts[i]
        return Body(text, kind, self.before[i], self._handle(i))

    def _handle(self, i: int) -> str:
        """The component's name as it may stand in a rendering."""
        return re.sub(r"\W+", "_", self.given[i].name).strip("_")[:_HANDLE_CHARACTERS] or f"c{i + 1}"

    def _room(self, tokens: int, rows: int) -> Room:
        return Room(tokens, rows, self._counter.count_text, self._counter.truncate)

    def _failed(self, i: int, compactor: Compactor, failure: Exception) -> None:
        name = getattr(compactor, "name", type(compactor).__name__)
        why = f"compactor {name!r} failed: {failure!r}"
        event = ContextEvent("failed", (self.given[i].name,), (i,), None, self.tokens[i], self.tokens[i], why)
        self.failures.setdefault((i, why), event)

    def log(self) -> list[ContextEvent]:
        """Failures, then one event per component that was made smaller."""
        cuts = (self._cut(i, *self.notes[i]) for i in sorted(self.notes))
        return [*self.failures.values(), *cuts]

    def _cut(self, i: int, kind: Kind | None, note: str) -> ContextEvent:
        what: Any = "offloaded" if kind is None else "shortened" if kind == "text" else "compressed"
        reason = f"priority {self.given[i].priority:g}: {note}"
        return ContextEvent(what, (self.given[i].name,), (i,), None, self.before[i], self.tokens[i], reason)


def _shown(answer: Compacted, kind: Kind) -> str:
    unit = {"table": "rows", "json": "items", "log": "lines"}.get(kind, "characters")
    return f"shown {answer.shown:,} of {answer.total:,} {unit}"


def _pressure(before: ComponentBudget, config: ContextConfig) -> list[ContextEvent]:
    """Told when the components as given reach a limit."""
    if before.status == "ok":
        return []
    reason = f"{before.used:,} of {config.capacity:,} tokens are used"
    return [ContextEvent(before.status, tokens_before=before.used, tokens_after=before.used, reason=reason)]


def _batch(before: ComponentBudget, after: ComponentBudget, strategy: CompactionStrategy) -> list[ContextEvent]:
    if after.used == before.used:
        return []
    reason = f"strategy {strategy.name}: above {strategy.trigger:.0%}, to {strategy.target:.0%}"
    return [ContextEvent("batch", tokens_before=before.used, tokens_after=after.used, reason=reason)]


def _too_large(draft: _Draft, config: ContextConfig) -> ContextBudgetExceededError:
    fixed = sum(n for c, n in zip(draft.given, draft.tokens, strict=True) if not c.compactable)
    error = ContextBudgetExceededError(
        needed=draft.used, window=config.context_window, reserve=config.context_window - config.hard,
        per_tier={"not compactable": fixed, "compactable": draft.used - fixed},
        biggest=sorted(draft.breakdown().items(), key=lambda item: -item[1]),
    )  # fmt: skip
    error.add_note(
        f"The reserve of {error.reserve:,} tokens is the response reserve of {config.reserved:,} and what lies above "
        f"the hard limit of {config.hard_limit:.0%}. The components as given have {sum(draft.before):,} tokens."
    )
    return error
