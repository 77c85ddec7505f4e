"""What stands around the view in an agent's request: system message, tool definitions, response format."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from langchain.agents.middleware import ModelRequest
from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy

from langchain_tiered.bound_tools import definition_of
from tiered_core import TieredContext

_KEPT = 64


class Overhead:
    """Counts the overhead of requests. Tool definitions are converted and counted once per set of tools."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted: OrderedDict[tuple[int, ...], tuple[list[Any], int]] = OrderedDict()

    def of(self, request: ModelRequest[Any], context: TieredContext) -> int:
        """Tokens around the view."""
        system = request.system_message
        alone = 0 if system is None else context.count_message(system)
        return alone + self._tools([*(request.tools or ()), request.response_format], context)

    def _tools(self, tools: list[Any], context: TieredContext) -> int:
        # The tools are held beside their figure, so that no other object can get one of these ids.
        key = tuple(map(id, tools))
        with self._lock:
            if key in self._counted:
                self._counted.move_to_end(key)
                return self._counted[key][1]
        *own, response_format = tools
        tokens = context.count_tools([*map(definition_of, own), *_response_tools(response_format)])
        with self._lock:
            self._counted[key] = (tools, tokens)
            while len(self._counted) > _KEPT:
                self._counted.popitem(last=False)
        return tokens


def _response_tools(response_format: Any) -> Sequence[Mapping[str, Any]]:
    """The response format as tool definitions; a provider that has a format of its own gets the same schema."""
    if response_format is None:
        return ()
    if isinstance(response_format, ProviderStrategy):
        specs = [response_format.schema_spec]
    else:
        schema = response_format.schema if isinstance(response_format, AutoStrategy) else response_format
        strategy = schema if isinstance(schema, ToolStrategy) else ToolStrategy(schema)
        specs = list(strategy.schema_specs)
    return [
        {"type": "function", "function": {"name": s.name, "description": s.description, "parameters": s.json_schema}}
        for s in specs
    ]
