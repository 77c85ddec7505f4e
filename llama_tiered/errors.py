"""Errors of this package as LlamaIndex code expects them."""

from __future__ import annotations

from tiered_core.errors import ContextBudgetExceededError, TieredError


class LlamaContextBudgetExceededError(ContextBudgetExceededError, ValueError):
    """See `ContextBudgetExceededError`; a ValueError too, because `ChatMemoryBuffer` raises that for lack of room."""


class LlamaArgumentError(TieredError, ValueError):
    """An argument can't be used; a ValueError too, because `ChatMemoryBuffer` raises that."""
