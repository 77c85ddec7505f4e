"""The tools that a Runnable gives to its model: their definitions stand around the view in every request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import Runnable, RunnableBinding, RunnableSequence
from langchain_core.utils.function_calling import convert_to_openai_tool


def bound_tools(runnable: Runnable[Any, Any]) -> list[Mapping[str, Any]]:
    """Definitions of the tools bound to the model with `bind_tools`, in OpenAI's form; [] where none are seen.

    Looks through bindings and sequences. What a function decides when it runs can't be seen.
    """
    if isinstance(runnable, RunnableBinding):
        tools = runnable.kwargs.get("tools")
        return [definition_of(t) for t in tools] if tools else bound_tools(runnable.bound)
    if isinstance(runnable, RunnableSequence):
        return next((found for step in reversed(runnable.steps) if (found := bound_tools(step))), [])
    return []


def definition_of(tool: Any) -> Mapping[str, Any]:
    """A tool's definition in OpenAI's form."""
    try:
        return convert_to_openai_tool(tool)
    except (ValueError, TypeError, KeyError):  # a provider's own form: it is sent as it stands
        return tool if isinstance(tool, Mapping) else {"name": str(getattr(tool, "name", tool))}
