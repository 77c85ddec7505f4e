"""LangChain adapter of tiered-context: a chat memory inside a token budget that loses nothing.

    history = TieredChatMessageHistory("session-1", budget=8_000)
    chain = TieredMemory(model, lambda session_id: history)
    agent = create_agent(model, tools, middleware=[TieredContextMiddleware(budget=32_000)])

Importing this package needs langchain-core only; `TieredContextMiddleware` needs langchain, and is imported when it is
first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    import langchain_core  # noqa: F401
except ImportError as error:
    raise ImportError('langchain_tiered needs langchain-core: pip install "tiered-context[langchain]"') from error

from langchain_tiered.codec import LangChainCodec
from langchain_tiered.errors import ContextBudgetExceededError
from langchain_tiered.fit import fit_messages
from langchain_tiered.history import TieredChatMessageHistory
from langchain_tiered.memory import TieredMemory

if TYPE_CHECKING:
    from langchain_tiered.middleware import TieredContextMiddleware

__all__ = [
    "ContextBudgetExceededError",
    "LangChainCodec",
    "TieredChatMessageHistory",
    "TieredContextMiddleware",
    "TieredMemory",
    "fit_messages",
]


def __getattr__(name: str) -> Any:
    """Imports the middleware when it is first used: it takes 2.5 s, since it brings LangGraph with it."""
    if name != "TieredContextMiddleware":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import langchain.agents.middleware  # noqa: F401
    except ImportError as error:
        raise ImportError(
            'TieredContextMiddleware needs langchain 1.4 or newer: pip install "tiered-context[langchain-agents]"'
        ) from error
    from langchain_tiered.middleware import TieredContextMiddleware

    return TieredContextMiddleware


def __dir__() -> list[str]:
    return __all__
