"""The arguments that every object of this package passes on to `TieredContext`, in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

from langchain_tiered.codec import LangChainCodec
from langchain_tiered.list_counters import per_message
from tiered_core import (
    Codec,
    CompactionStrategy,
    Compactor,
    ContextEvent,
    ConversationStore,
    TieredContext,
    TokenBudget,
)


class ContextOptions(TypedDict, total=False):
    """Keyword arguments of `tiered_core.TieredContext`, all but the session's name; see there for what they do."""

    budget: int | TokenBudget | None
    store: str | ConversationStore | None
    token_counter: Any
    strategy: str | CompactionStrategy
    compactors: Sequence[Compactor] | None
    redact: Callable[[str], str] | None
    hooks: Iterable[Callable[[ContextEvent], None]]
    codec: Codec | None


def open_context(session_id: str, options: ContextOptions) -> TieredContext:
    """A context for LangChain messages."""
    return TieredContext(session_id=session_id, **for_langchain(options))


def for_langchain(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with LangChain's codec, and with a counter of lists turned into one of messages.

    Raises:
        TypeError: an option is not known; the text names those there are.
    """
    unknown = sorted(set(options) - set(ContextOptions.__annotations__))
    if unknown:
        hint = "; the budget in tokens is `budget`" if "max_tokens" in unknown else ""
        raise TypeError(
            f"unknown option {', '.join(unknown)}: there are {', '.join(ContextOptions.__annotations__)}{hint}"
        )
    counter = per_message(options.get("token_counter"))
    return {**options, "codec": options.get("codec") or LangChainCodec(), "token_counter": counter}
