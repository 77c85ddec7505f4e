"""From a config to the chat history of its session, as `RunnableWithMessageHistory` does it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.utils import ConfigurableFieldSpec

SESSION_ID = ConfigurableFieldSpec(
    id="session_id", annotation=str, name="Session ID", description="Unique identifier for a session.", default="",
    is_shared=True,
)  # fmt: skip


def history_of(
    factory: Callable[..., Any], specs: Sequence[ConfigurableFieldSpec], config: RunnableConfig, input_key: str | None
) -> Any:
    """Calls the factory with the values that the config has for the specs: one by position, several by name.

    Raises:
        ValueError: a key is missing from the config, or the factory's parameters have other names.
    """
    expected = [spec.id for spec in specs]
    values = config.get("configurable") or {}
    missing = set(expected) - set(values)
    parameters = list(inspect.signature(factory).parameters)
    if missing and parameters:
        example = {"configurable": dict.fromkeys(sorted(missing), "[your-value-here]")}
        raise ValueError(
            f"Missing keys {sorted(missing)} in config['configurable'] Expected keys are {sorted(expected)}."
            f"When using via .invoke() or .stream(), pass in a config; "
            f"e.g., chain.invoke({ {input_key: 'foo'} }, {example})"
        )
    if len(expected) == 1:
        return factory(values[expected[0]]) if parameters else factory()
    if set(expected) != set(parameters):
        raise ValueError(
            f"Expected keys {sorted(expected)} do not match parameter names {sorted(parameters)} of "
            "get_session_history."
        )
    return factory(**{key: values[key] for key in expected})


def session_key(specs: Sequence[ConfigurableFieldSpec], config: RunnableConfig) -> str:
    """Equal for configs of the same session."""
    values = config.get("configurable") or {}
    return repr([values.get(spec.id) for spec in specs])
