"""What a memory was opened with: from LlamaIndex's arguments to those of a `TieredContext`; as plain JSON and back."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from llama_index.core.llms.llm import LLM
from llama_index.core.memory.chat_memory_buffer import DEFAULT_TOKEN_LIMIT_RATIO

from llama_tiered.codec import LlamaIndexCodec
from llama_tiered.errors import LlamaArgumentError
from tiered_core import CompactionStrategy, PressureThresholds, Tier, TieredContext, TierPolicy, TokenBudget

_OWN = {"self", "budget", "session_id", "codec"}
OPTIONS = frozenset(inspect.signature(TieredContext.__init__).parameters) - _OWN
"""Arguments of `TieredContext` that are handed on as they are."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments of a `TieredContext`; `options` by name, only those that were given."""

    budget: int | TokenBudget
    session_id: str
    options: Mapping[str, Any]

    def open(self) -> TieredContext:
        """A context with these arguments."""
        return TieredContext(self.budget, self.session_id, codec=LlamaIndexCodec(), **self.options)

    def private(self) -> Arguments:
        """The same for a context in memory that nobody else sees or hears of."""
        kept = {k: v for k, v in self.options.items() if k not in ("store", "hooks")}
        return replace(self, options=MappingProxyType(kept))

    def to_json(self) -> dict[str, Any]:
        """What of it is plain: budget, strategy, and every option that is text, a number or a switch."""
        plain: dict[str, Any] = {k: v for k, v in self.options.items() if v is None or isinstance(v, str | int | float)}
        strategy = self.options.get("strategy")
        if isinstance(strategy, CompactionStrategy):
            plain["strategy"] = {**asdict(strategy), "order": list(strategy.order)}
        return {"budget": _budget_to_json(self.budget), "session_id": self.session_id, "options": plain}

    def unwritten(self, more: Mapping[str, Any]) -> dict[str, Any]:
        """Those options, and those of `more`, that `to_json` leaves out and that can be pickled."""
        plain = self.to_json()["options"]
        return {k: v for k, v in {**self.options, **more}.items() if k not in plain and _picklable(v)}

    def with_budget(self, budget: int | TokenBudget, context: TieredContext) -> tuple[Arguments, TieredContext]:
        """These arguments with another budget, and a context with it on the session and store of the given one."""
        changed = replace(self, budget=budget)
        reopened = replace(changed, options=MappingProxyType({**self.options, "store": context.store}))
        return changed, reopened.open()

    @classmethod
    def from_json(cls, value: Mapping[str, Any], given: Mapping[str, Any]) -> Arguments:
        """What `to_json` gave, with options that can't be written down (callables, stores) given anew."""
        options = {k: v for k, v in value["options"].items() if k in OPTIONS}
        if isinstance(options.get("strategy"), dict):
            held = options["strategy"]
            options["strategy"] = CompactionStrategy(**{**held, "order": tuple(held["order"])})
        return cls(_budget_from_json(value["budget"]), value["session_id"], checked({**options, **given}))


def checked(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options, all of which `TieredContext` knows.

    Raises:
        LlamaArgumentError: there is one that it doesn't know.
    """
    unknown = sorted(set(options) - OPTIONS)
    if unknown:
        raise LlamaArgumentError(f"unknown argument {', '.join(unknown)}; known are {', '.join(sorted(OPTIONS))}")
    return MappingProxyType(dict(options))


def chosen_budget(budget: int | TokenBudget | None, token_limit: int | None, llm: LLM | None) -> int | TokenBudget:
    """The budget that was asked for, in one of three ways.

    Raises:
        LlamaArgumentError: `budget` and `token_limit` differ, or the limit is less than 1.
    """
    given: Any = token_limit
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
        raise LlamaArgumentError(f"token_limit must be a whole number of tokens, at least 1, got {given!r}")
    if budget is not None and token_limit is not None:
        available = TokenBudget.of(budget).available
        if available != token_limit:
            raise LlamaArgumentError(
                f"budget allows views of {available:,} tokens, token_limit {token_limit:,}: give one, or equal ones"
            )
    if budget is not None:
        return budget
    if token_limit is not None:
        return token_limit
    window = 0 if llm is None else int((llm.metadata.context_window or 0) * DEFAULT_TOKEN_LIMIT_RATIO)
    if window > 0:
        return window
    return TokenBudget()


def _picklable(value: Any) -> bool:
    try:
        pickle.dumps(value)
    except Exception:  # noqa: BLE001 - whatever an object raises that can't be pickled
        return False
    return True


def _budget_to_json(budget: int | TokenBudget) -> Any:
    if isinstance(budget, int):
        return budget
    value = {f.name: getattr(budget, f.name) for f in fields(budget)}
    value["pressure"] = asdict(budget.pressure)
    if budget.tiers is not None:
        value["tiers"] = {tier.value: asdict(policy) for tier, policy in budget.tiers.items()}
    return value


def _budget_from_json(value: Any) -> int | TokenBudget:
    if isinstance(value, int):
        return value
    held = {**value, "pressure": PressureThresholds(**value["pressure"])}
    if held["tiers"] is not None:
        held["tiers"] = {Tier(name): TierPolicy(**policy) for name, policy in held["tiers"].items()}
    return TokenBudget(**held)
