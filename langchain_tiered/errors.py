"""Errors on the LangChain side, and the errors by which a provider says that a request is too long."""

from __future__ import annotations

from langchain_core.exceptions import ContextOverflowError

from tiered_core import errors as core


class ContextBudgetExceededError(core.ContextBudgetExceededError, ContextOverflowError):
    """What can't be reduced is larger than the budget.

    A `tiered_core.ContextBudgetExceededError` with all its figures, and a `ContextOverflowError` of LangChain, so that
    code which handles the host's error handles ours.
    """


_TOO_LONG = (
    "exceed_context_size_error",  # llama.cpp
    "context_length_exceeded",  # OpenAI
    "maximum context length",  # OpenAI, vLLM
    "prompt is too long",  # Anthropic
    "input is too long",  # Bedrock
    "exceeds the maximum number of tokens",  # Google
)


def is_overflow(error: BaseException) -> bool:
    """Whether a provider refused a request because it is too long; many say so only in the text of another error."""
    if isinstance(error, core.ContextBudgetExceededError):
        return False
    if isinstance(error, ContextOverflowError):
        return True
    text = f"{error} {getattr(error, 'body', '')} {getattr(error, 'message', '')}".lower()
    return any(sign in text for sign in _TOO_LONG)
