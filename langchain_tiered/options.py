"""The arguments that every object of this package passes on to `TieredContext`, in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypedDict

from langchain_tiered.codec import LangChainCodec
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
    given: dict[str, Any] = {**options, "codec": options.get("codec") or LangChainCodec()}
    return TieredContext(session_id=session_id, **given)
