"""Token counters as `trim_messages` takes them: functions of a list of messages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, get_origin, get_type_hints

from langchain_core.messages import BaseMessage, HumanMessage

_LISTS = ("list", "List", "Sequence", "Iterable", "Collection", "tuple")


def per_message(token_counter: Any) -> Any:
    """The counter itself; for one that takes a list of messages, one that takes a single message or a text.

    The annotation of its first parameter tells: `list[BaseMessage]`, `Iterable[…]` and the like.
    """
    if not inspect.isroutine(token_counter) or not _takes_list(token_counter):
        return token_counter

    def count(message: BaseMessage | str) -> int:
        one = HumanMessage(message) if isinstance(message, str) else message
        return int(token_counter([one]))

    count.__qualname__ = f"per_message({getattr(token_counter, '__qualname__', token_counter)})"
    count.__module__ = getattr(token_counter, "__module__", __name__)
    return count


def _takes_list(function: Callable[..., Any]) -> bool:
    try:
        first = next(iter(inspect.signature(function).parameters.values()), None)
    except (TypeError, ValueError):
        return False
    if first is None or first.annotation is inspect.Parameter.empty:
        return False
    try:
        annotation = get_type_hints(function).get(first.name, first.annotation)
    except (NameError, TypeError):
        annotation = first.annotation
    origin = get_origin(annotation)
    if origin is not None:
        return origin in (list, tuple, Sequence, Iterable)
    return str(annotation).rpartition(".")[2].startswith(_LISTS)
